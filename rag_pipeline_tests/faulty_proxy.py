"""A real TCP proxy in front of a server, which can be made to fail as networks and servers do."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto


class Fault(Enum):
    """What becomes of connections, those that are open included."""

    NONE = auto()
    DOWN = auto()
    """They are closed at once."""
    SILENT = auto()
    """They are taken, and nothing is answered."""
    BAD_GATEWAY = auto()
    """They are answered with a status 503, as by a load balancer without a server."""


class FaultyProxy:
    """Passes bytes on between clients and a port on loopback, until told otherwise."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._fault = Fault.NONE
        self._left: int | None = None
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def fail(self, fault: Fault, after_bytes: int = 0) -> None:
        """Fail from now on, or once so many more bytes came from clients; NONE mends it."""
        if after_bytes:
            self._left = after_bytes
            self._next = fault
            return
        self._left = None
        self._fault = fault
        if fault is not Fault.SILENT:
            for one in self._open:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def running(self) -> Iterator["FaultyProxy"]:
        """Pass on until the block ends."""
        accepting = threading.Thread(target=self._accept, daemon=True)
        accepting.start()
        try:
            yield self
        finally:
            # A blocked accept() ends by this, and not by close().
            self._listener.shutdown(socket.SHUT_RDWR)
            self.fail(Fault.DOWN)
            accepting.join()
            self._listener.close()
            for one in self._open:
                one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._fault is Fault.BAD_GATEWAY:
                with client, suppress(OSError):
                    client.sendall(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
            elif self._fault is Fault.DOWN:
                client.close()
            else:
                server = socket.create_connection(("127.0.0.1", self._target))
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(
                        target=self._pass_on, args=(source, target, source is client), daemon=True
                    ).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, from_client: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if from_client and self._left is not None:
                    self._left -= len(data)
                    if self._left < 0:
                        self.fail(self._next)
                if self._fault is Fault.NONE:
                    target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
