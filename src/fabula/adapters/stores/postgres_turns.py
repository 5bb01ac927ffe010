"""The beginning and the end of a turn on Postgres, each in one statement: one round trip instead of six or eight.

They do what `begin_worked_turn` and `commit_turn` of `turn_steps` do, where nothing stands in the way. Where something
does, they change nothing and answer no row; then those steps find out why. The kit of the store holds both together.
"""

from __future__ import annotations

from typing import Any

import orjson
from sqlalchemy import text

from fabula.adapters.stores.play_tables import UNUSED
from fabula.adapters.stores.tables import Terms, legible, pack, spelled
from fabula.adapters.stores.turn_steps import message_row
from fabula.adapters.stores.work import new_row
from fabula.ports.plays import Finished, NewTurn, Turn
from fabula.ports.work import NewWork, Work

WRITERS_LOCK = 0x6661_6275_6C61
"""The advisory lock that ordinary writers share. Whoever changes everything at once (a migration, a restore) holds it
alone: it waits for the writers that are at work, and those that come later wait for it."""

_SHARED_LOCK = f"shared AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared({WRITERS_LOCK}))"

# The place is the same as that of PLACE, and the jump the same as that of `_jump`.
BEGIN_TURN = text(f"""
WITH {_SHARED_LOCK},
place AS (
    SELECT head.turn_id, head.tree_id, head.depth,
           near.turn_id AS near_id, near.depth AS near_depth, far.turn_id AS far_id, far.depth AS far_depth
    FROM shared CROSS JOIN plays
    JOIN turns AS head ON head.tree_id = plays.tree_id
    LEFT JOIN turns AS near ON near.turn_id = head.jump_id
    LEFT JOIN turns AS far ON far.turn_id = near.jump_id
    WHERE plays.session_id = :session_id AND plays.head_turn_id = :expected_head AND plays.active_turn_id IS NULL
      AND head.turn_id = :parent_id AND head.status = 'committed'
      AND (:key = '' OR NOT EXISTS (
          SELECT 1 FROM turns AS known WHERE known.session_id = :session_id AND known.key = :key AND known.key <> ''))
    FOR UPDATE OF plays
),
placed AS (
    INSERT INTO turns (turn_id, tree_id, session_id, parent_id, jump_id, depth, turn_index, kind, status, player_input,
                       request_id, seed, key, asked, wish, attempt, owner, lease_until_ms, created_at_ms)
    SELECT :turn_id, tree_id, :session_id, turn_id,
           CASE WHEN depth - near_depth = near_depth - COALESCE(far_depth, near_depth)
                THEN COALESCE(far_id, near_id) ELSE turn_id END,
           depth + 1, :turn_index, :kind, 'running', :player_input,
           :request_id, :seed, :key, :asked, :wish,
           {UNUSED["attempt"]}, '{UNUSED["owner"]}', {UNUSED["lease_until_ms"]}, :now
    FROM place
    RETURNING turn_id, tree_id, jump_id, depth
),
held AS (
    INSERT INTO work (work_id, kind, key, subject, input, status, owner, lease_until_ms, attempt, let_go, due_at_ms,
                      trace_id, created_at_ms, updated_at_ms)
    SELECT :work_id, :work_kind, :work_key, :work_subject, :work_input, :work_status, :work_owner,
           CAST(:work_lease AS bigint), CAST(:work_attempt AS integer), 0, CAST(:work_due AS bigint),
           :work_trace, CAST(:now AS bigint), CAST(:now AS bigint)
    FROM placed
)
UPDATE plays SET active_turn_id = placed.turn_id, updated_at_ms = :now
FROM placed WHERE plays.session_id = :session_id
RETURNING placed.tree_id, placed.jump_id, placed.depth
""")

COMMIT_TURN = text(f"""
WITH {_SHARED_LOCK},
ending AS (
    SELECT turns.turn_id, turns.session_id, turns.turn_index
    FROM shared CROSS JOIN plays JOIN turns ON turns.session_id = plays.session_id
    WHERE turns.turn_id = :turn_id AND turns.status = 'running'
    FOR UPDATE OF plays, turns
),
done AS (
    UPDATE work SET status = 'done', result = NULL, error = NULL, updated_at_ms = :now
    FROM ending
    WHERE work.work_id = :work_id AND work.status = 'running' AND work.owner = :work_owner
      AND work.attempt = :work_attempt
    RETURNING ending.turn_id, ending.session_id, ending.turn_index
),
committed AS (
    UPDATE turns SET status = 'committed', cut = :cut, state_hash = :state_hash, finished_at_ms = :now
    FROM done WHERE turns.turn_id = done.turn_id
),
kept AS (
    INSERT INTO turn_states (turn_id, state, result) SELECT turn_id, :state, :result FROM done
),
said AS (
    INSERT INTO messages (turn_id, ordinal, op, message_id, said_in_turn_id, turn_index, sequence, kind, speaker_id,
                          speaker_name, text, recorded_at_ms, created_at_ms, updated_at_ms, heard_by)
    SELECT done.turn_id, said.ordinal, said.op, said.message_id, said.said_in_turn_id, said.turn_index, said.sequence,
           said.kind, said.speaker_id, said.speaker_name, said.text, said.recorded_at_ms, said.created_at_ms,
           said.updated_at_ms, said.heard_by
    FROM done CROSS JOIN json_to_recordset(CAST(:messages AS json)) AS said (
        ordinal integer, op text, message_id text, said_in_turn_id text, turn_index bigint, sequence bigint, kind text,
        speaker_id text, speaker_name text, text text, recorded_at_ms bigint, created_at_ms bigint,
        updated_at_ms bigint, heard_by text
    )
),
following AS (
    INSERT INTO work (work_id, kind, key, subject, input, status, owner, lease_until_ms, attempt, let_go, due_at_ms,
                      trace_id, created_at_ms, updated_at_ms)
    SELECT :follow_id, :follow_kind, :follow_key, :follow_subject, :follow_input, 'waiting', '', 0, 0, 0,
           CAST(:follow_due AS bigint), :follow_trace, CAST(:now AS bigint), CAST(:now AS bigint)
    FROM done WHERE :follow_id <> ''
    ON CONFLICT DO NOTHING
)
UPDATE plays SET head_turn_id = done.turn_id, active_turn_id = NULL, turn_index = done.turn_index, status = :status,
                 updated_at_ms = :now
FROM done WHERE plays.session_id = done.session_id
RETURNING plays.session_id
""")


def begin_values(terms: Terms, turn: NewTurn, expected_head: str, work: NewWork) -> dict[str, Any]:
    assert turn.parent_id is not None
    held = new_row(work, terms.clock.now_ms())
    return {
        "session_id": spelled(turn.session_id),
        "expected_head": spelled(expected_head),
        "parent_id": spelled(turn.parent_id),
        "turn_id": spelled(turn.turn_id),
        "turn_index": turn.turn_index,
        "kind": turn.kind,
        "player_input": legible(turn.player_input),
        "request_id": turn.request_id,
        "seed": turn.seed,
        "key": spelled(turn.key),
        "asked": turn.asked,
        "wish": None if turn.wish is None else legible(turn.wish),
        "now": held.created_at_ms,
        "work_id": held.work_id,
        "work_kind": held.kind,
        "work_key": held.key,
        "work_subject": held.subject,
        "work_input": pack("work_input", held.input),
        "work_status": held.status,
        "work_owner": held.owner,
        "work_lease": held.lease_until_ms,
        "work_attempt": held.attempt,
        "work_due": held.due_at_ms,
        "work_trace": held.trace_id,
    }


def begun(turn: NewTurn, work: NewWork, now: int, row: Any) -> tuple[Turn, Work]:
    """The turn and its work as they now stand in the store."""
    placed = Turn(
        **vars(turn),
        tree_id=row.tree_id,
        jump_id=row.jump_id,
        depth=row.depth,
        status="running",
        created_at_ms=now,
    )
    return placed, new_row(work, now)


def commit_values(terms: Terms, finished: Finished, work: Work) -> dict[str, Any]:
    lines = [message_row(finished.turn_id, at, change) for at, change in enumerate(finished.messages)]
    now = terms.clock.now_ms()
    return {
        "turn_id": spelled(finished.turn_id),
        "state_hash": finished.state_hash,
        "cut": int(finished.cut),
        "state": pack("play_state", finished.state),
        "result": None if finished.result is None else pack("turn_result", finished.result),
        "messages": orjson.dumps(lines).decode(),
        "status": "ended" if finished.ended else "open",
        "work_id": work.work_id,
        "work_owner": work.owner,
        "work_attempt": work.attempt,
        "now": now,
        **_follow_values(finished.follow, now),
    }


def _follow_values(follow: NewWork | None, now: int) -> dict[str, Any]:
    row = new_row(follow or NewWork(work_id="", kind=""), now)
    return {
        "follow_id": row.work_id,
        "follow_kind": row.kind,
        "follow_key": row.key,
        "follow_subject": row.subject,
        "follow_input": pack("work_input", row.input),
        "follow_due": row.due_at_ms,
        "follow_trace": row.trace_id,
    }
