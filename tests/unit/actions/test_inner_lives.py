"""The inner life of a cast in a play: what is told, what goes into prompts, who may see it, and going back."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from tests.unit.actions.conftest import MARA, Stage

from fabula.actions.library.characters import UpdateCharacter, update_character
from fabula.actions.memories import inner_lives
from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.list_turn_notes import ListTurnNotes, list_turn_notes
from fabula.actions.plays.masks import MaskView, NameMask, UpdateMask, get_mask, update_mask
from fabula.actions.plays.messages import CreateMessage, create_message
from fabula.actions.plays.play_states import state_at
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.explain_turn import ExplainTurn, explain_turn
from fabula.ports.actors import Actor
from fabula.ports.errors import Denied, InvalidRequest, NotFound
from fabula.story.told_text import text_of_result

MASK = {"presented": ["cheerful"], "hidden": ["afraid of the sea"], "touches": ["shipwreck"]}
TRAUMA = {"text": "Her brother let go of the rope.", "triggers": ["drown"]}


async def inner_session(stage: Stage, **changes: Any) -> str:
    """A play in which Mara has an inner life."""
    story_id = await stage.story()
    content = {**MARA, "system_prompt": "", **changes}
    await stage.do(update_character, UpdateCharacter.model_validate({"character_id": "mara", "content": content}))
    return (await stage.do(start_session, StartSession(story_id=story_id, seed=7))).session_id


async def mask(stage: Stage, session_id: str) -> MaskView:
    return await stage.play(session_id, get_mask, NameMask(character_id="mara"))


async def result_of(stage: Stage, turn_id: str) -> dict[str, Any]:
    async with stage.house.store.reading() as unit:
        return await unit.plays.result(turn_id) or {}


async def said_until_a_flashback(stage: Stage, session_id: str) -> dict[str, Any]:
    """The result of the first turn in which something comes back; each turn draws anew."""
    for number in range(20):
        head = (await stage.say(session_id, f"Did your brother drown, Mara? {number}")).head_turn_id
        result = await result_of(stage, head)
        if "flashback" in result:
            return result
    raise AssertionError("nothing came back in twenty turns")


async def test_a_trigger_calls_up_a_flashback_that_is_told_kept_and_noted_and_comes_once_in_a_scene(
    stage: Stage,
) -> None:
    session_id = await inner_session(stage, traumas=[TRAUMA])
    result = await said_until_a_flashback(stage, session_id)
    told = result["flashback"]
    assert (told["character_id"], told["character_name"], told["emotion"]) == ("mara", "Mara", "fear")
    assert "rope" not in str(result)
    assert text_of_result(result).startswith(told["text"])
    noted = await stage.play(session_id, list_turn_notes, ListTurnNotes(turn_ids=[result["turn_id"]]))
    assert noted.turns[0].flashback is not None and noted.turns[0].flashback.text == told["text"]
    for number in range(6):
        head = (await stage.say(session_id, f"Who drowned? {number}")).head_turn_id
        assert "flashback" not in await result_of(stage, head)


async def test_authors_are_told_why_it_came_and_players_are_not(stage: Stage) -> None:
    session_id = await inner_session(stage, traumas=[TRAUMA], mask=MASK)
    result = await said_until_a_flashback(stage, session_id)
    explained = await stage.play(session_id, explain_turn, ExplainTurn(turn_id=result["turn_id"]))
    assert explained.minds is not None
    [mind] = explained.minds
    assert (mind["called_up_by"], mind["flashback"]) == ("drown", TRAUMA["text"])
    assert mind["worn_by"] == ["relived"] and mind["integrity"] != 1
    player = Actor(role="player", token_id="t")
    with pytest.raises(NotFound):
        await explain_turn(stage.house, player, session_id, ExplainTurn(turn_id=result["turn_id"]))


async def test_a_mask_wears_in_a_play_and_going_back_restores_it(stage: Stage) -> None:
    session_id = await inner_session(stage, mask=MASK)
    assert (await mask(stage, session_id)).integrity == 1.0
    await stage.say(session_id, "Tell me about the shipwreck.")
    worn = await mask(stage, session_id)
    assert worn.integrity == 0.9
    await stage.say(session_id, "You are lying, Mara!")
    assert (await mask(stage, session_id)).integrity < worn.integrity
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert await mask(stage, session_id) == worn


async def test_a_mask_is_set_by_hand_and_going_back_undoes_that(stage: Stage) -> None:
    session_id = await inner_session(stage, mask=MASK)
    await stage.say(session_id, "Good evening.")
    changed = await stage.play(session_id, update_mask, UpdateMask(character_id="mara", integrity=0.2))
    assert changed.integrity == (await mask(stage, session_id)).integrity == 0.2
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert (await mask(stage, session_id)).integrity == 1.0


async def test_masks_are_for_authors_and_only_of_those_who_wear_one(stage: Stage) -> None:
    session_id = await inner_session(stage, mask=MASK)
    with pytest.raises(Denied):
        await get_mask(stage.house, Actor(role="player", token_id="t"), session_id, NameMask(character_id="mara"))
    with pytest.raises(NotFound, match="wears no mask"):
        await stage.play(session_id, get_mask, NameMask(character_id="orr"))


async def test_a_mask_that_hardly_sits_breaks_and_what_it_hid_is_told(stage: Stage) -> None:
    session_id = await inner_session(stage, mask=MASK)
    await stage.play(session_id, update_mask, UpdateMask(character_id="mara", integrity=0.1))
    head = (await stage.say(session_id, "Mara, admit it: you are lying about the shipwreck!")).head_turn_id
    after = await mask(stage, session_id)
    assert after.shown == ["afraid of the sea"]
    assert "afraid of the sea" in text_of_result(await result_of(stage, head))


async def test_what_is_hidden_is_told_to_nobody_while_the_mask_holds(stage: Stage) -> None:
    session_id = await inner_session(stage, mask=MASK)
    for line in ("Good evening, Mara.", "I look at the gate.", "Tell me of yourself."):
        head = (await stage.say(session_id, line)).head_turn_id
        assert "afraid of the sea" not in str(await result_of(stage, head))
    async with stage.house.store.reading() as unit:
        assert "afraid" not in str((await state_at(unit, head)).as_json())


async def test_a_play_without_inner_lives_keeps_nothing_of_it(stage: Stage) -> None:
    session_id = await stage.session()
    head = (await stage.say(session_id, "I am afraid of the terror, did he drown?")).head_turn_id
    async with stage.house.store.reading() as unit:
        assert "inner" not in (await state_at(unit, head)).as_json()
    explained = await stage.play(session_id, explain_turn, ExplainTurn(turn_id=head))
    assert explained.minds is None


async def test_a_frightening_turn_leaves_who_hears_it_afraid(stage: Stage) -> None:
    session_id = await inner_session(stage, mask=MASK)
    await stage.say(session_id, "Terror, panic, horror! Flee, there is danger, I am afraid!")
    assert "afraid" in (await mask(stage, session_id)).mood


async def test_what_touches_a_character_has_a_bound_together(stage: Stage) -> None:
    triggers = [f"{number} " + "x" * 190 for number in range(40)]
    with pytest.raises(InvalidRequest, match="What touches a character may have 10000 letters together"):
        await inner_session(stage, traumas=[{**TRAUMA, "triggers": triggers}] * 2)


def noting_threads(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """The threads in which a function of inner lives is called from now on."""
    threads, work = list[int](), getattr(inner_lives, name)

    def noted(*args: Any) -> Any:
        threads.append(threading.get_ident())
        return work(*args)

    monkeypatch.setattr(inner_lives, name, noted)
    return threads


async def test_minds_that_much_could_touch_are_looked_through_beside_the_event_loop(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = noting_threads(monkeypatch, "live_through")
    triggers = ["drown", *(f"{number} " + "x" * 190 for number in range(39))]
    session_id = await inner_session(stage, traumas=[{**TRAUMA, "triggers": triggers}])
    await stage.say(session_id, "I wait.")
    await stage.say(session_id, " ".join(f"word{number}" for number in range(400)))
    assert threads[0] == threading.get_ident() and threading.get_ident() not in threads[1:]


async def test_moods_of_very_long_lines_are_read_beside_the_event_loop(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = noting_threads(monkeypatch, "moods_now")
    session_id = await inner_session(stage, mask=MASK)
    await stage.say(session_id, "Good evening.")
    long = " ".join(f"word{number}" for number in range(2_000))
    spoken = CreateMessage(kind="dialogue", speaker_id="orr", speaker_name="Orr", text=long)
    await stage.play(session_id, create_message, spoken)
    await stage.say(session_id, "Terror, panic, horror! Flee, there is danger, I am afraid!")
    assert threads[0] == threading.get_ident() and threading.get_ident() not in threads[1:]
    assert "afraid" in (await mask(stage, session_id)).mood
