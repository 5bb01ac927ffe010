"""Shipped on purpose: conformance kits, a scripted model server, a fixed clock and counted ids."""
