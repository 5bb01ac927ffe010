"""The outside world behind ports: databases, model SDKs, embedders, queues, the bus."""
