"""The page for trying an NPC, in a real browser: it talks, shows its frames, and asks for nothing from elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.fork_server import running_server


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


def test_an_npc_can_be_tried_in_the_browser(page: Page, address: str) -> None:
    page.goto(f"{address}/play/npc")
    page.wait_for_url(f"{address}/app/npc")
    expect(page.get_by_text("Connected.", exact=True)).to_be_visible()
    page.get_by_label("Your words").fill("What happened to the bridge?")
    page.get_by_role("button", name="Say").click()
    expect(page.get_by_role("list", name="Talk")).to_contain_text("fell into the river")
    expect(page.get_by_role("list", name="Frames")).to_contain_text("agent_turn_result")


def test_before_anything_was_said_a_question_is_one_press_away(page: Page, address: str) -> None:
    page.goto(f"{address}/app/npc")
    expect(page.get_by_text("Connected.", exact=True)).to_be_visible()
    question = page.get_by_role("button", name="What happened to the old bridge?")
    question.click()
    expect(page.get_by_role("list", name="Talk")).to_contain_text("fell into the river")
    expect(question).to_have_count(0)


def test_an_npc_is_changed_interrupted_and_stopped_in_the_browser(page: Page, tmp_path: Path) -> None:
    with slow_model() as base_url:
        settings = {"OPENAI_API_BASE": base_url, "LLM_MODEL": "scripted-small", "FABULA_SAMPLES": "false"}
        with running_server(tmp_path / "data", settings=settings) as address:
            page.goto(f"{address}/app/npc")
            expect(page.get_by_text("Connected.", exact=True)).to_be_visible()
            page.get_by_label("State as JSON").fill('{"spec": {"name": "Orr"}}')
            words, frames = page.get_by_label("Your words"), page.get_by_role("list", name="Frames")
            talk = page.get_by_role("list", name="Talk")
            words.fill("Tell me everything.")
            words.press("Enter")
            expect(talk).to_contain_text("word1")
            expect(frames).to_contain_text('"spec":{"name":"Orr"}')
            words.fill("Stop!")
            words.press("Enter")
            expect(frames).to_contain_text("newer_event")
            expect(talk.get_by_text("(interrupted)")).to_have_count(1)
            expect(page.get_by_text("Speaking (scripted-small).")).to_be_visible()
            page.get_by_role("button", name="Stop it").click()
            expect(page.get_by_text("Interrupted (client_cancel).")).to_be_visible()
            # The socket ends before the server does, so that nothing is left to complain about.
            page.goto("about:blank")


def test_a_state_that_is_no_json_is_told_and_the_last_good_one_used(page: Page, address: str) -> None:
    page.goto(f"{address}/app/npc")
    expect(page.get_by_text("Connected.", exact=True)).to_be_visible()
    page.get_by_label("State as JSON").fill("{spec")
    page.get_by_label("Your words").fill("Hello.")
    page.get_by_role("button", name="Say").click()
    expect(page.get_by_text("This is no JSON, so the last good state is used")).to_be_visible()
    expect(page.get_by_role("list", name="Frames")).to_contain_text('"name":"Mara"')
