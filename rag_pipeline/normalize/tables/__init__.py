"""Finding tables on pages: by rules, by alignment, over pages. Pure functions over words and strokes."""
