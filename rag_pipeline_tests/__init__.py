"""Tests, named after what a user would care about."""
