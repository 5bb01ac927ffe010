"""A world's canon written down for other programs: as JSON, GraphML, Cypher or Markdown."""
