"""Remember a turn: everyone who was there gets what they noticed as memories, with the turns before that have none yet.

No model is asked. What is kept has the id of the line it came from, so that it is kept once however often this runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from fabula.actions.followers.conclusions import Noticed, Thinking, runs_of
from fabula.actions.house import House
from fabula.actions.memories.remember import embedded, findable, imprinted
from fabula.actions.memories.story_time import story_day, story_minute
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import known_state
from fabula.actions.work.work_kind import HeldWork, taken_over
from fabula.ports.memories import NewMemory
from fabula.ports.plays import SpokenMessage, Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import Work
from fabula.recall.beliefs import claims_in
from fabula.recall.feelings import feeling_in, importance_of
from fabula.recall.perception import PLAYER_OWNER, NoticedLine, Presence, observers, speakers_of
from fabula.story.plays import PlayState
from fabula.story.values import Json, JsonObject

TURNS_AT_ONCE = 256
PART = 16
"""So many turns are written down in one transaction, so that nobody waits long for it."""
MOST_LINES, FEW_LINES = 64, 8
TOLD_CERTAINTY = 0.8
LEAST_RECALLED = 40
"""Prompts of a play with fewer lines tell them all, and recall nothing."""
SCENE_PART = 8
"""A scene that goes on for long is remembered in parts of so many turns."""


async def remember_turn(house: House, held: HeldWork) -> JsonObject | None:
    """Writes down what was noticed in a turn, and before it in those above that were not written down yet."""
    await remember_line(house, str(held.work.input["turn_id"]), ends=held.work)
    return None


async def remember_line(house: House, turn_id: str, *, ends: Work | None = None) -> None:
    """Writes down all turns up to this one that were not written down yet, and with the last of them ends the work.

    One that is gone has nothing to remember.
    """
    async with house.store.reading() as unit:
        missing = await unit.memories.unplaced(turn_id, within=TURNS_AT_ONCE) if await unit.plays.turn(turn_id) else []
    # A turn that is remembered is followed by three that wait for the next: mostly all of it is one transaction.
    parts = [missing[start : start + PART] for start in range(0, len(missing), PART)] or [[]]
    for part in parts:
        runs = runs_of(await _noticed(house, part), lambda one: one.turn)
        for run in runs:
            made = await _memories_of(house, run)
            is_last = part is parts[-1] and run is runs[-1]
            await house.store.write(partial(_keep, made, ends if is_last else None), durable=False)


@dataclass(frozen=True, kw_only=True)
class _Noticed:
    """What there was to notice in a turn, and by whom."""

    turn: Turn
    before: PlayState
    after: PlayState
    lines: list[NoticedLine]
    presence: Presence
    recalled: list[str]


@dataclass(frozen=True, kw_only=True)
class _Made:
    """What is kept of a turn, and which memories came to mind in it."""

    turn: Turn
    memories: list[NewMemory]
    recalled: list[str]


async def _noticed(house: House, turn_ids: Sequence[str]) -> list[_Noticed]:
    found = []
    casts: dict[tuple[str, str], Mapping[str, str]] = {}
    async with house.store.reading() as unit:
        for turn_id in turn_ids:
            turn = await unit.plays.turn(turn_id)
            if turn is None or turn.status != "committed":
                continue
            after = await known_state(house, unit, turn_id)
            before = after if turn.parent_id is None else await known_state(house, unit, turn.parent_id)
            lines = [] if is_outside(before) else await _lines_of(unit, turn, before, after)
            play = (turn.session_id, after.graph)
            if play not in casts:
                casts[play] = await _cast_names(house, unit, turn.session_id, after)
            presence = _presence(lines, before, after, casts[play])
            recalled = await _recalled_in(unit, turn_id) if after.message_count > LEAST_RECALLED else []
            found.append(
                _Noticed(turn=turn, before=before, after=after, lines=lines, presence=presence, recalled=recalled)
            )
    return found


def is_outside(before: PlayState) -> bool:
    """Whether a turn after this state is no part of the story: an author interviews a character."""
    return before.conversation is not None and before.conversation.mode == "interview"


async def _memories_of(house: House, run: Sequence[_Noticed]) -> list[_Made]:
    """What is kept of a run of turns. Its texts are looked through in one thread, and embedded with one question."""
    noticed = await run_in_thread(lambda: [_looked_through(seen) for seen in run])
    shared = iter(await embedded(house, [memory for one in noticed for memory in one.memories]))
    observed = [_of_owners(one, [*islice(shared, len(one.memories))]) for one in noticed]
    thinking = Thinking(house)
    concluded = [await thinking.conclude(one) for one in noticed]
    days = [story_day(seen.after) for seen, some in zip(run, concluded, strict=True) for _ in some]
    thoughts = iter(await findable(house, [memory for some in concluded for memory in some], days=days))
    return [
        _Made(turn=seen.turn, memories=[*own, *islice(thoughts, len(some))], recalled=seen.recalled)
        for seen, own, some in zip(run, observed, concluded, strict=True)
    ]


def _of_owners(noticed: Noticed, memories: Sequence[NewMemory]) -> list[NewMemory]:
    return [
        _owned(memory, line, owner)
        for memory, line, owners in zip(memories, noticed.lines, noticed.owners, strict=True)
        for owner in owners
    ]


def _looked_through(seen: _Noticed) -> Noticed:
    speakers, day = speakers_of(seen.lines, seen.presence), story_day(seen.after)
    shared = shared_memories(seen.lines, seen.presence, seen.before, seen.after)
    return Noticed(
        turn=seen.turn,
        state=seen.after,
        lines=seen.lines,
        memories=[imprinted(memory, day) for memory in shared],
        owners=[observers(line, seen.presence, speakers) for line in seen.lines],
        claims={line.id: claims_in(line.text, line.speaker_name) for line in seen.lines},
        names=seen.presence.names,
    )


async def _keep(made: Sequence[_Made], ends: Work | None, unit: Unit) -> None:
    for one in made:
        # The play may have been deleted meanwhile, with all its turns.
        if await unit.plays.turn(one.turn.turn_id) is not None:
            await unit.memories.add(one.turn.tree_id, one.turn.turn_id, one.memories)
            await unit.memories.count_recalls(one.recalled)
    if ends is not None and not await unit.work.finish(ends):
        raise taken_over(ends)


async def _recalled_in(unit: Unit, turn_id: str) -> list[str]:
    """The memories that went into the prompts of a turn, as far as its trace is kept."""
    docs = [part.doc for part in await unit.traces.of_turn(turn_id) if part.kind == "turn"]
    rows = [row for doc in docs if isinstance(noted := doc.get("rows"), dict) for row in _listed(noted.get("memories"))]
    return [str(row["memory_id"]) for row in rows if isinstance(row, dict) and "memory_id" in row]


def _listed(found: Json) -> list[Json]:
    return found if isinstance(found, list) else []


def _owned(memory: NewMemory, line: NoticedLine, owner: str) -> NewMemory:
    """A memory of one owner. What somebody else says is known from them, and a little less surely."""
    own = replace(memory, memory_id=f"{memory.memory_id}/{owner}", owner=owner)
    if line.kind != "dialogue" or line.speaker_id == owner:
        return own
    return replace(own, told_by=line.speaker_name, certainty=TOLD_CERTAINTY)


async def _lines_of(unit: Unit, turn: Turn, before: PlayState, after: PlayState) -> list[NoticedLine]:
    """The lines that a turn told, and the thoughts that it left with those who had them."""
    told = [
        NoticedLine(
            id=line.message_id,
            kind=line.kind,
            speaker_id=line.speaker_id,
            speaker_name=line.speaker_name,
            text=line.text,
            heard_by=line.heard_by,
        )
        for line in await _told_in(unit, turn.turn_id)
    ]
    for owner, entries in after.world.actor_private_memory.items():
        known = before.world.actor_private_memory.get(owner, []) if before is not after else []
        new = [entry for entry in entries if entry not in known]
        told += [
            NoticedLine(
                id=f"{turn.turn_id}/thought{number}/{owner}",
                kind="thought",
                speaker_id=owner,
                speaker_name=entry.speaker_name,
                text=entry.text,
            )
            for number, entry in enumerate(new)
            if entry.kind == "thought"
        ]
    return told


async def _told_in(unit: Unit, turn_id: str) -> list[SpokenMessage]:
    """The lines of a turn, which are the last ones by then. Most turns tell few, so few are asked for at first."""
    lines = await unit.plays.transcript(turn_id, last=FEW_LINES)
    if lines and lines[0].turn_id == turn_id:
        lines = await unit.plays.transcript(turn_id, last=MOST_LINES)
    return [line for line in lines if line.turn_id == turn_id]


async def _cast_names(house: House, unit: Unit, session_id: str, state: PlayState) -> Mapping[str, str]:
    setup = await kind_of_play(state).setup(house, unit, session_id, state)
    return {} if setup is None else {id: one.name for id, one in setup.characters.items()}


def _presence(lines: list[NoticedLine], before: PlayState, after: PlayState, cast: Mapping[str, str]) -> Presence:
    """Who was there. Where there are no scenes we know only who speaks, and that these hear what is said."""
    if not kind_of_play(after).has_scenes:
        names = {line.speaker_id: line.speaker_name for line in lines if line.kind in ("dialogue", "action")}
        talking = frozenset(names)
        return Presence(before=talking, after=talking, moved=False, names=names, see_all=False)
    return Presence(
        before=frozenset(before.world.active_characters),
        after=frozenset(after.world.active_characters),
        moved=before.world.current_node != after.world.current_node,
        names={**cast, **{id: one.display_name for id, one in after.session_characters.items()}},
    )


def shared_memories(
    lines: list[NoticedLine], presence: Presence, before: PlayState, after: PlayState
) -> list[NewMemory]:
    """Each line as a memory, before it is given to its owners."""
    changed = before.world.custom != after.world.custom or presence.moved
    people = [presence.names[one] for one in sorted(presence.before | presence.after) if one in presence.names]
    mark = after.scenes[-1].turn_index if after.scenes else 0
    made = []
    for line in lines:
        feeling = feeling_in(line.text)
        made.append(
            NewMemory(
                memory_id=line.id,
                owner=PLAYER_OWNER,
                text=line.text,
                speaker=line.speaker_name,
                people=[*people, after.player_name],
                scene=f"{after.world.current_node}/{mark}/{after.turns_in_scene // SCENE_PART}",
                where=after.world.current_node,
                minute=story_minute(after),
                importance=importance_of(line.text, feeling, changed=changed and line.kind != "player_input"),
                feeling=feeling,
                evidence=[line.id],
            )
        )
    return made
