"""Asset tables as Parquet files, on any file system."""

import uuid

import dagster as dg
import pandas as pd
from upath import UPath


class ParquetTables(dg.UPathIOManager):
    """Keeps each asset's table under `<base>/<asset>/<source>.parquet`."""

    extension: str = ".parquet"

    def dump_to_path(self, context: dg.OutputContext, obj: pd.DataFrame, path: UPath) -> None:
        """Write a table; readers see the old one or the new one, never half of it."""
        if path.protocol not in ("", "file"):
            with path.open("wb") as file:
                obj.to_parquet(file, index=False)
            return
        unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        with unfinished.open("wb") as file:
            obj.to_parquet(file, index=False)
        unfinished.replace(path)

    def load_from_path(self, context: dg.InputContext, path: UPath) -> pd.DataFrame:
        """Read a table back."""
        with path.open("rb") as file:
            return pd.read_parquet(file)
