"""Mails are read with their headers as facts, and what they quote set apart."""

from datetime import UTC, datetime
from email.message import EmailMessage

import pytest

from rag_pipeline.normalize.document import BlockKind
from rag_pipeline_tests.outlook_files import outlook_mail
from rag_pipeline_tests.reading import blocks_of, read_document, removed_texts


def mail(body: str, *, html: str | None = None) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Jane Example <jane@example.org>"
    message["To"] = "张三 <zhang@example.org>, bob@example.org"
    message["Cc"] = "team@example.org"
    message["Subject"] = "Refunds für alle ✓"
    message["Date"] = "Tue, 03 Mar 2026 10:00:00 +0100"
    message.set_content(body)
    if html is not None:
        message.add_alternative(html, subtype="html")
    return message


def test_headers_are_facts_and_attachments_are_listed_unopened() -> None:
    message = mail("Within 14 days.")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="terms.pdf")
    message.add_attachment("the secret text", filename="notiz ü.txt")
    document = read_document(message.as_bytes(), "a.eml")
    assert document.markdown == (
        "# Refunds für alle ✓\n\nFrom: Jane Example <jane@example.org>  \n"
        "To: 张三 <zhang@example.org>, bob@example.org  \nCc: team@example.org  \n"
        "Date: 2026-03-03T10:00:00+01:00\n\nWithin 14 days.\n\n"
        "## Attachments\n\n- terms.pdf (application/pdf)\n- notiz ü.txt (text/plain)"
    )
    assert document.title == "Refunds für alle ✓"


def test_quoted_replies_and_the_signature_are_blocks_of_their_own() -> None:
    body = (
        "Answer one.\n\n> What about refunds?\n> Really?\n\nAnswer two.\n\n-- \nJane\nLegal\n\n"
        "On Mon, 2 Mar 2026 at 09:00, Bob <bob@example.org> wrote:\n\n> Old text.\n"
    )
    document = read_document(mail(body).as_bytes(), "a.eml")
    assert blocks_of(document, BlockKind.QUOTE) == [
        "> What about refunds?\n> Really?",
        "> On Mon, 2 Mar 2026 at 09:00, Bob <bob@example.org> wrote:",
        "> Old text.",
    ]
    assert blocks_of(document, BlockKind.OTHER) == ["-- \nJane\nLegal"]
    assert blocks_of(document, BlockKind.PARAGRAPH)[1:] == ["Answer one.", "Answer two."]


@pytest.mark.parametrize(
    "separator",
    [
        "-----Original Message-----\n",
        "________________\nFrom: Bob <b@example.org>\nSent: Monday\nTo: Jane\nSubject: Hello\n\n",
        "Von: Bob\nGesendet: Montag\nAn: Jane\nBetreff: Hallo\n\n",
        "发件人: 鲍勃\n发送时间: 2026年3月2日\n收件人: 简\n主题: 你好\n\n",
        "---------- Forwarded message ---------\nFrom: Bob\n\n",
        "Am Mo., 2. März 2026 um 09:00 Uhr schrieb Bob <b@example.org>:\n",
    ],
)
def test_what_follows_the_header_of_another_mail_is_quoted(separator: str) -> None:
    document = read_document(mail(f"My own words.\n\n{separator}Older words.\n").as_bytes(), "a.eml")
    assert any("Older words." in quote for quote in blocks_of(document, BlockKind.QUOTE))
    assert "My own words." in blocks_of(document, BlockKind.PARAGRAPH)


def test_the_html_form_is_read_where_the_plain_one_says_nothing() -> None:
    html = (
        "<html><body><div style='display:none'>Preview text</div><h2>Offer</h2><p>Fourteen days to return "
        "whatever you bought, no questions asked.</p><blockquote type='cite'><p>Old words.</p></blockquote>"
        "<div><p><b>From:</b> Bob<br><b>Sent:</b> Monday<br><b>To:</b> Jane</p><p>Older words.</p></div>"
        "</body></html>"
    )
    document = read_document(mail("HTML only", html=html).as_bytes(), "a.eml")
    assert "Fourteen days to return" in document.markdown
    assert blocks_of(document, BlockKind.QUOTE)[0] == "> Old words."
    assert blocks_of(document, BlockKind.QUOTE)[-1] == "> Older words."
    assert removed_texts(document, "hidden") == ["Preview text"]
    assert "HTML only" not in document.markdown


def test_the_plain_form_is_preferred() -> None:
    document = read_document(
        mail("The same words.", html="<p>The same <b>words</b>.</p>").as_bytes(), "a.eml"
    )
    assert document.markdown.endswith("\n\nThe same words.")


def test_lines_that_were_broken_to_fit_are_joined() -> None:
    raw = (
        b"From: a@example.org\nTo: b@example.org\nSubject: x\nContent-Type: text/plain; format=flowed\n\n"
        b"A long \nline.\n> quoted \n> lines\n"
    )
    assert "A long line." in read_document(raw, "a.eml").markdown


@pytest.mark.parametrize("declared", ["utf-8", "x-unknown", "us-ascii"])
def test_a_wrong_charset_is_tolerated_with_a_warning(declared: str) -> None:
    raw = (
        f"From: Jürgen <j@example.org>\nTo: b@example.org\nSubject: Grüße\n"
        f"Content-Type: text/plain; charset={declared}\n\n"
        "Die Rückgabe ist für alle Kunden möglich, natürlich ohne Gebühr.\n"
    ).encode("latin-1")
    document = read_document(raw, "a.eml")
    assert "Die Rückgabe ist für alle Kunden möglich" in document.markdown
    assert "Grüße" in document.markdown
    assert any("charset" in warning for warning in document.warnings)


def test_broken_headers_do_not_keep_a_mail_from_being_read() -> None:
    raw = (
        b"From: =?utf-8?B?broken\nTo: undisclosed recipients:;\nSubject: =?nonsense?Q?Hi_there?=\n"
        b"Date: yesterday\nContent-Type: multipart/mixed; boundary=never\n\nStill readable words.\n"
    )
    document = read_document(raw, "a.eml")
    assert "Hi there" in document.markdown
    assert "Date: yesterday" in document.markdown


def test_outlooks_own_format_reads_like_any_mail() -> None:
    data = outlook_mail(
        {
            0x001A: "IPM.Note",
            0x0037: "Refunds",
            0x0C1A: "Jane Example",
            0x0C1F: "jane@example.org",
            0x1000: "Within 14 days.\r\n\r\n-----Original Message-----\r\nFrom: Bob\r\n\r\nHow long?\r\n",
        },
        sent=datetime(2026, 3, 3, 9, 0, tzinfo=UTC),
        recipients=[("张三", "zhang@example.org", 1), ("Team", "team@example.org", 2), ("Eve", "e@x.org", 3)],
        attachments=[("terms.pdf", "application/pdf")],
    )
    document = read_document(data, "a.msg")
    assert document.markdown.startswith(
        "# Refunds\n\nFrom: Jane Example <jane@example.org>  \nTo: 张三 <zhang@example.org>  \n"
        "Cc: Team <team@example.org>  \nDate: 2026-03-03T09:00:00+00:00\n\nWithin 14 days.\n\n> "
    )
    assert "> How long?" in blocks_of(document, BlockKind.QUOTE)
    assert blocks_of(document, BlockKind.LIST_ITEM) == ["- terms.pdf (application/pdf)"]
