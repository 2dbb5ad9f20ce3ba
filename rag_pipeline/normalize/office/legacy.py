"""Office files from before 2007, saved anew by LibreOffice where it is installed.

LibreOffice runs as a process of its own for each file, with a new profile in a folder that is removed after
it: macros and active content off, no link updated, every network request sent to a closed port. It ends with
its time limit, and as soon as the process that waits for it ends.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from rag_pipeline.errors import DocumentError, FailureCategory
from rag_pipeline.normalize import mime_types as types

# A file of some megabytes takes seconds; the first start of a profile two or three.
TIME_LIMIT_SECONDS: Final = 120.0

_PACKAGES: Final = "apt-get install libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"


class _Modern(NamedTuple):
    extension: str
    modern_extension: str
    mime_type: str


_MODERN: Final = {
    types.DOC: _Modern("doc", "docx", types.DOCX),
    types.XLS: _Modern("xls", "xlsx", types.XLSX),
    types.PPT: _Modern("ppt", "pptx", types.PPTX),
}
# The shell waits for the program; when the pipe to its caller closes, it removes the folder that it works in
# and ends its process group. The caller may be killed at any moment, and then nobody else would.
_GUARD: Final = """
exec 3<&0
{ read -r _ <&3; rm -rf "$PWD"; kill -KILL 0; } &
exec 3<&-
"$@" </dev/null
"""
_SETTINGS: Final = {
    ("Office.Common/Security/Scripting", "DisableMacrosExecution"): "true",
    ("Office.Common/Security/Scripting", "DisableActiveContent"): "true",
    ("Office.Common/Security/Scripting", "MacroSecurityLevel"): "3",
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks"): "true",
    ("Office.Writer/Content/Update", "Link"): "2",
    ("Office.Calc/Content/Update", "Link"): "2",
    ("Inet/Settings", "ooInetProxyType"): "2",
    ("Inet/Settings", "ooInetHTTPProxyName"): "127.0.0.1",
    ("Inet/Settings", "ooInetHTTPProxyPort"): "9",
    ("Inet/Settings", "ooInetHTTPSProxyName"): "127.0.0.1",
    ("Inet/Settings", "ooInetHTTPSProxyPort"): "9",
    ("Inet/Settings", "ooInetNoProxy"): "",
}


def office_program() -> str | None:
    """The path of LibreOffice, or None where it is not installed."""
    return shutil.which("soffice") or shutil.which("libreoffice")


def saved_anew(data: bytes, mime_type: str, *, seconds: float = TIME_LIMIT_SECONDS) -> tuple[bytes, str]:
    """A legacy file in its modern format, and that format's MIME type.

    Raises DocumentError: UNSUPPORTED_TYPE where LibreOffice is missing, TIMEOUT after `seconds`, CORRUPT
    where it cannot read the file.
    """
    modern = _MODERN[mime_type]
    program = office_program()
    if program is None:
        raise DocumentError(
            FailureCategory.UNSUPPORTED_TYPE,
            "The file is in an Office format from before 2007. Install LibreOffice where documents are "
            f"converted (its command `soffice` must be in the PATH; on Debian: {_PACKAGES}), "
            f"or save the file as .{modern.modern_extension} and replace it.",
        )
    with tempfile.TemporaryDirectory(prefix="rag-office-") as name:
        folder = Path(name)
        source = folder / f"document.{modern.extension}"
        source.write_bytes(data)
        _write_profile(folder / "profile")
        command = [
            program,
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless", "--norestore", "--nologo", "--nodefault", "--nolockcheck",
            "--convert-to", modern.modern_extension, "--outdir", str(folder / "saved"), str(source),
        ]  # fmt: skip
        _run(command, folder, seconds)
        try:
            saved = (folder / "saved" / f"document.{modern.modern_extension}").read_bytes()
        except FileNotFoundError as error:
            raise DocumentError(
                FailureCategory.CORRUPT,
                f"LibreOffice cannot read the file. Open it in the program that wrote it, save it as "
                f".{modern.modern_extension} and replace it.",
            ) from error
    return saved, modern.mime_type


def _run(command: list[str], folder: Path, seconds: float) -> None:
    """Run a command; all processes that it started end with it, and also if this process is killed."""
    process = subprocess.Popen(  # noqa: S603 - a fixed program with arguments of ours
        ["/bin/sh", "-c", _GUARD, "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise DocumentError(
            FailureCategory.TIMEOUT,
            f"LibreOffice took longer than {seconds:g} s to read the file. Save it in a modern format.",
        ) from error
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdin:
            process.stdin.close()


def _write_profile(profile: Path) -> None:
    items = "".join(
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for (path, name), value in _SETTINGS.items()
    )
    settings = profile / "user" / "registrymodifications.xcu"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<oor:items xmlns:oor="http://openoffice.org/2001/registry">{items}</oor:items>'
    )
