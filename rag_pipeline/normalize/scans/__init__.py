"""Pages without usable text: brought upright and read by OCR."""
