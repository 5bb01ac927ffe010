"""Run a turn: the player's words are safe before anything else happens, then the loop of its kind takes them up.

1. One read brings what the turn starts from; what to play is decided; one write keeps the input durably and takes the
   session, if it still stands where it stood (a second turn in flight is refused).
2. The work on the turn stands in the same transaction. It runs apart from the request (see `turn_runner`): whoever
   asked may listen, leave, and come back.
3. It ends committed, or failed or cancelled whole with the input kept for `retry_turn`.
4. After a crash it is taken up again: at the node it was in, or, where it has no nodes (a swift turn), from its start.

A client that names what it asks for by a `key` may ask again, when it does not know what became of it: it gets the turn
that its first request began (see `turn_keys`).
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from fabula.actions.audit_notes import note_crossed
from fabula.actions.authority import allowed
from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.care.pace import check_turns
from fabula.actions.house import House
from fabula.actions.plays.budgets import check_budget, check_used
from fabula.actions.plays.kinds.free import BetweenScenes
from fabula.actions.plays.kinds.protocol import Move, PlayKind, TurnStart
from fabula.actions.plays.kinds.rows import KINDS, kind_of_play
from fabula.actions.plays.play_states import known_state, play_of, read_state
from fabula.actions.plays.reached_turns import turn_within_reach
from fabula.actions.repositories import SESSIONS, checked_name
from fabula.actions.turns.turn_keys import KeyedCommand, asked_before, fingerprint
from fabula.actions.turns.turn_runner import SENTENCES, new_work, start
from fabula.actions.views import Command, View
from fabula.agents.wishes import LONGEST_WISH
from fabula.language.asides import split_asides
from fabula.ports.actors import Actor
from fabula.ports.errors import (
    Cancelled,
    Conflict,
    FabulaError,
    InvalidRequest,
    LineCrossed,
    NotFound,
    PlayMoved,
    StoreError,
)
from fabula.ports.plays import NewTurn, Play, Turn
from fabula.ports.store import TurnBasis, TurnQuestion, Unit
from fabula.ports.threads import run_on_texts
from fabula.ports.work import Work
from fabula.story.error_values import Hint
from fabula.story.feed_events import TurnBegan
from fabula.story.plays import PlayState
from fabula.story.seeds import FIRST_RANDOM_SEED

LONGEST_INPUT = 20_000

Refusal = Callable[[Unit], Awaitable[None]]
"""Looks at a unit, and raises."""

CANCELLED = Cancelled(SENTENCES.cancelled, hint=SENTENCES.hint).value()


CUT_PATIENCE_S = 6.0
"""So long a turn may take to end with what was told, before it is cancelled without: three looks of its process."""

LATELY = 20
"""Among so many pieces of work of a session, the last ones, its last turn is looked for."""

MOST_DECISIONS = 4
"""How often a turn is decided upon, when others move the session between the decision and the beginning."""


@dataclass(frozen=True, kw_only=True)
class _WantedTurn:
    """A turn as it was decided upon, where the play stood then. Without a seed, lots are drawn."""

    play: Play
    parent_id: str
    turn_index: int
    words: str
    seed: int | None
    start: TurnStart | None = None
    stand_in: str | None = None
    wish: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Request:
    """Who asks for a turn and how; `unless` may refuse it in the unit that begins it."""

    actor: Actor
    session_id: str
    verb: str
    command: KeyedCommand
    request_id: str
    unless: Refusal | None = None


class RunTurn(KeyedCommand):
    """The player's words; where an Ink story offers choices, the index of one."""

    player_input: str | None = None
    choice: int | None = Field(default=None, ge=0)


class RetryTurn(KeyedCommand):
    """`with` says who plays it this time in place of the session's models."""

    stand_in: Literal["understudy"] | None = Field(default=None, alias="with")


class Regenerate(KeyedCommand):
    """Which turn to tell again, the last one if none is named, and a `hint` how: "shorter", "let her refuse"."""

    turn_id: str | None = None
    hint: str | None = Field(default=None, max_length=LONGEST_WISH)


class Replay(RunTurn):
    """Other words in place of those of a turn."""

    turn_id: str


class TurnAccepted(View):
    type: Literal["turn_stream_accepted"] = "turn_stream_accepted"


class CancelTurn(Command):
    """With `keep`, what was told so far stays: it becomes the turn."""

    keep: bool = False


class TurnCancelled(View):
    """`kept` says that what was told so far is now the turn."""

    type: Literal["turn_cancelled"] = "turn_cancelled"
    turn_id: str
    kept: bool = False


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

    `unless` may refuse it in the unit that begins it, so that nothing comes between. What is said out of character
    nobody in the story hears: it is a wish for the telling.
    """
    _refuse_long(command)
    wish = None
    if command.player_input:
        said, aside = split_asides(command.player_input)
        wish = aside[:LONGEST_WISH] or None
        command = command.model_copy(update={"player_input": said}) if wish else command

    async def decide() -> _WantedTurn:
        play, move = await _prepare(house, actor, session_id, command)
        turn_index = play.turn_index + 1
        return _WantedTurn(
            play=play,
            parent_id=play.head_turn_id,
            turn_index=turn_index,
            words=move.words,
            seed=move.seed_of_turn(seed, turn_index),
            start=move.start,
            wish=wish,
        )

    asked = _Request(
        actor=actor, session_id=session_id, verb="run", command=command, request_id=request_id, unless=unless
    )
    return await _begin(house, decide, asked)


@allowed("player")
async def retry_turn(
    house: House, actor: Actor, session_id: str, command: RetryTurn, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays the words of the last failed or cancelled turn again, with the understudy if that is asked for."""

    async def decide() -> _WantedTurn:
        async with house.store.reading() as unit:
            play = await _ready(house, unit, actor, session_id)
            failed = await _last_failed(unit, play)
            if failed is None:
                raise NotFound("There is no failed turn here to try again.")
            return replace(await _again(house, unit, play, failed, seed, anew=False), stand_in=command.stand_in)

    asked = _Request(actor=actor, session_id=session_id, verb="retry", command=command, request_id=request_id)
    return await _begin(house, decide, asked)


@allowed("player")
async def regenerate(
    house: House, actor: Actor, session_id: str, command: Regenerate, *, request_id: str, seed: int | None = None
) -> Turn:
    """Plays a turn's words once more, as a sibling of that turn; the old one stays as a branch.

    The head stays where it is until the new turn is committed: one that fails loses nothing.
    """
    wish = " ".join((command.hint or "").split()) or None

    async def decide() -> _WantedTurn:
        async with house.store.reading() as unit:
            play = await _ready(house, unit, actor, session_id)
            old = await _played(unit, actor, play, command.turn_id)
            return replace(await _again(house, unit, play, old, seed, anew=True), wish=wish)

    asked = _Request(actor=actor, session_id=session_id, verb="regenerate", command=command, request_id=request_id)
    return await _begin(house, decide, asked)


@allowed("player")
async def replay(
    house: House, actor: Actor, session_id: str, command: Replay, *, request_id: str, seed: int | None = None
) -> Turn:
    """Says something else in place of a turn's words, as a sibling of that turn; the old one stays as a branch.

    The head stays where it is until the new turn is committed: one that fails loses nothing.
    """
    _refuse_long(command)

    async def read(unit: Unit) -> tuple[Play, Turn, Move]:
        play = await _ready(house, unit, actor, session_id)
        old = await _played(unit, actor, play, command.turn_id)
        assert old.parent_id is not None, "a turn with words has a parent"
        there, before = replace(play, head_turn_id=old.parent_id), await known_state(house, unit, old.parent_id)
        said, choice = command.player_input, command.choice
        return play, old, await kind_of_play(before).prepare(house, unit, there, before, said=said, choice=choice)

    async def decide() -> _WantedTurn:
        play, old, move = await house.compiled_stories.reading(house.store, read)
        assert old.parent_id is not None, "a turn with words has a parent"
        return _WantedTurn(
            play=play,
            parent_id=old.parent_id,
            turn_index=old.turn_index,
            words=move.words,
            seed=move.seed_of_turn(seed, old.turn_index),
            start=move.start,
        )

    asked = _Request(actor=actor, session_id=session_id, verb="replay", command=command, request_id=request_id)
    return await _begin(house, decide, asked)


@allowed("player")
async def cancel_turn(house: House, actor: Actor, session_id: str, command: CancelTurn) -> TurnCancelled:
    """Stops the turn in flight; its words are kept, and can be played again, or with `keep` what was told is the turn.

    Where nothing was told yet there is nothing to keep. Nor is there in an Ink play, whose story cannot stand in the
    middle of a turn. Then the turn is cancelled as it is without `keep`.
    """
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turn = None if play.active_turn_id is None else await unit.plays.turn(play.active_turn_id)
        if turn is None or turn.parent_id is None:
            raise Conflict("No turn of this session is running.")
        can_be_cut = command.keep and kind_of_play(await known_state(house, unit, turn.parent_id)).can_be_cut
    if can_be_cut and await _cut(house, turn.turn_id):
        return TurnCancelled(turn_id=turn.turn_id, kept=True)
    if not await house.work.cancel(turn.turn_id, CANCELLED):
        await _refuse_unless_cancelled(house, turn.turn_id, by_cut=can_be_cut)
    return TurnCancelled(turn_id=turn.turn_id)


async def _cut(house: House, turn_id: str) -> bool:
    """Has a turn end with what was told, wherever it runs; False if it did not: there was nothing, or it takes long."""
    if not await house.work.cut(turn_id):
        return False
    with suppress(TimeoutError):
        async with asyncio.timeout(CUT_PATIENCE_S):
            await _over(house, turn_id)
    turn = await house.store.read(lambda unit: unit.plays.turn(turn_id))
    return turn is not None and turn.cut


async def _over(house: House, turn_id: str) -> None:
    """Waits until a turn has ended, here or elsewhere."""
    has_ended = False
    while not has_ended:
        async with aclosing((await house.work.watch(turn_id)).frames) as frames:
            async for frame in frames:
                has_ended = frame.last


async def _refuse_unless_cancelled(house: House, turn_id: str, *, by_cut: bool) -> None:
    """A turn that was over already cannot be cancelled; one that was cut with nothing to keep was cancelled by that."""
    turn = await house.store.read(lambda unit: unit.plays.turn(turn_id))
    if not by_cut or turn is None or turn.status != "cancelled":
        raise Conflict("The turn had ended before it could be cancelled.")


def _refuse_long(command: RunTurn) -> None:
    if len(command.player_input or "") > LONGEST_INPUT:
        raise InvalidRequest(f"Say it in at most {LONGEST_INPUT} characters.")


async def _last_failed(unit: Unit, play: Play) -> Turn | None:
    """The failed turn that a player would want again: after the head, or one that was to take the place of a turn on
    the way there, unless the play has gone on since."""
    after = await unit.plays.last_failed(play.session_id, play.head_turn_id)
    instead = [await _failed_beside(unit, play), await _failed_on_the_way(unit, play)]
    found = [after, *(one for one in instead if one is not None and one.turn_id > play.head_turn_id)]
    return max((one for one in found if one is not None), key=lambda turn: turn.turn_id, default=None)


async def _failed_beside(unit: Unit, play: Play) -> Turn | None:
    """The last turn that failed to take the place of the one at the head."""
    old = await _last_played(unit, await unit.plays.turn(play.head_turn_id))
    if old is None or old.parent_id is None:
        return None
    return await unit.plays.last_failed(play.session_id, old.parent_id)


async def _failed_on_the_way(unit: Unit, play: Play) -> Turn | None:
    """The turn that the session tried last, if it failed at a place that the head's own line passes."""
    lately = await unit.work.of_subject(play.session_id, limit=LATELY)
    tried = next((work.work_id for work in lately if work.kind == "turn"), None)
    turn = None if tried is None else await unit.plays.turn(tried)
    if turn is None or turn.parent_id is None or turn.status not in ("failed", "cancelled"):
        return None
    passed: Turn | None = await unit.plays.ancestor(play.head_turn_id, turn.turn_index - 1)
    while passed is not None and passed.turn_id != turn.parent_id and passed.turn_index == turn.turn_index - 1:
        passed = await _above(unit, passed)
    return turn if passed is not None and passed.turn_id == turn.parent_id else None


async def _played(unit: Unit, actor: Actor, play: Play, turn_id: str | None) -> Turn:
    """The turn that is to be played again, the last one if none is named; changes by hand are passed over."""
    named = turn_id or play.head_turn_id
    turn = await turn_within_reach(unit, actor, play, named)
    if turn.tree_id != play.tree_id:
        raise InvalidRequest(f"The turn '{named}' belongs to another play.", hint=Hint.LIST_BRANCHES)
    played = await _last_played(unit, turn)
    if played is None or played.status == "running":
        raise Conflict("Nothing has been played yet that could be played again.")
    return played


async def _last_played(unit: Unit, turn: Turn | None) -> Turn | None:
    """The turn itself, or the one before it that was played; changes by hand are passed over."""
    while turn is not None and turn.kind == "amend":
        turn = await _above(unit, turn)
    return turn if turn is not None and turn.kind == "play" else None


async def _above(unit: Unit, turn: Turn) -> Turn | None:
    """The turn before a turn. One that is not less deep is none: a damaged tree may lead round in a circle."""
    found = None if turn.parent_id is None else await unit.plays.turn(turn.parent_id)
    return found if found is not None and found.depth < turn.depth else None


async def _prepare(house: House, actor: Actor, session_id: str, command: RunTurn) -> tuple[Play, Move]:
    """Where the session stands, and the player's move there: from one read, if what is kept is still current."""
    basis = await _within_budget(house, actor, session_id)
    play = basis.play
    known = house.turn_states.after(play.head_turn_id)
    if known is None and basis.state is None:
        raise StoreError(f"The state of turn '{play.head_turn_id}' is missing. Restore a backup.")
    before = read_state(basis.state or {}, play.head_turn_id) if known is None else known.play
    kind = kind_of_play(before)
    try:
        return play, await _moved(house, kind, basis, before, command)
    except BetweenScenes:
        # Whoever is quicker than the work that follows the last turn does not have to wait for it.
        await lead_on(house, session_id)
        return await _prepare(house, actor, session_id, command)


async def _within_budget(house: House, actor: Actor, session_id: str) -> TurnBasis:
    """What the turn begins from; raises Conflict where the tokens of the play are used up."""
    waiting = house.models.unrecorded_tokens(session_id)
    basis = await _basis(house, actor, session_id)
    try:
        check_used(house, basis.play, basis.tokens_used, waiting=waiting)
    except Conflict:
        if not waiting:
            raise
        # Some of them may stand in both counts: nobody is stopped by tokens that were never used.
        await house.models.settle()
        basis = await _basis(house, actor, session_id)
        check_used(house, basis.play, basis.tokens_used, waiting=0)
    return basis


async def _basis(house: House, actor: Actor, session_id: str) -> TurnBasis:
    basis = await house.store.read_turn_basis(_question(house, actor, session_id))
    if basis is None or not (basis.invited or actor.owns(basis.play.owner_token_id)):
        raise SESSIONS.missing(session_id)
    return basis


async def _moved(house: House, kind: PlayKind, basis: TurnBasis, before: PlayState, command: RunTurn) -> Move:
    move = kind.prepare_at_hand(house, basis, before, said=command.player_input, choice=command.choice)
    if move is not None:
        return move

    async def prepare(unit: Unit) -> Move:
        said, choice = command.player_input, command.choice
        return await kind.prepare(house, unit, basis.play, before, said=said, choice=choice)

    return await house.compiled_stories.reading(house.store, prepare)


def _question(house: House, actor: Actor, session_id: str) -> TurnQuestion:
    kept = next((kept for kind in KINDS if (kept := kind.kept_for(house, session_id)) is not None), None)
    return TurnQuestion(
        session_id=checked_name(session_id, SESSIONS.noun),
        token_id=actor.token_id,
        known_turn_id=house.turn_states.newest(session_id),
        lines=0 if kept is None else kept.lines,
        names=() if kept is None else kept.names,
    )


async def _ready(house: House, unit: Unit, actor: Actor, session_id: str) -> Play:
    play = await play_of(unit, actor, session_id)
    await check_budget(house, unit, play)
    return play


async def _again(house: House, unit: Unit, play: Play, turn: Turn, seed: int | None, *, anew: bool) -> _WantedTurn:
    """The words of a turn, once more at the same place."""
    assert turn.parent_id is not None, "the first turn of a play has no words"
    kind = kind_of_play(await known_state(house, unit, turn.parent_id))
    newest = await unit.plays.largest_seed(turn.parent_id, turn.player_input)
    return _WantedTurn(
        play=play,
        parent_id=turn.parent_id,
        turn_index=turn.turn_index,
        words=turn.player_input,
        seed=kind.seed_of_repeat(turn, seed, anew=anew, newest=newest),
        wish=turn.wish,
    )


async def _begin(house: House, decide: Callable[[], Awaitable[_WantedTurn]], asked: _Request) -> Turn:
    """Begins what was decided upon; where nothing can be begun, the turn that this very request began before is it.

    That turn is looked for only then: what keeps a repeat from being begun twice is the index of keys.
    """
    try:
        await check_turns(house, asked.actor, asked.session_id)
        return await _begin_anew(house, decide, asked)
    except FabulaError as error:
        known = await asked_before(house, asked.actor, asked.session_id, asked.verb, asked.command)
        if known is None:
            if isinstance(error, LineCrossed):
                await note_crossed(house, asked.actor, asked.session_id, error)
            raise
        return known


async def _refuse_crossed(wanted: _WantedTurn) -> _WantedTurn:
    """What is decided upon, if nothing of it crosses a line; what is not at hand yet, the turn itself looks at."""
    if wanted.start is not None:
        await run_on_texts(wanted.start.refuse_crossed, wanted.words, wanted.wish)
    return wanted


async def _begin_anew(house: House, decide: Callable[[], Awaitable[_WantedTurn]], asked: _Request) -> Turn:
    """If the play still stands where it stood when it was decided; if not, it is decided again."""
    for _ in range(MOST_DECISIONS - 1):
        wanted = await _refuse_crossed(await decide())
        try:
            begun = await _write_down(house, wanted, asked)
        except PlayMoved:
            continue
        return await _start(house, *begun, wanted.start, asked)
    wanted = await _refuse_crossed(await decide())
    return await _start(house, *await _write_down(house, wanted, asked), wanted.start, asked)


async def _start(house: House, turn: Turn, work: Work, turn_start: TurnStart | None, asked: _Request) -> Turn:
    """Has the turn run, and tells those who have the session open."""
    await start(house, turn, work, turn_start)
    house.feeds.publish(turn.session_id, TurnBegan(turn_id=turn.turn_id, by=asked.actor.token_id))
    return turn


async def _write_down(house: House, wanted: _WantedTurn, asked: _Request) -> tuple[Turn, Work]:
    """The turn and the work on it. With the same seed a model that heeds it answers alike; without, lots are drawn."""
    seed, expected = wanted.seed, wanted.play.head_turn_id
    turn = NewTurn(
        turn_id=house.ids.new("turn"),
        session_id=wanted.play.session_id,
        parent_id=wanted.parent_id,
        turn_index=wanted.turn_index,
        kind="play",
        player_input=wanted.words,
        request_id=asked.request_id,
        seed=secrets.randbits(31) + FIRST_RANDOM_SEED if seed is None else seed % FIRST_RANDOM_SEED,
        wish=wanted.wish,
        key=asked.command.key or "",
        asked=fingerprint(asked.verb, asked.command),
    )
    work = new_work(house, turn.turn_id, turn.session_id, wanted.stand_in)
    if asked.unless is None:
        if wanted.start is not None:
            # While the disk writes them down, the words are read: the first thing that the turn does.
            asyncio.get_running_loop().call_soon(wanted.start.read_ahead, wanted.words)
        return await house.store.begin_turn(turn, expected_head=expected, work=work)
    async with house.store.writing() as unit:
        play = await unit.plays.get(turn.session_id)
        await asked.unless(unit)
        if play is not None and play.head_turn_id != expected:
            raise PlayMoved("The session was moved meanwhile.", head_turn_id=play.head_turn_id)
        return await unit.plays.begin(turn), await unit.work.begin(work)
