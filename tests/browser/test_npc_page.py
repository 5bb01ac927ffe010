"""The page for trying an NPC, in a real browser: it talks, shows its frames, and asks for nothing from elsewhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from fabula.testing.server_process import running_server

CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
@pytest.mark.xdist_group("browser")
def test_an_npc_can_be_tried_in_the_browser(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        complaints: list[str] = []
        page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
        page.goto(f"{address}/play/npc")
        expect(page.get_by_role("status")).to_have_text("Connected.", timeout=20_000)
        page.get_by_label("Your words").fill("What happened to the bridge?")
        page.get_by_role("button", name="Say").click()
        expect(page.locator("#talk")).to_contain_text("fell into the river", timeout=20_000)
        expect(page.locator("#frames")).to_contain_text("agent_turn_result")
        browser.close()
    assert complaints == []
