"""A knowledge base in Qdrant whose every answer can be traced back to its source."""
