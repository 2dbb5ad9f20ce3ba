"""Asking: what a caller may see, and searching and answering from it.

`ask(request, identity, services)` answers one request.
"""

from rag_pipeline.query.asking import ask
from rag_pipeline.query.identity import Identity
from rag_pipeline.query.request import AskRequest
from rag_pipeline.query.response import AskResponse

__all__ = ["AskRequest", "AskResponse", "Identity", "ask"]
