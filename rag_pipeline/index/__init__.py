"""Qdrant: schema, writing, generations, reconciliation."""
