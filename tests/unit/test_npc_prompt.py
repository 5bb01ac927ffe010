"""What an NPC is told, what comes back to it, and what the understudy makes of it."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.growth import calls_of

from fabula.adapters.models import understudy
from fabula.agents.npc import BUDGET, write_npc_prompt
from fabula.ports.models import CallOrigin, ModelRequest
from fabula.ports.npcs import NpcKey, Remembered
from fabula.recall.npc import npc_memory
from fabula.story.contexts import NpcContext
from fabula.story.npc import GameEvent, Lived, NpcSpec, NpcState, PlayedTag, Someone, TagSpec
from fabula.story.tags import parse_tags
from fabula.understudy import answer
from fabula.understudy.npc import FLINCH, WATCHED, react

GOLDEN = Path(__file__).parents[1] / "transcripts" / "prompts" / "npc.txt"
ANN = Someone(id="p1", name="Ann", kind="player")
STATE = NpcState.model_validate(
    {
        "spec": {
            "name": "Mara",
            "role": "a smith in Oakford",
            "personality": "Gruff but fair.",
            "style": "Short sentences.",
            "backstory": "She learned the trade from her mother.",
            "goals": ["finish the sword for the captain"],
            "knowledge": ["The old bridge fell into the river last spring.", "The captain drinks at the Red Boar."],
            "relationships": [{"id": "captain", "name": "The captain", "description": "pays late", "score": 0.4}],
            "mood": "tired",
            "language": "English",
            "system_prompt": "Never speak of magic.",
        },
        "world": {
            "location": "the smithy",
            "time": "dusk",
            "nearby": [{"name": "Orr"}, "an anvil"],
            "inventory": ["a dagger"],
            "state": {"door": "open", "fire": {"lit": True}},
        },
        "tools": [{"name": "open_door", "description": "Opens a door.", "parameters": {"type": "object"}}],
        "player": {"id": "p1", "name": "Ann"},
    }
)
HISTORY = [
    Lived(
        kind="turn",
        event=GameEvent(text="Good evening.", source=ANN),
        played=[PlayedTag(tag="emote", text="nods"), PlayedTag(text="Evening.")],
    ),
    Lived(kind="notice", event=GameEvent(event_type="noise", text="A bell rings in the street.")),
    Lived(
        kind="turn",
        event=GameEvent(text="What was that?", source=ANN),
        played=[
            PlayedTag(text="The bell of", status="partial"),
            PlayedTag(tag="action", status="skipped", text="hides"),
        ],
        unconfirmed=True,
    ),
]


def context(text: str = "Tell me about the bridge.", **changes: Any) -> NpcContext:
    event = GameEvent(event_type=changes.pop("event_type", "player_speech"), text=text, source=ANN)
    return NpcContext(state=changes.pop("state", STATE), event=event, **changes)


def test_the_prompt_reads_as_its_author_last_saw_it() -> None:
    old = [Lived(kind="turn", event=GameEvent(text="I lost my ring.", source=ANN), played=[PlayedTag(text="A pity.")])]
    messages = write_npc_prompt(context(history=HISTORY, recalled=old)).messages
    text = "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages) + "\n"
    if os.environ.get("FABULA_WRITE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")


def test_what_never_changes_stands_first_and_a_turn_later_the_prompt_begins_the_same() -> None:
    before = write_npc_prompt(context(history=HISTORY[:2])).messages
    after = write_npc_prompt(context("And?", history=HISTORY)).messages
    assert before[0] == after[0]
    shared = before[1].content.partition("\n\n")[0]
    assert shared.endswith("A bell rings in the street.") and after[1].content.startswith(shared)


def test_a_history_that_is_too_long_loses_its_oldest_entries() -> None:
    long = [Lived(kind="notice", event=GameEvent(text=f"{number} " + "x" * 3000)) for number in range(40)]
    prompt = write_npc_prompt(context(history=long))
    told = prompt.messages[1].content
    assert prompt.tokens <= BUDGET and "[player_speech] 39 " in told and "[player_speech] 0 " not in told


def test_whoever_speaks_is_remembered_by_a_short_name() -> None:
    heard = GameEvent(text="Good evening.", source=Someone(name="Ann of the mill " * 3_000))
    memory = npc_memory(
        NpcKey(game_id="g", agent_id="mara"), Remembered(number=1, lived=Lived(kind="turn", event=heard))
    )
    assert memory.people == [memory.speaker] and len(memory.speaker) == 200


def test_an_entry_is_remembered_by_what_was_said_and_played_and_not_by_what_was_skipped() -> None:
    played = [PlayedTag(text="The bridges are out."), PlayedTag(text="A secret.", status="skipped")]
    lived = Lived(kind="turn", event=GameEvent(text="Where is the old mill?", source=ANN), played=played)
    memory = npc_memory(NpcKey(game_id="g", agent_id="mara"), Remembered(number=33, lived=lived))
    assert memory.text == "Where is the old mill?\nThe bridges are out."
    assert (memory.owner, memory.speaker, memory.minute, memory.evidence) == ("mara", "Ann", 33, ["33"])


def reply(text: str, **changes: Any) -> dict[str, str]:
    """What the understudy answers, by tag."""
    asked = context(text, **changes)
    request = ModelRequest(origin=CallOrigin(agent="npc"), messages=(), context=asked, deadline=0)
    return {tag.tag: tag.text for tag in parse_tags(answer(request), asked.state.tag_set())}


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        ("What happened to the bridge?", "bridge fell into the river"),
        ("Where does the captain drink?", "Red Boar"),
        ("Who are you?", "I am Mara"),
        ("Where are we?", "smithy"),
        ("What do you sell?", "dagger"),
        ("How are you?", "tired"),
        ("What is my name?", "You are Ann."),
        ("How much for the dagger?", "A dagger?"),
    ],
)
def test_the_understudy_answers_questions_from_the_spec(words: str, fragment: str) -> None:
    assert fragment in reply(words)["say"]


def test_the_understudy_greets_flinches_and_falls_silent() -> None:
    assert reply("Hello there!")["say"]
    assert set(reply("I'll kill you!")) == {"emote", "say"}
    assert set(reply("", event_type="timer")) == {"silence"}
    assert set(reply("A leaf falls.", event_type="perception")) == {"silence"}


@pytest.mark.parametrize(
    ("seen", "event_type"),
    [
        ("Ann attacks you with a knife.", "player_action"),
        ("A bandit lunges at Mara!", "perception"),
        ("Ann draws her rusty sword.", "player_action"),
        ("*draws a sword*", "player_speech"),
    ],
)
def test_the_understudy_knows_a_threat_when_it_sees_one(seen: str, event_type: str) -> None:
    assert reply(seen, event_type=event_type)["emote"] in FLINCH


def test_the_understudy_speaks_of_what_it_sees_only_when_it_knows_of_it() -> None:
    assert "fell into the river" in reply("A cart stops at the old bridge.", event_type="perception")["say"]
    assert reply("Ann sits down.", event_type="player_action")["say"] in WATCHED


def test_the_understudy_keeps_to_the_tags_of_the_game_and_never_repeats_a_fact_while_another_is_left() -> None:
    bare = NpcState(
        spec=NpcSpec(name="Orr", knowledge=["The mill burned.", "The mill was insured."]), tags=[TagSpec(name="say")]
    )
    assert set(reply("I'll kill you!", state=bare)) == {"say"}
    assert reply("", state=bare, event_type="timer") == {}
    told = [Lived(kind="turn", event=GameEvent(text="?"), played=[PlayedTag(text="The mill burned.")])]
    assert "insured" in reply("What about the mill?", state=bare, history=told)["say"]


def test_an_npc_that_knows_very_many_people_reads_what_was_said_once() -> None:
    known = [{"name": f"Person{number}", "description": "pays late"} for number in range(400)]
    spec = NpcSpec.model_validate({"name": "Mara", "relationships": known})
    asked = GameEvent(text=f"What of {' '.join(f'word{number}' for number in range(400))} and Person3?", source=ANN)
    context = NpcContext(state=NpcState(spec=spec), event=asked, history=[], recalled=[])
    assert "Pays late" in react(context, 1)
    # Each word is held against the NPC's own name, and not against each of those whom it knows.
    assert calls_of(lambda: react(context, 1))["as_name"] < 2 * 400


def test_of_an_event_without_end_an_npc_reads_the_beginning() -> None:
    def calls(words: int) -> int:
        asked = GameEvent(text=f"What of the captain {'and so on ' * words}?", source=ANN)
        context = NpcContext(state=STATE, event=asked, history=[], recalled=[])
        return calls_of(lambda: react(context, 1)).total()

    assert calls(6_000) < 2 * calls(600)


def test_an_npc_with_an_endless_name_leaves_no_pattern_of_it() -> None:
    name = "Mara of the mill " * 1_000
    context = NpcContext(
        state=NpcState(spec=NpcSpec(name=name)),
        event=GameEvent(text="Good evening.", source=ANN),
        history=[],
        recalled=[],
    )
    react(context, 1)
    assert max(len(str(key)) for key in re._cache) < len(name)  # type: ignore[attr-defined]


@pytest.mark.parametrize(("known", "here"), [(["The bridge fell."], True), (["The bridge fell. " * 2_000], False)])
async def test_an_npc_of_whom_much_is_known_is_played_beside_the_event_loop(
    known: list[str], here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def noted(request: ModelRequest) -> str:
        threads.append(threading.get_ident())
        return answer(request)

    monkeypatch.setattr(understudy, "answer", noted)
    state = NpcState(spec=NpcSpec(name="Mara", knowledge=known))
    context = NpcContext(state=state, event=GameEvent(text="Good evening.", source=ANN), history=[], recalled=[])
    request = ModelRequest(origin=CallOrigin(agent="npc"), messages=(), context=context, deadline=0)
    assert [piece async for piece in understudy.Understudy().stream(request)]
    assert (threads == [threading.get_ident()]) is here
