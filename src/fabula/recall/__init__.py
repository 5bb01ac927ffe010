"""Minds: what comes to mind, what is felt and believed, decided from what was lived through; pure."""
