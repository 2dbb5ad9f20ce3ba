"""The history of a real corpus, step by step in a folder, and what it looks like after each."""

import csv
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

STEPS = ("base", "step1", "step2", "step3", "step4")


@dataclass(frozen=True)
class History:
    """One corpus of the shared data's `updates`. `below` chooses the documents under a path, all if empty."""

    folder: Path
    below: str = ""

    def apply(self, step: str, target: Path) -> list[dict[str, str]]:
        """Do to a folder what a step did; returns its operations. Names that are freed may be taken again."""
        with (self.folder / step / "operations.tsv").open(encoding="utf-8", newline="") as table:
            operations = [
                row for row in csv.DictReader(table, delimiter="\t") if row["path"].startswith(self.below)
            ]
        for row in operations:
            for path in (row["old_path"], row["path"] if row["op"] == "deleted" else ""):
                if path:
                    (target / path).unlink()
        for row in operations:
            if row["op"] != "deleted":
                (target / row["path"]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self.folder / step / "files" / row["path"], target / row["path"])
        return operations

    def state(self, step: str) -> set[str]:
        """The paths that exist after a step."""
        return set(self._lines(step))

    def _lines(self, step: str) -> Iterator[str]:
        for line in (self.folder / step / "state.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith(self.below):
                yield line
