"""Asking: what a caller may see, and searching it."""
