"""What the author wrote about a picture, as Markdown writes it."""

import re
from typing import Final

# Programs write a picture's file name, or that it is one, where its author wrote nothing.
_NO_WORDS: Final = re.compile(
    r"[^\s/\\]+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|heic)|(?:picture|image|图片) ?[0-9]*",
    re.IGNORECASE,
)
# What Word and PowerPoint add under the descriptions that they make.
_MACHINE_NOTE: Final = re.compile(
    r"\s*(?:Description automatically generated(?: with \w+ confidence)?"
    r"|AI-generated content may be incorrect\.?)\s*$"
)


def picture_markdown(description: str) -> str:
    """A picture's alt text as a Markdown image without an address; empty where nothing describes it."""
    text = " ".join(_MACHINE_NOTE.sub("", description).split())
    if not text or _NO_WORDS.fullmatch(text):
        return ""
    return f"![{text.replace('[', '(').replace(']', ')')}]()"
