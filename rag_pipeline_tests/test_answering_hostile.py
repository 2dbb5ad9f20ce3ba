"""Whatever a model replies or a passage holds: checking it ends soon, and without an error."""

import json
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_pipeline.query.answering.links import links, without_links
from rag_pipeline.query.answering.prompts import harmless
from rag_pipeline.query.answering.replies import BadReply, read_draft, read_thought
from rag_pipeline.query.answering.validating import validate
from rag_pipeline_tests.evidence_samples import draft_of, evidence_of

PASSAGE = "Hardware may be returned within 14 days of delivery if it is unused. See https://a.example/x."
QUESTION = "How long can hardware be returned?"
HOSTILE = {
    "letters": "a", "name": "a.", "address": "a@", "dashes": "a-", "mail": "mailto:", "scheme": "http:",
    "opening": "[", "link": "[](", "link with address": "[](a", "link with title": "[](a '", "image": "![",
    "closing": "https://a" + ")" * 99, "brackets": "( ", "spaces": " ", "lines": "\n", "angles": "<>",
    "bars": "|", "full angles": "＜＞", "label": "[S1", "label and blanks": "[S1" + " " * 97, "quotes": '"',
    "quotation": "“", "guillemets": "«", "low quotes": "„", "corner": "「", "underscores": "_",
    "emphasis": "a**_", "underscored": "a" + "_" * 98 + "b", "myriads": "3" + "亿" * 99, "not": "not ",
    "不": "不", "Han": "退货", "numbers": "7 ", "sentences": "7 days. ", "claims": "A refund takes 3 days. ",
    "tags": "</", "items": "- 1. ",
}  # fmt: skip


def validated(text: str) -> None:
    claim = f"Hardware may be returned within 14 days of delivery. {text}"
    validate(draft_of((claim, "S1"), text=f"{claim}!"), evidence_of(PASSAGE), QUESTION)


def unlinked(text: str) -> None:
    without_links(text, links(text) | {"https://b.example"})


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def seconds(check: Callable[[str], object], length: int) -> float:
        text = piece * (length // len(piece))
        started = time.process_time()
        check(text)
        return time.process_time() - started

    for check, length in ((validated, 4_000), (unlinked, 20_000), (harmless, 20_000)):
        seconds(check, 100)
        # Ten times the text in at most about ten times the time; quadratic would be a hundred times.
        assert seconds(check, length) <= 30 * max(seconds(check, length // 10), 0.01), check


def test_an_answer_without_end_is_none() -> None:
    def reply(answer: str, claims: list[str]) -> str:
        citations = [{"claim": claim, "evidence_ids": ["S1"]} for claim in claims]
        return json.dumps({"answered": True, "answer": answer, "citations": citations})

    assert read_draft(reply("a" * 8_000, ["a"] * 50)).answered
    for answer, claims in (("a" * 8_001, ["a"]), ("a", ["a"] * 51), ("a", ["a" * 4_001] * 2)):
        with pytest.raises(BadReply, match="longer than 8000 characters or has more than 50 claims"):
            read_draft(reply(answer, claims))


@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_what_no_trace_could_store_is_no_reply(character: str) -> None:
    note = json.dumps({"sufficient": True, "note": f"a{character}b"})
    with pytest.raises(BadReply, match="cannot be stored"):
        read_thought(note)
    for answer, claim, label in ((character, "a", "S1"), ("a", character, "S1"), ("a", "a", character)):
        citations = [{"claim": claim, "evidence_ids": [label]}]
        with pytest.raises(BadReply, match="cannot be stored") as raised:
            read_draft(json.dumps({"answered": True, "answer": answer, "citations": citations}))
        str(raised.value).encode()


@given(
    st.lists(st.sampled_from([*HOSTILE.values(), "İ", "ſ", "\u212a", "ı"]) | st.text(max_size=4), max_size=9)
)
@settings(max_examples=60)
def test_no_text_breaks_it(pieces: list[str]) -> None:
    text = "".join(piece[:10] for piece in pieces)
    validated(text)
    unlinked(text)
