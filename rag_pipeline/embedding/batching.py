"""Splitting texts into batches, and finding the text for which a batch was refused."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_pipeline.embedding.embedder import Refusal, Vector
from rag_pipeline.errors import EmbeddingUnavailable

# Any embedding model takes this one; if it does not, the texts are not to blame.
HARMLESS_TEXT = "ok"


@dataclass(frozen=True, slots=True)
class Refused:
    """The endpoint refused a batch, or keeps answering it with nonsense."""

    reason: str


Ask = Callable[[Sequence[str]], list[Vector] | Refused]


def split_batches(tokens: Sequence[int], *, max_items: int, max_tokens: int) -> Iterator[range]:
    """Consecutive ranges over texts of these sizes, each within both limits.

    Together they cover all texts, in order. A text that alone exceeds `max_tokens` is a batch of its own.
    """
    start, size = 0, 0
    for index, count in enumerate(tokens):
        if index > start and (index - start == max_items or size + count > max_tokens):
            yield range(start, index)
            start, size = index, 0
        size += count
    if start < len(tokens):
        yield range(start, len(tokens))


def embed_isolating(texts: Sequence[str], ask: Ask) -> list[Vector | Refusal]:
    """The vectors of one batch; where the endpoint refuses it, it is halved until the culprits stand alone.

    Before any text is blamed, the endpoint must show that it embeds a harmless one: a wrong setting makes it
    refuse everything, and that must not condemn the documents. Raises EmbeddingUnavailable where it does not.
    """
    answer = ask(texts)
    if not isinstance(answer, Refused):
        return list(answer)
    if isinstance(ask([HARMLESS_TEXT]), Refused):
        raise EmbeddingUnavailable(f"The embedding endpoint refuses every text: {answer.reason}")
    return _isolate(texts, answer, ask)


def _isolate(texts: Sequence[str], refused: Refused, ask: Ask) -> list[Vector | Refusal]:
    if len(texts) == 1:
        return [Refusal(refused.reason)]
    middle = len(texts) // 2
    results: list[Vector | Refusal] = []
    for half in (texts[:middle], texts[middle:]):
        answer = ask(half)
        results += _isolate(half, answer, ask) if isinstance(answer, Refused) else answer
    return results
