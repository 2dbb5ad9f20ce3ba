"""Formats that docling turns into a document tree, and the tree as Markdown."""
