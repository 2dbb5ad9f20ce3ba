"""What a section's chunks cost the embedding model, and how much room its context line leaves."""

from collections.abc import Callable, Sequence

from rag_pipeline.chunking.chunk import context_line, context_parts, under_context
from rag_pipeline.chunking.options import ChunkingOptions

_LARGEST_CONTEXT_SHARE = 1 / 3
"""Of the window: a title and headings that take more of it are cut, so that text keeps its room."""

_TOKENS_PER_JOIN = 2
"""How much more than its parts a joined text may take, a separator included. One was the most ever seen."""

_SURE_SHARE = 0.9
"""Of the window: what the sum of its parts puts above this is counted exactly, as a whole."""


class TokenCounter:
    """Counts a document's texts; the headings, which come again and again, only once."""

    def __init__(self, count_tokens: Callable[[str], int]) -> None:
        self._count = count_tokens
        self._headings: dict[str, int] = {}
        self.empty = count_tokens("")

    def input_tokens(self, text: str) -> int:
        """What a text takes as the model's input: special tokens and prefix included."""
        return self._count(text)

    def text_tokens(self, text: str) -> int:
        """About how many tokens a text adds to an input; white space around it costs nothing."""
        return self._count(text.strip()) - self.empty

    def heading_tokens(self, text: str) -> int:
        """The same for a title or heading."""
        tokens = self._headings.get(text)
        if tokens is None:
            tokens = self._headings[text] = self.text_tokens(text)
        return tokens


class Window:
    """The embedding window as the chunks of one section see it.

    `target` and `limit` are the tokens that a chunk's text should and may take beside the context line. They
    are estimates, since the tokens of parts do not quite add up: what counts in the end is `fits`.
    `context_limit` is how many characters of the context line are embedded, None for all.
    """

    def __init__(
        self, title: str, section_path: Sequence[str], options: ChunkingOptions, counter: TokenCounter
    ) -> None:
        self._counter = counter
        self._max = options.max_tokens
        self._context = context_line(title, section_path)
        self.context_limit: int | None = None
        parts = context_parts(title, section_path)
        tokens = sum(counter.heading_tokens(part) + _TOKENS_PER_JOIN for part in parts)
        allowed = int((options.max_tokens - counter.empty) * _LARGEST_CONTEXT_SHARE)
        if tokens > allowed:
            self.context_limit = self._longest_context(allowed)
            self._context = self._context[: self.context_limit].rstrip()
            tokens = self.tokens(self._context)
        self._taken = counter.empty + tokens
        self.limit = options.max_tokens - self._taken
        self.target = max(options.target_tokens - self._taken, self.limit // 2)

    def tokens(self, text: str) -> int:
        """About how many tokens a text adds to a chunk; white space around it costs nothing."""
        return self._counter.text_tokens(text)

    def fits(self, text: str) -> bool:
        """Whether a chunk with this text fits the model's window, exactly as it is embedded."""
        return self._counter.input_tokens(under_context(self._context, text)) <= self._max

    def surely_fits(self, tokens: int, parts: int) -> bool:
        """Whether a text fits that is joined of `parts` with `tokens` in sum, told without counting.

        False means that it has to be counted.
        """
        return self._taken + tokens + _TOKENS_PER_JOIN * parts <= self._max * _SURE_SHARE

    def _longest_context(self, allowed: int) -> int:
        fitting, too_long = 0, len(self._context) + 1
        while too_long - fitting > 1:
            length = (fitting + too_long) // 2
            if self.tokens(self._context[:length]) <= allowed:
                fitting = length
            else:
                too_long = length
        return fitting
