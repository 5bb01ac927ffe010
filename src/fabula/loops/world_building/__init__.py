"""The world-building loop: author and architect make a world together."""
