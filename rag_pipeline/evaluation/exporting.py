"""Results as JSON Lines: the columns of Ragas, so that its metrics can be run on them, and our own."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rag_pipeline.errors import ConfigurationError
from rag_pipeline.evaluation.case import Case
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.result import CaseResult, Evaluation


def export_results(evaluation: Evaluation, sets: Iterable[NamedSet], file: Path) -> int:
    """Write one line a case, and return how many; `sets` are those that were asked, for their quotes.

    Raises ConfigurationError where the file cannot be written; what was there before is then still there.
    """
    count = 0
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as out:
            for row in rows_of(evaluation.cases, sets):
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
        unfinished.replace(file)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise ConfigurationError(f"{file} cannot be written: {error.strerror or error}.") from None
    return count


def rows_of(results: Sequence[CaseResult], sets: Iterable[NamedSet]) -> Iterator[dict[str, Any]]:
    """A row a case: first the columns of Ragas' single-turn samples, null where unknown, then ours.

    What was retrieved is the evidence that was handed to answering, best first. A case whose set is not
    given, or no longer holds it, has no reference contexts.
    """
    cases = {f"{one.name}/{case.id}": case for one in sets for case in one.questions.cases}
    for result in results:
        yield {
            "user_input": result.question,
            "response": None if result.error else result.answer,
            "retrieved_contexts": _retrieved(result),
            "reference_contexts": _reference_contexts(cases.get(result.key)),
            "reference": result.reference,
            "case_id": result.case_id,
            "set": result.set_name,
            "category": result.category.value,
            "language": result.language,
            "outcome": result.outcome.value if result.outcome else None,
            "passed": result.passed,
            "failures": list(result.failures),
            "error": result.error,
            "scores": dict(result.scores),
            "retrieved_documents": _documents(result),
            "required_documents": list(result.required),
            "milliseconds": result.milliseconds,
            "trace_id": result.trace.trace_id if result.trace else None,
        }


def _retrieved(result: CaseResult) -> list[str] | None:
    if result.trace is None:
        return None
    return [one.text for one in result.trace.evidence if one.text is not None]


def _documents(result: CaseResult) -> list[str]:
    return [one.document_id for one in result.trace.evidence] if result.trace else []


def _reference_contexts(case: Case | None) -> list[str] | None:
    return [one.text for one in case.quotes] if case and case.quotes else None
