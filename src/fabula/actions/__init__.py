"""One verb per file: an action checks, writes in one unit of work, and returns a view."""
