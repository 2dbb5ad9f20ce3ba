"""Subtitles (WebVTT) as what was said, by whom: one paragraph for each turn of a speaker."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final, NamedTuple

from rag_pipeline.normalize.assembling import Piece, assemble
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument, Removed

_TIMING: Final = re.compile(
    r"((?:\d+:)?\d{1,2}:\d{2}[.,]\d{3})[ \t]+-->[ \t]+((?:\d+:)?\d{1,2}:\d{2}[.,]\d{3})"
)
_VOICE: Final = re.compile(r"<v(?:\.[^\s>]+)*[ \t]+([^>]+)>")
_EMPHASIS: Final = re.compile(r"<(/?)([bi])(?:\.[^>]*)?>")
_TAG: Final = re.compile(r"</?[A-Za-z][^>]*>|<\d[\d:.]*>")
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’)\]]*$")
# Where nobody is named, a pause between sentences, or enough text, begins another paragraph.
_PAUSE: Final = 2.0
_LONG: Final = 400


class _Cue(NamedTuple):
    start: float
    end: float
    speaker: str
    text: str


def convert_webvtt(data: bytes) -> NormalizedDocument:
    """Read subtitles. Times are not part of the text; notes, which no viewer sees, are left out."""
    decoded = decode(data)
    text, warnings = clean(decoded.text)
    header, *parts = re.split(r"\n[ \t]*\n", text.strip("\n"))
    title = header.partition("\n")[0].removeprefix("WEBVTT").strip(" \t-:")
    removed = tuple(
        Removed("note", part.strip().removeprefix("NOTE").strip())
        for part in parts
        if part.strip().startswith("NOTE")
    )
    pieces = [Piece(BlockKind.HEADING, f"# {title}", 1)] if title else []
    pieces += [Piece(BlockKind.PARAGRAPH, turn) for turn in _turns(_without_repeats(_cues([header, *parts])))]
    markdown, blocks = assemble(pieces)
    return NormalizedDocument(
        markdown=markdown,
        blocks=blocks,
        title=title or None,
        warnings=(*decoded.warnings, *warnings),
        decisions=(decoded.decision,),
        removed=removed,
    )


def _cues(parts: list[str]) -> Iterator[_Cue]:
    for part in parts:
        lines = part.strip("\n").split("\n")
        for number, line in enumerate(lines[:3]):
            timing = _TIMING.match(line.strip())
            if timing and not lines[0].startswith("NOTE"):
                yield from _spoken(_seconds(timing.group(1)), _seconds(timing.group(2)), lines[number + 1 :])
                break


def _spoken(start: float, end: float, lines: list[str]) -> Iterator[_Cue]:
    """The texts of a cue, one for each speaker in it."""
    text = "\n".join(lines)
    speakers = ["", *(match.group(1).strip() for match in _VOICE.finditer(text))]
    for speaker, said in zip(speakers, _VOICE.sub("\x00", text).split("\x00"), strict=True):
        said = _EMPHASIS.sub(lambda match: "*" if match.group(2) == "i" else "**", said)
        said = unescape(_TAG.sub("", said))
        if said.strip():
            yield _Cue(start, end, unescape(speaker), said.strip())


def _without_repeats(cues: Iterator[_Cue]) -> Iterator[_Cue]:
    """Cues without the lines that they only keep on the screen from the cue before."""
    shown: list[str] = []
    for cue in cues:
        lines = cue.text.split("\n")
        new = lines
        for count in range(min(len(shown), len(lines)), 0, -1):
            if shown[-count:] == lines[:count]:
                new = lines[count:]
                break
        shown = lines
        if new:
            yield cue._replace(text=" ".join(" ".join(new).split()))


def _turns(cues: Iterator[_Cue]) -> Iterator[str]:
    """Paragraphs of what one speaker says until another speaks."""
    said: list[str] = []
    last: _Cue | None = None
    for cue in cues:
        if last is not None and _begins_turn(last, cue, sum(map(len, said))):
            yield " ".join(said)
            said = []
        if not said and cue.speaker:
            said.append(f"{cue.speaker}:")
        said.append(cue.text)
        last = cue
    if said:
        yield " ".join(said)


def _begins_turn(last: _Cue, cue: _Cue, length: int) -> bool:
    if cue.speaker != last.speaker or cue.text.startswith(("- ", "– ", "— ", ">>")):
        return True
    ended = bool(_SENTENCE_END.search(last.text))
    return ended and (cue.start - last.end > _PAUSE or length > _LONG)


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds
