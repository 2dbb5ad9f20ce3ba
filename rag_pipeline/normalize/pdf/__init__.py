"""PDFs: their text layer, what of it can be seen, what is damaged or dangerous."""
