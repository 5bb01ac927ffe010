"""The interfaces to the outside world, and their vocabulary."""
