"""What every browser test stands on: a real server, Debian's Chromium, and a page that forgives nothing.

`page` fails its test on any `securitypolicyviolation`, console error, script error or failed request, on every page
that the test opens. A test that provokes one says so first, with `watch(page).expects("...")`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

import httpx
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Response

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--lang=en-US",
]
_TELL_VIOLATIONS = """
addEventListener("securitypolicyviolation", (event) => {
  const place = `${event.blockedURI} ${event.sourceFile ?? ""}:${event.lineNumber}`;
  window.tellViolation?.(`${event.violatedDirective}: ${place}`);
});
"""
# A page that is left while it still asks for something aborts what it asked for.
_LEFT = "net::ERR_ABORTED"


class Watch:
    """What went wrong on a page, and what a test said it would provoke."""

    def __init__(self, page: Page) -> None:
        self._said: list[str] = []
        self._expected: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._said.append(f"script error: {error}"))
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        page.expose_function("tellViolation", lambda told: self._said.append(f"policy violation: {told}"))
        page.add_init_script(_TELL_VIOLATIONS)

    def expects(self, *parts: str) -> None:
        """Complaints that contain one of these parts are part of the test."""
        self._expected.extend(parts)

    def complaints(self) -> list[str]:
        return [line for line in self._said if not any(part in line for part in self._expected)]

    def _console(self, message: ConsoleMessage) -> None:
        # The browser's own line about a failed request says less than `response`, which tells it too.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self._said.append(f"console: {message.text}")

    def _failed(self, request: Request) -> None:
        if request.failure != _LEFT:
            self._said.append(f"request failed: {request.url} {request.failure}")

    def _answered(self, response: Response) -> None:
        # A server that has just started says here that it still loads, and the page asks again.
        is_still_loading = response.status == 503 and response.url.endswith("/readyz")
        if response.status >= 400 and not is_still_loading:
            self._said.append(f"request refused: {response.status} {response.url}")


PATIENCE_MS = 90_000
"""How long anything is waited for. On a busy machine a page takes its time; one that is quick is not waited for."""

_watches: WeakKeyDictionary[Page, Watch] = WeakKeyDictionary()


def watch(page: Page) -> Watch:
    return _watches[page]


@contextmanager
def watched_page(browser: Browser, *, locale: str = "en-US", **context: object) -> Iterator[Page]:
    """A page in a browser of its own (nothing kept from other tests) that fails on anything that goes wrong."""
    opened: BrowserContext = browser.new_context(locale=locale, **context)  # type: ignore[arg-type]
    page = opened.new_page()
    page.set_default_timeout(PATIENCE_MS)
    _watches[page] = Watch(page)
    yield page
    complaints = _watches[page].complaints()
    opened.close()
    assert not complaints, complaints


def call(address: str, method: str, session_id: str | None = None, **params: object) -> dict[str, object]:
    """A call of the protocol; its result."""
    sent: dict[str, object] = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
    if session_id is not None:
        sent["session_id"] = session_id
    answer = httpx.post(f"{address}/rpc", json=sent, timeout=120).json()
    assert "result" in answer, answer
    return dict(answer["result"])
