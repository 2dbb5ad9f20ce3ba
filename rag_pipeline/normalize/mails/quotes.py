"""Setting apart what a mail's writer did not write in it: quoted mails, and the signature below."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rag_pipeline.normalize.assembling import Piece
from rag_pipeline.normalize.document import BlockKind
from rag_pipeline.normalize.web.html_blocks import quote_markdown

_QUOTED: Final = re.compile(r"\s{0,3}>")
_DASHED: Final = re.compile(
    r"\s*[-_]{2,}\s*(original message|forwarded message|forwarded by|ursprüngliche nachricht|"
    r"message d'origine|mensaje original|messaggio originale|原始邮件|原始郵件|元のメッセージ|转发邮件)\b.*",
    re.IGNORECASE,
)
_FORWARDED: Final = re.compile(r"\s*begin forwarded message:\s*", re.IGNORECASE)
# "On Tuesday somebody wrote:" in the languages of the mail programs that write it.
_WROTE: Final = re.compile(
    r"\s*(on|am|le|el|il|op|den|dnia|em)\b.{4,200}"
    r"\b(wrote|schrieb|a écrit|escribió|ha scritto|schreef|skrev|napisał|escreveu)\b.{0,80}:\s*"
    r"|\s*在.{4,200}写道[:：]\s*|\s*\d{4}[-/年].{4,200}<[^<>\s]+@[^<>\s]+>\s*[:：]\s*",
    re.IGNORECASE,
)
_HEADER_LINE: Final = re.compile(
    r"[\s*]*(from|sent|date|to|cc|subject|von|gesendet|datum|an|betreff|de|envoyé|date|à|objet|para|enviado|asunto|"
    r"da|inviato|a|oggetto|发件人|发送时间|日期|收件人|抄送|主题|寄件者|收件者|主旨|差出人|送信日時|宛先|件名)"
    r"[\s*]*[:：].*",
    re.IGNORECASE,
)
# So many header lines in a row are those of another mail.
_HEADER_LINES: Final = 3
_SIGNATURE: Final = re.compile(r"--\s?")
_LONGEST_SIGNATURE: Final = 20
_BLANK: Final = re.compile(r"\n(?:[^\S\n]*\n)+")


def plain_pieces(text: str) -> list[Piece]:
    """A plain mail's paragraphs as pieces: what it quotes as quotes, its signature as a block of its own."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    pieces: list[Piece] = []
    for kind, part in _parts(lines):
        for paragraph in _BLANK.split("\n".join(part).strip("\n")):
            if not paragraph.strip():
                continue
            if kind is BlockKind.QUOTE:
                quoted = "\n".join(
                    line if _QUOTED.match(line) else f"> {line}" for line in paragraph.split("\n")
                )
                pieces.append(Piece(kind, quoted))
            else:
                pieces.append(Piece(kind, paragraph))
    return pieces


def rich_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """An HTML mail's pieces, those from the header of an earlier mail on as quotes."""
    for at, piece in enumerate(pieces):
        lines = [line for other in pieces[at : at + _HEADER_LINES] for line in other.text.split("\n")]
        if _begins_other_mail(lines, 0) and piece.kind is BlockKind.PARAGRAPH:
            return [*pieces[:at], *map(_as_quote, pieces[at:])]
    return list(pieces)


def _as_quote(piece: Piece) -> Piece:
    return piece if piece.kind is BlockKind.QUOTE else Piece(BlockKind.QUOTE, quote_markdown([piece]))


def _parts(lines: Sequence[str]) -> Iterator[tuple[BlockKind, Sequence[str]]]:
    """Runs of lines that are the writer's own, quoted, or the signature, in the mail's order."""
    start = 0
    kind = BlockKind.PARAGRAPH
    for at, line in enumerate(lines):
        if _begins_other_mail(lines, at):
            yield kind, lines[start:at]
            yield BlockKind.QUOTE, lines[at:]
            return
        new = kind
        if _QUOTED.match(line) or (_WROTE.fullmatch(line) and _quote_follows(lines, at + 1)):
            new = BlockKind.QUOTE
        elif _SIGNATURE.fullmatch(line) and _ends_soon(lines, at):
            new = BlockKind.OTHER
        elif line.strip() and kind is BlockKind.QUOTE:
            new = BlockKind.PARAGRAPH
        if new is not kind:
            yield kind, lines[start:at]
            start, kind = at, new
    yield kind, lines[start:]


def _begins_other_mail(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    if _DASHED.fullmatch(line) or _FORWARDED.fullmatch(line):
        return True
    if not _HEADER_LINE.fullmatch(line):
        return bool(_WROTE.fullmatch(line)) and not _quote_follows(lines, at + 1)
    following = [text for text in lines[at : at + 2 * _HEADER_LINES] if text.strip()][:_HEADER_LINES]
    return len(following) == _HEADER_LINES and all(map(_HEADER_LINE.fullmatch, following))


def _quote_follows(lines: Sequence[str], at: int) -> bool:
    following = next((line for line in lines[at : at + 4] if line.strip()), "")
    return bool(_QUOTED.match(following))


def _ends_soon(lines: Sequence[str], at: int) -> bool:
    """Whether a signature's lines end the mail, or what is quoted below them begins, within a few lines."""
    for number in range(at + 1, len(lines)):
        if number - at > _LONGEST_SIGNATURE and lines[number].strip():
            return False
        if _QUOTED.match(lines[number]) or _begins_other_mail(lines, number):
            return True
    return True
