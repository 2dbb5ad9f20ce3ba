"""Splitting normalized documents into chunks by their structure."""
