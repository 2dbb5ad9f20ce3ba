"""Reading the answer of an embeddings API, and believing none of it."""

from collections.abc import Iterator

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from rag_pipeline.embedding.embedder import Vector
from rag_pipeline.embedding.vectors import BadVector, unit_vector


class BadAnswer(ValueError):
    """An answer that cannot be trusted; the message says what is wrong with it."""


class _Item(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    embedding: list[float]


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True)

    data: list[_Item]


def largest_answer(texts: int, dimensions: int) -> int:
    """How many bytes a proper answer can take: 64 a number, however it is printed."""
    return 65_536 + texts * (1_024 + 64 * dimensions)


def parse_answer(body: bytes, *, texts: int, dimensions: int) -> list[Vector]:
    """The vectors of an answer, scaled to length 1, in the order of the texts.

    Raises BadAnswer unless there is exactly one proper vector a text, in order. Vectors out of order are not
    put back: whoever mixes up the order may mix up the numbers too.
    """
    try:
        items = _Answer.model_validate_json(body).data
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadAnswer(f"it is not an embeddings answer ({place or 'body'}: {first['msg']})") from None
    if len(items) != texts:
        raise BadAnswer(f"it holds {len(items)} vectors for {texts} texts")
    if [item.index for item in items] != list(range(texts)):
        raise BadAnswer("its vectors are not in the order of the texts")
    return list(_vectors(items, dimensions))


def _vectors(items: list[_Item], dimensions: int) -> Iterator[Vector]:
    for item in items:
        try:
            yield unit_vector(np.array(item.embedding, dtype=np.float64), dimensions)
        except BadVector as error:
            raise BadAnswer(str(error)) from None
