"""What users do with memories: list, search, look at, add, correct, pin and forget them; and ask what somebody knows.

A player reads and changes what the player of a session remembers. What characters remember, and think, is for authors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.memories.beliefs import believed
from fabula.actions.memories.recall_memories import Recollection, gather_past, recall_past
from fabula.actions.memories.remember import findable
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.reached_turns import turn_within_reach
from fabula.actions.views import Command, ListView, Paging, View, part_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.memories import Memory, MemoryChange, MemoryKind, MemoryOrder, NewMemory, Owner, OwnerAt
from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.recall.beliefs import SCENE, claims_in, sureness, turns_of
from fabula.recall.perception import PLAYER_OWNER

LONGEST_TEXT = 4_000
PAGE = 50


class ListMemories(Paging):
    """Whose memories; `about` keeps those that have a word that begins so."""

    owner_id: str = PLAYER_OWNER
    kind: MemoryKind | None = None
    about: str | None = None
    order: MemoryOrder = "newest"


class SearchMemories(Command):
    """What is asked; `as_of_turn_id` asks what was known then."""

    owner_id: str = PLAYER_OWNER
    query: str = Field(min_length=1, max_length=2_000)
    as_of_turn_id: str | None = None
    limit: int = Field(default=10, ge=1, le=50)


class NameMemory(Command):
    memory_id: str


class AddMemory(Command):
    owner_id: str = PLAYER_OWNER
    text: str = Field(min_length=1, max_length=LONGEST_TEXT)
    importance: int = Field(default=3, ge=1, le=5)


class UpdateMemory(NameMemory):
    """What is to be different; a text is a new rendition, the original stays."""

    text: str | None = Field(default=None, min_length=1, max_length=LONGEST_TEXT)
    importance: int | None = Field(default=None, ge=1, le=5)
    certainty: float | None = Field(default=None, ge=0, le=1)


class PinMemory(NameMemory):
    pinned: bool = True


class ListBeliefs(Paging):
    """Whose beliefs."""

    owner_id: str = PLAYER_OWNER


class AskKnowledge(Command):
    """What does somebody know about something?"""

    owner_id: str = PLAYER_OWNER
    about: str = Field(min_length=1, max_length=2_000)


class ReasonView(View):
    """A part of a score."""

    part: str
    score: float


class MemoryView(View):
    """A memory. `text` is how it reads now, `original` how it was written; `told_by` is there for what was not seen."""

    optional = frozenset({"turn_id", "told_by", "emotion"})
    type: Literal["memory"] = "memory"
    memory_id: str
    owner_id: str
    kind: MemoryKind
    text: str
    original: str
    renditions: list[str]
    speaker: str
    people: list[str]
    where: str
    story_minute: int
    created_at_ms: int
    turn_id: str | None = None
    evidence: list[str]
    importance: int
    emotion: str | None = None
    valence: float
    arousal: float
    certainty: float
    told_by: str | None = None
    pinned: bool
    recalls: int
    fidelity: float


class MemoriesListed(ListView):
    type: Literal["memories_listed"] = "memories_listed"
    memories: list[MemoryView]


class FoundMemory(View):
    memory: MemoryView
    score: float
    reasons: list[ReasonView]


class MemoriesFound(View):
    may_be_large = True
    type: Literal["memories_found"] = "memories_found"
    found: list[FoundMemory]


class MemoryForgotten(View):
    type: Literal["memory_forgotten"] = "memory_forgotten"
    memory_id: str


class KnownThing(View):
    """How somebody knows a thing: it `saw` it, was `told` it (by whom), or `concluded` it; and how sure it is.

    `evidence` are the lines or turns that it rests on, `against` the turns that spoke against it.
    """

    optional = frozenset({"from_whom", "turn_id", "against"})
    how: Literal["saw", "told", "concluded"]
    text: str
    from_whom: str | None = None
    certainty: float
    memory_id: str
    turn_id: str | None = None
    evidence: list[str]
    against: list[str] = []


class Knowledge(View):
    may_be_large = True
    type: Literal["knowledge"] = "knowledge"
    owner_id: str
    known: list[KnownThing]


class BeliefView(View):
    """Something that somebody takes to be true: how sure they are (0 to 1, and in words), from whom they have it, the
    turns that speak for it and against it, and the turn that changed it last."""

    optional = frozenset({"from_whom", "against"})
    memory_id: str
    text: str
    confidence: float
    sureness: str
    from_whom: str | None = None
    evidence: list[str]
    against: list[str] = []
    turn_id: str | None
    story_minute: int


class BeliefsListed(ListView):
    type: Literal["beliefs_listed"] = "beliefs_listed"
    owner_id: str
    beliefs: list[BeliefView]


@allowed("player")
async def list_beliefs(house: House, actor: Actor, session_id: str, command: ListBeliefs) -> BeliefsListed:
    """Lists what somebody in a play takes to be true at the session's head, what changed last first."""
    async with house.store.reading() as unit:
        owner = await _owner_at(unit, actor, session_id, command.owner_id)
        every = await believed(unit, owner)
    found, cursor = part_of(every, command, lambda one: one.memory_id)
    return BeliefsListed(owner_id=command.owner_id, beliefs=[_belief(one) for one in found], next_cursor=cursor)


@allowed("player")
async def list_memories(house: House, actor: Actor, session_id: str, command: ListMemories) -> MemoriesListed:
    """Lists what somebody in a play remembers at the session's head, the newest first."""
    limit = command.limit or PAGE
    async with house.store.reading() as unit:
        owner = await _owner_at(unit, actor, session_id, command.owner_id)
        after = await _place(unit, owner, command.cursor)
        found = await unit.memories.page(
            owner, kind=command.kind, order=command.order, after=after, limit=1000 if command.about else limit + 1
        )
    if command.about:
        found = await run_in_thread(_about, found, command.about.casefold())
    cursor = found[limit - 1].memory_id if len(found) > limit else None
    return MemoriesListed(memories=[memory_view(one) for one in found[:limit]], next_cursor=cursor)


def _about(memories: Sequence[Memory], wanted: str) -> list[Memory]:
    """Those with a word that begins so."""
    return [one for one in memories if any(word.startswith(wanted) for word in one.shown.casefold().split())]


@allowed("player")
async def search_memories(house: House, actor: Actor, session_id: str, command: SearchMemories) -> MemoriesFound:
    """Finds what a question brings back to somebody, with the reasons, the strongest first."""
    async with house.store.reading() as unit:
        owner = await _owner_at(unit, actor, session_id, command.owner_id, as_of=command.as_of_turn_id)
        past = await gather_past(unit, owner, command.query)
    found = await recall_past(house, past, most=command.limit)
    return MemoriesFound(found=[_found(one) for one in found])


@allowed("player")
async def get_memory(house: House, actor: Actor, session_id: str, command: NameMemory) -> MemoryView:
    """Shows one memory: as it was written, how it reads now, and what it is known by."""
    async with house.store.reading() as unit:
        return memory_view(await _memory(unit, actor, session_id, command.memory_id))


@allowed("player")
async def add_memory(house: House, actor: Actor, session_id: str, command: AddMemory) -> MemoryView:
    """Gives somebody a memory at the session's head."""
    async with house.store.reading() as unit:
        await _owner_at(unit, actor, session_id, command.owner_id)
    new = NewMemory(
        memory_id=house.ids.new("memory"), owner=command.owner_id, text=command.text, importance=command.importance
    )
    made = await findable(house, [new])
    async with house.store.writing() as unit:
        play = await play_of(unit, actor, session_id)
        await unit.memories.add(play.tree_id, play.head_turn_id, made)
        if await unit.memories.get(new.memory_id) is None:
            raise InvalidRequest("At this point of the play nobody can remember more. Play on, or forget something.")
        return memory_view(await _memory(unit, actor, session_id, new.memory_id))


@allowed("player")
async def update_memory(house: House, actor: Actor, session_id: str, command: UpdateMemory) -> MemoryView:
    """Corrects a memory. It is found by its new text from then on; the original stays readable."""
    found = None
    if command.text is not None:
        async with house.store.reading() as unit:
            old = await _memory(unit, actor, session_id, command.memory_id)
        text = NewMemory(
            memory_id=old.memory_id, owner=old.owner.name, text=command.text, speaker=old.speaker, people=old.people
        )
        [made] = await findable(house, [text])
        found = made.findable
    change = MemoryChange(text=command.text, importance=command.importance, certainty=command.certainty, findable=found)
    return await _change(house, actor, session_id, command.memory_id, change)


@allowed("player")
async def pin_memory(house: House, actor: Actor, session_id: str, command: PinMemory) -> MemoryView:
    """Pins a memory, which then never fades, or lets go of it."""
    return await _change(house, actor, session_id, command.memory_id, MemoryChange(pinned=command.pinned))


@allowed("player")
async def delete_memory(house: House, actor: Actor, session_id: str, command: NameMemory) -> MemoryForgotten:
    """Forgets a memory for good: it never comes up again, on any branch. What was told stays in the transcript."""
    async with house.store.writing() as unit:
        memory = await _memory(unit, actor, session_id, command.memory_id)
        await unit.memories.forget(memory.memory_id)
        for one in await _drawn_from(unit, memory):
            await unit.memories.forget(one.memory_id)
    return MemoryForgotten(memory_id=command.memory_id)


@allowed("player")
async def ask_knowledge(house: House, actor: Actor, session_id: str, command: AskKnowledge) -> Knowledge:
    """Tells what somebody knows about something: what it saw, was told by whom, or concluded, and how sure it is."""
    async with house.store.reading() as unit:
        owner = await _owner_at(unit, actor, session_id, command.owner_id)
        past = await gather_past(unit, owner, command.about)
    found = await recall_past(house, past)
    return Knowledge(owner_id=command.owner_id, known=[_known(one.memory) for one in found])


async def _drawn_from(unit: Unit, memory: Memory) -> list[Memory]:
    """What an owner concluded from a memory, on whichever line: it goes with it."""
    turns = memory.evidence if memory.kind == "summary" else [memory.turn_id] if memory.kind == "observation" else []
    scenes = {SCENE + claim.key for claim in claims_in(memory.text, memory.speaker)}
    found = [one for turn_id in turns if turn_id for one in await unit.memories.resting_on(memory.owner, turn_id)]
    return [one for one in found if one.kind == "reflection" or one.scene in scenes]


async def _owner_at(unit: Unit, actor: Actor, session_id: str, owner_id: str, *, as_of: str | None = None) -> OwnerAt:
    """An owner where the session stands, or stood at a turn of its tree."""
    _check_owner(actor, owner_id)
    play = await play_of(unit, actor, session_id)
    turn_id = play.head_turn_id
    if as_of is not None:
        turn_id = (await turn_within_reach(unit, actor, play, as_of)).turn_id
    return OwnerAt(owner=Owner(scope=play.tree_id, name=owner_id), turn_id=turn_id)


def _check_owner(actor: Actor, owner_id: str) -> None:
    if owner_id != PLAYER_OWNER:
        actor.must_be("author", "What characters remember")


async def _memory(unit: Unit, actor: Actor, session_id: str, memory_id: str) -> Memory:
    """A memory of a play that the actor reaches; that of another play is not there."""
    play: Play = await play_of(unit, actor, session_id)
    found = await unit.memories.get(memory_id)
    if found is None or found.owner.scope != play.tree_id:
        raise NotFound(f"There is no memory '{memory_id}' in this session.")
    _check_owner(actor, found.owner.name)
    return found


async def _change(house: House, actor: Actor, session_id: str, memory_id: str, change: MemoryChange) -> MemoryView:
    async with house.store.writing() as unit:
        memory = await _memory(unit, actor, session_id, memory_id)
        return memory_view(await unit.memories.change(memory.memory_id, change))


async def _place(unit: Unit, owner: OwnerAt, cursor: str | None) -> tuple[int, int] | None:
    if cursor is None:
        return None
    found = await unit.memories.get(cursor)
    if found is None or found.owner != owner.owner:
        raise InvalidRequest("`cursor` names nothing in this list. Read it anew.")
    return found.space, found.place


def memory_view(memory: Memory) -> MemoryView:
    """A memory as users see it."""
    return MemoryView(
        memory_id=memory.memory_id,
        owner_id=memory.owner.name,
        kind=memory.kind,
        text=memory.shown,
        original=memory.text,
        renditions=list(memory.renditions),
        speaker=memory.speaker,
        people=list(memory.people),
        where=memory.where,
        story_minute=memory.minute,
        created_at_ms=memory.created_at_ms,
        turn_id=memory.turn_id,
        evidence=list(memory.evidence),
        importance=memory.importance,
        emotion=memory.feeling.emotion,
        valence=memory.feeling.valence,
        arousal=memory.feeling.arousal,
        certainty=memory.certainty,
        told_by=memory.told_by or None,
        pinned=memory.pinned,
        recalls=memory.recalls,
        fidelity=memory.fidelity,
    )


def _found(one: Recollection) -> FoundMemory:
    reasons = [ReasonView(part=reason.part, score=reason.score) for reason in one.reasons]
    return FoundMemory(memory=memory_view(one.memory), score=round(one.score, 3), reasons=reasons)


def _belief(memory: Memory) -> BeliefView:
    return BeliefView(
        memory_id=memory.memory_id,
        text=memory.shown,
        confidence=memory.certainty,
        sureness=sureness(memory.certainty),
        from_whom=memory.told_by or None,
        evidence=turns_of(memory.evidence),
        against=turns_of(memory.evidence, against=True),
        turn_id=memory.turn_id,
        story_minute=memory.minute,
    )


def _known(memory: Memory) -> KnownThing:
    concluded = memory.kind in ("reflection", "belief", "summary")
    return KnownThing(
        how="concluded" if concluded else "told" if memory.told_by else "saw",
        turn_id=memory.turn_id,
        against=turns_of(memory.evidence, against=True),
        text=memory.shown,
        from_whom=memory.told_by or None,
        certainty=memory.certainty,
        memory_id=memory.memory_id,
        evidence=turns_of(memory.evidence),
    )
