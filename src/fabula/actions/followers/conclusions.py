"""What owners conclude from what they noticed in a turn: beliefs that evidence moves, and now and then a reflection.

They are kept with the observations of the turn, in one transaction: done once, and gone when somebody goes back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fabula.actions.followers.summariser import Summariser
from fabula.actions.house import House
from fabula.actions.memories.beliefs import believed
from fabula.actions.repositories import SESSIONS
from fabula.ports.memories import Memory, NewMemory, Owner, OwnerAt
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.recall.beliefs import Belief, Claim, Evidence, Source, as_memory, beliefs_after, from_memory
from fabula.recall.perception import PLAYER_OWNER, NoticedLine
from fabula.recall.reflections import LOOKS_BACK, REFLECT_EVERY, Reflection, reflect
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry

KNOWN_REFLECTIONS = 12
REFLECTION_WORDS = 40
S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """What was noticed in a turn, after which the play stood so: each line as a memory, what it claims, and by whom."""

    turn: Turn
    state: PlayState
    lines: Sequence[NoticedLine]
    memories: Sequence[NewMemory]
    owners: Sequence[Sequence[str]]
    claims: Mapping[str, Sequence[Claim]]
    names: Mapping[str, str]


def is_reflected_on(turn: Turn) -> bool:
    """Whether owners look back in a turn."""
    return turn.turn_index > 0 and turn.turn_index % REFLECT_EVERY == 0


def runs_of(seen: Sequence[S], turn_of: Callable[[S], Turn]) -> list[list[S]]:
    """Turns of one line in runs that are written down together: who looks back in one finds those before it written."""
    runs: list[list[S]] = [[]]
    for one in seen:
        if is_reflected_on(turn_of(one)) and runs[-1]:
            runs.append([])
        runs[-1].append(one)
    return runs


class Thinking:
    """What owners conclude while the turns of a run are written down; what they believed before it is read once."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._first: Turn | None = None
        self._beliefs: dict[str, dict[str, Belief]] = {}

    async def conclude(self, noticed: Noticed) -> list[NewMemory]:
        """What owners conclude from the next turn of the run."""
        self._first = self._first or noticed.turn
        return await _conclusions(self._house, noticed, self._believed)

    async def _believed(self, owner: str) -> dict[str, Belief]:
        """What an owner believes by now; whoever changes it changes this."""
        assert self._first is not None
        if owner not in self._beliefs:
            at = _at(owner, self._first)
            kept = await self._house.store.read(lambda unit: believed(unit, at))
            self._beliefs[owner] = {belief.key: belief for belief in map(from_memory, kept)}
        return self._beliefs[owner]


Believed = Callable[[str], Awaitable[dict[str, Belief]]]


async def _conclusions(house: House, noticed: Noticed, beliefs_of: Believed) -> list[NewMemory]:
    """Most turns claim nothing, and are not reflected on."""
    reflects = is_reflected_on(noticed.turn)
    if not (reflects or any(noticed.claims.values())) or noticed.turn.parent_id is None:
        return []
    summariser = await _summariser(house, noticed) if reflects else None
    made: list[NewMemory] = []
    for owner in sorted({one for some in noticed.owners for one in some}):
        evidence = _evidence(owner, noticed)
        if evidence:
            made += _changed(await beliefs_of(owner), owner, noticed, evidence)
        if reflects:
            thoughts = await _reflections(house, owner, noticed, summariser)
            made += thoughts
            # One call is enough: what the others make of it stays in the words of the rule.
            summariser = None if thoughts else summariser
    return made


async def _summariser(house: House, noticed: Noticed) -> Summariser | None:
    """Who puts reflections into words, where a model may."""

    async def find(unit: Unit) -> Summariser | None:
        session = await SESSIONS.find(unit, noticed.turn.session_id)
        return None if session is None else await Summariser.of(house, unit, session, noticed.turn, noticed.state)

    return await house.store.read(find)


def _evidence(owner: str, noticed: Noticed) -> list[Evidence]:
    found = []
    for line, owners in zip(noticed.lines, noticed.owners, strict=True):
        is_own = line.speaker_id == owner or (line.kind == "player_input" and owner == PLAYER_OWNER)
        if owner not in owners or (is_own and line.kind != "thought"):
            continue
        source: Source = "thought" if is_own else "told" if line.kind in ("dialogue", "player_input") else "saw"
        from_whom = line.speaker_name if source == "told" else ""
        turn_id = noticed.turn.turn_id
        found += [
            Evidence(claim=claim, source=source, turn_id=turn_id, from_whom=from_whom)
            for claim in noticed.claims[line.id]
        ]
    return found


def _changed(beliefs: dict[str, Belief], owner: str, noticed: Noticed, evidence: Sequence[Evidence]) -> list[NewMemory]:
    """The beliefs of an owner that some evidence changes, which are changed."""
    changed = beliefs_after(beliefs, evidence)
    beliefs.update({belief.key: belief for belief in changed})
    first = noticed.memories[0]
    return [
        as_memory(belief, owner=owner, turn_id=noticed.turn.turn_id, minute=first.minute, where=first.where)
        for belief in changed
    ]


async def _reflections(house: House, owner: str, noticed: Noticed, summariser: Summariser | None) -> list[NewMemory]:
    at = _at(owner, noticed.turn)

    async def read(unit: Unit) -> tuple[list[Memory], list[Memory]]:
        lately = await unit.memories.page(at, kind="observation", limit=LOOKS_BACK)
        return lately[::-1], await unit.memories.page(at, kind="reflection", limit=KNOWN_REFLECTIONS)

    lately, known = await house.store.read(read)
    own_name = noticed.names.get(owner, "")
    found = await run_in_thread(reflect, lately, own_name=own_name, known=[one.text for one in known])
    return [
        await _as_memory(one, owner, number, noticed, summariser if number == 0 else None)
        for number, one in enumerate(found)
    ]


async def _as_memory(
    reflection: Reflection, owner: str, number: int, noticed: Noticed, summariser: Summariser | None
) -> NewMemory:
    """A reflection as it is kept; a model, where there is one, says in its words what the cluster is about."""
    text = reflection.text
    if summariser is not None and summariser.api is not None:
        lines = [_entry(one) for one in reflection.evidence]
        lead = reflection.text.partition(". Above all:")[0]
        text = f"{lead}. {await summariser.sum_up(lines, REFLECTION_WORDS)}"
    first = noticed.memories[0] if noticed.memories else None
    return NewMemory(
        memory_id=f"reflection/{owner}/{noticed.turn.turn_id}/{number}",
        owner=owner,
        kind="reflection",
        text=text,
        scene=f"reflection/{noticed.turn.turn_id}/{number}",
        where="" if first is None else first.where,
        minute=max(one.minute for one in reflection.evidence),
        importance=4,
        feeling=reflection.feeling,
        certainty=reflection.certainty,
        evidence=list(dict.fromkeys(one.turn_id for one in reflection.evidence if one.turn_id is not None)),
    )


def _entry(memory: Memory) -> MemoryEntry:
    return MemoryEntry(speaker_id="", speaker_name=memory.speaker, kind="dialogue", text=memory.shown)


def _at(owner: str, turn: Turn) -> OwnerAt:
    """An owner before a turn."""
    return OwnerAt(owner=Owner(scope=turn.tree_id, name=owner), turn_id=turn.parent_id)
