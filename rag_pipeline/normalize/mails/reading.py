"""Mails: headers as facts, the text without what it quotes, the attachments listed."""

from dataclasses import replace

from rag_pipeline.normalize.assembling import Piece, assemble
from rag_pipeline.normalize.characters.cleaning import clean
from rag_pipeline.normalize.document import BlockKind, NormalizedDocument, Removed
from rag_pipeline.normalize.mails.mail import Mail
from rag_pipeline.normalize.mails.outlook import parse_outlook_mail
from rag_pipeline.normalize.mails.parsing import parse_mail
from rag_pipeline.normalize.mails.quotes import plain_pieces, rich_pieces
from rag_pipeline.normalize.web.html_reading import read_page


def convert_mail(data: bytes) -> NormalizedDocument:
    """Read an Internet mail."""
    return _document(parse_mail(data))


def convert_outlook_mail(data: bytes) -> NormalizedDocument:
    """Read a mail that Outlook saved."""
    return _document(parse_outlook_mail(data))


def _document(mail: Mail) -> NormalizedDocument:
    """The subject as heading, the headers as one block, the body, the attachments as a list."""
    pieces = []
    removed: list[Removed] = []
    warnings = list(mail.warnings)
    if mail.subject:
        pieces.append(Piece(BlockKind.HEADING, f"# {mail.subject}", 1))
    facts = {"From": mail.sender, "To": mail.to, "Cc": mail.cc, "Date": mail.date}
    pieces.append(
        Piece(BlockKind.PARAGRAPH, "  \n".join(f"{name}: {value}" for name, value in facts.items() if value))
    )
    for body in mail.bodies:
        if body.is_html:
            page = read_page(body.text, whole_site=False)
            pieces += rich_pieces(page.pieces)
            removed += page.removed
            warnings += page.warnings
        else:
            text, notes = clean(body.text)
            pieces += plain_pieces(text)
            warnings += notes
    if mail.attachments:
        pieces.append(Piece(BlockKind.HEADING, "## Attachments", 2))
        pieces += [
            Piece(BlockKind.LIST_ITEM, f"- {attachment.name} ({attachment.mime_type})")
            for attachment in mail.attachments
        ]
    markdown, blocks = assemble(_cleaned(piece) for piece in pieces)
    return NormalizedDocument(
        markdown=markdown,
        blocks=blocks,
        title=clean(mail.subject).text or None,
        warnings=tuple(dict.fromkeys(warnings)),
        removed=tuple(removed),
    )


def _cleaned(piece: Piece) -> Piece:
    return replace(piece, text=clean(piece.text).text)
