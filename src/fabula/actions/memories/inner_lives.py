"""The inner life of a turn of a graph play, from the state before it; see `fabula.recall.inner_life`.

Plays whose cast has neither masks nor traumas, and whose prompts still have their whole past, have none of it and pay
nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from fabula.actions.memories.story_time import story_minute
from fabula.loops.scene.contexts import untold_lines
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.memories import Memory
from fabula.ports.plays import Turn
from fabula.ports.threads import run_in_thread
from fabula.recall.flashbacks import Reminder, by_memory
from fabula.recall.inner_life import InnerTurn, Person, TurnMoment, live_through, moods_now
from fabula.recall.moods import mood_of
from fabula.recall.perception import PLAYER_OWNER, has_noticed, noticed_by
from fabula.recall.touch import stems_in
from fabula.story.minds import MoodState
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject

R = TypeVar("R")

LAST_LINES = 8
"""So many lines of the turn before count at most."""
SHORT_MINDS = 10_000
"""So many letters are looked through at once; of more words than are kept, that takes tens of milliseconds."""


async def moods_before(
    turn: Turn, setup: PlaySetup, before: PlayState, past: Sequence[MemoryEntry]
) -> dict[str, MoodState]:
    """The moods of those in the scene once they have heard the player's words; none where nobody has an inner life."""
    if not _has_inner_life(setup, before):
        return {}
    last = _told_last(past)
    heard = {PLAYER_OWNER: [*(entry.text for entry in last), turn.player_input]}
    for one in people_here(setup, before, turn.player_input):
        lines = [entry.text for entry in last if has_noticed(one.id, entry)]
        heard[one.id] = [*lines, turn.player_input] if one.hears else lines
    letters = len(turn.player_input) + sum(len(entry.text) for entry in last)
    return await _by_length(letters, lambda: moods_now(before.inner, heard, story_minute(before)))


async def inner_turn(
    turn: Turn,
    setup: PlaySetup,
    before: PlayState,
    past: Sequence[MemoryEntry],
    moods: Mapping[str, MoodState],
    recalled: Sequence[Memory],
    recorder: TurnRecorder,
) -> InnerTurn | None:
    """What goes on in the minds of those in the scene during a turn."""
    if not _has_inner_life(setup, before):
        return None
    node = setup.nodes[before.world.current_node]
    people = people_here(setup, before, turn.player_input)
    last = [entry.text for entry in _told_last(past) if all(has_noticed(one.id, entry) for one in people)]
    moment = TurnMoment(
        minute=story_minute(before),
        turn_index=turn.turn_index,
        scene_began=before.scenes[-1].turn_index if before.scenes else 0,
        said=turn.player_input,
        around=" ".join([node.title, node.scene, *last]),
        # A play that was begun with a seed is the same play each time, whatever its id.
        seed=turn.tree_id if before.dice_seed is None else str(before.dice_seed),
    )

    def live() -> InnerTurn:
        reminders = list(_reminders(recalled, before, people, moods, turn.player_input))
        return live_through(people, before.inner, moods, moment, reminders)

    reread = sum(len(memory.shown) for memory in recalled)
    inner = await _by_length(letters_of(people) + len(moment.said) + len(moment.around) + reread, live)
    recorder.rows["minds"] = list(_rows(inner))
    return inner


async def _by_length(letters: int, work: Callable[[], R]) -> R:
    """Runs work that looks through so many letters: beside the event loop where that takes long."""
    return work() if letters <= SHORT_MINDS else await run_in_thread(work)


def letters_of(people: Sequence[Person]) -> int:
    """How much is looked through for words that touch what these hide or cannot forget."""
    phrases = [phrase for one in people for trauma in one.traumas for phrase in trauma.triggers]
    phrases += [phrase for one in people if one.mask is not None for phrase in (*one.mask.hidden, *one.mask.touches)]
    return sum(map(len, phrases))


def people_here(setup: PlaySetup, state: PlayState, said: str) -> list[Person]:
    """Those in the scene, with what their authors wrote of them; guests have no more than moods."""
    there = state.world.active_characters
    entry = MemoryEntry(speaker_id=PLAYER_OWNER, speaker_name=state.player_name, kind="player_input", text=said)
    hearing = noticed_by(entry, there, setup.names_of(there, state))
    found: list[Person] = []
    for id in state.world.active_characters:
        if (one := setup.characters.get(id)) is not None:
            found.append(Person(id=id, name=one.name, mask=one.mask, traumas=one.traumas, hears=id in hearing))
        elif (guest := state.session_characters.get(id)) is not None:
            found.append(Person(id=id, name=guest.display_name, hears=id in hearing))
    return found


def _has_inner_life(setup: PlaySetup, before: PlayState) -> bool:
    return before.inner is not None or setup.has_inner_lives or untold_lines(setup, before) > 0


def _told_last(past: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """What was told since the player's last words."""
    found: list[MemoryEntry] = []
    for entry in reversed(past[-LAST_LINES:]):
        if entry.kind == "player_input":
            break
        found.append(entry)
    return found[::-1]


def _reminders(
    recalled: Sequence[Memory],
    before: PlayState,
    people: Sequence[Person],
    moods: Mapping[str, MoodState],
    said: str,
) -> Iterator[Reminder]:
    """The strong ones among the memories that came to mind; the player's own come last."""
    stems = stems_in(said)
    for memory in sorted(recalled, key=lambda one: one.owner.name == PLAYER_OWNER):
        owner = memory.owner.name
        around = frozenset(one.name for one in people if one.id != owner)
        valence = mood_of(moods.get(owner)).valence
        if stems & stems_in(memory.shown):
            reminder = by_memory(memory, where=before.world.current_node, people=around, valence=valence)
            if reminder is not None:
                yield reminder


def _rows(inner: InnerTurn) -> Iterator[JsonObject]:
    """What authors are told of the minds of a turn, when they ask why it went so."""
    came = inner.flashback
    for id, mind in inner.minds.items():
        row: JsonObject = {"owner": id, "mood": mind.mood, "valence": mind.valence}
        worn = inner.masks.get(id)
        if worn is not None:
            row |= {"integrity": worn.worn.integrity, "slip": worn.slip, "worn_by": list(worn.reasons)}
        if came is not None and came.owner == id:
            row |= {"flashback": came.text, "called_up_by": came.cue or "words", "odds": came.odds}
        yield row
