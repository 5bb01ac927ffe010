"""The WebSocket for game engines: streamed, interruptible NPC turns."""
