"""The one place that chooses adapters and builds the House from the settings."""
