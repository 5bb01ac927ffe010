"""Memory: what comes to mind, decided purely from what was lived through and what is asked."""
