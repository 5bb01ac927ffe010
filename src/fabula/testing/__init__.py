"""Shipped on purpose: conformance kits, a scripted model server, a store in memory, a fixed clock and counted ids."""
