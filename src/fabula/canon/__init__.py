"""Canon: changes, policy, authority and the knowledge graph's questions; pure."""
