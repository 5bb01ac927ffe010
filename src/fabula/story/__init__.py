"""Pure values: resources, schemas, state and its operations, conditions, graph, turn tree, lore."""
