"""How large chunks are and how much they overlap."""

from dataclasses import asdict, dataclass

from rag_pipeline.errors import ConfigurationError

SMALLEST_WINDOW = 32
"""Below this a title and one long character sequence could leave no room for text."""


@dataclass(frozen=True, kw_only=True)
class ChunkingOptions:
    """Sizes in tokens, as the embedding model counts them. Part of a generation's fingerprint.

    `max_tokens` is the model's window: no chunk exceeds it, counted as it is embedded (special tokens, title
    and headings included). `target_tokens`, counted likewise, is where a chunk is closed. A chunk with less
    text than `min_tokens` is joined with its neighbour in the same section where both fit the window.
    `overlap_tokens` bounds the sentences repeated from the chunk before; 0 repeats none.

    Raises ConfigurationError where the sizes contradict each other.
    """

    max_tokens: int
    target_tokens: int = 320
    min_tokens: int = 60
    overlap_tokens: int = 40

    def __post_init__(self) -> None:
        if self.max_tokens < SMALLEST_WINDOW:
            raise ConfigurationError(
                f"chunking: max_tokens is {self.max_tokens}; it must be at least {SMALLEST_WINDOW}"
            )
        if self.target_tokens > self.max_tokens:
            raise ConfigurationError(
                f"chunking: target_tokens is {self.target_tokens}, more than the window of {self.max_tokens} "
                "tokens (max_tokens); lower it"
            )
        for name in ("min_tokens", "overlap_tokens"):
            if not 0 <= getattr(self, name) < self.target_tokens:
                raise ConfigurationError(
                    f"chunking: {name} is {getattr(self, name)}; it must be at least 0 and less than "
                    f"target_tokens ({self.target_tokens})"
                )

    def to_json(self) -> dict[str, int]:
        """As JSON-serializable values, for artifact keys and the fingerprint."""
        return asdict(self)
