"""The SQL record of what is indexed, what failed and which generation is live."""
