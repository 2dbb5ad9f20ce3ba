"""An embedder without a model, for tests, CI and benchmarks: texts that share words get similar vectors."""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from rag_pipeline.embedding.embedder import ModelIdentity, Refusal, Vector
from rag_pipeline.embedding.text import unfit, valid_text
from rag_pipeline.embedding.tokens import estimate_tokens

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECES = re.compile(rf"[{_CJK}]+|[^\W{_CJK}]+")
_CJK_START = re.compile(rf"[{_CJK}]")


class HashingEmbedder:
    """Signed feature hashing of words, of CJK characters and of pairs of them.

    Vectors depend on the text alone: the same in every process, on every machine.
    """

    max_tokens = 512
    batch_texts = 256

    def __init__(self, dimensions: int = 384) -> None:
        self._dimensions = dimensions
        self.identity = ModelIdentity("hashing", "words-and-cjk", dimensions)

    def count_tokens(self, text: str) -> int:
        """An estimate of what a real model would count, so that chunks get a usual size."""
        return estimate_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refusal]:
        return [unfit(text, self.count_tokens(text), self.max_tokens) or self._embed(text) for text in texts]

    def embed_queries(self, texts: Sequence[str], *, timeout_seconds: float = math.inf) -> list[Vector]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Vector:
        features = Counter(_features(valid_text(text)))
        hashes = np.fromiter(map(_hash, features), dtype=np.uint64, count=len(features))
        weights = np.sqrt(np.fromiter(features.values(), dtype=np.float64, count=len(features)))
        signs = np.where(hashes & np.uint64(1), weights, -weights)
        slots = ((hashes >> np.uint64(1)) % np.uint64(self._dimensions)).astype(np.intp)
        sums = np.bincount(slots, weights=signs, minlength=self._dimensions)
        length = np.linalg.norm(sums)
        if length == 0.0:  # no words, or all cancel each other out
            sums[_hash(text) % self._dimensions] = 1.0
            length = np.float64(1.0)
        return (sums / length).astype(np.float32)


def _features(text: str) -> list[str]:
    features: list[str] = []
    for piece in _PIECES.findall(unicodedata.normalize("NFKC", text).lower()):
        if _CJK_START.match(piece):
            features += piece
            features += [piece[i : i + 2] for i in range(len(piece) - 1)]
        else:
            features.append(piece)
    return features


@lru_cache(maxsize=65_536)
def _hash(feature: str) -> int:
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
