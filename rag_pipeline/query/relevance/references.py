"""How near a query is to any text at all, for models whose cosines lie close together whatever is compared.

Some queries are near to everything: small talk has cosines that a good match of another query has. What tells
them apart is how much nearer a chunk is than texts about nothing in particular, written in its script. Those
texts are fixed, so that what is measured depends on the model alone and on nobody's documents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rag_pipeline.embedding.embedder import Embedder, Refusal, Vector
from rag_pipeline.errors import EmbeddingUnavailable

_OTHERS: Final = (
    "The committee met on Tuesday and approved the minutes of the last meeting.",
    "Heat the oil in a pan, add the onions and stir until they are soft.",
    "The river rises in the mountains and flows into the sea near the old port.",
    "Press the button for three seconds until the light turns green.",
    "The home team scored twice in the second half and won the match.",
    "Payment is due within one month of the date of the invoice.",
    "The cells divide, and each new cell holds a full copy of the genome.",
    "The museum is closed on Mondays and on public holidays.",
    "The king died without an heir, and a war over the crown began.",
    "Children under twelve travel free if an adult goes with them.",
    "The function returns a list that is sorted by name.",
    "Rain is expected in the north, with strong winds along the coast.",
)
_HAN: Final = (
    "委员会于星期二开会，通过了上次会议的记录。",
    "锅中放油加热，放入洋葱，翻炒至变软。",
    "这条河发源于山区，在古港附近流入大海。",
    "按住按钮三秒钟，直到指示灯变绿。",
    "主队在下半场两次得分，赢得了比赛。",
    "款项应在发票日期起一个月内支付。",
    "细胞分裂后，每个新细胞都含有完整的基因组。",
    "博物馆每周一和公共假日闭馆。",
    "国王去世时没有继承人，于是爆发了王位之争。",
    "十二岁以下儿童由成人陪同可免费乘车。",
    "该函数返回一个按名称排序的列表。",
    "预计北部有雨，沿海地区风力较强。",
)


@dataclass(frozen=True, slots=True)
class UsualCosines:
    """A query's mean cosine with texts about nothing in particular, in Han characters and in others."""

    han: float
    other: float

    def of(self, written_in_han: bool) -> float:
        """The one for texts in a script."""
        return self.han if written_in_han else self.other


class References:
    """The mean vectors of those texts, embedded when first needed and then kept. Safe between threads."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Vector, Vector]] = {}

    def usual(self, embedder: Embedder, queries: Sequence[Vector]) -> list[UsualCosines]:
        """The usual cosines of each query's vector. Raises EmbeddingUnavailable."""
        key = embedder.identity.key
        if key not in self._kept:
            vectors = embedder.embed_passages([*_HAN, *_OTHERS])
            self._kept[key] = _mean(vectors[: len(_HAN)]), _mean(vectors[len(_HAN) :])
        han, other = self._kept[key]
        return [UsualCosines(float(query @ han), float(query @ other)) for query in queries]


def _mean(vectors: Sequence[Vector | Refusal]) -> Vector:
    whole = [vector for vector in vectors if not isinstance(vector, Refusal)]
    if not whole:
        raise EmbeddingUnavailable(
            "The embedding model refuses every text that relevance is measured against."
        )
    mean: Vector = np.mean(whole, axis=0, dtype=np.float32)
    return mean
