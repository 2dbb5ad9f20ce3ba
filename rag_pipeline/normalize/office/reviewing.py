"""Reviewers' comments as text, the same in every Office format."""


def comment_text(place: str | None, author: str | None, moment: str | None, text: str) -> str:
    """A comment marked as one: `Comment on B3 [author: Ann, time: 2026-05-01T10:00:00]: …`."""
    facts = [f"author: {author.strip()}"] if author and author.strip() else []
    facts += [f"time: {moment}"] if moment else []
    mark = f"Comment on {place}" if place else "Comment"
    return f"{mark} [{', '.join(facts)}]: {text.strip()}" if facts else f"{mark}: {text.strip()}"
