"""Plays: the tree of turns with their states, the heads that point into it, and what was said on the way."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from fabula.adapters.stores.canon_layers import REMOVE_LAYER
from fabula.adapters.stores.memory_tables import REMOVE_SCOPE as REMOVE_MEMORIES
from fabula.adapters.stores.play_tables import (
    ADD_PLAY,
    ANCESTOR,
    BY_REQUEST,
    COUNT_REACHED,
    GET_PLAY,
    GET_PLAYS,
    GET_TURN,
    HEADS,
    INVITE,
    IS_INVITED,
    KEEP_SUMMARY,
    KEEP_TREE,
    KEEP_WORLD,
    LARGEST_SEED,
    LAST_FAILED,
    LOCK_PLAY,
    LOCK_RUNNING,
    LOCK_TREE,
    MESSAGES_OF,
    MOVE_HEAD,
    NAMED_TURNS,
    NEAREST_SUMMARY,
    NEAREST_WORLD,
    OTHERS_ON_TREE,
    PROFILES,
    REACHED_BY,
    REACHED_NAMED_TURNS,
    RECENT_PLAYS,
    RECENT_REACHED,
    REMOVE_PLAY,
    REMOVE_TREE,
    RESULT,
    RUNNING,
    SET_BUDGET,
    STATE,
    TOUCH,
    TREE,
    UNINVITE,
    UNINVITE_ALL,
)
from fabula.adapters.stores.scenes import REMOVE_SCENES
from fabula.adapters.stores.tables import Access, legible, pack, spelled, unpack
from fabula.adapters.stores.traces import REMOVE_OF_TREE as REMOVE_TRACES
from fabula.adapters.stores.transcript_steps import (
    read_last_lines,
    read_lines_after,
    read_lines_before,
    read_on_line,
    read_past,
    read_transcript,
    read_wordings,
)
from fabula.adapters.stores.tree_steps import (
    read_beginnings,
    read_marks,
    read_marks_of,
    read_shape,
    read_tellings,
    read_turns_named,
    write_mark,
)
from fabula.adapters.stores.turn_steps import (
    add_start,
    amend_play,
    begin_turn,
    busy,
    commit_turn,
    committed_turn,
    existing_turn,
    fail_turn,
    no_session,
    of_another_play,
    play_of,
    read_turn_by_key,
    read_turns,
    turn_of,
)
from fabula.ports.errors import Cancelled, NotFound
from fabula.ports.plays import Finished, NamedTurn, NewTurn, Play, SpokenMessage, Turn, TurnMark, TurnStatus
from fabula.story.error_values import ErrorValue
from fabula.story.turn_tree import TurnPlace
from fabula.story.values import JsonObject

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
        await self._connection.execute(ADD_PLAY, vars(play))
        await self._connection.run(add_start(self._access, start, finished))
        return play

    async def fork(
        self, session_id: str, turn_id: str, *, owner_token_id: str | None = None, ended: bool = False
    ) -> Play:
        turn = await self._committed(turn_id)
        await self._keep_tree(turn)
        play = Play(
            session_id=spelled(session_id),
            tree_id=turn.tree_id,
            head_turn_id=turn.turn_id,
            turn_index=turn.turn_index,
            status="ended" if ended else "open",
            updated_at_ms=self._clock.now_ms(),
            owner_token_id=owner_token_id,
        )
        await self._connection.execute(ADD_PLAY, vars(play))
        return play

    async def get(self, session_id: str) -> Play | None:
        query = self._access.choose(GET_PLAY, LOCK_PLAY)
        row = (await self._connection.execute(query, {"session": spelled(session_id)})).first()
        return None if row is None else play_of(row)

    async def get_many(self, session_ids: Sequence[str]) -> dict[str, Play]:
        found: dict[str, Play] = {}
        for start in range(0, len(session_ids), 500):
            some = {"sessions": [spelled(id) for id in session_ids[start : start + 500]]}
            found |= {row.session_id: play_of(row) for row in await self._connection.execute(GET_PLAYS, some)}
        return found

    async def recent(self, *, limit: int, token_id: str | None = None) -> list[Play]:
        if token_id is None:
            return [play_of(row) for row in await self._connection.execute(RECENT_PLAYS, {"limit": limit})]
        asked = {"limit": limit, "token": spelled(token_id)}
        return [play_of(row) for row in await self._connection.execute(RECENT_REACHED, asked)]

    async def reached_by(self, token_id: str, *, after: str | None = None, limit: int | None = None) -> list[str]:
        query = REACHED_BY if limit is None else REACHED_BY.limit(limit)
        asked = {"token": spelled(token_id), "after": spelled(after or "")}
        return [row.session_id for row in await self._connection.execute(query, asked)]

    async def count_reached(self, token_id: str) -> int:
        return int((await self._connection.execute(COUNT_REACHED, {"token": spelled(token_id)})).scalar())

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
        if not (await self._connection.execute(OTHERS_ON_TREE, {"tree": play.tree_id})).scalar():
            await self._connection.execute(REMOVE_TRACES, {"tree": play.tree_id})
            await self._connection.execute(REMOVE_TREE, {"tree": play.tree_id})
            await self._connection.execute(REMOVE_MEMORIES, {"scope": play.tree_id})
            for statement in (*REMOVE_LAYER, REMOVE_SCENES):
                await self._connection.execute(statement, {"tree": play.tree_id})

    async def set_budget(self, session_id: str, token_budget: int | None) -> None:
        await self._connection.execute(SET_BUDGET, {"session": session_id, "budget": token_budget})

    async def touch(self, session_id: str) -> None:
        await self._connection.execute(TOUCH, {"session": session_id, "now": self._clock.now_ms()})

    async def turn(self, turn_id: str) -> Turn | None:
        row = (await self._connection.execute(GET_TURN, {"turn": spelled(turn_id)})).first()
        return None if row is None else turn_of(row)

    async def begin(self, turn: NewTurn) -> Turn:
        return await self._connection.run(begin_turn(self._access, turn))

    async def commit(self, finished: Finished) -> bool:
        return await self._connection.run(commit_turn(self._access, finished))

    async def amend(self, turn: NewTurn, finished: Finished) -> Turn:
        return await self._connection.run(amend_play(self._access, turn, finished))

    async def fail(self, turn_id: str, *, status: TurnStatus, error: ErrorValue) -> bool:
        return await self._connection.run(fail_turn(self._access, turn_id, status=status, error=error))

    async def move_head(self, session_id: str, turn_id: str, *, ended: bool = False) -> Play:
        play, turn = await self._known(session_id), await self._committed(turn_id)
        if turn.tree_id != play.tree_id:
            raise of_another_play(turn_id)
        if play.active_turn_id is not None:
            raise busy(play.active_turn_id)
        values = {"head": turn_id, "index": turn.turn_index, "ended": "ended" if ended else "open"}
        await self._connection.execute(MOVE_HEAD, {"session": session_id, **values, "now": self._clock.now_ms()})
        return await self._known(session_id)

    async def profiles(self, session_ids: Sequence[str]) -> dict[str, str]:
        found: dict[str, str | None] = {}
        for start in range(0, len(session_ids), 500):
            some = {"sessions": [spelled(id) for id in session_ids[start : start + 500]]}
            rows = await self._connection.execute(PROFILES, some)
            found |= {row.session_id: orjson.loads(row.profile) for row in rows if row.profile is not None}
        return {session_id: profile for session_id, profile in found.items() if profile is not None}

    async def state(self, turn_id: str) -> JsonObject | None:
        packed: str | None = (await self._connection.execute(STATE, {"turn": spelled(turn_id)})).scalar()
        return None if packed is None else unpack("play_state", packed)

    async def result(self, turn_id: str) -> JsonObject | None:
        packed: str | None = (await self._connection.execute(RESULT, {"turn": spelled(turn_id)})).scalar()
        return None if packed is None else unpack("turn_result", packed)

    async def keep_summary(self, turn_id: str, summary: JsonObject) -> None:
        packed = pack("story_so_far", summary)
        kept = {"turn_id": spelled(turn_id), "summary": packed, "new_summary": packed}
        await self._connection.execute(KEEP_SUMMARY, kept)

    async def nearest_summary(self, turn_id: str, *, within: int) -> JsonObject | None:
        names = {"turn": spelled(turn_id), "within": within}
        row = (await self._connection.execute(NEAREST_SUMMARY, names)).first()
        return None if row is None else unpack("story_so_far", row.summary)

    async def keep_world(self, turn_id: str, record: JsonObject) -> None:
        kept = {"turn_id": spelled(turn_id), "record": pack("world_record", record)}
        await self._connection.execute(KEEP_WORLD, kept)

    async def nearest_world(self, turn_id: str, *, within: int) -> JsonObject | None:
        names = {"turn": spelled(turn_id), "within": within}
        row = (await self._connection.execute(NEAREST_WORLD, names)).first()
        return None if row is None else unpack("world_record", row.record)

    async def ancestor(self, turn_id: str, turn_index: int) -> Turn:
        names = {"turn": spelled(turn_id), "index": turn_index}
        found: str | None = (await self._connection.execute(ANCESTOR, names)).scalar()
        return await self._existing(turn_id if found is None else found)

    async def tree(self, tree_id: str, *, after: str | None = None, limit: int | None = None) -> list[Turn]:
        query = TREE if limit is None else TREE.limit(limit)
        # As steps, because a large tree is made of its rows where they are read, not on the event loop.
        return await self._connection.run(read_turns(query, {"tree": spelled(tree_id), "after": spelled(after or "")}))

    async def shape(self, tree_id: str) -> list[TurnPlace]:
        return await self._connection.run(read_shape(tree_id))

    async def turns(self, turn_ids: Sequence[str]) -> dict[str, Turn]:
        return await self._connection.run(read_turns_named(turn_ids))

    async def tellings(self, parent_ids: Sequence[str]) -> list[Turn]:
        return await self._connection.run(read_tellings(parent_ids))

    async def beginnings(self, turn_ids: Sequence[str], *, letters: int) -> dict[str, str]:
        return await self._connection.run(read_beginnings(turn_ids, letters=letters))

    async def messages_of(self, turn_id: str) -> list[str]:
        found = (await self._connection.execute(MESSAGES_OF, {"turn": spelled(turn_id)})).scalars()
        return list(dict.fromkeys(found))

    async def mark(self, mark: TurnMark) -> None:
        await self._connection.run(write_mark(mark))

    async def marks(self, tree_id: str, *, after: str | None = None, limit: int | None = None) -> list[TurnMark]:
        return await self._connection.run(read_marks(tree_id, after=after, limit=limit))

    async def marks_of(self, turn_ids: Sequence[str]) -> dict[str, TurnMark]:
        return await self._connection.run(read_marks_of(turn_ids))

    async def heads(self, tree_id: str) -> list[Play]:
        return [play_of(row) for row in await self._connection.execute(HEADS, {"tree": spelled(tree_id)})]

    async def last_failed(self, session_id: str, parent_id: str) -> Turn | None:
        row = (await self._connection.execute(LAST_FAILED, {"session": session_id, "parent": parent_id})).first()
        return None if row is None else turn_of(row)

    async def by_request(self, session_id: str, request_id: str) -> Turn | None:
        names = {"session": spelled(session_id), "request": spelled(request_id)}
        row = (await self._connection.execute(BY_REQUEST, names)).first()
        return None if row is None else turn_of(row)

    async def largest_seed(self, parent_id: str, player_input: str) -> int:
        named = {"parent": spelled(parent_id), "words": legible(player_input)}
        return int((await self._connection.execute(LARGEST_SEED, named)).scalar() or 0)

    async def by_key(self, session_id: str, key: str) -> Turn | None:
        return await self._connection.run(read_turn_by_key(session_id, key))

    async def transcript(self, turn_id: str, *, last: int | None = None) -> list[SpokenMessage]:
        return await self._connection.run(read_transcript(turn_id, last=last))

    async def past(self, turn_id: str, *, most: int) -> Sequence[SpokenMessage]:
        return await self._connection.run(read_past(turn_id, most=most))

    async def lines_before(self, turn_id: str, message_id: str, *, limit: int) -> list[SpokenMessage] | None:
        return await self._connection.run(read_lines_before(turn_id, message_id, limit=limit))

    async def lines_after(self, turn_id: str, message_id: str | None, *, limit: int) -> list[SpokenMessage] | None:
        return await self._connection.run(read_lines_after(turn_id, message_id, limit=limit))

    async def message(self, turn_id: str, message_id: str) -> SpokenMessage | None:
        wordings = await self.wordings(turn_id, message_id)
        return wordings[-1] if wordings else None

    async def wordings(self, turn_id: str, message_id: str) -> list[SpokenMessage]:
        return await self._connection.run(read_wordings(turn_id, message_id))

    async def on_line(self, turn_id: str, wanted: Sequence[str]) -> frozenset[str]:
        return await self._connection.run(read_on_line(turn_id, wanted))

    async def named_turns(self, *, limit: int, token_id: str | None = None) -> list[NamedTurn]:
        query, who = (NAMED_TURNS, {}) if token_id is None else (REACHED_NAMED_TURNS, {"token": spelled(token_id)})
        return [NamedTurn(**row._asdict()) for row in await self._connection.execute(query, {"limit": limit, **who})]

    async def last_lines(self, head_turn_ids: Sequence[str]) -> dict[str, SpokenMessage]:
        return await self._connection.run(read_last_lines(head_turn_ids))

    async def running(self) -> list[Turn]:
        query = self._access.choose(RUNNING, LOCK_RUNNING)
        return [turn_of(row) for row in await self._connection.execute(query)]

    async def _keep_tree(self, turn: Turn) -> None:
        """Another play is about to stand on the tree: nobody may remove it with its last play."""
        if not self._access.locks:
            return
        if (await self._connection.execute(KEEP_TREE, {"tree": turn.tree_id})).first() is None:
            raise NotFound(f"There is no turn named '{turn.turn_id}'.", kind="turn", id=turn.turn_id)

    async def _known(self, session_id: str) -> Play:
        play = await self.get(session_id)
        if play is None:
            raise no_session(session_id)
        return play

    async def _existing(self, turn_id: str) -> Turn:
        return await self._connection.run(existing_turn(turn_id))

    async def _committed(self, turn_id: str) -> Turn:
        return await self._connection.run(committed_turn(turn_id))
