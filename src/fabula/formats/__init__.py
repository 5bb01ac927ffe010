"""Bytes to values and back: .chr archives and data packages; pure."""
