"""Answers from evidence: drafted, validated, refused."""
