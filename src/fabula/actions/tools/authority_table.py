"""The one table of authority: which tool may be called by whom. What is not listed here is denied.

People are listed by the role of their token, agents by their name. A tool that is added without a row here cannot be
registered; a row that would give somebody more than the action itself allows is refused when the registry is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fabula.actions.tools.callers import Who

_AUTHORS: Final = frozenset[Who](["author", "admin"])
_PLAYERS: Final = frozenset[Who](["player", "author", "admin"])
_TELLERS: Final = frozenset[Who](["director", "narrator", "actor", "keeper"])
_JUDGES: Final = frozenset[Who](["resolver", "extractor", "canon_keeper", "architect"])

AUTHORITY: Final[Mapping[str, frozenset[Who]]] = {
    # What is true in a world holds its secrets: players learn them by playing.
    "list_worlds": _AUTHORS,
    "get_world": _AUTHORS | _TELLERS | _JUDGES,
    "list_entities": _AUTHORS | _TELLERS | _JUDGES,
    "get_entity": _AUTHORS | _TELLERS | _JUDGES,
    "list_facts": _AUTHORS | _TELLERS | _JUDGES,
    "list_relationships": _AUTHORS | _TELLERS | _JUDGES,
    "list_timeline": _AUTHORS | _TELLERS | _JUDGES,
    "look_around": _AUTHORS | _TELLERS | _JUDGES,
    "find_path": _AUTHORS | _JUDGES,
    "who_knows": _AUTHORS,
    "changed_since": _AUTHORS | _JUDGES,
    "export_world": _AUTHORS,
    "list_changes": _AUTHORS | frozenset[Who](["extractor", "canon_keeper", "architect"]),
    # Everybody who notices something may propose it; what becomes of it the keeper of canon decides, or an author.
    "propose_changes": _AUTHORS | frozenset[Who](["resolver", "extractor", "architect"]),
    "review_canon": _AUTHORS | frozenset[Who](["canon_keeper"]),
    # A scene that ended: agents alone. What they propose about it becomes of the play's canon what its policy says.
    "read_scene": frozenset[Who](["extractor", "canon_keeper"]),
    "commit_scene": frozenset[Who](["canon_keeper"]),
    "decide_change": _AUTHORS,
    "undo_change": _AUTHORS,
    # Stories and plays: to whoever does not own a play it is not there.
    "list_stories": _PLAYERS,
    "get_story": _PLAYERS,
    "list_sessions": _PLAYERS,
    "get_session": _PLAYERS | _TELLERS | _JUDGES,
    "read_transcript": _PLAYERS | _TELLERS | _JUDGES,
    "recap_session": _PLAYERS | _TELLERS,
    "list_memories": _PLAYERS | frozenset[Who](["actor", "extractor"]),
    "search_memories": _PLAYERS | frozenset[Who](["actor", "extractor"]),
    "get_sheet": _PLAYERS | _TELLERS | frozenset[Who](["resolver"]),
    "start_session": _PLAYERS,
    "run_turn": _PLAYERS,
    "roll_dice": _PLAYERS | frozenset[Who](["resolver"]),
}
