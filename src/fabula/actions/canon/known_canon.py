"""Tell a player what is true in the world of a play, as far as the player may know it, and what became of proposals.

1. Who is asked about: an entity by its id; else whoever is in the scene, its place, and the player.
2. What is true of them on the line of the head, at this hour of the story, and known to the player, in sentences.
3. What the play proposed, newest first, with its verdict. The reason of a verdict may name what only others know, so
   it is told to authors, and to players where nothing that is canon speaks against the change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.layers import Layer, layer_of
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import SESSIONS
from fabula.actions.setups.prompt_canon import MOST_NAMES, note_of
from fabula.actions.setups.seen_canon import MOST_TOUCHING, canon_at, named_in
from fabula.actions.views import Command, View
from fabula.canon.sentences import sentence_of
from fabula.canon.staging import AGENDAS
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.agendas import FiredAgenda
from fabula.story.canon import Change, ChangeKind, ChangeStatus, EntityContent, EntityKind, Result
from fabula.story.checks import PLAYER
from fabula.story.stage import OnStage

MOST_TRUTHS = 200
MOST_ENTITIES = 200
MOST_STAGED = 50
MOST_PROPOSED = 500
"""Of so many that a play proposed last those are told that may be."""
FEW_TRUTHS = 100
"""So many are looked through at once."""


class AskKnown(Command):
    """`about` is the id of an entity. `everything` has what only others know as well, for authors."""

    about: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    everything: bool = False


class KnownEntity(View):
    """Somebody or something that the player has heard of."""

    entity_id: str
    kind: EntityKind
    name: str
    description: str


class Truth(View):
    """Something that is true now. `known_to` are the names of those who know it, if not everybody may."""

    change_id: str
    kind: ChangeKind
    sentence: str
    about: list[str]
    known_to: list[str]


class StagedTruth(View):
    """Something that this play proposed. `result` is its verdict, `because` the sentence that decided."""

    change_id: str
    turn_id: str | None
    kind: ChangeKind
    sentence: str
    status: ChangeStatus
    result: Result | None
    because: str


class KnownCanon(View):
    """What is true for the player of a session. `left_out` counts truths beyond those that are told."""

    may_be_large = True
    type: Literal["known_canon"] = "known_canon"
    about: list[str]
    entities: list[KnownEntity]
    truths: list[Truth]
    left_out: int
    staged: list[StagedTruth]


@allowed("player")
async def tell_known_canon(house: House, actor: Actor, session_id: str, command: AskKnown) -> KnownCanon:
    """Tells what is true in the world of a play as far as its player may know it, and what the play proposed."""
    if command.everything:
        actor.must_be("author")
    # Thousands of truths may be read for an answer: of many who ask at once, and of one who asks often, a few.
    async with house.canon_questions.turn_of(actor):
        async with house.store.reading() as unit:
            asked = await _read_question(house, unit, actor, session_id, command)
        is_long = len(asked.rows) + len(asked.proposed) > FEW_TRUTHS
        # Each is put into a sentence to see whether it may be told.
        found = await run_in_thread(_look_through, asked) if is_long else _look_through(asked)
        async with house.store.reading() as unit:
            names, entities = await _named(unit, asked, found)
        tells_all = actor.may_act_as("author")
        return KnownCanon(
            about=asked.about,
            entities=[entities[id] for id in found.heard_of if id in entities][:MOST_ENTITIES],
            truths=[_truth(row, names) for row in found.truths],
            left_out=found.left_out,
            staged=[_staged(row, names, tells_all=tells_all) for row in found.staged],
        )


@dataclass(frozen=True, kw_only=True)
class _Question:
    """What was read for an answer. `proposed` are the newest changes of the play, the last first; `hidden` are the
    changes that it replaces. `fired` is what came to pass off-screen. Without `knowing` everything is told."""

    layer: Layer
    stage: OnStage
    about: list[str]
    is_guess: bool
    minute: int
    rows: list[ChangeRow]
    proposed: list[ChangeRow]
    hidden: Collection[str]
    fired: Sequence[FiredAgenda]
    knowing: frozenset[str] | None


@dataclass(frozen=True, kw_only=True)
class _Found:
    """What of it is told: truths, proposals, and of whom the player has heard by that."""

    truths: list[ChangeRow]
    left_out: int
    staged: list[ChangeRow]
    heard_of: list[str]


async def _read_question(house: House, unit: Unit, actor: Actor, session_id: str, command: AskKnown) -> _Question:
    layer = await layer_of(unit, actor, session_id)
    _, state = await head_state(unit, actor, session_id)
    stage = await kind_of_play(state).on_stage(house, unit, await SESSIONS.get(unit, session_id), state)
    about = _around(stage) if command.about is None else [command.about]
    return _Question(
        layer=layer,
        stage=stage,
        about=about,
        is_guess=command.about is not None,
        minute=state.minute,
        rows=await canon_at(unit, layer.world_id, layer.turn_id, about=about, newest=MOST_TOUCHING),
        proposed=(await unit.canon_layers.at(layer.turn_id, limit=MOST_PROPOSED))[::-1],
        hidden=frozenset(await unit.canon_layers.replaced(layer.turn_id)),
        fired=() if state.off_screen is None else state.off_screen.fired,
        knowing=None if command.everything else frozenset([PLAYER]),
    )


def _look_through(asked: _Question) -> _Found:
    unnoticed = {row.change.change_id for row in asked.proposed if not _may_be_told(row.change, asked)}
    rows = [row for row in asked.rows if row.change.change_id not in unnoticed]
    known = [row for row in rows if _is_known(row, asked.minute, asked.knowing)]
    truths = known[-MOST_TRUTHS:]
    told_of = dict.fromkeys(id for row in truths for id in named_in(row.change))
    kept_from = _only_others_know_of(asked.rows, known) if asked.is_guess else frozenset[str]()
    kept_from |= {
        row.change.content.entity_id
        for row in asked.proposed
        if row.change.change_id in unnoticed and isinstance(row.change.content, EntityContent)
    }
    kept_from -= {id for row in known for id in named_in(row.change)}
    return _Found(
        truths=truths,
        left_out=len(known) - len(truths),
        staged=[
            row for row in asked.proposed if row.change.change_id not in unnoticed and _is_open(row, asked.knowing)
        ][:MOST_STAGED],
        heard_of=[*dict.fromkeys((*(id for id in asked.about if id not in kept_from), *told_of))],
    )


async def _named(unit: Unit, asked: _Question, found: _Found) -> tuple[dict[str, str], dict[str, KnownEntity]]:
    """What those are called who are told of, and who they are: what the play says of them counts, and what it says
    last."""
    told = [row.change for row in (*found.truths, *found.staged)]
    knowing = (id for change in told for id in getattr(change.content, "known_to", ()))
    ids = [*dict.fromkeys((*found.heard_of, *(id for change in told for id in named_in(change)), *knowing))]
    world_id, turn_id = asked.layer.world_id, asked.layer.turn_id
    own = await unit.canon_layers.at(turn_id, about=ids, kind="entity", limit=MOST_NAMES)
    said = [row.change.content for row in own if row.is_true and row.change.change_id not in asked.hidden]
    of_play = {one.entity_id: one for one in said if isinstance(one, EntityContent)}
    names = {id: one.name for id, one in (await unit.graph.names(world_id, ids)).items()}
    names |= {id: one.name for id, one in of_play.items()}
    entities = {**await unit.graph.entities(world_id, found.heard_of[:MOST_NAMES]), **of_play}
    return names | _names_on(asked.stage), {id: _entity(one) for id, one in entities.items()}


def _around(stage: OnStage) -> list[str]:
    return [*(one.id for one in stage.cast if one.in_scene and one.id != PLAYER), stage.scene.node_id, PLAYER]


def _names_on(stage: OnStage) -> dict[str, str]:
    return {one.id: one.name for one in stage.cast} | {stage.scene.node_id: stage.scene.title}


def _entity(one: EntityContent) -> KnownEntity:
    return KnownEntity(entity_id=one.entity_id, kind=one.entity_kind, name=one.name, description=one.description)


def _only_others_know_of(rows: Sequence[ChangeRow], known: Sequence[ChangeRow]) -> frozenset[str]:
    """Those about whom there is something to know that the player does not: whoever asks for an id has guessed it."""
    # By id: comparing whole changes with each other grows with the square of what is true.
    told = {row.change.change_id for row in known}
    kept = [
        row for row in rows if row.change.change_id not in told and not isinstance(row.change.content, EntityContent)
    ]
    return frozenset(id for row in kept for id in named_in(row.change))


def _may_be_told(change: Change, asked: _Question) -> bool:
    """Whether a play's own change may be told to who asks: what came to pass off-screen, and what is true because of
    it, not before it was noticed, unless they know of it."""
    if change.proposer != AGENDAS or asked.knowing is None:
        return True
    if not asked.knowing.isdisjoint(getattr(change.content, "known_to", ())):
        return True
    noticed = [one for one in asked.fired if one.noticed is not None]
    return any(_is_because_of(change, one) for one in noticed)


def _is_because_of(change: Change, fired: FiredAgenda) -> bool:
    """A clock fires once on a line; of what came to pass in a conflict, its outcome alone is proposed."""
    of_it = (one for one in change.evidence if one.ref == fired.clock_id)
    return any(one.type == "clock" or one.quote.endswith(fired.event) for one in of_it)


def _is_known(row: ChangeRow, minute: int, knowing: frozenset[str] | None) -> bool:
    note = note_of(row, {})
    return note is not None and note.holds_at(minute) and (knowing is None or note.is_known_to(knowing))


def _is_open(row: ChangeRow, knowing: frozenset[str] | None) -> bool:
    """Whether a proposal may be told, whenever it holds."""
    known_to = getattr(row.change.content, "known_to", [])
    return knowing is None or not known_to or not knowing.isdisjoint(known_to)


def _truth(row: ChangeRow, names: Mapping[str, str]) -> Truth:
    return Truth(
        change_id=row.change.change_id,
        kind=row.change.kind,
        sentence=sentence_of(row.change.content, names),
        about=list(named_in(row.change)),
        known_to=[names.get(id, id) for id in getattr(row.change.content, "known_to", [])],
    )


def _staged(row: ChangeRow, names: Mapping[str, str], *, tells_all: bool) -> StagedTruth:
    verdict = row.verdict
    is_told = verdict is not None and (tells_all or not (verdict.contradicts or verdict.retcons))
    return StagedTruth(
        change_id=row.change.change_id,
        turn_id=row.change.turn_id,
        kind=row.change.kind,
        sentence=sentence_of(row.change.content, names),
        status=row.status,
        result=None if verdict is None else verdict.result,
        because=verdict.sentence if verdict is not None and is_told else "",
    )
