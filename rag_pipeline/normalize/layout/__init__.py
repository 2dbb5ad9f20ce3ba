"""Rebuilding structure from lines and boxes on pages, whoever read them. Pure functions over boxes."""
