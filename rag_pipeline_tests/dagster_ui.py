"""Dagster's UI as `rag-pipeline ui` starts it, and a headless Chromium to drive it, for tests."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from selenium import webdriver
from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

PROJECT = Path(__file__).parents[1]

_WAIT_SECONDS = 120
_END_SECONDS = 30
_POLL_SECONDS = 0.2
# Nothing that Chromium would ask the network for, and nothing of the machine's that it would need.
_CHROMIUM_ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--proxy-server=direct://", "--window-size=1500,1100",
)  # fmt: skip

_Found = TypeVar("_Found")


class BrowserUnavailable(Exception):
    """There is no Chromium, or no driver for it."""


def wait_for(what: str, look: Callable[[], _Found | None]) -> _Found:
    """Look until there is something; raises AssertionError naming `what` after a bounded time."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(_POLL_SECONDS)
    raise AssertionError(f"{what}: not seen within {_WAIT_SECONDS} s")


class DagsterServer:
    """A running UI, asked by GraphQL for what a page would be a fragile way to know."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, query: str) -> dict[str, Any]:
        """The answer's data, or nothing while the server does not answer."""
        # Not through urllib: it would ask a proxy for loopback.
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            try:
                headers = {"Content-Type": "application/json"}
                connection.request("POST", "/graphql", json.dumps({"query": query}), headers)
                return json.loads(connection.getresponse().read())["data"] or {}
            except (OSError, http.client.HTTPException):
                return {}

    def partitions(self) -> list[str]:
        """The sources that can be materialized; none before the code location has loaded."""
        asset = '{assetNodeOrError(assetKey: {path: ["raw_documents"]}) {... on AssetNode {partitionKeys}}}'
        return self.ask(asset).get("assetNodeOrError", {}).get("partitionKeys", [])

    def runs(self) -> list[str]:
        """The ids of all runs but those of the report that follows them, the newest first.

        None while the server does not answer.
        """
        found = self.ask("{runsOrError {... on Runs {results {runId tags {key value}}}}}")
        runs = found.get("runsOrError", {}).get("results", [])
        report = {"key": "dagster/sensor_name", "value": "report_follows_sources"}
        return [run["runId"] for run in runs if report not in run["tags"]]


@contextmanager
def running_ui(home: Path, manifests: Path, log: Path) -> Iterator[DagsterServer]:
    """`rag-pipeline ui` on the project, with state and manifests of the test's own; ended on the way out."""
    with closing(socket.create_server(("127.0.0.1", 0))) as probe:
        port = probe.getsockname()[1]
    command = [Path(sys.executable).with_name("rag-pipeline"), "ui", "--port", str(port)]
    settings = {
        "RAG_HOME": str(home), "RAG_MANIFESTS": str(manifests), "RAG_EMBEDDING_PROVIDER": "hashing",
    }  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=PROJECT, env=os.environ | settings, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield DagsterServer(port)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Page:
    """What a person does in the browser: open, look, click."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self._url = url

    def open(self, path: str, *expected: str) -> None:
        """Open a page of the UI and wait until it shows the expected texts."""
        self.driver.get(self._url + path)
        for text in expected:
            self.see(text)

    def text(self) -> str:
        """All text of the page."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def see(self, text: str) -> None:
        """Wait until the page shows a text."""
        self._until(lambda: text in self.text(), f"the text {text!r}")

    def run_ends(self, run_id: str) -> str:
        """Open a run and wait until it has ended: its status."""
        self.open(f"/runs/{run_id}")
        ended = ("SUCCESS", "FAILURE", "CANCELED")
        self._until(lambda: any(f"[{status}]" in self.driver.title for status in ended), "the run's end")
        return self.driver.title.rpartition("[")[2].removesuffix("]")

    def click(self, text: str, *, kind: str = "button") -> None:
        """Wait for an enabled element of a kind with exactly this text, and click it."""

        def clicked() -> bool:
            element = next((e for e in self._elements(kind) if e.text == text and e.is_enabled()), None)
            if element:
                element.click()
            return element is not None

        self._until(clicked, f"a {kind} {text!r} to click")

    def rows(self) -> list[list[str]]:
        """The cells of every table row of the page."""
        cells = (
            "return [...document.querySelectorAll('tr')].map(r => [...r.cells].map(c => c.innerText.trim()))"
        )
        found: list[list[str]] = self.driver.execute_script(cells)
        return found

    def _elements(self, kind: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, kind)

    def _until(self, seen: Callable[[], bool], what: str) -> None:
        # The page redraws itself all the time, and what is covered now can be clicked a moment later.
        wait = WebDriverWait(self.driver, _WAIT_SECONDS, _POLL_SECONDS, [WebDriverException])
        try:
            wait.until(lambda _: seen())
        except TimeoutException:
            raise AssertionError(f"{what} did not come. The page shows:\n{self.text()}") from None


@dataclass(frozen=True, slots=True)
class Browser:
    """The programs of Chromium and its driver."""

    chromium: str
    chromedriver: str


def find_browser() -> Browser:
    """The machine's Chromium or Chrome; raises BrowserUnavailable where there is none."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not chromium or not chromedriver:
        raise BrowserUnavailable("no Chromium with chromedriver (Debian: chromium, chromium-driver)")
    return Browser(chromium, chromedriver)


@contextmanager
def chromium(browser: Browser, profile: Path, *, log: bool = False) -> Iterator[webdriver.Chrome]:
    """A headless Chromium with a fresh profile; its console can be read where `log` is set."""
    options = webdriver.ChromeOptions()
    options.binary_location = browser.chromium
    for argument in (*_CHROMIUM_ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    if log:
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(browser.chromedriver))
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def open_browser(browser: Browser, server: DagsterServer, profile: Path) -> Iterator[Page]:
    """A headless Chromium on the UI."""
    with chromium(browser, profile) as driver:
        yield Page(driver, f"http://127.0.0.1:{server.port}")
