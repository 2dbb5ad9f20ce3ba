"""Files with other people's questions: read within bounds, their problems told together."""

from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.case import Case
from rag_pipeline.query.request import told

LARGEST_IMPORT: Final = 128 << 20
"""Bytes that a file with questions may have."""

MOST_CASES: Final = 100_000
"""Questions that a file may have; fewer fit into a set, which says so itself."""

_MOST_TOLD: Final = 5


def read_text(file: Path) -> str:
    """A file's text, which must be UTF-8; raises BadQuestionSet that says what is wrong with the file."""
    try:
        if file.stat().st_size > LARGEST_IMPORT:
            raise BadQuestionSet(f"{file} is larger than {LARGEST_IMPORT >> 20} MiB; split it.")
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadQuestionSet(f"{file} is not UTF-8 text, at byte {error.start:,}; save it so.") from None
    except OSError as error:
        raise BadQuestionSet(f"{file} cannot be read: {error.strerror or error}.") from None


class Problems:
    """What is wrong with a file, each with its place, so that people can mend it in one go."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._told: list[str] = []
        self._more = 0

    def add(self, place: str, problem: str) -> None:
        """Note a problem; of very many only the number is kept."""
        if len(self._told) < _MOST_TOLD:
            self._told.append(f"{place}: {problem}")
        else:
            self._more += 1

    def case(self, place: str, **fields: Any) -> Case | None:
        """A case of these fields; None, and the problem noted, where they make none."""
        try:
            return Case(**fields)
        except ValidationError as error:
            self.add(place, told(error, "the file"))
            return None

    def check(self) -> None:
        """Raise BadQuestionSet where anything is wrong."""
        if self._told:
            more = f"; and {self._more:,} more" if self._more else ""
            raise BadQuestionSet(f"{self._file}: {'; '.join(self._told)}{more}.")
