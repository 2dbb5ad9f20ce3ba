"""The language to reply in, told by the script of what was asked."""

import re

_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def is_chinese(text: str) -> bool:
    """Whether a text is to be replied to in Chinese: it holds a Han character."""
    return _HAN.search(text) is not None
