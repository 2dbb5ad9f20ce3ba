"""Turning texts into vectors: embedders, batching, retry, the vector cache."""
