"""What a mail holds, whatever its format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that came with a mail: its name and its MIME type; its content is not opened."""

    name: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class Body:
    """A text of a mail, plain or HTML."""

    text: str
    is_html: bool = False


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail's headers as a reader sees them, its texts in order, its attachments, and what went wrong.

    `date` is RFC 3339 where the mail's own could be understood. Headers that are missing are "".
    """

    subject: str = ""
    sender: str = ""
    to: str = ""
    cc: str = ""
    date: str = ""
    bodies: tuple[Body, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    warnings: tuple[str, ...] = ()
