"""How relevant a chunk is to a query, 0 to 1: a calibration maps the signals at hand to it."""
