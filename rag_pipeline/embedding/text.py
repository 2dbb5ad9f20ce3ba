"""What is done to a text before any model sees it, and which texts none should see."""

import re
import unicodedata
from typing import Final

from rag_pipeline.embedding.embedder import Refusal

# Other shapes of the same letters: full and half width, ligatures, Arabic letters by their place in the word,
# mathematical alphabets. Superscripts, circled digits and fractions stay: 10² is not 102.
_SHAPES: Final = re.compile(
    r"[\u3000\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff65-\uff9f\uffa0-\uffdc\ufb00-\ufb06\ufb13-\ufb17"
    r"\ufb50-\ufdc7\ufe70-\ufefc\U0001d400-\U0001d7ff]+"
)
# Nobody sees them, and nobody types them into a question.
_INVISIBLE: Final = re.compile(r"[\u00ad\u200b\u200e\u200f\u061c\u202a-\u202e\u2060-\u2069\ufeff]")
# Joiners shape Arabic and Indic words; elsewhere they only hide them.
_JOINER: Final = re.compile(r"[\u200c\u200d](?<=[\x00-\u058f].)(?=[\x00-\u058f])")


def valid_text(text: str) -> str:
    """The text as every model can take it and as it is searched: encodable as UTF-8, folded, without NUL.

    Halves of surrogate pairs are put together where both are there and become U+FFFD where not. NUL, which
    ends a text for programs written in C, becomes a space. Passages and questions are folded alike: other
    shapes of letters and digits become the plain ones, accents are composed, invisible characters go.
    """
    if text.isascii():
        return text.replace("\0", " ")
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", " ")
    text = _JOINER.sub("", _INVISIBLE.sub("", text))
    text = _SHAPES.sub(lambda shapes: unicodedata.normalize("NFKC", shapes.group()), text)
    return unicodedata.normalize("NFC", text)


def unfit(text: str, tokens: int, max_tokens: int) -> Refusal | None:
    """Why a passage is not even sent, or None.

    Servers cut a longer passage silently, and the part cut off could then never be found.
    """
    if not text.strip():
        return Refusal("the text is empty")
    if tokens > max_tokens:
        return Refusal(f"the text takes {tokens} tokens, the model reads {max_tokens}")
    return None
