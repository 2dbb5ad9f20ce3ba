"""Web pages and books."""
