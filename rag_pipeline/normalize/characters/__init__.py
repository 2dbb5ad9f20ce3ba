"""Bytes to characters: encodings told and checked, mojibake, what no reader sees."""
