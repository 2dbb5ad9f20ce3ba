"""What is done to a text before any model sees it, and which texts none should see."""

from rag_pipeline.embedding.embedder import Refusal


def valid_text(text: str) -> str:
    """The text as every model can take it: encodable as UTF-8 and without NUL.

    Halves of surrogate pairs are put together where both are there and become U+FFFD where not. NUL, which
    ends a text for programs written in C, becomes a space.
    """
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", " ")


def unfit(text: str, tokens: int, max_tokens: int) -> Refusal | None:
    """Why a passage is not even sent, or None.

    Servers cut a longer passage silently, and the part cut off could then never be found.
    """
    if not text.strip():
        return Refusal("the text is empty")
    if tokens > max_tokens:
        return Refusal(f"the text takes {tokens} tokens, the model reads {max_tokens}")
    return None
