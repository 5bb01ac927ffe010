"""Model clients: open_ai, local and understudy, and what stands around each of them."""
