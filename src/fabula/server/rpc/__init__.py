"""JSON-RPC at /rpc: bytes become typed commands, results become envelopes."""
