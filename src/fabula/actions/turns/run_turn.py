"""Run a turn: the player's words are safe before anything else happens, then the scene loop takes them up.

1. `begin` writes the input durably and takes the session (a second turn in flight is refused).
2. The work on the turn stands in the same transaction. It runs apart from the request (see `turn_runner`): whoever
   asked may listen, leave, and come back.
3. It ends committed, or failed or cancelled whole with the input kept for `retry_turn`.
4. After a crash it is taken up again, at the node it was in.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.protocol import TurnStart
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import known_state, play_of
from fabula.actions.turns.turn_runner import SENTENCES, begin_work, start
from fabula.actions.views import Command, Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.errors import Cancelled, Conflict, InvalidRequest, NotFound
from fabula.ports.plays import NewTurn, Play, Turn
from fabula.ports.store import Unit
from fabula.ports.work import Work
from fabula.story.seeds import FIRST_RANDOM_SEED

LONGEST_INPUT = 20_000

Refusal = Callable[[Unit], Awaitable[None]]
"""Looks at a unit, and raises."""

CANCELLED = Cancelled(SENTENCES.cancelled, hint=SENTENCES.hint).value()


class RunTurn(Command):
    """The player's words; where an Ink story offers choices, the index of one."""

    player_input: str | None = None
    choice: int | None = Field(default=None, ge=0)


class TurnAccepted(View):
    type: Literal["turn_stream_accepted"] = "turn_stream_accepted"


class TurnCancelled(View):
    type: Literal["turn_cancelled"] = "turn_cancelled"
    turn_id: str


@allowed("player")
async def run_turn(
    house: House,
    actor: Actor,
    session_id: str,
    command: RunTurn,
    *,
    request_id: str,
    seed: int | None = None,
    unless: Refusal | None = None,
) -> Turn:
    """Plays one turn with the player's words; the answer is a stream of events.

    `unless` may refuse it in the unit that begins it, so that nothing comes between.
    """
    if len(command.player_input or "") > LONGEST_INPUT:
        raise InvalidRequest(f"Say it in at most {LONGEST_INPUT} characters.")

    async def begin(unit: Unit, *, at_hand: bool) -> tuple[Turn, Work, TurnStart | None] | None:
        play = await _ready(house, unit, actor, session_id)
        if unless is not None:
            await unless(unit)
        before = await known_state(house, unit, play.head_turn_id)
        move = await kind_of_play(before).prepare(
            house, unit, play, before, said=command.player_input, choice=command.choice, at_hand=at_hand
        )
        if move is None:
            return None
        wanted = seed if move.seed is None else move.seed
        return *await _begin(house, unit, play, play.head_turn_id, move.words, request_id, wanted), move.start

    begun = await house.store.write(partial(begin, at_hand=True))
    if begun is None:
        async with house.store.writing() as unit:
            begun = await begin(unit, at_hand=False)
    assert begun is not None, "what is not at hand was read"
    return await start(house, *begun)


@allowed("player")
async def retry_turn(
    house: House, actor: Actor, session_id: str, command: Nothing, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays the words of the last failed or cancelled turn again."""
    async with house.store.writing() as unit:
        play = await _ready(house, unit, actor, session_id)
        failed = await _last_failed(unit, play)
        if failed is None or failed.parent_id is None:
            raise NotFound("There is no failed turn here to try again.")
        kind = kind_of_play(await known_state(house, unit, failed.parent_id))
        seed = kind.seed_of_repeat(failed, seed, anew=False)
        begun = await _begin(house, unit, play, failed.parent_id, failed.player_input, request_id, seed)
    return await start(house, *begun)


@allowed("player")
async def regenerate(
    house: House, actor: Actor, session_id: str, command: Nothing, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays the last turn's words once more, as a sibling of that turn; the old one stays as a branch.

    The head stays where it is until the new turn is committed: one that fails loses nothing.
    """
    async with house.store.writing() as unit:
        play = await _ready(house, unit, actor, session_id)
        old = await _last_played(unit, play)
        if old is None or old.parent_id is None:
            raise Conflict("Nothing has been played yet that could be played again.")
        kind = kind_of_play(await known_state(house, unit, old.parent_id))
        seed = kind.seed_of_repeat(old, seed, anew=True)
        begun = await _begin(house, unit, play, old.parent_id, old.player_input, request_id, seed)
    return await start(house, *begun)


@allowed("player")
async def cancel_turn(house: House, actor: Actor, session_id: str, command: Nothing) -> TurnCancelled:
    """Stops the turn in flight; its words are kept, and can be played again."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
    turn_id = play.active_turn_id
    if turn_id is None:
        raise Conflict("No turn of this session is running.")
    if not await house.work.cancel(turn_id, CANCELLED):
        raise Conflict("The turn had ended before it could be cancelled.")
    return TurnCancelled(turn_id=turn_id)


async def _last_failed(unit: Unit, play: Play) -> Turn | None:
    """The failed turn that a player would want again: after the head, or one that was to take the head's place."""
    after = await unit.plays.last_failed(play.session_id, play.head_turn_id)
    old = await _last_played(unit, play)
    if old is None or old.parent_id is None:
        return after
    beside = await unit.plays.last_failed(play.session_id, old.parent_id)
    if beside is None or beside.turn_id < play.head_turn_id:
        return after
    return beside if after is None or after.turn_id < beside.turn_id else after


async def _last_played(unit: Unit, play: Play) -> Turn | None:
    """The last turn that was played on the way to the head; changes by hand are passed over."""
    turn = await unit.plays.turn(play.head_turn_id)
    while turn is not None and turn.kind == "amend" and turn.parent_id is not None:
        turn = await unit.plays.turn(turn.parent_id)
    return turn if turn is not None and turn.kind == "play" else None


async def _ready(house: House, unit: Unit, actor: Actor, session_id: str) -> Play:
    play = await play_of(unit, actor, session_id)
    if play.token_budget is not None:
        used = await unit.calls.tokens_used(session_id) + house.models.unrecorded_tokens(session_id)
        if used >= play.token_budget:
            raise Conflict(
                f"This session has used {used} of its {play.token_budget} tokens. Raise token_budget in its config.",
                used=used,
                token_budget=play.token_budget,
            )
    return play


async def _begin(
    house: House, unit: Unit, play: Play, parent_id: str, words: str, request_id: str, seed: int | None
) -> tuple[Turn, Work]:
    """Writes the turn and the work on it down.

    With the same seed a model that heeds it answers alike; otherwise lots are drawn.
    """
    parent_index = play.turn_index
    if parent_id != play.head_turn_id:
        parent = await unit.plays.turn(parent_id)
        assert parent is not None
        parent_index = parent.turn_index
    turn = await unit.plays.begin(
        NewTurn(
            turn_id=house.ids.new("turn"),
            session_id=play.session_id,
            parent_id=parent_id,
            turn_index=parent_index + 1,
            kind="play",
            player_input=words,
            request_id=request_id,
            seed=secrets.randbits(31) + FIRST_RANDOM_SEED if seed is None else seed % FIRST_RANDOM_SEED,
        )
    )
    return turn, await begin_work(house, unit, turn)
