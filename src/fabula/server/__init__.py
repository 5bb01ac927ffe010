"""Doors to the actions over HTTP and sockets: this room speaks protocols and knows no story rules."""
