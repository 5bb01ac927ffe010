"""What happens to plays and turns, as steps: each runs whole, inside a unit of work or as one of its own.

1. `read_turn_basis` brings everything that a turn starts from.
2. `begin_turn` places it in the tree and takes the play.
3. `commit_turn` makes turn, state, messages and head true together; `fail_turn` gives the play back.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select

from fabula.adapters.stores.calls import read_tokens_used
from fabula.adapters.stores.canon_layers import stage_changes
from fabula.adapters.stores.play_tables import (
    ADD_MESSAGES,
    ADD_STATE,
    ADD_TURN,
    BY_KEY,
    COMMIT_TURN,
    FAIL_TURN,
    GET_PLAY,
    GET_TURN,
    IS_INVITED,
    LEAVE,
    LOCK_PLACE,
    LOCK_TURN,
    MOVE_ON,
    OCCUPY,
    PLACE,
    PLAYS,
    STATE,
    UNUSED,
)
from fabula.adapters.stores.resources import ARE_NAMED, RESOURCES, read_revisions
from fabula.adapters.stores.scenes import keep_scene
from fabula.adapters.stores.sql import Rows, Steps
from fabula.adapters.stores.tables import Terms, legible, pack, spelled, unpack
from fabula.adapters.stores.transcript_steps import read_past
from fabula.adapters.stores.work import begin_work, end_work
from fabula.ports.errors import Conflict, FabulaError, InvalidRequest, NotFound, PlayMoved
from fabula.ports.plays import Finished, MessageChange, NewTurn, Play, Turn, TurnStatus
from fabula.ports.store import Reference, TurnBasis, TurnQuestion
from fabula.ports.work import NewWork, Work
from fabula.story.error_values import ErrorValue, Hint, stored_error

NAMES_AT_ONCE = 500
PLAY_FIELDS = [column.name for column in PLAYS.columns]


def read_turn_basis(question: TurnQuestion) -> Steps[TurnBasis | None]:
    row = (yield GET_PLAY, {"session": spelled(question.session_id)}).first()
    if row is None:
        return None
    play = play_of(row)
    used = 0 if play.token_budget is None else (yield from read_tokens_used(play.session_id))
    invited = yield from _is_invited(play, question.token_id)
    revisions = yield from read_revisions(question.names)
    if play.head_turn_id == question.known_turn_id:
        return TurnBasis(play=play, invited=invited, tokens_used=used, revisions=revisions)
    packed = (yield STATE, {"turn": play.head_turn_id}).scalar()
    past = (yield from read_past(play.head_turn_id, most=question.lines)) if question.lines else []
    state = None if packed is None else unpack("play_state", packed)
    return TurnBasis(play=play, invited=invited, tokens_used=used, revisions=revisions, state=state, past=past)


KNOWN_BASIS = (
    select(PLAYS, RESOURCES.c.kind, RESOURCES.c.id, RESOURCES.c.revision)
    .select_from(PLAYS.join(RESOURCES, ARE_NAMED))
    .where(PLAYS.c.session_id == bindparam("session"))
)
"""A play beside the revision of each resource that was asked for, in one statement. Where there is none, no row."""


def known_basis_values(question: TurnQuestion) -> dict[str, Any]:
    names = [(one.kind, spelled(one.id)) for one in question.names]
    return {"session": spelled(question.session_id), "names": names}


def known_basis(question: TurnQuestion, rows: Rows) -> TurnBasis | None:
    """What a turn starts from, if the play stands at the known turn and nobody has to be counted or let in."""
    first = rows.first()
    if first is None:
        return None
    fields = first._asdict()
    play = Play(**{name: fields[name] for name in PLAY_FIELDS})
    ours = question.token_id is None or question.token_id == play.owner_token_id
    if play.head_turn_id != question.known_turn_id or play.token_budget is not None or not ours:
        return None
    revisions = {Reference(kind=row.kind, id=row.id): row.revision for row in rows if row.id is not None}
    return TurnBasis(play=play, invited=False, tokens_used=0, revisions=revisions)


def _is_invited(play: Play, token_id: str | None) -> Steps[bool]:
    if token_id is None or token_id == play.owner_token_id:
        return False
    return (yield IS_INVITED, {"session": play.session_id, "token": spelled(token_id)}).first() is not None


def begin_worked_turn(terms: Terms, turn: NewTurn, expected_head: str, work: NewWork) -> Steps[tuple[Turn, Work]]:
    """A turn and the work on it."""
    placed = yield from begin_turn(terms, turn, expected_head=expected_head)
    return placed, (yield from begin_work(terms.clock, work))


def begin_turn(terms: Terms, turn: NewTurn, *, expected_head: str | None = None) -> Steps[Turn]:
    """Places a turn below its parent; with an expected head, only if the play still stands there."""
    assert turn.parent_id is not None
    names = {"session": spelled(turn.session_id), "turn": spelled(turn.parent_id)}
    place = (yield terms.choose(PLACE, LOCK_PLACE), names).first()
    if place is None:
        raise (yield from _why_unfit(turn))
    if turn.key and (known := (yield from read_turn_by_key(turn.session_id, turn.key))) is not None:
        raise used_key(known)
    if place.active_turn_id is not None:
        raise busy(place.active_turn_id)
    if expected_head not in (None, place.head_turn_id):
        raise moved(place.head_turn_id)
    placed = yield from _add(terms, turn, tree_id=place.tree_id, depth=place.depth + 1, jump_id=_jump(place))
    yield OCCUPY, {"session": turn.session_id, "active": turn.turn_id, "now": terms.clock.now_ms()}
    return placed


def commit_turn(terms: Terms, finished: Finished, *, work: Work | None = None) -> Steps[bool]:
    """Nothing is changed when the turn is no longer running, or its work is another's by now."""
    turn = yield from _to_be_ended(terms, finished.turn_id)
    if turn is None:
        return False
    if work is not None and not (yield from end_work(terms.clock, work, "done")):
        return False
    yield from _finish(terms, finished, turn)
    return True


def fail_turn(terms: Terms, turn_id: str, *, status: TurnStatus, error: ErrorValue) -> Steps[bool]:
    turn = yield from _to_be_ended(terms, turn_id)
    if turn is None:
        return False
    now = terms.clock.now_ms()
    yield FAIL_TURN, {"turn": turn_id, "how": status, "why": pack("error", error.as_json()), "now": now}
    yield LEAVE, {"session": turn.session_id, "now": now}
    return True


def amend_play(terms: Terms, turn: NewTurn, finished: Finished) -> Steps[Turn]:
    placed = yield from begin_turn(terms, turn)
    yield from _finish(terms, finished, placed)
    return placed


def add_start(terms: Terms, start: NewTurn, finished: Finished) -> Steps[Turn]:
    """The first turn of a tree, which has its name."""
    placed = yield from _add(terms, start, tree_id=start.turn_id, depth=0, jump_id=None)
    yield from _finish(terms, finished, placed)
    return placed


def read_turns(query: Any, values: dict[str, Any]) -> Steps[list[Turn]]:
    return [turn_of(row) for row in (yield query, values)]


def read_turn_by_key(session_id: str, key: str) -> Steps[Turn | None]:
    row = (yield BY_KEY, {"session": spelled(session_id), "key": spelled(key)}).first()
    return None if row is None else turn_of(row)


def existing_turn(turn_id: str) -> Steps[Turn]:
    row = (yield GET_TURN, {"turn": spelled(turn_id)}).first()
    if row is None:
        raise NotFound(f"There is no turn named '{turn_id}'.", kind="turn", id=turn_id)
    return turn_of(row)


def committed_turn(turn_id: str) -> Steps[Turn]:
    turn = yield from existing_turn(turn_id)
    if turn.status != "committed":
        raise InvalidRequest(f"The turn '{turn_id}' was not completed.", hint=Hint.LIST_BRANCHES)
    return turn


def _add(terms: Terms, new: NewTurn, *, tree_id: str, depth: int, jump_id: str | None) -> Steps[Turn]:
    turn = Turn(
        **vars(new),
        tree_id=tree_id,
        depth=depth,
        jump_id=jump_id,
        status="running",
        created_at_ms=terms.clock.now_ms(),
    )
    words = {
        "player_input": legible(turn.player_input),
        "wish": None if turn.wish is None else legible(turn.wish),
    }
    yield ADD_TURN, {**vars(turn), **UNUSED, **words, "cut": 0, "error": None}
    return turn


def _finish(terms: Terms, finished: Finished, turn: Turn) -> Steps[None]:
    now = terms.clock.now_ms()
    how = {"hash": finished.state_hash, "is_cut": int(finished.cut)}
    yield COMMIT_TURN, {"turn": turn.turn_id, **how, "now": now}
    result = None if finished.result is None else pack("turn_result", finished.result)
    yield ADD_STATE, {"turn_id": turn.turn_id, "state": pack("play_state", finished.state), "result": result}
    if finished.messages:
        yield ADD_MESSAGES, [message_row(turn.turn_id, at, change) for at, change in enumerate(finished.messages)]
    yield (
        MOVE_ON,
        {
            "session": turn.session_id,
            "head": turn.turn_id,
            "index": turn.turn_index,
            "ended": "ended" if finished.ended else "open",
            "now": now,
        },
    )
    yield from stage_changes(terms, finished.staged, tree_id=turn.tree_id, depth=turn.depth)
    if finished.scene is not None:
        yield from keep_scene(terms, finished.scene, turn)
    if finished.follow is not None:
        yield from begin_work(terms.clock, finished.follow)


def _to_be_ended(terms: Terms, turn_id: str) -> Steps[Turn | None]:
    """The turn, if it is still running."""
    row = (yield terms.choose(GET_TURN, LOCK_TURN), {"turn": spelled(turn_id)}).first()
    return None if row is None or row.status != "running" else turn_of(row)


def _why_unfit(turn: NewTurn) -> Steps[FabulaError]:
    """Why no turn can be placed below this one's parent."""
    row = (yield GET_PLAY, {"session": turn.session_id}).first()
    if row is None:
        return no_session(turn.session_id)
    if row.active_turn_id is not None:
        return busy(row.active_turn_id)
    assert turn.parent_id is not None
    yield from committed_turn(turn.parent_id)
    return of_another_play(turn.parent_id)


def no_session(session_id: str) -> NotFound:
    return NotFound(f"There is no session named '{session_id}'.", kind="session", id=session_id)


def of_another_play(turn_id: str) -> InvalidRequest:
    return InvalidRequest(f"The turn '{turn_id}' belongs to another play.", hint=Hint.LIST_BRANCHES)


def moved(head_turn_id: str) -> PlayMoved:
    return PlayMoved("The session was moved meanwhile. Read it again, then repeat the turn.", head_turn_id=head_turn_id)


def _jump(place: Any) -> str:
    """Where a turn below this place jumps to: far, whenever the two jumps from here are equally long."""
    if place.near_id is None:
        return str(place.turn_id)
    far_id, far_depth = (place.near_id, place.near_depth) if place.far_id is None else (place.far_id, place.far_depth)
    even = place.depth - place.near_depth == place.near_depth - far_depth
    return str(far_id if even else place.turn_id)


def busy(active_turn_id: str) -> Conflict:
    return Conflict(
        "A turn of this session is still running. Wait for it, or cancel it.", active_turn_id=active_turn_id
    )


def used_key(turn: Turn) -> Conflict:
    return Conflict(
        f"The key '{turn.key}' names another turn of this session. Use a new key for a new turn.",
        turn_id=turn.turn_id,
    )


def play_of(row: Any) -> Play:
    return Play(**row._asdict())


def turn_of(row: Any) -> Turn:
    fields = {name: value for name, value in row._asdict().items() if name not in UNUSED}
    error = None if fields["error"] is None else stored_error(unpack("error", fields["error"]))
    return Turn(**{**fields, "cut": bool(fields["cut"]), "error": error})


def message_row(turn_id: str, ordinal: int, change: MessageChange) -> dict[str, Any]:
    said = {name: value for name, value in vars(change.message).items() if name != "edited"}
    return {
        **said,
        "text": legible(change.message.text),
        "speaker_name": legible(change.message.speaker_name),
        "heard_by": None if change.message.heard_by is None else " ".join(change.message.heard_by),
        "said_in_turn_id": change.message.turn_id,
        "turn_id": turn_id,
        "ordinal": ordinal,
        "op": change.op,
    }
