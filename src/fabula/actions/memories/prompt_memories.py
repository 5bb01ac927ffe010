"""What comes to mind at the start of a turn, for its prompts: of what happened before the lines that they tell anyway.

A play whose prompts have its whole past needs none of it. What followers write down later than those lines is not
looked at, so that a turn that is played again from the same place recalls the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabula.actions.house import House
from fabula.actions.memories.recall_memories import (
    GatheredPast,
    Recollection,
    gather_past,
    is_telling,
    rank_past,
    read_ranked,
    recall_past,
)
from fabula.actions.memories.story_time import story_minute
from fabula.knots.names import shown_name
from fabula.loops.scene.contexts import untold_lines
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.memories import Memory, Owner, OwnerAt
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.recall.beliefs import sureness
from fabula.recall.consolidation import faded_text
from fabula.recall.moods import fidelity_at, mood_of
from fabula.recall.perception import PLAYER_OWNER
from fabula.recall.ranking import Moment
from fabula.story.contexts import RecalledLine
from fabula.story.ink_stories import InkPlay
from fabula.story.minds import MoodState
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.values import Json, JsonObject

MOST_OWNERS = 6
MOST_LINES = 5
MOST_SUMMARIES = 6
LONGEST_LINE = 400


@dataclass(frozen=True, kw_only=True)
class PromptMemories:
    """What comes to mind, by owner, as prompts tell it; and the memories themselves that came. `summaries` are how
    characters sum up what they lived through, which an actor has in place of the story's own summary."""

    lines: Mapping[str, Sequence[RecalledLine]] = field(default_factory=dict)
    summaries: Mapping[str, str] = field(default_factory=dict)
    recalled: Sequence[Memory] = ()


async def prompt_memories(
    house: House,
    turn: Turn,
    setup: PlaySetup,
    before: PlayState,
    past: Sequence[MemoryEntry],
    recorder: TurnRecorder,
    *,
    moods: Mapping[str, MoodState],
) -> PromptMemories:
    """What the player's words bring back to everyone in the scene, by owner, oldest first."""
    left_out = untold_lines(setup, before)
    if not left_out or turn.parent_id is None or not turn.player_input.strip():
        return PromptMemories()
    told = past[max(0, len(past) - before.message_count + left_out) :]
    shown = told if setup.told_history else before.world.actor_shared_history
    first = before.snapshot.turn_index + 1 - sum(entry.kind == "player_input" for entry in shown)
    names = _names(setup, before)

    async def gather(unit: Unit) -> tuple[dict[str, GatheredPast], dict[str, list[Memory]]]:
        at = await unit.plays.ancestor(turn.parent_id or "", max(0, first - 1))
        known = set(await unit.memories.owners(turn.tree_id, at.turn_id))
        owners = [owner for owner in (PLAYER_OWNER, *names) if owner in known][:MOST_OWNERS]
        pasts: dict[str, GatheredPast] = {}
        summed_up: dict[str, list[Memory]] = {}
        for name in owners:
            owner = OwnerAt(owner=Owner(scope=turn.tree_id, name=name), turn_id=at.turn_id)
            if (gathered := await gather_past(unit, owner, turn.player_input)) is not None:
                pasts[name] = gathered
            if name != PLAYER_OWNER:
                summed_up[name] = await unit.memories.page(owner, kind="summary", limit=MOST_SUMMARIES)
        return pasts, summed_up

    pasts, summed_up = await house.store.read(gather)
    every = await _recall_each(house, pasts, {name: _moment(before, names, moods.get(name)) for name in pasts})
    found = {owner: [one for one in some if is_telling(one.reasons)] for owner, some in every.items()}
    minute = story_minute(before)
    recorder.rows["memories"] = [
        *(_row(one, minute) for some in found.values() for one in some),
        *(_summary_row(one, minute) for some in summed_up.values() for one in reversed(some)),
    ]
    lines = {
        owner: [
            RecalledLine(
                owner=owner, owner_name=names.get(owner, before.player_name), text=remembered_text(one.memory, minute)
            )
            for one in sorted(some, key=lambda one: (one.memory.minute, one.memory.place))
            if one.memory not in summed_up.get(owner, ())
        ]
        for owner, some in found.items()
    }
    summaries = {
        owner: "\n".join(f"- {remembered_text(one, minute)}" for one in reversed(some))
        for owner, some in summed_up.items()
        if some
    }
    return PromptMemories(
        lines=lines, summaries=summaries, recalled=[one.memory for some in found.values() for one in some]
    )


async def _recall_each(
    house: House, pasts: Mapping[str, GatheredPast], moments: Mapping[str, Moment]
) -> dict[str, list[Recollection]]:
    """What comes to the mind of each owner; what won is read in one go."""
    ranked = {
        name: (past.owner, await rank_past(house, past, moment=moments[name], most=MOST_LINES))
        for name, past in pasts.items()
    }

    async def read(unit: Unit) -> dict[str, list[Recollection]]:
        return {name: await read_ranked(unit, *one) for name, one in ranked.items()}

    return await house.store.read(read) if any(won for _, won in ranked.values()) else {}


async def talk_memories(
    house: House, turn: Turn, before: PlayState, ink: InkPlay, recorder: TurnRecorder
) -> list[RecalledLine]:
    """What the player's words bring back to the character of an Ink story that is spoken to, oldest first.

    The last exchanges stand whole in its prompt, so only what was said before them is looked at.
    """
    spoken_to = ink.waiting.character if ink.waiting.kind == "agent" else None
    character = next((id for id in ink.talks if spoken_to and shown_name(id) == spoken_to), None)
    if character is None or turn.parent_id is None or not turn.player_input.strip():
        return []
    talk = ink.talks[character]
    if talk.messages <= len(talk.lines):
        return []
    known = {" ".join(text.split()) for line in talk.lines for text in (line.said, line.reply)}

    async def gather(unit: Unit) -> GatheredPast | None:
        at = await unit.plays.ancestor(turn.parent_id or "", max(0, before.snapshot.turn_index - len(talk.lines)))
        owner = OwnerAt(owner=Owner(scope=turn.tree_id, name=character), turn_id=at.turn_id)
        return await gather_past(unit, owner, turn.player_input)

    moment = Moment(minute=story_minute(before), where=before.world.current_node)
    every = await recall_past(house, await house.store.read(gather), moment=moment, most=MOST_LINES)
    found = [one for one in every if is_telling(one.reasons) and " ".join(one.memory.shown.split()) not in known]
    minute = story_minute(before)
    recorder.rows["memories"] = [_row(one, minute) for one in found]
    return [
        RecalledLine(owner=character, owner_name=spoken_to or "", text=remembered_text(one.memory, minute))
        for one in sorted(found, key=lambda one: (one.memory.minute, one.memory.place))
    ]


def remembered_text(memory: Memory, minute: int) -> str:
    """A memory in a prompt: who said or did it, and how it reads at a minute of the story. What has faded is less."""
    kept = fidelity_at(minute, remembered=memory.minute, importance=memory.importance, pinned=memory.pinned)
    text = faded_text(" ".join(memory.shown.split()), kept)
    text = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE].rstrip()}…"
    if memory.kind == "belief":
        return f"(believed, {sureness(memory.certainty)}) {text}"
    return f"{memory.speaker}: {text}" if memory.speaker else text


def _names(setup: PlaySetup, state: PlayState) -> dict[str, str]:
    """Who is in the scene, with their names."""
    found: dict[str, str] = {}
    for id in state.world.active_characters:
        if id in setup.characters:
            found[id] = setup.characters[id].name
        elif id in state.session_characters:
            found[id] = state.session_characters[id].display_name
    return found


def _moment(state: PlayState, names: Mapping[str, str], mood: MoodState | None) -> Moment:
    minute = story_minute(state)
    return Moment(
        minute=minute,
        valence=mood_of(mood).valence,
        where=state.world.current_node,
        people=frozenset(names.values()),
    )


def _row(one: Recollection, minute: int) -> JsonObject:
    reasons: list[Json] = [{"part": reason.part, "score": reason.score} for reason in one.reasons]
    return {**_told(one.memory, minute), "score": round(one.score, 3), "reasons": reasons}


def _summary_row(memory: Memory, minute: int) -> JsonObject:
    """One that an actor has whatever was said, because it sums up what happened."""
    return {**_told(memory, minute), "score": 0.0, "reasons": [{"part": "summary", "score": 0.0}]}


def _told(memory: Memory, minute: int) -> JsonObject:
    return {"memory_id": memory.memory_id, "owner": memory.owner.name, "text": remembered_text(memory, minute)}
