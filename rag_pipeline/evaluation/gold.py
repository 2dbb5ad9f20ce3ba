"""Whether the gold of question sets still stands in its documents, so that no case fails for what it says."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_pipeline.artifacts import ArtifactStore
from rag_pipeline.catalogue import Catalogue
from rag_pipeline.evaluation.asked_generation import asked_generation
from rag_pipeline.evaluation.case import Case, Category, LifecycleCase, QuestionSet
from rag_pipeline.evaluation.question_sets import NamedSet
from rag_pipeline.evaluation.quotes import holds_quote
from rag_pipeline.evaluation.wording import says
from rag_pipeline.ledger.dead_letters import DeadLetter
from rag_pipeline.ledger.documents import IndexedDocument
from rag_pipeline.ledger.ledger import Ledger
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.query.lineage_reading import SourceFiles
from rag_pipeline.services import Services
from rag_pipeline.sources.document import source_of


@dataclass(frozen=True, slots=True)
class StaleGold:
    """A document or a quote that a case names and that is not there as it says, and why.

    `quote` is None where it is the document as a whole.
    """

    set_name: str
    case_id: str
    document: str
    quote: str | None
    reason: str

    def __str__(self) -> str:
        what = f"“{self.quote}” of {self.document}" if self.quote else self.document
        return f"{self.set_name}/{self.case_id}: {what}: {self.reason}"


def stale_gold(
    sets: Sequence[NamedSet], services: Services, generation: str | None = None
) -> list[StaleGold]:
    """What of the gold does not stand in a generation, the live one if none is named, in order of the cases.

    Every document that a case names must be indexed in the version that its source holds now, and hold the
    quotes; also one that the asker must not see, and of those one must hold what must not be said. Raises
    ConfigurationError where nothing is live.
    """
    name = asked_generation(services, generation).name
    named = [(one.name, case, list(_gold(case))) for one in sets for case in _cases(one.questions)]
    documents = _Documents(
        name,
        {document for _, _, gold in named for document, _ in gold},
        services.ledger,
        services.artifacts,
        SourceFiles(Catalogue(services).find),
    )
    return [
        StaleGold(set_name, case.id, document, quote, reason)
        for set_name, case, gold in named
        for document, quote, reason in (*documents.problems(gold), *documents.lost_secrets(case))
    ]


def _cases(questions: QuestionSet) -> Iterator[Case | LifecycleCase]:
    yield from questions.cases
    yield from questions.lifecycle


def _gold(case: Case | LifecycleCase) -> Iterator[tuple[str, str | None]]:
    """The documents that a case names, each with None and with its quotes."""
    if isinstance(case, LifecycleCase):
        documents: Iterable[str] = (case.document,)
        quotes = [(case.document, case.before)]
        if case.edit:
            quotes.append((case.document, case.edit.old))
    else:
        quotes = [(one.document, one.text) for one in case.quotes]
        winner = (case.winner,) if case.winner else ()
        documents = (*case.documents.ids, *winner, *(document for document, _ in quotes))
    yield from ((document, None) for document in dict.fromkeys(documents))
    yield from dict.fromkeys(quotes)


class _Documents:
    """The documents that are named, as a generation and their sources have them; each is read once."""

    def __init__(
        self,
        generation: str,
        document_ids: Iterable[str],
        ledger: Ledger,
        artifacts: ArtifactStore,
        files: SourceFiles,
    ) -> None:
        wanted = sorted(document_ids)
        self._artifacts = artifacts
        self._files = files
        self._versions = {
            one.document_id: one for name, one in ledger.documents.versions(wanted) if name == generation
        }
        self._deleted = ledger.documents.deletions_noticed(generation, wanted)
        self._letters: Mapping[str, DeadLetter] = {
            one.document_id: one for one in ledger.dead_letters.listed(sorted(set(map(source_of, wanted))))
        }
        self._read: dict[str, tuple[str, str | None]] = {}

    def problems(self, gold: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str | None, str]]:
        """What is wrong with documents and their quotes; of a document that is wrong itself no quote."""
        for document_id, quote in gold:
            if document_id not in self._read:
                self._read[document_id] = self._look(document_id)
            text, fault = self._read[document_id]
            if fault and quote is None:
                yield document_id, None, fault
            if not fault and quote is not None and not holds_quote(text, quote):
                yield document_id, quote, "the quote no longer stands in the document"

    def lost_secrets(self, case: Case | LifecycleCase) -> Iterator[tuple[str, str | None, str]]:
        """What must stay hidden though no hidden document holds it: it could never leak."""
        if isinstance(case, LifecycleCase) or case.category is not Category.UNAUTHORIZED:
            return
        found = [self._read[document_id] for document_id in case.documents.ids]
        if not found or any(fault for _, fault in found):
            return
        for phrase in case.must_not_say:
            if not any(holds_quote(text, phrase) or says(text, phrase) for text, _ in found):
                yield case.documents.ids[0], phrase, "no document that must stay hidden holds it"

    def _look(self, document_id: str) -> tuple[str, str | None]:
        """A document's text, and why that tells nothing, if so."""
        version = self._versions.get(document_id)
        if version is None:
            return "", self._missing(document_id)
        if fault := self._changed(document_id, version):
            return "", fault
        stored = self._artifacts.read(version.normalized_key)
        if stored is None:
            return "", "its text is no longer stored; `rag-pipeline index` converts it again"
        return NormalizedDocument.from_json(stored).markdown, None

    def _missing(self, document_id: str) -> str:
        if deleted := self._deleted.get(document_id):
            return f"the document was deleted from its source, as noticed {deleted:%Y-%m-%d %H:%M}"
        if letter := self._letters.get(document_id):
            return f"the document failed to be indexed: {letter.category}, {letter.message}"
        return "the document is not indexed"

    def _changed(self, document_id: str, version: IndexedDocument) -> str | None:
        file = self._files.look(document_id)
        if file.problem:
            return f"the document is still indexed, but {file.problem}"
        if file.content_hash == version.content_hash:
            return None
        if letter := self._letters.get(document_id):
            return (
                "its source file has changed since it was indexed, and the new version failed: "
                f"{letter.category}, {letter.message}"
            )
        return (
            "its source file has changed since it was indexed, so it cannot be told yet; run `rag-pipeline "
            f"index {source_of(document_id)}`"
        )
