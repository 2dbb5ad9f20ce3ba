"""Conflicts between sources: values compared, precedence, policy."""
