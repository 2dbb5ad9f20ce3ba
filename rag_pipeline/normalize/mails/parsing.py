"""Internet mails (.eml) taken apart, however carelessly they were written."""

import email
from collections.abc import Iterator
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from typing import Final

from rag_pipeline.normalize.characters.decoding import decode
from rag_pipeline.normalize.mails.mail import Attachment, Body, Mail
from rag_pipeline.normalize.web.html_parsing import parse_html

_UNICODE: Final = ("utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf-7")
# A plain text much shorter than the HTML beside it only says that the mail is HTML.
_LEAST_PLAIN: Final = 0.2


def parse_mail(data: bytes) -> Mail:
    """Take a mail apart. Nothing in it is an error: what cannot be read is kept as it is, with a warning."""
    warnings: dict[str, None] = {}
    message = email.message_from_bytes(data)
    headers = _headers(message, warnings)
    bodies: list[Body] = []
    attachments: list[Attachment] = []
    for part in _shown_parts(message):
        if _is_attachment(part):
            attachments.append(_attachment(part, warnings, number=len(attachments) + 1))
        elif text := _text(part, warnings):
            bodies.append(Body(text, part.get_content_type() == "text/html"))
    return Mail(
        subject=headers.get("subject", ""),
        sender=addresses(headers.get("from", "")),
        to=addresses(headers.get("to", "")),
        cc=addresses(headers.get("cc", "")),
        date=_date(headers.get("date", "")),
        bodies=tuple(bodies),
        attachments=tuple(attachments),
        warnings=tuple(warnings),
    )


def _shown_parts(message: Message) -> Iterator[Message]:
    """The parts that a mail program shows or lists: of several forms of one text only one."""
    if message.get_content_type() == "message/rfc822" or not message.is_multipart():
        yield message
        return
    parts = [part for part in message.get_payload() if isinstance(part, Message)]
    if message.get_content_type() == "multipart/alternative":
        chosen = _best(parts)
        yield from _shown_parts(chosen) if chosen else ()
        # Anything but another form of the text, as an invitation, is listed.
        parts = [part for part in parts if part is not chosen and not _is_text(part)]
    for part in parts:
        yield from _shown_parts(part)


def _best(parts: list[Message]) -> Message | None:
    """The plain form, unless it says next to nothing of what the HTML form does."""
    plain = next((part for part in parts if part.get_content_type() == "text/plain"), None)
    rich = next((part for part in parts if part is not plain and _is_text(part)), None)
    if plain is None or rich is None:
        return plain or rich
    ignored: dict[str, None] = {}
    said = len(_text(plain, ignored).split())
    shown = sum(
        len(_plain(_text(part, ignored)).split())
        for part in rich.walk()
        if part.get_content_type() == "text/html"
    )
    return plain if said and said >= shown * _LEAST_PLAIN else rich


def _is_text(part: Message) -> bool:
    return any(inner.get_content_type() in ("text/html", "text/plain") for inner in part.walk())


def _plain(html: str) -> str:
    root, _ = parse_html(html)
    return str(root.find("body").text_content())


def _is_attachment(part: Message) -> bool:
    if part.get_content_type() not in ("text/plain", "text/html"):
        return True
    return part.get_content_disposition() == "attachment" or (
        part.get_filename() is not None and part.get_content_disposition() != "inline"
    )


def _attachment(part: Message, warnings: dict[str, None], *, number: int) -> Attachment:
    name = readable(str(part.get_filename() or ""), warnings)
    if not name and part.get_content_type() == "message/rfc822":
        inner = part.get_payload()
        if isinstance(inner, list) and inner and isinstance(inner[0], Message):
            name = _headers(inner[0], warnings).get("subject", "")
    return Attachment(name or f"attachment-{number}", part.get_content_type())


def _text(part: Message, warnings: dict[str, None]) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    charset = (part.get_content_charset() or "").strip("\"' ")
    text = _decoded(data, charset, warnings, is_html=part.get_content_type() == "text/html")
    if part.get_content_type() == "text/plain" and part.get_param("format") == "flowed":
        text = _unfolded(text, delete_space=str(part.get_param("delsp", "")).lower() == "yes")
    return text


def _decoded(data: bytes, charset: str, warnings: dict[str, None], *, is_html: bool = False) -> str:
    if charset:
        try:
            text = data.decode(charset)
        except (LookupError, UnicodeDecodeError, ValueError):
            warnings[f"a text of the mail is not in the charset that it declares ({charset})"] = None
        else:
            if charset not in _UNICODE and not text.isascii():
                warnings[f"the mail is not in Unicode; it was read as it declares, as {charset}"] = None
            return text
    decoded = decode(data, declared=is_html)
    warnings.update(dict.fromkeys(decoded.warnings))
    return decoded.text


def _unfolded(text: str, *, delete_space: bool) -> str:
    """Lines of a flowed text that were only broken to fit (RFC 3676) joined again, quotes left alone."""
    lines: list[str] = []
    goes_on = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if goes_on and not line.startswith(">"):
            lines[-1] += line.removeprefix(" ")
        else:
            lines.append(line.removeprefix(" "))
        goes_on = line.endswith(" ") and not line.startswith(">") and line != "-- "
        if goes_on and delete_space:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)


def _headers(message: Message, warnings: dict[str, None]) -> dict[str, str]:
    """The first header of each name, in readable characters on one line."""
    headers: dict[str, str] = {}
    for name, value in message.raw_items():
        if name.lower() not in headers:
            headers[name.lower()] = readable(str(value), warnings)
    return headers


def readable(value: str, warnings: dict[str, None]) -> str:
    """A header's value with its encoded words decoded, on one line."""
    raw = value.encode("utf-8", "surrogateescape")
    if not raw.isascii():
        value = _decoded(raw, "utf-8" if _is_utf8(raw) else "", warnings)
    try:
        parts = decode_header(value)
    except (email.errors.HeaderParseError, ValueError):
        parts = [(value, None)]
    words = (
        part if isinstance(part, str) else _decoded(part, charset or "", warnings) for part, charset in parts
    )
    return " ".join("".join(words).split())


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def addresses(value: str) -> str:
    """Names and addresses, separated by commas; the header as it is where it lists no address."""
    listed = [
        f"{name} <{address}>" if name else address for name, address in getaddresses([value]) if address
    ]
    return ", ".join(listed) or value


def _date(value: str) -> str:
    try:
        return parsedate_to_datetime(value).isoformat()
    except (ValueError, TypeError, IndexError):
        return value
