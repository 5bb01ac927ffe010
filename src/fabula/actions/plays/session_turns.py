"""Turns as things: look at one, name or bookmark it, list the bookmarks, and find its other tellings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.branches import BranchTurn, branch_turns
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of, state_at
from fabula.actions.plays.reached_turns import tree_within_reach, turn_within_reach, turns_within_reach
from fabula.actions.views import Command, ListView, Paging, View, cursor_after, place_of
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallTotals
from fabula.ports.plays import Play, Turn, TurnMark
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.player_views import result_for_players
from fabula.story.turn_tree import TurnPlace, TurnTree, newest_leaves
from fabula.story.values import JsonObject, Value

LONGEST_TURN_NAME = 120
LIST = "turn"


class GetTurn(Command):
    """A turn by its `turn_id`, or the one with this `turn_index` on the session's own line."""

    turn_id: str | None = None
    turn_index: int | None = Field(default=None, ge=0)


class UpdateTurn(Command):
    """What is left out stays as it is; an empty `name` takes the name away."""

    turn_id: str
    name: str | None = Field(default=None, max_length=LONGEST_TURN_NAME)
    bookmarked: bool | None = None


class ListTurns(Paging):
    """`bookmarked` true lists the turns with a bookmark; else those that only have a name are listed, too."""

    bookmarked: bool = False


class FindSiblings(Command):
    """The turns whose other tellings are wanted."""

    turn_ids: list[str] = Field(min_length=1, max_length=200)


class Sibling(BranchTurn):
    """One telling of a place in the story. `leaf_turn_id` is the newest end of a line that goes through it."""

    leaf_turn_id: str


class TurnUsage(Value):
    """The model calls of one turn, added up."""

    calls: int
    failed: int
    memo_hits: int
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class SessionTurn(View):
    """A turn. `result` is what it answered when it was completed; `siblings` are all tellings of its place, itself
    among them and oldest first; `message_ids` are the messages that it said or changed.
    """

    may_be_large = True
    optional = frozenset({"choice", "finished_at_ms"})
    type: Literal["session_turn"] = "session_turn"
    turn_id: str
    parent_id: str | None
    turn_index: int
    kind: str
    status: str
    player_input: str
    choice: int | None = None
    result: JsonObject | None
    message_ids: list[str]
    siblings: list[Sibling]
    usage: TurnUsage
    name: str | None
    bookmarked: bool
    created_at_ms: int
    finished_at_ms: int | None = None


class TurnsListed(ListView):
    type: Literal["session_turns_listed"] = "session_turns_listed"
    turns: list[BranchTurn]


class TurnSiblings(Value):
    """A turn, and all tellings of its place."""

    turn_id: str
    siblings: list[Sibling]


class SiblingsFound(View):
    """The tellings of those turns that have more than one; the others are left out."""

    may_be_large = True
    type: Literal["session_turn_siblings"] = "session_turn_siblings"
    turns: list[TurnSiblings]


@allowed("player")
async def get_turn(house: House, actor: Actor, session_id: str, command: GetTurn) -> SessionTurn:
    """Shows one turn: what was said, what it answered, its other tellings, and what it cost."""
    if (command.turn_id is None) == (command.turn_index is None):
        raise InvalidRequest("Say either the `turn_id` of a turn, or its `turn_index` on the session's own line.")
    await house.models.settle()
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        if command.turn_id is not None:
            turn = await turn_within_reach(unit, actor, play, command.turn_id)
        else:
            assert command.turn_index is not None
            if command.turn_index > play.turn_index:
                raise InvalidRequest(f"Only {play.turn_index} turns have been played.")
            turn = await unit.plays.ancestor(play.head_turn_id, command.turn_index)
        return await _session_turn(unit, actor, play, turn)


@allowed("player")
async def update_turn(house: House, actor: Actor, session_id: str, command: UpdateTurn) -> SessionTurn:
    """Names or bookmarks a turn; this is written beside the story, and going back does not undo it."""
    async with house.store.writing() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await turn_within_reach(unit, actor, play, command.turn_id)
        mark = (await unit.plays.marks_of([turn.turn_id])).get(turn.turn_id, TurnMark(turn_id=turn.turn_id))
        if command.name is not None:
            mark = replace(mark, name=" ".join(command.name.split()))
        if command.bookmarked is not None:
            mark = replace(mark, bookmarked=command.bookmarked)
        await unit.plays.mark(mark)
        return await _session_turn(unit, actor, play, turn)


@allowed("player")
async def list_turns(house: House, actor: Actor, session_id: str, command: ListTurns) -> TurnsListed:
    """Lists the turns that were bookmarked or named, oldest first."""
    limit = command.limit or 1000
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        marks = await unit.plays.marks(play.tree_id, after=place_of(LIST, command.cursor), limit=limit + 1)
        page = marks[:limit]
        wanted = [mark.turn_id for mark in page if mark.bookmarked or not command.bookmarked]
        turns = list((await unit.plays.turns(wanted)).values())
        seen = await turns_within_reach(unit, actor, play, turns)
        listed = await branch_turns(unit, [turn.turn_id for turn in seen])
    cursor = cursor_after(LIST, page[-1].turn_id) if len(marks) > limit else None
    return TurnsListed(turns=listed, next_cursor=cursor)


@allowed("player")
async def find_siblings(house: House, actor: Actor, session_id: str, command: FindSiblings) -> SiblingsFound:
    """Finds the other tellings of some turns, each with the newest end of the lines that go through it."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turns = await unit.plays.turns(command.turn_ids)
        found = await _siblings(unit, actor, play, [turn for turn in turns.values() if turn.tree_id == play.tree_id])
    return SiblingsFound(
        turns=[
            TurnSiblings(turn_id=turn_id, siblings=found[turn_id])
            for turn_id in dict.fromkeys(command.turn_ids)
            if len(found.get(turn_id, ())) > 1
        ]
    )


async def _session_turn(unit: Unit, actor: Actor, play: Play, turn: Turn) -> SessionTurn:
    result = await unit.plays.result(turn.turn_id)
    mark = (await unit.plays.marks_of([turn.turn_id])).get(turn.turn_id)
    usage = await unit.calls.totals_of_turn(turn.turn_id)
    return SessionTurn(
        turn_id=turn.turn_id,
        parent_id=turn.parent_id,
        turn_index=turn.turn_index,
        kind=turn.kind,
        status=turn.shown_status,
        player_input=turn.player_input,
        choice=await _choice(unit, turn),
        result=result if result is None or actor.sees_plans else result_for_players(result),
        message_ids=await unit.plays.messages_of(turn.turn_id),
        siblings=(await _siblings(unit, actor, play, [turn])).get(turn.turn_id, []),
        usage=_usage(usage),
        name=None if mark is None else mark.name or None,
        bookmarked=mark is not None and mark.bookmarked,
        created_at_ms=turn.created_at_ms,
        finished_at_ms=turn.finished_at_ms,
    )


async def _choice(unit: Unit, turn: Turn) -> int | None:
    """Which of the choices on offer the player took."""
    if turn.kind != "play" or turn.parent_id is None:
        return None
    before = await state_at(unit, turn.parent_id)
    return kind_of_play(before).choice_taken(before, turn.player_input)


async def _siblings(unit: Unit, actor: Actor, play: Play, turns: Sequence[Turn]) -> dict[str, list[Sibling]]:
    """The tellings beside each turn of play that the actor may see; where there is but one, the tree is not read."""
    wanted = [turn for turn in turns if turn.kind == "play" and turn.parent_id is not None]
    parents = list(dict.fromkeys(turn.parent_id for turn in wanted if turn.parent_id is not None))
    tellings = await turns_within_reach(unit, actor, play, await unit.plays.tellings(parents))
    beside: dict[str | None, list[Turn]] = {}
    for telling in tellings:
        beside.setdefault(telling.parent_id, []).append(telling)
    leaves: Mapping[str, str] = {}
    if any(len(group) > 1 for group in beside.values()):
        leaves = await run_in_thread(_leaves, await tree_within_reach(unit, actor, play))
    shown = {one.turn_id: one for one in await branch_turns(unit, [turn.turn_id for turn in tellings])}

    def sibling(turn: Turn) -> Sibling:
        return Sibling(**dict(shown[turn.turn_id]), leaf_turn_id=leaves.get(turn.turn_id, turn.turn_id))

    return {turn.turn_id: [sibling(one) for one in beside[turn.parent_id]] for turn in wanted if turn.turn_id in shown}


def _leaves(places: Sequence[TurnPlace]) -> Mapping[str, str]:
    return newest_leaves(TurnTree(places))


def _usage(totals: CallTotals) -> TurnUsage:
    return TurnUsage(**vars(totals), total_tokens=totals.prompt_tokens + totals.completion_tokens)
