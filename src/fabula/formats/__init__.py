"""Bytes to values and back: .chr archives, data packages, pictures, exports of plays; pure."""
