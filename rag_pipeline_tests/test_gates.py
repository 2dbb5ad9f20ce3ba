"""What passes the gates and what does not: every script and code do, mojibake and nothing do not."""

import io
import zipfile

import pytest

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize.archives import check_archive, check_bomb
from rag_pipeline.normalize.document import NormalizedDocument
from rag_pipeline.normalize.judging.gates import MAX_CHARACTERS, check, garbled
from rag_pipeline_tests.charset_samples import SAMPLES

READABLE = {
    "English": "Customers may return goods within fourteen days of delivery. " * 3,
    "Arabic": "يمكن للعملاء طلب استرداد الأموال خلال أربعة عشر يومًا من تاريخ الشراء. " * 3,
    "Chinese": "客户可在购买后十四天内申请退款，超过期限的申请需要经理批准。" * 3,
    "Japanese": "購入後14日以内に返金を申請できます。ｶﾀｶﾅも使えます。" * 3,
    "Korean": "고객은 구매 후 14일 이내에 환불을 요청할 수 있습니다. " * 3,
    "Vietnamese": "Khách hàng có thể yêu cầu hoàn tiền trong vòng mười bốn ngày kể từ ngày mua hàng. " * 3,
    "Russian": "Клиенты могут вернуть товар в течение четырнадцати дней. " * 3,
    "French": "Été à l’hôtel « Chez Åsa » : où sont les élèves ? Ça va, naïveté, œuvre. " * 3,
    "Hindi": "ग्राहक खरीद के चौदह दिनों के भीतर धनवापसी का अनुरोध कर सकते हैं। " * 3,
    "Thai": "ลูกค้าสามารถขอเงินคืนได้ภายในสิบสี่วัน " * 4,
    "emoji": "Done 👍🏽 and shipped 🚀 by the team 👩‍💻 today. " * 3,
    "code": "for (int i = 0; i < n; ++i) { a[i] ^= ~b[i] << 2 | c[i] & 0xff; } // $@#%\n" * 3,
    "table": "| Region | Days | Fee |\n|---|---|---|\n| EU | 14 | 0 |\n| US | 30 | 5 |\n" * 3,
    "icon": "Refund \ue0a0 14 days \ue0b0 policy of the company for all regions of the world",
}


@pytest.mark.parametrize("name", READABLE)
def test_text_that_people_read_passes(name: str) -> None:
    check(NormalizedDocument(READABLE[name], ()), 10**6)


@pytest.mark.parametrize(
    "text",
    [
        ("Gebühren für Übergrößen müssen vorher geklärt werden, schöne Grüße. " * 3)
        .encode()
        .decode("cp1252", "replace"),
        "客户可在购买后十四天内申请退款。".encode().decode("latin-1") * 3,
        "客户可在购买后十四天内申请退款。".encode("gbk").decode("latin-1") * 3,
        "Клиенты могут вернуть товар в течение дней. ".encode("cp1251").decode("latin-1") * 3,
        "Refund p\ufffdl\ufffdcy: g\ufffdods may be r\ufffdturned within \ufffd days. " * 3,
        "".join(chr(0xE000 + i % 60) for i in range(200)),
        (SAMPLES["zh-Hans"].paragraph * 3).encode("gbk").decode("euc_kr", "ignore"),
        (SAMPLES["ja"].paragraph * 3).encode("cp932").decode("gb18030", "ignore"),
        (SAMPLES["ar"].paragraph * 3).encode("cp1256").decode("big5", "ignore"),
        (SAMPLES["ru"].paragraph * 3).encode("koi8_r").decode("cp1251"),
        (SAMPLES["uk"].paragraph * 3).encode("cp1251").decode("koi8_u"),
    ],
)
def test_garbled_text_is_refused_with_advice(text: str) -> None:
    with pytest.raises(DocumentError) as failure:
        check(NormalizedDocument("Title abc\n\n" + text, ()), 10**6)
    assert failure.value.category is FailureCategory.GARBLED
    assert "UTF-8" in failure.value.message


@pytest.mark.parametrize("language", SAMPLES)
def test_every_language_passes(language: str) -> None:
    assert garbled(SAMPLES[language].paragraph * 4) is None
    assert garbled(SAMPLES[language].paragraph.upper() * 4) is None


@pytest.mark.parametrize("text", ["", " \n\t\n", "- - -\n\n| | |\n|---|---|\n", "\u3000\n"])
def test_a_document_without_a_letter_or_digit_is_empty(text: str) -> None:
    with pytest.raises(DocumentError) as failure:
        check(NormalizedDocument(text, ()), 10**6)
    assert failure.value.category is FailureCategory.EMPTY


def test_far_too_long_a_text_is_over_the_limit() -> None:
    with pytest.raises(DocumentError) as failure:
        check(NormalizedDocument("a" * (MAX_CHARACTERS + 1), ()), 10**6)
    assert failure.value.category is FailureCategory.OVER_LIMIT


def test_a_few_odd_characters_in_much_text_are_not_garbled() -> None:
    assert (
        garbled("A long and readable sentence about refunds and their rules. " * 20 + "\ufffd\ue000") is None
    )


def test_more_text_than_its_bytes_can_hold_is_over_the_limit() -> None:
    with pytest.raises(DocumentError) as failure:
        check(NormalizedDocument("abc " * 500_000, ()), 1_000)
    assert failure.value.category is FailureCategory.OVER_LIMIT
    assert "Export it anew" in failure.value.message
    check(NormalizedDocument("abc " * 500_000, ()), 50_000)


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def nested(levels: int) -> bytes:
    data = b"text"
    for level in range(levels):
        data = zipped({f"{level}.zip": data})
    return data


@pytest.mark.parametrize(
    "data", [nested(5), zipped({"a": b"0" * 60_000_000}), zipped({"a.zip": zipped({"a": b"0" * 60_000_000})})]
)
def test_an_archive_made_to_overload_is_called_that(data: bytes) -> None:
    with pytest.raises(DocumentError) as failure:
        check_bomb(data)
    assert failure.value.category is FailureCategory.OVER_LIMIT


@pytest.mark.parametrize(
    "data",
    [
        zipped({"a.txt": b"text"}),
        zipped({"a.zip": zipped({"a": b"b"})}),
        b"PK\x03\x04 no archive",
        zipped({"a.zip": b"no archive"}),
    ],
)
def test_an_ordinary_or_broken_archive_is_not(data: bytes) -> None:
    check_bomb(data)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("before", ["", f"<!--{'x' * 60_000}-->"])
def test_entities_in_an_office_file_are_found_wherever_they_stand(encoding: str, before: str) -> None:
    prolog = before if encoding == "utf-8" else ""
    xml = f'<?xml version="1.0"?>{prolog}<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    with pytest.raises(DocumentError) as failure:
        check_archive(zipped({"[Content_Types].xml": b"<a/>", "word/document.xml": xml.encode(encoding)}))
    assert failure.value.category is FailureCategory.CORRUPT
    assert "entities" in failure.value.message
