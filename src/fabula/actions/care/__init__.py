"""What an operator looks at: tokens, usage, the dashboard."""
