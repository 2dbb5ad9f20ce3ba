"""Markdown, its templates, components, admonitions and HTML."""
