"""What is written in another shape is found all the same: passages and questions are folded alike."""

import unicodedata

import numpy as np
import pytest

from rag_pipeline.embedding.hashing import HashingEmbedder
from rag_pipeline.embedding.text import valid_text
from rag_pipeline.index.sparse import passage_terms, query_terms

SHAPES = {
    "full-width digits and letters": ("１４天内可退款，型号ＡＢＣ－１２３", "14天内可退款，型号ABC－123"),
    "decomposed accents": (unicodedata.normalize("NFD", "café résumé Tiếng Việt"), "café résumé Tiếng Việt"),
    "ligatures": ("eﬃcient oﬀice ﬁle", "efficient office file"),
    "zero-width characters": ("re\u200bfund pol\u2060icy \ufeffrules", "refund policy rules"),
    "joiners between Latin letters": ("re\u200dfund pol\u200cicy", "refund policy"),
    "soft hyphens": ("cus\u00adtomer ser\u00advice", "customer service"),
    "direction marks": ("\u200frefund\u200e \u202apolicy\u202c", "refund policy"),
    "half-width katakana": ("ﾊﾞｽの料金", "バスの料金"),
    "Arabic presentation forms": ("ﺳﻼﻡ", "سلام"),
    "mathematical letters": ("𝐑𝐞𝐟𝐮𝐧𝐝 policy", "Refund policy"),
    "Hangul jamo": (unicodedata.normalize("NFD", "환불 정책"), "환불 정책"),
}


def similarity(one: object, other: object) -> float:
    assert isinstance(one, np.ndarray)
    assert isinstance(other, np.ndarray)
    return float(one @ other)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_and_its_plain_form_find_each_other(shape: str) -> None:
    written, plain = SHAPES[shape]
    assert valid_text(written) == valid_text(plain)
    for passage, question in ((written, plain), (plain, written)):
        assert set(query_terms(question).indices) == set(query_terms(passage).indices)
        assert set(query_terms(question).indices) <= set(passage_terms(passage).indices)
        embedder = HashingEmbedder()
        (vector,) = embedder.embed_passages([passage])
        (asked,) = embedder.embed_queries([question])
        assert similarity(vector, asked) == pytest.approx(similarity(asked, asked))


@pytest.mark.parametrize(
    "text", ["10² m", "① first", "½ cup", "می\u200cخواهم", "हिन्दी क\u094d\u200dष", "a, b", "，。"]
)
def test_what_carries_meaning_is_left_as_it_is(text: str) -> None:
    assert valid_text(text) == unicodedata.normalize("NFC", text)
