"""What takes long to make, made once for all workers of a test run."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def copy_of_made_once(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """A copy of a folder that `make` fills, for whoever changes it."""
    # A worker's folder is below that of the run, and without workers it is that of the run.
    of_run = tmp_path_factory.getbasetemp()
    shared = (of_run.parent if "PYTEST_XDIST_WORKER" in os.environ else of_run) / f"{name}_made_once"
    shared.mkdir(exist_ok=True)
    made, done = shared / "made", shared / "done"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
            make(made)
            done.touch()
    own = tmp_path_factory.mktemp(name) / "copy"
    shutil.copytree(made, own)
    return own
