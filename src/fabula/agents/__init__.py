"""The roles: each turns a typed context into a prompt, and a reply into a proposal; pure."""
