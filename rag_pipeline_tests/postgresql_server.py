"""A real PostgreSQL server on loopback for tests, from whatever installation the machine has."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from rag_pipeline_tests.qdrant_server import free_ports

_DEBIAN = Path("/usr/lib/postgresql")
_READY_SECONDS = 60.0

# PostgreSQL refuses to run as root, so root becomes the user of Debian's package first. Then it asks the
# kernel to end it with us, however hard we die (PR_SET_PDEATHSIG is 1; SIGQUIT, 3, ends all of the server).
_AS_USER = """
import ctypes, os, pwd, sys
libc = ctypes.CDLL(None)
user = pwd.getpwnam(sys.argv[1])
if os.getuid() != user.pw_uid:
    os.initgroups(user.pw_name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
libc.prctl(1, 3)
os.execv(sys.argv[2], sys.argv[2:])
"""

_INITDB = ["--username=rag", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]

# It is thrown away, so nothing need survive a power cut.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "16MB",
    "autovacuum": "off",
}


class PostgresqlUnavailable(Exception):
    """There is no PostgreSQL on this machine; says what to install."""


@dataclass(frozen=True)
class PostgresqlServer:
    """A running server and its only user's password."""

    port: int
    password: str

    @contextmanager
    def database(self) -> Iterator[str]:
        """The URL of a new, empty database that is dropped in the end."""
        name = f"ledger_{uuid.uuid4().hex[:12]}"
        self._execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield f"postgresql+psycopg://rag:{self.password}@127.0.0.1:{self.port}/{name}"
        finally:
            self._execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))

    def _execute(self, statement: sql.Composed) -> None:
        with psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="rag",
            password=self.password,
            dbname="postgres",
            autocommit=True,
        ) as connection:
            connection.execute(statement)

    def _answers(self) -> bool:
        try:
            self._execute(sql.SQL("SELECT 1").format())
        except psycopg.OperationalError:
            return False
        return True


@contextmanager
def running_postgresql() -> Iterator[PostgresqlServer]:
    """A server that answers, and is gone with its data on the way out.

    Raises PostgresqlUnavailable where there is none, and RuntimeError with its last words if it does not
    start.
    """
    programs = _programs()
    user = _user()
    [port] = free_ports(1)
    server = PostgresqlServer(port, secrets.token_hex(16))
    # Not below pytest's folders, which only their owner may enter.
    with tempfile.TemporaryDirectory(prefix="rag_postgresql_") as folder:
        root = Path(folder)
        password, data, log = root / "password", root / "data", root / "server.log"
        password.write_text(server.password)
        for path in (root, password):
            shutil.chown(path, user)
        command = [sys.executable, "-I", "-S", "-c", _AS_USER, user]
        initialized = subprocess.run(
            [*command, programs / "initdb", "--pgdata", data, *_INITDB, "--pwfile", password],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if initialized.returncode != 0:
            raise RuntimeError(f"initdb failed: {initialized.stdout[-2000:]}")
        settings = [text for name, value in _SETTINGS.items() for text in ("-c", f"{name}={value}")]
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, programs / "postgres", "-D", data, "-p", str(port), *settings],
                cwd=root,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_until_ready(process, server, log)
            yield server
        finally:
            process.send_signal(signal.SIGQUIT)
            process.wait()


def _programs() -> Path:
    found = shutil.which("postgres")
    candidates = [Path(found).resolve().parent] if found else []
    # Debian keeps the server's programs out of the path, by version.
    candidates += sorted(_DEBIAN.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    for folder in candidates:
        if all((folder / program).exists() for program in ("initdb", "postgres")):
            return folder
    raise PostgresqlUnavailable("PostgreSQL is not installed (Debian: apt-get install postgresql)")


def _user() -> str:
    if os.getuid() != 0:
        return pwd.getpwuid(os.getuid()).pw_name
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise PostgresqlUnavailable(
            "PostgreSQL does not run as root, and there is no user postgres"
        ) from None


def _wait_until_ready(process: subprocess.Popen[bytes], server: PostgresqlServer, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if server._answers():
            return
        time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL did not start: {log.read_text(errors='replace')[-2000:]}")
