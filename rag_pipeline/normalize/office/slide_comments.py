"""Comments on slides, as PowerPoint has stored them until 2021 and since."""

from collections.abc import Iterator
from typing import Final

from rag_pipeline.normalize.office.package import NAMESPACES, P, Package, XmlElement, tag
from rag_pipeline.normalize.office.reviewing import comment_text
from rag_pipeline.normalize.office.slide_shapes import paragraphs

_MODERN: Final = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"


def comment_authors(package: Package, presentation: str) -> dict[str, str]:
    """The names of those who commented, by their ids."""
    authors = {}
    for name in package.related_parts(presentation, "commentAuthors"):
        for author in package.tree(name).iter(tag(P, "cmAuthor")):
            initials = f" ({author.get('initials')})" if author.get("initials") else ""
            authors[author.get("id", "")] = f"{author.get('name', '')}{initials}"
    for name in package.related_parts(presentation, "authors"):
        for author in package.tree(name).iter(tag(_MODERN, "author")):
            authors[author.get("id", "")] = author.get("name", "")
    return authors


def take_comments(package: Package, slide: str, authors: dict[str, str]) -> list[str]:
    """Take the comments on a slide out of the package, answers after what they answer."""
    texts = []
    for name in package.related_parts(slide, "comments"):
        root = package.tree(name)
        texts += [text for text in (*_classic(root, authors), *_modern(root, authors)) if text]
        for comment in list(root):
            root.remove(comment)
    return texts


def _classic(root: XmlElement, authors: dict[str, str]) -> Iterator[str]:
    for comment in root.iter(tag(P, "cm")):
        text = comment.findtext("p:text", "", NAMESPACES)
        if text.strip():
            yield comment_text(None, authors.get(comment.get("authorId", "")), comment.get("dt"), text)


def _modern(root: XmlElement, authors: dict[str, str]) -> Iterator[str]:
    for comment in root.iter(tag(_MODERN, "cm"), tag(_MODERN, "reply")):
        body = comment.find(tag(_MODERN, "txBody"))
        text = "" if body is None else "\n".join(paragraphs(body))
        if text.strip():
            yield comment_text(None, authors.get(comment.get("authorId", "")), comment.get("created"), text)
