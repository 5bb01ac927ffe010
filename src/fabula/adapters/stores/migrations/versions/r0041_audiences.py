"""The forty-first revision: lines of transcripts say who noticed them; of older ones it is worked out from the states.

An older line was noticed by who was in the scene before and after its turn, by who was met in a new scene, and by who
spoke in it; of one that tells of whispering only the speaker is sure.
"""

from __future__ import annotations

import json
import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"

PORTION = 500
_WHISPER = re.compile(r"\bwhisper|\bear\b|under (?:my|her|his|their) breath|to (?:myself|herself|himself)", re.I)
_TURNS = sa.text(
    "SELECT turns.turn_id, own.state AS after, above.state AS before FROM turns "
    "JOIN turn_states AS own ON own.turn_id = turns.turn_id "
    "LEFT JOIN turn_states AS above ON above.turn_id = turns.parent_id "
    "WHERE turns.turn_id > :after AND EXISTS (SELECT 1 FROM messages WHERE messages.turn_id = turns.turn_id) "
    "ORDER BY turns.turn_id LIMIT :most"
)
_LINES = sa.text("SELECT ordinal, kind, speaker_id, text FROM messages WHERE turn_id = :turn ORDER BY ordinal")
_KEEP = sa.text("UPDATE messages SET heard_by = :heard WHERE turn_id = :turn AND ordinal = :ordinal")


def upgrade() -> None:
    op.add_column("messages", sa.Column("heard_by", sa.Text))
    connection = op.get_bind()
    after = ""
    while rows := connection.execute(_TURNS, {"after": after, "most": PORTION}).all():
        for row in rows:
            kept = _audiences(connection, row)
            if kept:
                connection.execute(_KEEP, kept)
        after = rows[-1].turn_id


def _audiences(connection: Any, row: Any) -> list[dict[str, Any]]:
    end = _world(row.after)
    if end is None:
        return []
    start = _world(row.before) or end
    lines = connection.execute(_LINES, {"turn": row.turn_id}).all()
    spoke = {line.speaker_id for line in lines if line.kind in ("dialogue", "action")} & (start[1] | end[1])
    stayed = (end[1] if start[0] != end[0] else start[1] & end[1]) | spoke
    return [
        {"turn": row.turn_id, "ordinal": line.ordinal, "heard": " ".join(sorted(_heard(line, start[1], stayed)))}
        for line in lines
    ]


def _heard(line: Any, before: set[str], stayed: set[str]) -> set[str]:
    if _WHISPER.search(line.text):
        return {line.speaker_id} & (before | stayed)
    return before if line.kind == "player_input" else stayed


def _world(state: str | None) -> tuple[str, set[str]] | None:
    """Where a state stands, and who is there; nothing for Ink stories, which do not say who is where."""
    if state is None:
        return None
    try:
        doc = json.loads(state)
        doc = doc.get("doc", doc)
        world = doc["snapshot"]["world_state"]
        return None if doc.get("ink") else (world["current_node"], set(world["active_characters"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        # A state that cannot be read is found out when it is played; here it only says nothing.
        return None
