"""The forty-second revision: what NPCs lived through becomes memories like those of plays; their own words go.

Each entry is found by its stems, as new ones are. It gets no vector here: that is made when vectors are made anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

from fabula.adapters.stores.tables import legible
from fabula.language.stemming import content_words, language_of, stem_in

revision = "0042"
down_revision = "0041"

PORTION = 500
SCENE_PART = 16
MOST_WORDS = 400
MOST_NAMES = 64
LONGEST_TEXT = 4_000
_NPCS = sa.text("SELECT DISTINCT game_id, agent_id FROM npc_entries WHERE status <> 'open' ORDER BY game_id, agent_id")
_ENTRIES = sa.text(
    "SELECT number, event, played, created_at_ms FROM npc_entries WHERE game_id = :game AND agent_id = :agent "
    "AND status <> 'open' AND number > :after ORDER BY number LIMIT :most"
)
_NEXT_LINE = sa.text("SELECT coalesce(max(line_no), 0) + 1 FROM memory_lines")
_NEXT_SPACE = sa.text("SELECT coalesce(max(space_no), 0) + 1 FROM memory_spaces")
_LINE_OF = sa.text("SELECT min(line_no) FROM memory_lines WHERE scope = :scope")
_ADD_LINE = sa.text("INSERT INTO memory_lines (line_no, scope, parent_no, fork_depth) VALUES (:line, :scope, NULL, 0)")
_ADD_SPACE = sa.text("INSERT INTO memory_spaces (space_no, line_no, owner, names) VALUES (:space, :line, :owner, '')")
_NAME_SPACE = sa.text("UPDATE memory_spaces SET names = :names WHERE space_no = :space")
_ADD_MEMORY = sa.text(
    "INSERT INTO memories (space_no, place, memory_id, number, turn_id, kind, text, speaker, people, scene, at_where, "
    "minute, importance, valence, words, language, signs, dates, day, pinned, recalls, fidelity, doc, vector, "
    "embedder, created_at_ms) VALUES (:space, :place, :id, :number, NULL, 'observation', :text, :speaker, :speaker, "
    ":scene, '', :minute, 1, 0.0, :words, :language, '', '', '', 0, 0, 1.0, :doc, :vector, '', :created)"
)
_ADD_WORD = sa.text("INSERT INTO memory_words (space_no, word, place) VALUES (:space, :word, :place)")


def upgrade() -> None:
    connection = op.get_bind()
    for npc in connection.execute(_NPCS).all():
        _remember(connection, npc.game_id, npc.agent_id)
    op.drop_table("npc_words")


def _remember(connection: Any, game: str, agent: str) -> None:
    scope = f"game:{game}"
    line = connection.execute(_LINE_OF, {"scope": scope}).scalar()
    if line is None:
        line = connection.execute(_NEXT_LINE).scalar()
        connection.execute(_ADD_LINE, {"line": line, "scope": scope})
    space = connection.execute(_NEXT_SPACE).scalar()
    connection.execute(_ADD_SPACE, {"space": space, "line": line, "owner": agent})
    after, place, names = 0, 0, dict[str, int]()
    asked = {"game": game, "agent": agent, "most": PORTION}
    while rows := connection.execute(_ENTRIES, {**asked, "after": after}).all():
        memories, words = [], []
        for row in rows:
            memory = _memory(space, place, f"npc/{game}/{agent}/{row.number}", row)
            memories.append(memory)
            words += list(_words(memory))
            if memory["speaker"] and len(names) < MOST_NAMES:
                names.setdefault(memory["speaker"], place)
            place += 1
        connection.execute(_ADD_MEMORY, memories)
        if words:
            connection.execute(_ADD_WORD, words)
        after = rows[-1].number
    packed = "\n".join(f"{first}\t{name}" for name, first in names.items())
    connection.execute(_NAME_SPACE, {"names": packed, "space": space})


def _memory(space: int, place: int, id: str, row: Any) -> dict[str, Any]:
    event, played = _doc(row.event), _doc(row.played)
    tags = played.get("tags", []) if isinstance(played, dict) else played
    said = [tag.get("text", "") for tag in tags if tag.get("status") != "skipped"]
    text = "\n".join(part for part in (str(event.get("text", "")), *said) if part.strip())
    text = legible(text[:LONGEST_TEXT])
    language = language_of(text)
    doc = {
        "v": 1,
        "emotion": None,
        "arousal": 0.0,
        "certainty": 1.0,
        "told_by": "",
        "canon": "",
        "evidence": [str(row.number)],
        "renditions": [],
    }
    return {
        "space": space,
        "place": place,
        "id": id,
        "number": place + 1,
        "text": text,
        "speaker": " ".join(legible(str((event.get("source") or {}).get("name") or "")).split()),
        "scene": str(row.number // SCENE_PART),
        "minute": row.number,
        "words": " ".join(content_words(text, language)[:MOST_WORDS]),
        "language": language,
        "doc": json.dumps(doc),
        "vector": b"",
        "created": row.created_at_ms,
    }


def _words(memory: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stems = (stem_in(word, memory["language"]) for word in memory["words"].split())
    for stem in dict.fromkeys(stems):
        yield {"space": memory["space"], "word": stem, "place": memory["place"]}


def _doc(text: str) -> Any:
    found = json.loads(text)
    return found if isinstance(found, (dict, list)) else {}
