"""BM25 term weights as sparse vectors: the same as a Qdrant server computes, but offline."""

from functools import cache
from typing import Any

from qdrant_client import models
from qdrant_edge import Bm25, Bm25Config, TokenizerType

from rag_pipeline.embedding.text import valid_text

# Multilingual splits Chinese, Japanese and Korean into words too; `english` brings stop words and a stemmer
# that leave other scripts alone. avg_len is in tokens without stop words: chunks have 60 to 125 on average,
# depending on the language.
SPARSE_SETTINGS: dict[str, Any] = {
    "tokenizer": "multilingual",
    "language": "english",
    "k": 1.2,
    "b": 0.75,
    "avg_len": 100,
}


@cache
def _model() -> Bm25:
    return Bm25(
        Bm25Config(
            tokenizer=TokenizerType.Multilingual,
            language=SPARSE_SETTINGS["language"],
            k=SPARSE_SETTINGS["k"],
            b=SPARSE_SETTINGS["b"],
            avg_len=SPARSE_SETTINGS["avg_len"],
        )
    )


def passage_terms(text: str) -> models.SparseVector:
    """Weights of a passage's terms; Qdrant multiplies them by the terms' inverse document frequency."""
    found = _model().embed_document(valid_text(text))
    return models.SparseVector(indices=found.indices, values=found.values)


def query_terms(text: str) -> models.SparseVector:
    """The terms of a question, each of weight 1."""
    found = _model().embed_query(valid_text(text))
    return models.SparseVector(indices=found.indices, values=found.values)
