"""The page for trying an NPC, in a real browser: it talks, shows its frames, and asks for nothing from elsewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright
from tests.fork_server import running_server

CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


@contextmanager
def slow_model() -> Iterator[str]:
    """A model that speaks for half a minute unless it is interrupted."""
    command = [sys.executable, "-m", "fabula.testing.model_server", "--tokens", "300", "--tokens-per-second", "10"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
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


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)")
def test_an_npc_is_changed_interrupted_and_stopped_in_the_browser(tmp_path: Path) -> None:
    with slow_model() as base_url, sync_playwright() as playwright:
        settings = {"OPENAI_API_BASE": base_url, "LLM_MODEL": "scripted-small", "FABULA_SAMPLES": "false"}
        with running_server(tmp_path / "data", settings=settings) as address:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(f"{address}/play/npc")
            expect(page.get_by_role("status")).to_have_text("Connected.", timeout=20_000)
            page.get_by_label("State as JSON").fill('{"spec": {"name": "Orr"}}')
            words, frames = page.get_by_label("Your words"), page.locator("#frames")
            words.fill("Tell me everything.")
            words.press("Enter")
            expect(page.locator("#talk")).to_contain_text("word1", timeout=20_000)
            expect(frames).to_contain_text('"spec":{"name":"Orr"}')
            words.fill("Stop!")
            words.press("Enter")
            expect(frames).to_contain_text("newer_event", timeout=20_000)
            expect(page.locator("#talk li.cut")).to_have_count(1)
            expect(page.get_by_role("status")).to_have_text("Speaking (scripted-small).", timeout=20_000)
            page.get_by_role("button", name="Stop it").click()
            expect(page.get_by_role("status")).to_have_text("Interrupted (client_cancel).", timeout=20_000)
            browser.close()
    assert complaints == []
