"""The door for Socket.IO: turns whose words stream as they come, and sessions that are watched.

`routes` stands at the path and imports the rest at the first request: most servers never get one.
"""
