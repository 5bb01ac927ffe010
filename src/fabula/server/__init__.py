"""Doors to the actions over HTTP: this room speaks protocols and knows no story rules."""
