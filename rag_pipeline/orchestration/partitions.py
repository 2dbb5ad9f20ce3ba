"""Assets are partitioned by source."""

import dagster as dg

SOURCES = "source"

sources = dg.DynamicPartitionsDefinition(name=SOURCES)
