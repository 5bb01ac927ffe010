"""Plays: the tree of turns with their states, the heads that point into it, and what was said on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Row,
    Table,
    Text,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    select,
    text,
    union,
    update,
)

from fabula.adapters.stores.prepared_statements import prepared
from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_change, legible, pack, spelled, unpack
from fabula.ports.errors import Cancelled, Conflict, FabulaError, InvalidRequest, NotFound
from fabula.ports.plays import (
    Finished,
    MessageChange,
    NewTurn,
    Play,
    SpokenMessage,
    Turn,
    TurnStatus,
)
from fabula.story.error_values import ErrorValue, Hint, stored_error
from fabula.story.values import JsonObject

PLAYS = Table(
    "plays",
    METADATA,
    Column("session_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("head_turn_id", NAME, nullable=False),
    Column("active_turn_id", NAME),
    Column("turn_index", NUMBER, nullable=False),
    Column("status", NAME, nullable=False),
    Column("token_budget", NUMBER),
    Column("updated_at_ms", NUMBER, nullable=False),
    Column("owner_token_id", NAME),
    PrimaryKeyConstraint("session_id", name="plays_pk"),
    Index("plays_by_tree", "tree_id", "session_id"),
    Index("plays_by_change", "updated_at_ms", "session_id"),
    Index("plays_by_owner", "owner_token_id", "session_id"),
)

INVITATIONS = Table(
    "play_invitations",
    METADATA,
    Column("token_id", NAME, nullable=False),
    Column("session_id", NAME, nullable=False),
    PrimaryKeyConstraint("token_id", "session_id", name="play_invitations_pk"),
    Index("play_invitations_by_session", "session_id"),
)

TURNS = Table(
    "turns",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("tree_id", NAME, nullable=False),
    Column("session_id", NAME, nullable=False),
    Column("parent_id", NAME),
    Column("jump_id", NAME),
    Column("depth", NUMBER, nullable=False),
    Column("turn_index", NUMBER, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("status", NAME, nullable=False),
    Column("player_input", Text, nullable=False),
    Column("request_id", NAME, nullable=False),
    Column("seed", NUMBER, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("state_hash", NAME),
    Column("error", Text),
    Column("owner", NAME, nullable=False),
    Column("lease_until_ms", NUMBER, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("finished_at_ms", NUMBER),
    PrimaryKeyConstraint("turn_id", name="turns_pk"),
    Index("turns_by_tree", "tree_id", "turn_id"),
    Index("turns_by_parent", "parent_id", "turn_id"),
    Index("turns_by_request", "session_id", "request_id"),
    Index(
        "turns_running", "turn_id", sqlite_where=text("status = 'running'"), postgresql_where=text("status = 'running'")
    ),
)

UNUSED = {"owner": "", "lease_until_ms": 0, "attempt": 1}
"""Columns of turns from before there was a table of work, which now says who plays a turn."""

TURN_STATES = Table(
    "turn_states",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("state", Text, nullable=False),
    Column("result", Text),
    PrimaryKeyConstraint("turn_id", name="turn_states_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="turn_states_turn_fk", ondelete="CASCADE"),
)

MESSAGES = Table(
    "messages",
    METADATA,
    Column("turn_id", NAME, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("op", NAME, nullable=False),
    Column("message_id", NAME, nullable=False),
    Column("said_in_turn_id", NAME, nullable=False),
    Column("turn_index", NUMBER, nullable=False),
    Column("sequence", NUMBER, nullable=False),
    Column("kind", NAME, nullable=False),
    Column("speaker_id", NAME, nullable=False),
    Column("speaker_name", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("recorded_at_ms", NUMBER, nullable=False),
    Column("created_at_ms", NUMBER, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("turn_id", "ordinal", name="messages_pk"),
    ForeignKeyConstraint(["turn_id"], ["turns.turn_id"], name="messages_turn_fk", ondelete="CASCADE"),
)

_p, _t, _s, _m, _i = PLAYS.c, TURNS.c, TURN_STATES.c, MESSAGES.c, INVITATIONS.c
_this_play = _p.session_id == bindparam("session")
_this_turn = _t.turn_id == bindparam("turn")

GET_PLAY = prepared(select(PLAYS).where(_this_play))
LOCK_PLAY = GET_PLAY.with_for_update()
"""The writers of one play wait for each other here. Whoever locks both locks the play before its turns."""
GET_PLAYS = select(PLAYS).where(_p.session_id.in_(bindparam("sessions", expanding=True)))
HEADS = select(PLAYS).where(_p.tree_id == bindparam("tree")).order_by(_p.session_id)
RECENT_PLAYS = select(PLAYS).order_by(_p.updated_at_ms.desc(), _p.session_id.desc()).limit(bindparam("limit"))
_reached = union(
    select(_p.session_id).where(_p.owner_token_id == bindparam("token")),
    select(_i.session_id).where(_i.token_id == bindparam("token")),
).subquery("reached")
REACHED_BY = select(_reached.c.session_id).where(_reached.c.session_id > bindparam("after")).order_by("session_id")
COUNT_REACHED = select(func.count()).select_from(_reached)
RECENT_REACHED = (
    select(PLAYS)
    .where(_p.session_id.in_(select(_reached.c.session_id)))
    .order_by(_p.updated_at_ms.desc(), _p.session_id.desc())
    .limit(bindparam("limit"))
)
_this_invitation = (_i.token_id == bindparam("token")) & (_i.session_id == bindparam("session"))
IS_INVITED = select(_i.session_id).where(_this_invitation)
INVITE = add_or_change(INVITATIONS, None)
UNINVITE = delete(INVITATIONS).where(_this_invitation)
UNINVITE_ALL = delete(INVITATIONS).where(_i.session_id == bindparam("session"))
REMOVE_PLAY = delete(PLAYS).where(_this_play)
OTHERS_ON_TREE = select(func.count()).select_from(PLAYS).where(_p.tree_id == bindparam("tree"))
REMOVE_TREE = delete(TURNS).where(_t.tree_id == bindparam("tree"))
GET_TURN = prepared(select(TURNS).where(_this_turn))
LOCK_TURN = (
    select(TURNS).join(PLAYS, _p.session_id == _t.session_id).where(_this_turn).with_for_update(of=[PLAYS, TURNS])
)
"""A turn of a play that still exists, to be ended: the play is locked, then the turn."""
LOCK_TREE = select(_t.turn_id).where(_t.turn_id == bindparam("tree")).with_for_update()
KEEP_TREE = select(_t.turn_id).where(_t.turn_id == bindparam("tree")).with_for_update(read=True, key_share=True)
ADD_TURN = prepared(insert(TURNS))
ADD_STATE = prepared(insert(TURN_STATES))
ADD_MESSAGES = prepared(insert(MESSAGES))
TREE = (
    select(TURNS)
    .where(_t.tree_id == bindparam("tree"), _t.turn_id > bindparam("after"), _t.status != "running")
    .order_by(_t.turn_id)
)
STATE = prepared(select(_s.state).where(_s.turn_id == bindparam("turn")))
RESULT = select(_s.result).where(_s.turn_id == bindparam("turn"))
LAST_FAILED = (
    select(TURNS)
    .where(
        _t.parent_id == bindparam("parent"),
        _t.session_id == bindparam("session"),
        _t.status.in_(("failed", "cancelled")),
    )
    .order_by(_t.turn_id.desc())
    .limit(1)
)
BY_REQUEST = (
    select(TURNS)
    .where(_t.session_id == bindparam("session"), _t.request_id == bindparam("request"))
    .order_by(_t.turn_id.desc())
    .limit(1)
)
RUNNING = prepared(select(TURNS).where(_t.status == "running").order_by(_t.turn_id))
LOCK_RUNNING = RUNNING.with_for_update()
SET_PLAY = update(PLAYS).where(_this_play)
SET_TURN = update(TURNS).where(_this_turn)
OCCUPY = prepared(SET_PLAY.values(active_turn_id=bindparam("active"), updated_at_ms=bindparam("now")))
COMMIT_TURN = prepared(
    SET_TURN.values(status="committed", state_hash=bindparam("hash"), finished_at_ms=bindparam("now"))
)
MOVE_ON = prepared(
    SET_PLAY.values(
        head_turn_id=bindparam("head"),
        active_turn_id=None,
        turn_index=bindparam("index"),
        status=bindparam("ended"),
        updated_at_ms=bindparam("now"),
    )
)

_path = (
    select(_t.turn_id, _t.parent_id, _t.depth, literal(0).label("steps")).where(_this_turn).cte("path", recursive=True)
)
_path = _path.union_all(
    select(_t.turn_id, _t.parent_id, _t.depth, _path.c.steps + 1).where(
        _t.turn_id == _path.c.parent_id, _path.c.steps < bindparam("furthest")
    )
)
_head, _near, _far = TURNS.alias("head"), TURNS.alias("near"), TURNS.alias("far")
PLACE = prepared(
    select(
        _p.active_turn_id,
        _head.c.turn_id,
        _head.c.tree_id,
        _head.c.depth,
        _near.c.turn_id.label("near_id"),
        _near.c.depth.label("near_depth"),
        _far.c.turn_id.label("far_id"),
        _far.c.depth.label("far_depth"),
    )
    .select_from(PLAYS)
    .join(_head, _head.c.tree_id == _p.tree_id)
    .outerjoin(_near, _near.c.turn_id == _head.c.jump_id)
    .outerjoin(_far, _far.c.turn_id == _near.c.jump_id)
    .where(_this_play, _head.c.turn_id == bindparam("turn"), _head.c.status == "committed")
)
"""A session, the turn below which a new one is placed, and the two jumps from there, in one read."""
LOCK_PLACE = PLACE.with_for_update(of=PLAYS)

_walk = (
    select(_t.turn_id, _t.parent_id, _t.jump_id, _t.turn_index, _t.depth).where(_this_turn).cte("walk", recursive=True)
)
_jumped, _next = TURNS.alias("jumped"), TURNS.alias("next")
_walk = _walk.union_all(
    select(_next.c.turn_id, _next.c.parent_id, _next.c.jump_id, _next.c.turn_index, _next.c.depth)
    .select_from(_walk)
    .join(_jumped, _jumped.c.turn_id == _walk.c.jump_id)
    .join(
        _next,
        _next.c.turn_id == case((_jumped.c.turn_index > bindparam("index"), _walk.c.jump_id), else_=_walk.c.parent_id),
    )
    .where(_walk.c.turn_index > bindparam("index"))
)
ANCESTOR = select(_walk.c.turn_id).order_by(_walk.c.depth).limit(1)
"""Up from a turn in jumps, as long as they do not lead too far: a logarithmic number of rows in one read."""

TRANSCRIPT = prepared(
    select(MESSAGES, _path.c.depth)
    .join_from(_path, MESSAGES, _m.turn_id == _path.c.turn_id)
    .order_by(_path.c.depth, _m.ordinal)
)

_ALL = 2**31 - 1
DELETED = Cancelled("The session was deleted.").value()


class SqlPlays:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._access = access

    async def add(
        self, session_id: str, start: NewTurn, finished: Finished, *, owner_token_id: str | None = None
    ) -> Play:
        play = Play(
            session_id=spelled(session_id),
            tree_id=start.turn_id,
            head_turn_id=start.turn_id,
            turn_index=start.turn_index,
            updated_at_ms=self._clock.now_ms(),
            owner_token_id=owner_token_id,
        )
        await self._connection.execute(insert(PLAYS), vars(play))
        await self._finish(finished, await self._insert(start, play.tree_id, None, jump_id=None))
        return play

    async def fork(self, session_id: str, turn_id: str, *, owner_token_id: str | None = None) -> Play:
        turn = await self._committed(turn_id)
        await self._keep_tree(turn)
        play = Play(
            session_id=spelled(session_id),
            tree_id=turn.tree_id,
            head_turn_id=turn.turn_id,
            turn_index=turn.turn_index,
            updated_at_ms=self._clock.now_ms(),
            owner_token_id=owner_token_id,
        )
        await self._connection.execute(insert(PLAYS), vars(play))
        return play

    async def get(self, session_id: str) -> Play | None:
        query = self._access.choose(GET_PLAY, LOCK_PLAY)
        row = (await self._connection.execute(query, {"session": spelled(session_id)})).first()
        return None if row is None else _play(row)

    async def get_many(self, session_ids: Sequence[str]) -> dict[str, Play]:
        found: dict[str, Play] = {}
        for start in range(0, len(session_ids), 500):
            some = {"sessions": [spelled(id) for id in session_ids[start : start + 500]]}
            found |= {row.session_id: _play(row) for row in await self._connection.execute(GET_PLAYS, some)}
        return found

    async def recent(self, *, limit: int, token_id: str | None = None) -> list[Play]:
        if token_id is None:
            return [_play(row) for row in await self._connection.execute(RECENT_PLAYS, {"limit": limit})]
        asked = {"limit": limit, "token": spelled(token_id)}
        return [_play(row) for row in await self._connection.execute(RECENT_REACHED, asked)]

    async def reached_by(self, token_id: str, *, after: str | None = None, limit: int | None = None) -> list[str]:
        query = REACHED_BY if limit is None else REACHED_BY.limit(limit)
        asked = {"token": spelled(token_id), "after": spelled(after or "")}
        return [row.session_id for row in await self._connection.execute(query, asked)]

    async def count_reached(self, token_id: str) -> int:
        return int((await self._connection.execute(COUNT_REACHED, {"token": spelled(token_id)})).scalar_one())

    async def is_invited(self, session_id: str, token_id: str) -> bool:
        names = {"session": spelled(session_id), "token": spelled(token_id)}
        return (await self._connection.execute(IS_INVITED, names)).first() is not None

    async def invite(self, session_id: str, token_id: str) -> None:
        await self._known(session_id)
        await self._connection.execute(INVITE, {"session_id": session_id, "token_id": spelled(token_id)})

    async def uninvite(self, session_id: str, token_id: str) -> None:
        names = {"session": spelled(session_id), "token": spelled(token_id)}
        await self._connection.execute(UNINVITE, names)

    async def remove(self, session_id: str) -> None:
        play = await self._known(session_id)
        if play.active_turn_id is not None:
            await self.fail(play.active_turn_id, status="cancelled", error=DELETED)
        await self._connection.execute(UNINVITE_ALL, {"session": session_id})
        await self._connection.execute(REMOVE_PLAY, {"session": session_id})
        if self._access.locks:
            # Who is forking from the tree, or removes its other play, commits first and is then counted.
            await self._connection.execute(LOCK_TREE, {"tree": play.tree_id})
        if not (await self._connection.execute(OTHERS_ON_TREE, {"tree": play.tree_id})).scalar_one():
            await self._connection.execute(REMOVE_TREE, {"tree": play.tree_id})

    async def set_budget(self, session_id: str, token_budget: int | None) -> None:
        await self._connection.execute(SET_PLAY.values(token_budget=token_budget), {"session": session_id})

    async def turn(self, turn_id: str) -> Turn | None:
        row = (await self._connection.execute(GET_TURN, {"turn": spelled(turn_id)})).first()
        return None if row is None else _turn(row)

    async def begin(self, turn: NewTurn) -> Turn:
        assert turn.parent_id is not None
        names = {"session": spelled(turn.session_id), "turn": spelled(turn.parent_id)}
        place = (await self._connection.execute(self._access.choose(PLACE, LOCK_PLACE), names)).first()
        if place is None:
            play = await self._known(turn.session_id)
            raise await self._unfit(turn.parent_id) if play.active_turn_id is None else _busy(play.active_turn_id)
        if place.active_turn_id is not None:
            raise _busy(place.active_turn_id)
        placed = await self._insert(turn, place.tree_id, place.depth, jump_id=_jump(place))
        values = {"session": turn.session_id, "active": turn.turn_id, "now": self._clock.now_ms()}
        await self._connection.execute(OCCUPY, values)
        return placed

    async def commit(self, finished: Finished) -> bool:
        turn = await self._to_be_ended(finished.turn_id)
        if turn is None:
            return False
        await self._finish(finished, turn)
        return True

    async def amend(self, turn: NewTurn, finished: Finished) -> Turn:
        placed = await self.begin(turn)
        await self._finish(finished, placed)
        return placed

    async def fail(self, turn_id: str, *, status: TurnStatus, error: ErrorValue) -> bool:
        turn = await self._to_be_ended(turn_id)
        if turn is None:
            return False
        now = self._clock.now_ms()
        ended = {"status": status, "error": pack("error", error.as_json()), "finished_at_ms": now}
        await self._connection.execute(SET_TURN.values(ended), {"turn": turn_id})
        await self._connection.execute(
            SET_PLAY.values(active_turn_id=None, updated_at_ms=now), {"session": turn.session_id}
        )
        return True

    async def move_head(self, session_id: str, turn_id: str) -> Play:
        play, turn = await self._known(session_id), await self._committed(turn_id)
        if turn.tree_id != play.tree_id:
            raise _of_another_play(turn_id)
        if play.active_turn_id is not None:
            raise _busy(play.active_turn_id)
        values = {
            "head_turn_id": turn_id,
            "turn_index": turn.turn_index,
            "status": "open",
            "updated_at_ms": self._clock.now_ms(),
        }
        await self._connection.execute(SET_PLAY.values(values), {"session": session_id})
        return await self._known(session_id)

    async def state(self, turn_id: str) -> JsonObject | None:
        packed: str | None = (await self._connection.execute(STATE, {"turn": spelled(turn_id)})).scalar()
        return None if packed is None else unpack("play_state", packed)

    async def result(self, turn_id: str) -> JsonObject | None:
        packed: str | None = (await self._connection.execute(RESULT, {"turn": spelled(turn_id)})).scalar()
        return None if packed is None else unpack("turn_result", packed)

    async def ancestor(self, turn_id: str, turn_index: int) -> Turn:
        names = {"turn": spelled(turn_id), "index": turn_index}
        found: str | None = (await self._connection.execute(ANCESTOR, names)).scalar()
        return await self._existing(turn_id if found is None else found)

    async def tree(self, tree_id: str, *, after: str | None = None, limit: int | None = None) -> list[Turn]:
        query = TREE if limit is None else TREE.limit(limit)
        rows = await self._connection.execute(query, {"tree": spelled(tree_id), "after": spelled(after or "")})
        return [_turn(row) for row in rows]

    async def heads(self, tree_id: str) -> list[Play]:
        return [_play(row) for row in await self._connection.execute(HEADS, {"tree": spelled(tree_id)})]

    async def last_failed(self, session_id: str, parent_id: str) -> Turn | None:
        row = (await self._connection.execute(LAST_FAILED, {"session": session_id, "parent": parent_id})).first()
        return None if row is None else _turn(row)

    async def by_request(self, session_id: str, request_id: str) -> Turn | None:
        names = {"session": spelled(session_id), "request": spelled(request_id)}
        row = (await self._connection.execute(BY_REQUEST, names)).first()
        return None if row is None else _turn(row)

    async def transcript(self, turn_id: str, *, last: int | None = None) -> list[SpokenMessage]:
        if last is None:
            return (await self._read_back(turn_id, _ALL))[0]
        turns = last // 3 + 8
        messages, complete = await self._read_back(turn_id, turns)
        while len(messages) < last and not complete:
            turns *= 4
            messages, complete = await self._read_back(turn_id, turns)
        return messages[max(0, len(messages) - last) :]

    async def _read_back(self, turn_id: str, turns: int) -> tuple[list[SpokenMessage], bool]:
        """What the last so many turns of a line say, and whether the line is not longer than that."""
        rows = list(await self._connection.execute(TRANSCRIPT, {"turn": spelled(turn_id), "furthest": turns}))
        if turns == _ALL or (rows and rows[0].depth <= 1):
            return _folded(rows), True
        return _folded(rows), (await self._existing(turn_id)).depth <= turns

    async def running(self) -> list[Turn]:
        query = self._access.choose(RUNNING, LOCK_RUNNING)
        return [_turn(row) for row in await self._connection.execute(query)]

    async def _insert(self, new: NewTurn, tree_id: str, parent_depth: int | None, *, jump_id: str | None) -> Turn:
        turn = Turn(
            **vars(new),
            tree_id=tree_id,
            depth=0 if parent_depth is None else parent_depth + 1,
            jump_id=jump_id,
            status="running",
            created_at_ms=self._clock.now_ms(),
        )
        row = {**vars(turn), **UNUSED, "player_input": legible(turn.player_input), "error": None}
        await self._connection.execute(ADD_TURN, row)
        return turn

    async def _to_be_ended(self, turn_id: str) -> Turn | None:
        """The turn, if it is still running."""
        query = self._access.choose(GET_TURN, LOCK_TURN)
        row = (await self._connection.execute(query, {"turn": spelled(turn_id)})).first()
        return None if row is None or row.status != "running" else _turn(row)

    async def _keep_tree(self, turn: Turn) -> None:
        """Another play is about to stand on the tree: nobody may remove it with its last play."""
        if not self._access.locks:
            return
        if (await self._connection.execute(KEEP_TREE, {"tree": turn.tree_id})).first() is None:
            raise NotFound(f"There is no turn named '{turn.turn_id}'.", kind="turn", id=turn.turn_id)

    async def _unfit(self, turn_id: str) -> FabulaError:
        """Why no turn can be placed below this one."""
        await self._committed(turn_id)
        return _of_another_play(turn_id)

    async def _finish(self, finished: Finished, turn: Turn) -> None:
        now = self._clock.now_ms()
        done = {"turn": turn.turn_id, "hash": finished.state_hash, "now": now}
        await self._connection.execute(COMMIT_TURN, done)
        result = None if finished.result is None else pack("turn_result", finished.result)
        state = {"turn_id": turn.turn_id, "state": pack("play_state", finished.state), "result": result}
        await self._connection.execute(ADD_STATE, state)
        if finished.messages:
            rows = [_message_row(turn.turn_id, at, change) for at, change in enumerate(finished.messages)]
            await self._connection.execute(ADD_MESSAGES, rows)
        head = {
            "session": turn.session_id,
            "head": turn.turn_id,
            "index": turn.turn_index,
            "ended": "ended" if finished.ended else "open",
            "now": now,
        }
        await self._connection.execute(MOVE_ON, head)

    async def _known(self, session_id: str) -> Play:
        play = await self.get(session_id)
        if play is None:
            raise NotFound(f"There is no session named '{session_id}'.", kind="session", id=session_id)
        return play

    async def _existing(self, turn_id: str) -> Turn:
        turn = await self.turn(turn_id)
        if turn is None:
            raise NotFound(f"There is no turn named '{turn_id}'.", kind="turn", id=turn_id)
        return turn

    async def _committed(self, turn_id: str) -> Turn:
        turn = await self._existing(turn_id)
        if turn.status != "committed":
            raise InvalidRequest(f"The turn '{turn_id}' was not completed.", hint=Hint.LIST_BRANCHES)
        return turn


def _jump(place: Any) -> str:
    """Where a turn below this place jumps to: far, whenever the two jumps from here are equally long."""
    if place.near_id is None:
        return str(place.turn_id)
    far_id, far_depth = (place.near_id, place.near_depth) if place.far_id is None else (place.far_id, place.far_depth)
    even = place.depth - place.near_depth == place.near_depth - far_depth
    return str(far_id if even else place.turn_id)


def _of_another_play(turn_id: str) -> InvalidRequest:
    return InvalidRequest(f"The turn '{turn_id}' belongs to another play.", hint=Hint.LIST_BRANCHES)


def _busy(active_turn_id: str) -> Conflict:
    return Conflict(
        "A turn of this session is still running. Wait for it, or cancel it.", active_turn_id=active_turn_id
    )


def _folded(rows: Sequence[Row[Any]]) -> list[SpokenMessage]:
    """What a line of turns says in the end: later turns change or strike out what earlier ones said."""
    messages: dict[str, SpokenMessage] = {}
    for row in rows:
        if row.op == "say":
            messages[row.message_id] = _message(row)
        elif row.message_id in messages:
            if row.op == "edit":
                messages[row.message_id] = _message(row)
            else:
                del messages[row.message_id]
    return sorted(messages.values(), key=lambda message: message.sequence)


def _play(row: Row[Any]) -> Play:
    return Play(**row._mapping)


def _turn(row: Row[Any]) -> Turn:
    fields = {name: value for name, value in row._mapping.items() if name not in UNUSED}
    return Turn(
        **{**fields, "error": None if fields["error"] is None else stored_error(unpack("error", fields["error"]))}
    )


def _message_row(turn_id: str, ordinal: int, change: MessageChange) -> dict[str, Any]:
    said = vars(change.message)
    return {
        **said,
        "text": legible(change.message.text),
        "speaker_name": legible(change.message.speaker_name),
        "said_in_turn_id": change.message.turn_id,
        "turn_id": turn_id,
        "ordinal": ordinal,
        "op": change.op,
    }


def _message(row: Row[Any]) -> SpokenMessage:
    return SpokenMessage(
        message_id=row.message_id,
        turn_id=row.said_in_turn_id,
        turn_index=row.turn_index,
        sequence=row.sequence,
        kind=row.kind,
        speaker_id=row.speaker_id,
        speaker_name=row.speaker_name,
        text=row.text,
        recorded_at_ms=row.recorded_at_ms,
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
    )
