"""The short ways to the first word change nothing: what is remembered, and what is asked ahead, is what is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.scripted import PACES, ROLES, Theatre, theatre

from fabula.actions.plays.play_states import past_of, state_at
from fabula.loops.scene.questions import Question
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.turns.turn_state_cache import Standing, TurnStateCache
from fabula.ports.plays import Turn
from fabula.story.state import MemoryEntry

WORDS = ("I knock.", "go on", "I wait.\nAnd wait, \N{SNOWMAN}.", "go on")


async def looking_back(house: Theatre, pace: str) -> str:
    """A session whose director and narrator are told some of the transcript."""
    agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
    agents["director"]["extra"] = {"pace": pace, "history": 5}
    agents["narrator"]["extra"] = {"history": 4}
    await house.client.call("preset.create", preset_id="looking-back", display_name="Looking back", agents=agents)
    answer = await house.client.raw(
        "story.start_session", story_id=house.story_id, api_group_id="troupe", preset_id="looking-back"
    )
    return str(answer["session_id"])


async def check_standing(theatre: Theatre, session_id: str) -> None:
    """What is remembered of the head, if anything, is what the store says."""
    house, head = theatre.client.house, (await theatre.client.call("session.get", session_id))["head_turn_id"]
    known = house.turn_states.after(head)
    assert known is not None
    async with house.store.reading() as unit:
        assert known.play == await state_at(unit, head)
        assert list(known.past) == await past_of(unit, head, known.lines) != []


@pytest.mark.parametrize("pace", PACES)
async def test_what_is_remembered_of_a_play_is_what_the_store_says(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house:
        session_id = await looking_back(house, pace)
        for words in WORDS:
            await house.client.turn(session_id, words)
            await check_standing(house, session_id)
        await house.client.call("session.backtrack", session_id, turns=2)
        message = (await house.client.call("session_message.list", session_id))["messages"][-1]
        edited = {key: message[key] for key in ("message_id", "kind", "speaker_id", "speaker_name")}
        await house.client.call("session_message.update", session_id, **edited, text="Nothing was said.")
        await house.client.turn(session_id, "What did you say?")
        await check_standing(house, session_id)
        assert "Nothing was said." in str(house.models.requests[-1].body)


async def asked(folder: Path, pace: str, *, forgetful: bool = False) -> list[Any]:
    """The questions that the models of a play were asked, in order."""
    async with theatre(folder) as house:
        session_id = await looking_back(house, pace)
        for words in WORDS:
            if forgetful:
                house.client.house.turn_states._kept.clear()
            await house.client.turn(session_id, words)
        return [request.body["messages"] for request in house.models.requests]


@pytest.mark.parametrize("pace", PACES)
async def test_a_server_that_remembers_nothing_asks_the_same(tmp_path: Path, pace: str) -> None:
    remembering = await asked(tmp_path / "one", pace)
    assert remembering == await asked(tmp_path / "two", pace, forgetful=True)
    assert len(remembering) >= len(WORDS)


async def test_what_is_asked_ahead_is_what_the_step_itself_would_ask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = await asked(tmp_path / "one", "ensemble")

    sent = list[str]()

    async def not_ahead(run: SceneRun, question: Question) -> None:
        sent.append(question.call)

    monkeypatch.setattr("fabula.loops.scene.graph.ask_ahead", not_ahead)
    assert ahead == await asked(tmp_path / "two", "ensemble")
    assert len(sent) == 3 * len(WORDS)
    assert len(ahead) >= 4 * len(WORDS)


async def test_a_swift_turn_asks_one_question(tmp_path: Path) -> None:
    assert len(await asked(tmp_path, "swift")) == len(WORDS)


async def test_words_that_the_store_spells_differently_are_not_remembered(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session_id = await looking_back(house, "swift")
        await house.client.turn(session_id, "I knock.")
        await check_standing(house, session_id)
        head = (await house.client.call("session.get", session_id))["head_turn_id"]
        standing = house.client.house.turn_states.after(head)
        async with house.client.house.store.reading() as unit:
            played = await unit.plays.turn(head)
    assert isinstance(standing, Standing) and played is not None
    turn_states = TurnStateCache()
    for place, text in enumerate(("fine", "a NUL \0", "half a pair \ud800")):
        said = MemoryEntry(speaker_id="narrator", speaker_name="Narrator", kind="narration", text=text)
        turn = Turn(**{**vars(played), "turn_id": f"turn_{place}"})
        turn_states.keep(turn, standing.with_lines([said]))
    assert [turn_states.after(f"turn_{place}") is not None for place in range(3)] == [True, False, False]
