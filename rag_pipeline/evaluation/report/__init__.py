"""How an evaluation is told: a page to read, and a summary for Dagster."""
