"""Go back, branch and return: all of it is moving a session's head in the tree of turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of, state_at
from fabula.actions.plays.reached_turns import (
    completed,
    reached_heads,
    tree_within_reach,
    turn_within_reach,
    turns_of,
)
from fabula.actions.plays.sessions import (
    SHORT_TRANSCRIPT,
    SessionView,
    ShowSession,
    existing_profile,
    hold_profile,
    session_view,
)
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.plays import Play, Turn, TurnMark
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.change_labels import BY_HAND, ChangeKind, read_change_label
from fabula.story.error_values import Hint
from fabula.story.feed_events import HeadMoved
from fabula.story.turn_tree import Outline, TurnRun, TurnTree, outline
from fabula.story.values import Value

LABEL_LENGTH = 80
USUAL_OUTLINE = 500
"""How many turns and runs an outline shows where no limit says it."""


class Backtrack(ShowSession):
    turns: int | None = Field(default=None, ge=1)
    turn_id: str | None = None


class Fork(ShowSession):
    turn_id: str | None = None
    display_name: str | None = None


class SwitchBranch(ShowSession):
    turn_id: str


class ListBranches(Command):
    """`collapse` shows turns in a row that nobody forked from, marked or stands at as runs.

    `limit` shows so many turns and runs, those nearest to the turn `around`, which is the head unless told.
    """

    collapse: bool = False
    around: str | None = None
    limit: int | None = Field(default=None, ge=1, le=1000)


class BranchTurn(Value):
    """A turn as the list of branches shows it. `label` is what the player said, `preview` how the telling begins.

    A preview is there where runs are collapsed, or a limit is given. Of a turn that nobody played, `change` is what it
    was and `about` what it was about, as the place of a scene; without one it was changed by hand.
    """

    turn_id: str
    parent_id: str | None
    turn_index: int
    kind: str
    status: str
    label: str
    state_hash: str | None
    created_at_ms: int
    name: str | None = None
    bookmarked: bool = False
    preview: str | None = None
    change: ChangeKind | None = None
    about: str = ""


class BranchHead(Value):
    """Where a session of this tree stands."""

    session_id: str
    turn_id: str


class SessionBranches(View):
    """A tree of turns. `runs` stand for the turns that are not listed; `left_out` counts turns and runs beyond the
    limit.
    """

    may_be_large = True
    optional = frozenset({"runs", "left_out"})
    type: Literal["session_branches"] = "session_branches"
    session_id: str
    head_turn_id: str
    turns: list[BranchTurn]
    heads: list[BranchHead]
    runs: list[TurnRun] = []
    left_out: int = 0


class SessionForked(SessionView):
    names_session: ClassVar[bool] = True
    type: Literal["session_forked"] = "session_forked"  # type: ignore[assignment]


@allowed("player")
async def backtrack(house: House, actor: Actor, session_id: str, command: Backtrack) -> SessionView:
    """Returns to the state after an earlier turn, exactly; the line that is left stays as a branch."""
    if command.turns is not None and command.turn_id is not None:
        raise InvalidRequest("Say either how many `turns` to go back, or the `turn_id` to return to, not both.")
    async with house.store.writing() as unit:
        play = await play_of(unit, actor, session_id)
        if command.turn_id is not None:
            target = await turn_within_reach(unit, actor, play, command.turn_id)
        else:
            wanted = play.turn_index - (command.turns or 1)
            if wanted < 0:
                raise InvalidRequest(f"Only {play.turn_index} turns have been played.")
            target = await unit.plays.ancestor(play.head_turn_id, wanted)
        await _move(unit, play, target)
        view = await session_view(house, unit.looking, actor, session_id, command.history)
    house.feeds.publish(session_id, HeadMoved(turn_id=target.turn_id, by=actor.token_id))
    return view


@allowed("player")
async def switch_branch(house: House, actor: Actor, session_id: str, command: SwitchBranch) -> SessionView:
    """Goes on from any completed turn of the tree."""
    async with house.store.writing() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await turn_within_reach(unit, actor, play, command.turn_id)
        await _move(unit, play, turn)
        view = await session_view(house, unit.looking, actor, session_id, command.history)
    house.feeds.publish(session_id, HeadMoved(turn_id=turn.turn_id, by=actor.token_id))
    return view


@allowed("player")
async def fork(house: House, actor: Actor, session_id: str, command: Fork) -> SessionForked:
    """Makes a new session of the caller's that goes on from a turn of this one; both share what came before."""
    async with house.store.writing() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await turn_within_reach(unit, actor, play, command.turn_id or play.head_turn_id)
        if turn.tree_id != play.tree_id:
            raise InvalidRequest(f"The turn '{turn.turn_id}' belongs to another play.", hint=Hint.LIST_BRANCHES)
        session = await SESSIONS.get(unit, session_id)
        state = await state_at(unit, completed(turn).turn_id)
        name = (command.display_name or "").strip() or f"{session.display_name} (fork)"
        new_id = house.ids.new("session")
        profile = await existing_profile(unit, state.player_profile_id)
        update = {"session_id": new_id, "display_name": name, "player_profile_id": profile}
        await SESSIONS.add(unit, new_id, session.model_copy(update=update))
        await unit.plays.fork(new_id, turn.turn_id, owner_token_id=actor.token_id, ended=state.ended)
        view = await session_view(house, unit.looking, actor, new_id, command.history)
    return SessionForked(**{**dict(view), "type": "session_forked"})


@allowed("player")
async def list_branches(house: House, actor: Actor, session_id: str, command: ListBranches) -> SessionBranches:
    """Shows the tree: every finished turn with its parent, or an outline of it, and where sessions stand."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        heads = await reached_heads(unit, actor, play)
        if command.collapse or command.around is not None or command.limit is not None:
            shown, runs, left_out = await _outline(unit, actor, play, heads, command)
        else:
            shown, runs, left_out = await _whole_tree(unit, actor, play, heads), [], 0
    return SessionBranches(
        session_id=session_id,
        head_turn_id=play.head_turn_id,
        turns=shown,
        heads=[BranchHead(session_id=head.session_id, turn_id=head.head_turn_id) for head in heads],
        runs=runs,
        left_out=left_out,
    )


async def _whole_tree(unit: Unit, actor: Actor, play: Play, heads: Sequence[Play]) -> list[BranchTurn]:
    turns = await unit.plays.tree(play.tree_id)
    if not actor.may_act_as("admin"):
        turns = turns_of(turns, heads)
    marks = {mark.turn_id: mark for mark in await unit.plays.marks(play.tree_id)}

    def listed() -> list[BranchTurn]:
        return [branch_turn(turn, marks.get(turn.turn_id)) for turn in turns]

    return listed() if len(turns) <= SHORT_TRANSCRIPT else await run_in_thread(listed)


async def _outline(
    unit: Unit, actor: Actor, play: Play, heads: Sequence[Play], command: ListBranches
) -> tuple[list[BranchTurn], list[TurnRun], int]:
    """The turns by themselves, the runs, and how many of both were left out."""
    places = await tree_within_reach(unit, actor, play)
    marks = await unit.plays.marks(play.tree_id)
    marked = {mark.turn_id for mark in marks} | {head.head_turn_id for head in heads}
    around, limit = command.around or play.head_turn_id, command.limit or USUAL_OUTLINE

    def draw() -> Outline:
        tree = TurnTree(places)
        if around not in tree.parents:
            raise NotFound(f"There is no completed turn named '{around}'.", hint=Hint.LIST_BRANCHES)
        return outline(tree, marked=marked, collapse=command.collapse, around=around, limit=limit)

    drawn = await run_in_thread(draw)
    return await branch_turns(unit, drawn.turn_ids), list(drawn.runs), drawn.left_out


async def branch_turns(unit: Unit, turn_ids: Sequence[str]) -> list[BranchTurn]:
    """Some turns with their marks and beginnings, by id."""
    turns, marks = await unit.plays.turns(turn_ids), await unit.plays.marks_of(turn_ids)
    beginnings = await unit.plays.beginnings(turn_ids, letters=2 * LABEL_LENGTH)
    return [
        branch_turn(turns[id], marks.get(id), preview=_shortened(beginnings.get(id, "")))
        for id in sorted(turn_ids)
        if id in turns
    ]


@allowed("player")
async def follow_story(house: House, actor: Actor, session_id: str, command: ShowSession) -> SessionView:
    """Moves a session on to the story's graph as it is now; refused when its scene is no longer there."""

    async def change(at: AtHead) -> tuple[Amendment, None]:
        return Amendment(state=await kind_of_play(at.state).follow_story(at)), None

    await amend(house, actor, session_id, change)
    async with house.store.reading() as unit:
        return await session_view(house, unit, actor, session_id, command.history)


async def _move(unit: Unit, play: Play, turn: Turn) -> None:
    """Moves the head; whether the play has ended, and who its player is, are told by the state there."""
    state = await state_at(unit, completed(turn).turn_id)
    await unit.plays.move_head(play.session_id, turn.turn_id, ended=state.ended)
    await hold_profile(unit, play.session_id, await existing_profile(unit, state.player_profile_id))


def branch_turn(turn: Turn, mark: TurnMark | None, *, preview: str | None = None) -> BranchTurn:
    label = {"start": "the beginning", "amend": turn.player_input or BY_HAND}.get(turn.kind, turn.player_input)
    change, about = read_change_label(label) if turn.kind == "amend" else (None, "")
    return BranchTurn(
        turn_id=turn.turn_id,
        parent_id=turn.parent_id,
        turn_index=turn.turn_index,
        kind=turn.kind,
        status=turn.shown_status,
        label=_shortened(label),
        state_hash=turn.state_hash,
        created_at_ms=turn.created_at_ms,
        name=None if mark is None else mark.name or None,
        bookmarked=mark is not None and mark.bookmarked,
        preview=preview,
        change=change,
        about=_shortened(about),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= LABEL_LENGTH else f"{text[: LABEL_LENGTH - 1]}…"
