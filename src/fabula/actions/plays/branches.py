"""Go back, branch and return: all of it is moving a session's head in the tree of turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import play_of, reaches, state_at
from fabula.actions.plays.reached_turns import completed, turn_within_reach, turns_of
from fabula.actions.plays.sessions import (
    SHORT_TRANSCRIPT,
    SessionView,
    ShowSession,
    existing_profile,
    hold_profile,
    session_view,
)
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.plays import Play, Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.error_values import Hint
from fabula.story.values import Value

LABEL_LENGTH = 80


class Backtrack(ShowSession):
    turns: int | None = Field(default=None, ge=1)
    turn_id: str | None = None


class Fork(ShowSession):
    turn_id: str | None = None
    display_name: str | None = None


class SwitchBranch(ShowSession):
    turn_id: str


class BranchTurn(Value):
    """A turn as the list of branches shows it."""

    turn_id: str
    parent_id: str | None
    turn_index: int
    kind: str
    status: str
    label: str
    state_hash: str | None
    created_at_ms: int


class BranchHead(Value):
    """Where a session of this tree stands."""

    session_id: str
    turn_id: str


class SessionBranches(View):
    may_be_large = True
    type: Literal["session_branches"] = "session_branches"
    session_id: str
    head_turn_id: str
    turns: list[BranchTurn]
    heads: list[BranchHead]


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
        return await session_view(house, unit, actor, session_id, command.history)


@allowed("player")
async def switch_branch(house: House, actor: Actor, session_id: str, command: SwitchBranch) -> SessionView:
    """Goes on from any completed turn of the tree."""
    async with house.store.writing() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await turn_within_reach(unit, actor, play, command.turn_id)
        await _move(unit, play, turn)
        return await session_view(house, unit, actor, session_id, command.history)


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
        view = await session_view(house, unit, actor, new_id, command.history)
    return SessionForked(**{**dict(view), "type": "session_forked"})


@allowed("player")
async def list_branches(house: House, actor: Actor, session_id: str, command: Nothing) -> SessionBranches:
    """Shows the tree: every finished turn with its parent, and where sessions stand."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turns = await unit.plays.tree(play.tree_id)
        heads = [head for head in await unit.plays.heads(play.tree_id) if await reaches(unit, actor, head)]
    if not actor.may_act_as("admin"):
        turns = turns_of(turns, heads)
    return SessionBranches(
        session_id=session_id,
        head_turn_id=play.head_turn_id,
        turns=await _all_listed(turns),
        heads=[BranchHead(session_id=head.session_id, turn_id=head.head_turn_id) for head in heads],
    )


async def _all_listed(turns: Sequence[Turn]) -> list[BranchTurn]:
    def listed() -> list[BranchTurn]:
        return [_listed(turn) for turn in turns]

    return listed() if len(turns) <= SHORT_TRANSCRIPT else await run_in_thread(listed)


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


def _listed(turn: Turn) -> BranchTurn:
    label = {"start": "the beginning", "amend": "changed by hand"}.get(turn.kind, turn.player_input)
    return BranchTurn(
        turn_id=turn.turn_id,
        parent_id=turn.parent_id,
        turn_index=turn.turn_index,
        kind=turn.kind,
        status=turn.status,
        label=label if len(label) <= LABEL_LENGTH else f"{label[: LABEL_LENGTH - 1]}…",
        state_hash=turn.state_hash,
        created_at_ms=turn.created_at_ms,
    )
