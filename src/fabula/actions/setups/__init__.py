"""What plays and drafts start from, gathered once and cached with the revisions of everything in it."""
