"""Benchmarks: what the project promises about exactness, quality, speed and memory, measured anew."""
