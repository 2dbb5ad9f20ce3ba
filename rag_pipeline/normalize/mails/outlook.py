"""Outlook's mails (.msg) taken apart."""

from typing import Final

from rag_pipeline.normalize.mails.mail import Attachment, Body, Mail
from rag_pipeline.normalize.mails.parsing import addresses, readable

# MAPI property numbers, and values of the first.
_RECIPIENT_TYPE: Final = 0x0C15
_CC: Final = 2
_BCC: Final = 3
_RICH_TEXT: Final = 0x1009


def parse_outlook_mail(data: bytes) -> Mail:
    """Take an Outlook mail apart; its attachments are listed, not opened."""
    from oxmsg import Message

    message = Message.load(data)
    warnings: dict[str, None] = {}
    to: list[str] = []
    cc: list[str] = []
    for recipient in message.recipients:
        kind = recipient.properties.int_prop_value(_RECIPIENT_TYPE)
        if kind != _BCC:
            (cc if kind == _CC else to).append(_address(recipient.name, recipient.email_address))
    plain, rich = message.body, message.html_body
    body = Body(plain) if plain and plain.strip() else Body(rich or "", is_html=True)
    if not body.text.strip() and message.properties.binary_prop_value(_RICH_TEXT):
        warnings["the mail's text is kept as RTF only, which is not read"] = None
    return Mail(
        subject=" ".join(message.subject.split()),
        sender=addresses(readable(message.sender or "", warnings)),
        to=", ".join(filter(None, to)),
        cc=", ".join(filter(None, cc)),
        date=message.sent_date.isoformat() if message.sent_date else "",
        bodies=(body,) if body.text.strip() else (),
        attachments=tuple(
            Attachment(
                attachment.file_name or f"attachment-{number}",
                attachment.mime_type or "application/octet-stream",
            )
            for number, attachment in enumerate(message.attachments, 1)
        ),
        warnings=tuple(warnings),
    )


def _address(name: str, address: str) -> str:
    name, address = " ".join((name or "").split()), " ".join((address or "").split())
    return f"{name} <{address}>" if name and address and name != address else address or name
