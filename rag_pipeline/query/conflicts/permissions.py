"""Whether something is allowed or forbidden."""

import re
from collections.abc import Iterator

from rag_pipeline.query.conflicts.conflict import ValueKind
from rag_pipeline.query.conflicts.value import ALLOWED, FORBIDDEN, Value
from rag_pipeline.query.scripts import HAN

_DONE = (
    "refunded|refundable|accepted|possible|permitted|allowed|welcome|supported|included|available|covered"
    "|exchangeable|transferable|eligible|reimbursed"
)
_PERMISSION = re.compile(
    rf"(?P<forbidden>\b(?:(?:are|is)[ ])?(?:prohibited|forbidden|banned|excluded)"
    rf"|\b(?:(?:(?:are|is)[ ])?(?:not|never|no[ ]longer)[ ](?:be[ ])?(?:{_DONE})"
    rf"|(?:are|is)n't[ ](?:{_DONE})|(?:must|may|should)[ ](?:not|never)|mustn't|cannot|can[ ]not"
    r"|can[ ]never|can't|(?:do|does)[ ]not[ ](?:allow|permit|accept|refund|support|cover)"
    r"|non-(?:refundable|transferable))\b"
    r"|不得|禁止|严禁|不可以?|不能够?|不允许|不准|不许|不支持|不予|不接受|谢绝|无法|不退|不适用)"
    rf"|(?P<allowed>\b(?:may|can|(?:are|is)[ ](?:also[ ]|always[ ])?(?:{_DONE}))\b"
    rf"|可以|允许|准许|支持|能够|欢迎|可(?=[{HAN}]))",
    re.IGNORECASE,
)


def find_permissions(text: str) -> Iterator[Value]:
    """The places where a text allows or forbids."""
    for match in _PERMISSION.finditer(text):
        unit = FORBIDDEN if match["forbidden"] else ALLOWED
        yield Value(ValueKind.PERMISSION, match[0], match.start(), match.end(), unit=unit)
