"""Takes the pictures of the docs: `python -m docs.pictures` plays a sample in a real browser and looks at it.

They are made again by hand when the app's look has changed; no test compares them. It needs Debian's Chromium and a
built app (`make web`).
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from fabula.testing.server_process import running_server

FOLDER = Path(__file__).parent / "pictures"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--lang=en-US")
DESK, PHONE = (1280, 800), (390, 780)
COLOURS = 96
STORY = "lighthouse-the-unlit-hour"
LINES = ("Hello. Who are you?", "I go to the inn.", "Whose shoe is that?", "I ask Adeline about the lighthouse.")
INK_STORY = "The Ferry Inn"
CAMPAIGN = "toll-the-drowned-toll"
CAMPAIGN_LINES = ("I climb the chain to the gallery.", "I ask who holds the toll.", "I sneak past the guards.")


@dataclass(frozen=True, kw_only=True)
class Server:
    """The server that is looked at."""

    address: str

    def call(self, method: str, session_id: str | None = None, /, **params: Any) -> Any:
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        sent = json.dumps(body if session_id is None else {**body, "session_id": session_id}).encode()
        request = urllib.request.Request(f"{self.address}/rpc", sent, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read().decode()
        return json.loads(text).get("result") if text.startswith("{") else None

    def play(self, story_id: str, *lines: str) -> str:
        session = str(self.call("story.start_session", story_id=story_id, seed=7)["session_id"])
        for line in lines:
            self.call("session.run_turn", session, player_input=line)
        return session


@contextmanager
def _page(browser: Browser, size: tuple[int, int], paper: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, device_scale_factor=1)
    page = context.new_page()
    page.add_init_script(f"localStorage.setItem('fabula.reading', JSON.stringify({{paper: '{paper}'}}))")
    yield page
    context.close()


def _take(
    browser: Browser, name: str, address: str, *, size: tuple[int, int] = DESK, paper: str = "day", key: str = ""
) -> None:
    """Takes a picture, after a key that opens something."""
    with _page(browser, size, paper) as page:
        page.goto(address)
        # A stage never stops listening, so that there is no moment at which nothing is asked for.
        page.locator("main h1, main h2").first.wait_for(state="attached")
        page.wait_for_timeout(1500)
        if key:
            page.locator("main").focus()
            page.keyboard.press(key)
            page.wait_for_timeout(1000)
        picture = Image.open(io.BytesIO(page.screenshot()))
    # Few colours are enough for type on paper, and make a picture a tenth as large.
    picture.convert("RGB").quantize(COLOURS).save(FOLDER / f"{name}.png", optimize=True)


def main() -> None:
    """Makes all pictures."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed: apt-get install chromium")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, running_server(Path(place)) as address, sync_playwright() as browsers:
        server = Server(address=address)
        session = server.play(STORY, *LINES)
        server.call("session.backtrack", session, turns=2)
        server.call("session.run_turn", session, player_input="I look around.")
        ink = next(one for one in server.call("story.list")["stories"] if one["display_name"] == INK_STORY)
        talk = server.play(ink["story_id"])
        browser = browsers.chromium.launch(executable_path=chromium, args=list(FLAGS))
        stage = f"{address}/app/play/{session}"
        _take(browser, "shelf", f"{address}/")
        _take(browser, "story", f"{address}/app/story/{STORY}")
        for paper in ("day", "lamp", "night"):
            _take(browser, f"stage-{paper}", stage, paper=paper)
        _take(browser, "stage-phone", stage, size=PHONE)
        _take(browser, "tree", f"{stage}/tree")
        _take(browser, "ink", f"{address}/app/play/{talk}", paper="lamp")
        _take(browser, "canon", f"{address}/app/play/{server.play(CAMPAIGN, *CAMPAIGN_LINES)}", key="l")
        _take(browser, "house", f"{address}/app/house")
        browser.close()


if __name__ == "__main__":
    main()
