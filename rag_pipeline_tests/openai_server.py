"""A real local HTTP server that speaks the OpenAI embeddings API, and fails as told."""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rag_pipeline.embedding.hashing import HashingEmbedder


@dataclass(frozen=True)
class Reply:
    """What the server answers: any status, headers and body, perhaps late."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    byte_by_byte: bool = False


@dataclass(frozen=True)
class Request:
    """What the server was asked, with header names in lower case."""

    body: dict[str, Any]
    headers: dict[str, str]
    started: float

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


Script = Callable[[Request], Reply | None]


class OpenAIServer:
    """Answers with HashingEmbedder's vectors, unless a queued reply or the script says otherwise."""

    def __init__(self, dimensions: int = 16) -> None:
        self.dimensions = dimensions
        self.requests: list[Request] = []
        self.most_in_flight = 0
        self.script: Script = lambda request: None
        self._queue: deque[Reply] = deque()
        self._in_flight = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = json.loads(self.rfile.read(length))
                headers = {name.lower(): value for name, value in self.headers.items()}
                server._answer(self, Request(body, headers, time.monotonic()))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def enqueue(self, *replies: Reply) -> None:
        """Answer the next requests with these, in order."""
        self._queue.extend(replies)

    def vectors_of(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors that the server gives when nothing is scripted."""
        return [v.tolist() for v in HashingEmbedder(self.dimensions).embed_queries(texts)]

    def reply_with(self, vectors: Sequence[Any], indexes: Sequence[int] | None = None) -> Reply:
        """A well-formed answer holding these vectors."""
        numbers = range(len(vectors)) if indexes is None else indexes
        data = [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in zip(numbers, vectors, strict=True)
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        answer = {"object": "list", "data": data, "model": "test", "usage": usage}
        return Reply(200, json.dumps(answer).encode(), {"content-type": "application/json"})

    def _answer(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        with self._lock:
            self.requests.append(request)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            queued = self._queue.popleft() if self._queue else None
        try:
            reply = queued or self.script(request) or self.reply_with(self.vectors_of(request.texts))
            time.sleep(reply.delay_seconds)
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(reply.body)))
            handler.end_headers()
            parts = [bytes([b]) for b in reply.body] if reply.byte_by_byte else [reply.body]
            for part in parts:
                handler.wfile.write(part)
                if reply.byte_by_byte:
                    time.sleep(0.02)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True  # the client gave up, as some tests want
        finally:
            with self._lock:
                self._in_flight -= 1

    @contextmanager
    def running(self) -> Iterator["OpenAIServer"]:
        """Serve until the block ends."""
        thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            self._http.server_close()
            thread.join()


def error_reply(status: int, message: str, headers: dict[str, str] | None = None, **fields: str) -> Reply:
    """An error as OpenAI words it."""
    body = {"error": {"message": message, "type": "error", **fields}}
    return Reply(status, json.dumps(body).encode(), {"content-type": "application/json", **(headers or {})})
