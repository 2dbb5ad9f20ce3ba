"""Dagster's skin over the pipeline: assets, checks, jobs, sensors. No logic of its own."""
