"""Canon: worlds, what is proposed about them, what became true and why, and questions about it."""
