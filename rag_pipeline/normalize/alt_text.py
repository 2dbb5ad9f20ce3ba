"""What the author wrote about a picture, as Markdown writes it."""

import re
from typing import Final

# Programs write a picture's file name where its author wrote nothing.
_FILE_NAME: Final = re.compile(r"[^\s/\\]+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp|heic)", re.IGNORECASE)
# What Word and PowerPoint add under the descriptions that they make.
_MACHINE_NOTE: Final = re.compile(
    r"\s*(?:Description automatically generated(?: with \w+ confidence)?"
    r"|AI-generated content may be incorrect\.?)\s*$"
)


def picture_markdown(description: str) -> str:
    """A picture's alt text as a Markdown image without an address; empty where nothing describes it."""
    text = " ".join(_MACHINE_NOTE.sub("", description).split())
    if not text or _FILE_NAME.fullmatch(text):
        return ""
    return f"![{text.replace('[', '(').replace(']', ')')}]()"
