"""The door for other agents: the Model Context Protocol, over HTTP at `/mcp` and over the pipes of `fabula mcp`."""
