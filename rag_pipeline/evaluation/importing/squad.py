"""Questions in the format of SQuAD, 1.1 and 2.0: each paragraph becomes a document to index."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, ValidationError

from rag_pipeline.chunking.sentences import sentence_spans
from rag_pipeline.errors import BadQuestionSet
from rag_pipeline.evaluation.case import Case, Category, QuestionSet, Quote, Required
from rag_pipeline.evaluation.importing.imported import Imported
from rag_pipeline.evaluation.importing.naming import Names, slug
from rag_pipeline.evaluation.importing.reading import MOST_CASES, Problems, read_text
from rag_pipeline.evaluation.importing.saying import is_yes_or_no
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.query.request import told
from rag_pipeline.query.trace import Outcome

# A sentence beyond this may be cut when its document is; then the answer alone is the quote.
_LONGEST_QUOTE: Final = 1_000


class _Loose(BaseModel):
    """Other fields, such as plausible answers, are nobody's business here."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def _number(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class _Answer(_Loose):
    text: Annotated[str, Field(min_length=1, max_length=2_000)]
    answer_start: Annotated[StrictInt, Field(ge=0)]


class _Question(_Loose):
    id: Annotated[str, BeforeValidator(_number), Field(min_length=1, max_length=500)]
    question: str
    is_impossible: StrictBool = False
    answers: Annotated[tuple[_Answer, ...], Field(max_length=100)] = ()


class _Paragraph(_Loose):
    context: Annotated[str, Field(min_length=1, max_length=500_000)]
    qas: tuple[_Question, ...]


class _Article(_Loose):
    title: Annotated[str, Field(max_length=500)] = ""
    paragraphs: tuple[_Paragraph, ...]


class _Squad(_Loose):
    data: tuple[_Article, ...]


def read_squad(file: Path, *, source_id: str, title: str, groups: Iterable[str] = ()) -> Imported:
    """The questions of a file in SQuAD's format, and its paragraphs as documents of the source.

    `groups` are the access groups that ask. Gold is the paragraph's document and the sentence that the
    annotators' answers stand in, without the characters that indexing takes out of a text. What is impossible
    to answer must be refused. Raises BadQuestionSet naming each wrong field.
    """
    squad = _parsed(file)
    problems = Problems(file)
    asking = tuple(sorted(set(groups)))
    documents: dict[str, str] = {}
    known: dict[str, str] = {}
    folders, ids = Names(), Names()
    seen: set[str] = set()
    cases: list[Case] = []
    for number, article in enumerate(squad.data):
        called = " ".join(article.title.replace("_", " ").split()) or f"Article {number + 1}"
        folder = folders.give(slug(called) or f"article-{number + 1}")
        for index, paragraph in enumerate(article.paragraphs):
            path = f"{folder}/{index + 1:04d}.md"
            # The same words twice would be found once: they are one document.
            path = known.setdefault(paragraph.context, path)
            documents.setdefault(path, f"# {called}\n\n{paragraph.context.strip()}\n")
            for order, asked in enumerate(paragraph.qas):
                place = f"data.{number}.paragraphs.{index}.qas.{order}"
                if asked.id in seen:
                    problems.add(f"{place}.id", f"{asked.id[:100]!r} is there twice")
                    continue
                seen.add(asked.id)
                name = ids.give(slug(asked.id) or "question")
                if case := _case(
                    asked, paragraph.context, f"{source_id}/{path}", name, asking, place, problems
                ):
                    cases.append(case)
    problems.check()
    try:
        return Imported(QuestionSet(title=title, cases=tuple(cases)), documents)
    except ValidationError as error:
        raise BadQuestionSet(f"{file}: {told(error, 'the file')}.") from None


def _parsed(file: Path) -> _Squad:
    try:
        squad = _Squad.model_validate_json(read_text(file))
    except ValidationError as error:
        raise BadQuestionSet(f"{file}: {told(error, 'the file')}.") from None
    if sum(len(one.qas) for article in squad.data for one in article.paragraphs) > MOST_CASES:
        raise BadQuestionSet(f"{file} has more than {MOST_CASES:,} questions; split it.")
    return squad


def _case(
    asked: _Question,
    context: str,
    document: str,
    name: str,
    groups: tuple[str, ...],
    place: str,
    problems: Problems,
) -> Case | None:
    if asked.is_impossible:
        return problems.case(
            place,
            id=name,
            category=Category.UNANSWERABLE,
            question=asked.question,
            groups=groups,
            expect=(Outcome.NO_EVIDENCE, Outcome.INSUFFICIENT),
        )
    if not asked.answers:
        problems.add(f"{place}.answers", "is empty though the question is not marked as is_impossible")
        return None
    places = [_place(context, one) for one in asked.answers]
    for order, found in enumerate(places):
        if found is None:
            problems.add(f"{place}.answers.{order}.text", "does not stand in its paragraph")
    spans = [found for found in places if found is not None]
    if len(spans) < len(places):
        return None
    quote = _quote(context, spans)
    said = _said_by_all([one.text for one in asked.answers])
    return problems.case(
        place,
        id=name,
        category=Category.ANSWERABLE,
        question=asked.question,
        groups=groups,
        expect=(Outcome.ANSWERED,),
        documents=Required(any=(document,)),
        quotes=(Quote(document=document, text=quote),) if quote else (),
        must_say=(said,) if said else (),
        reference=asked.answers[0].text,
    )


def _place(context: str, answer: _Answer) -> tuple[int, int] | None:
    """Where an answer stands: as it says, or where its words are nearest to that."""
    start = answer.answer_start
    if not context.startswith(answer.text, start):
        before, after = context.rfind(answer.text, 0, start), context.find(answer.text, start)
        found = [one for one in (before, after) if one >= 0]
        if not found:
            return None
        start = min(found, key=lambda one: abs(one - answer.answer_start))
    return start, start + len(answer.text)


def _quote(context: str, spans: list[tuple[int, int]]) -> str | None:
    """The sentences that all answers stand in; else the answer, if there is but one; else nothing."""
    first, last = min(start for start, _ in spans), max(end for _, end in spans)
    sentences = [(start, end) for start, end in sentence_spans(context) if start < last and end > first]
    text = clean(context[sentences[0][0] : sentences[-1][1]]).text.strip()
    alone = len(sentences) == 1 or len(set(spans)) == 1
    if alone and len(text) <= _LONGEST_QUOTE:
        return text
    answers = {clean(context[start:end]).text.strip() for start, end in spans}
    return answers.pop() if len(answers) == 1 else None


def _said_by_all(answers: list[str]) -> str | None:
    """The shortest answer, if all others hold it and it is not yes or no: whoever answers rightly says it."""
    answers = [clean(one).text for one in answers]
    shortest = min(answers, key=len).strip()
    if not shortest or is_yes_or_no(shortest):
        return None
    return shortest if all(shortest in one for one in answers) else None
