"""Questions in CSV or JSON Lines with the columns that Ragas users have, of any of its versions.

Ragas called them question, ground_truth(s), contexts and answer until version 0.1, and calls them user_input,
reference, reference_contexts, retrieved_contexts and response since. What some system answered and retrieved
once (answer, response, retrieved_contexts) says nothing about what is right, and is not read.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.case import Case, Category, QuestionSet, Quote, Required
from rag_pipeline.evaluation.importing.naming import Names, slug
from rag_pipeline.evaluation.importing.placing import Placed, Placing
from rag_pipeline.evaluation.importing.reading import Problems
from rag_pipeline.evaluation.importing.rows import Row, read_rows, texts
from rag_pipeline.evaluation.importing.saying import is_yes_or_no
from rag_pipeline.query.request import told
from rag_pipeline.query.scripts import HAN
from rag_pipeline.query.trace import Outcome

_QUESTION: Final = ("user_input", "question")
_REFERENCE: Final = ("reference", "ground_truth", "ground_truths")
_CONTEXTS: Final = ("reference_contexts", "contexts")
_ID: Final = ("case_id", "id")

_WORD: Final = re.compile(rf"[{HAN}]{{1,3}}|[^\s{HAN}]+")
# What is longer can be said in many ways, so that only a person or a model can compare it.
_WORDS_TO_SAY: Final = 3
# As long as a case's phrases may be.
_LONGEST_REFERENCE: Final = 2_000
_MOST_CONTEXTS: Final = 100
_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A context that is no one document's: its row, its number there from 1, why, and how it begins."""

    place: str
    context: int
    reason: str
    beginning: str


@dataclass(frozen=True, slots=True)
class ImportedRows:
    """Questions, and the contexts whose document could not be told: their cases have less gold.

    `notes` say what else was left out, by row.
    """

    questions: QuestionSet
    unplaced: tuple[Unplaced, ...]
    notes: tuple[str, ...] = ()


def read_ragas(
    file: Path, documents: Mapping[str, str], *, title: str, groups: Iterable[str] = ()
) -> ImportedRows:
    """The questions of a file that ends in .csv or .jsonl, their contexts found in the documents' texts.

    Every reference context makes its document required, with a quote. Of `contexts`, which older versions
    use for what was retrieved too, one document suffices; a single one gives a quote. The reference is kept
    for judges unless it is too long, and must be said where it is at most three words, and not yes or no.
    Raises BadQuestionSet by row and field.
    """
    rows = read_rows(file)
    if not rows:
        raise BadQuestionSet(f"{file} has no rows.")
    problems, placing, names = Problems(file), Placing(documents), Names()
    asking = tuple(sorted(set(groups)))
    seen: set[str] = set()
    cases: list[Case] = []
    unplaced: list[Unplaced] = []
    notes: list[str] = []
    for number, row in enumerate(rows, start=1):
        own = _named(row, _ID)[1]
        if own is not None and not isinstance(own, str | int):
            problems.add(f"{row.place}: id", "must be a text or a number")
            continue
        if own is not None and str(own) in seen:
            problems.add(f"{row.place}: id", f"{str(own)[:100]!r} is there twice")
            continue
        if own is not None:
            seen.add(str(own))
        read = _Reading(row, problems)
        placed = [(name, placing.place(text, read.about)) for name, text in read.contexts]
        unplaced += _unplaced(row.place, read.contexts, [one for _, one in placed])
        kept = read.reference if len(read.reference) <= _LONGEST_REFERENCE else ""
        if kept != read.reference:
            length = f"{len(read.reference):,} characters, and a case keeps {_LONGEST_REFERENCE:,}"
            notes.append(f"{row.place}: the reference was left out: it has {length}")
        if read.question and (
            case := problems.case(
                row.place,
                id=names.give(("" if own is None else slug(str(own))) or f"row-{number}"),
                category=Category.ANSWERABLE,
                question=read.question,
                groups=asking,
                expect=(Outcome.ANSWERED,),
                must_say=(kept,) if _must_be_said(kept) else (),
                reference=kept or None,
                **_gold(placed),
            )
        ):
            cases.append(case)
    problems.check()
    try:
        questions = QuestionSet(title=title, cases=tuple(cases))
        return ImportedRows(questions, tuple(unplaced), tuple(notes))
    except ValidationError as error:
        raise BadQuestionSet(f"{file}: {told(error, 'the file')}.") from None


def _must_be_said(reference: str) -> bool:
    return 0 < len(_WORD.findall(reference)) <= _WORDS_TO_SAY and not is_yes_or_no(reference)


class _Reading:
    """The cells of a row that count, checked; what is wrong with them is noted."""

    def __init__(self, row: Row, problems: Problems) -> None:
        self._row = row
        self._problems = problems
        self.question = self._question()
        self.reference = self._reference()
        self.about = self.reference or self.question
        """What a context's quote should say."""
        self.contexts = self._contexts()

    def _question(self) -> str:
        column, value = _named(self._row, _QUESTION)
        if value is None:
            self._add(_QUESTION[0], f"is missing; it may be called {' or '.join(_QUESTION)}")
        elif isinstance(value, list):
            self._add(column, "is a conversation; only single questions can be asked")
        elif not isinstance(value, str):
            self._add(column, "must be a text")
        else:
            return value
        return ""

    def _reference(self) -> str:
        column, value = _named(self._row, _REFERENCE)
        if value is None:
            return ""
        if isinstance(value, str) and column != "ground_truths":
            return value.strip()
        several = texts(value)
        if several is None:
            self._add(column, "must be a text")
        return several[0] if several else ""

    def _contexts(self) -> list[tuple[str, str]]:
        column, value = _named(self._row, _CONTEXTS)
        found = [] if value is None else texts(value)
        if found is None:
            self._add(column, "must be a list of texts")
        elif len(found) > _MOST_CONTEXTS:
            self._add(column, f"has more than {_MOST_CONTEXTS} texts")
        else:
            return [(column, one) for one in found]
        return []

    def _add(self, column: str, problem: str) -> None:
        self._problems.add(f"{self._row.place}: {column}", problem)


def _named(row: Row, columns: tuple[str, ...]) -> tuple[str, Any]:
    """The first of the columns that the row has, and its value."""
    return next(((one, row.cells[one]) for one in columns if one in row.cells), ("", None))


def _gold(placed: list[tuple[str, Placed]]) -> dict[str, Any]:
    certain = [(name, one) for name, one in placed if len(one.documents) == 1]
    every = all(name == _CONTEXTS[0] for name, _ in placed)
    if len(placed) == 1 or every:
        quotes = dict.fromkeys((one.documents[0], one.quote) for _, one in certain if one.quote)
        required = tuple(dict.fromkeys(one.documents[0] for _, one in certain))
        doubtful = placed[0][1].documents if len(placed) == 1 and not certain else ()
        return {
            "documents": Required(all=required, any=doubtful),
            "quotes": tuple(Quote(document=document, text=text) for document, text in quotes),
        }
    some = dict.fromkeys(document for _, one in placed for document in one.documents)
    return {"documents": Required(any=tuple(some))}


def _unplaced(place: str, contexts: list[tuple[str, str]], placed: list[Placed]) -> list[Unplaced]:
    return [
        Unplaced(place, number, _reason(one.documents), _beginning(text))
        for number, ((_, text), one) in enumerate(zip(contexts, placed, strict=True), start=1)
        if len(one.documents) != 1
    ]


def _beginning(text: str) -> str:
    # JSON can spell halves of surrogate pairs, which no terminal can show.
    return " ".join(text[: 4 * _SHOWN].split())[:_SHOWN].encode(errors="replace").decode()


def _reason(documents: tuple[str, ...]) -> str:
    if not documents:
        return "it stands in no document that is indexed"
    shown = ", ".join(documents[:3])
    return f"it stands in {len(documents)} documents: {shown}{', …' if len(documents) > 3 else ''}"
