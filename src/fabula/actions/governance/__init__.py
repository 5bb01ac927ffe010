"""Governance: what agents and characters are told by whoever runs the table."""
