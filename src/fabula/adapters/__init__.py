"""The outside world behind ports: databases, models, embedders, the bus, queues, limits, traces."""
