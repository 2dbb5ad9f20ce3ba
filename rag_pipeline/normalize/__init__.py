"""Turning files into Markdown with structure: detecting, converting, OCR, cleaning, gates."""
