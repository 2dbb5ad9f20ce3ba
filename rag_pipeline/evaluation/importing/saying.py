"""Which of other people's answers must be said word for word."""

import re
from typing import Final

_YES_OR_NO: Final = re.compile(
    r"(yes|no|true|false|correct|incorrect"
    r"|是的?|否|不|不是的?|对的?|不对|有|没有|可以|不可以|能|不能|会|不会|正确|不正确|错误|真|假)"
    r"\W*|(yes|no|是的?|不是?|对|不对|没有)\s*[,，:：;；].*",
    re.IGNORECASE | re.DOTALL,
)


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer only says yes or no: right answers say so in other words, and wrong ones in these."""
    return _YES_OR_NO.fullmatch(answer.strip()) is not None
