"""Calibrating: what relevance means for a generation, fitted to questions whose answers are known."""
