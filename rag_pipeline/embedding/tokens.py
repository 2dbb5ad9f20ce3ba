"""Counting the tokens of models that run elsewhere.

With the model's own `tokenizer.json` the count is exact. Without it nobody can know, and there are two
questions to answer. How large should a chunk be? An estimate will do. Does it fit into the model's window?
That must be certain. The only certain bound is the number of UTF-8 bytes: byte-level BPE (all OpenAI models),
SentencePiece with byte fallback and WordPiece all make at most one token of a byte, once the text is
NFKC-normalized, which some of them do first and which can lengthen a text.

So `ByteBoundCounter` counts a quarter of a token for an ASCII character and five quarters for any other:
close to OpenAI's tokenizers on English and Chinese prose, and, as no character has more than four bytes,
never less than a quarter of the bytes. It offers only a quarter of the window as `max_tokens`. A text within
that has at most as many bytes as the window has tokens, so it fits whatever the tokenizer does.
"""

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rag_pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# <s> and </s> or [CLS] and [SEP], and the space that SentencePiece puts in front.
SPECIAL_TOKENS = 4
BYTES_PER_ESTIMATED_TOKEN = 4


class TokenCounter(Protocol):
    """Counts a model's tokens. Texts must be encodable."""

    @property
    def max_tokens(self) -> int:
        """A text whose `count` is at most this fits into the model's window."""
        ...

    def count(self, text: str) -> int:
        """The size of a text, to be compared with `max_tokens`."""
        ...

    def bound(self, text: str) -> int:
        """Not less than the tokens that the model makes of the text."""
        ...


def estimate_tokens(text: str) -> int:
    """About how many tokens a multilingual model makes of a text; at least a quarter of its UTF-8 bytes."""
    others = 0 if text.isascii() else sum(not character.isascii() for character in text)
    return (len(text) + 4 * others + 3) // 4


class ByteBoundCounter:
    """For a model whose tokenizer is not at hand. See the module's text for why it is safe."""

    def __init__(self, window: int) -> None:
        self.max_tokens = max(1, (window - SPECIAL_TOKENS) // BYTES_PER_ESTIMATED_TOKEN)

    def count(self, text: str) -> int:
        return max(estimate_tokens(form) for form in _forms(text))

    def bound(self, text: str) -> int:
        return max(len(form.encode()) for form in _forms(text)) + SPECIAL_TOKENS


class TokenizerFileCounter:
    """Exact, by the model's own `tokenizer.json`."""

    def __init__(self, path: Path, window: int) -> None:
        """Raises ConfigurationError where the file is not a tokenizer's."""
        self.max_tokens = window
        self._tokenizer = _load_tokenizer(path)

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode(text).ids)

    def bound(self, text: str) -> int:
        return self.count(text)


def _forms(text: str) -> tuple[str, ...]:
    return (text,) if text.isascii() else (text, unicodedata.normalize("NFKC", text))


def _load_tokenizer(path: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception for whatever is wrong
        raise ConfigurationError(
            f"RAG_EMBEDDING_TOKENIZER_FILE: {path} cannot be read as a tokenizer.json: {error}"
        ) from error
    # A file may say that texts are to be cut or filled up; then all would count the same.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
