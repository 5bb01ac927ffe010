"""The outside world behind ports: databases, model SDKs, embedders, the bus."""
