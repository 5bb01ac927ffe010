"""Who may come in: hosts, origins, tokens, roles, limits and security headers."""
