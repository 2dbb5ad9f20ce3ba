"""Evaluation: question sets, what their answers are worth, and the gates that a generation must pass."""
