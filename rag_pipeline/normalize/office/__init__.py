"""Office and OpenDocument files: what no reader sees is taken out, the rest is read as it is shown."""
