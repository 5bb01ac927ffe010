"""Saves of talks, looked at before they are loaded: what they wait for, and the names that our own knots had then."""

from __future__ import annotations

import json
from typing import Any

from fabula.knots.names import ASIDE_NAMES, OUR_NAMES, TALKS, KnotRequest


def saved_request(state: str) -> KnotRequest | None:
    """What a save waits for: also one whose place is gone."""
    try:
        pending = json.loads(json.loads(state)["fabula"]["pending"]["request"])
        return KnotRequest(kind=pending["kind"], arguments=tuple(pending["arguments"]))
    except (ValueError, KeyError, TypeError):
        return None


def with_names_of_now(state: str, *, aside: bool) -> str:
    """A save in which our own knots call their arguments as they do in this version of the story.

    An edit that gives such a name to something of the author's makes them step aside, and another edit step back.
    """
    before, now = (OUR_NAMES, ASIDE_NAMES) if aside else (ASIDE_NAMES, OUR_NAMES)
    if not any(f'"{name}"' in state for name in before):
        return state
    names = dict(zip(before, now, strict=True))

    def renamed(part: dict[str, Any]) -> dict[str, Any]:
        if str(part.get("cPath")).split(".")[0] not in TALKS:
            return part
        held = part.get("temp", {})
        return {**part, "temp": {names.get(name, name): value for name, value in held.items()}}

    return json.dumps(json.loads(state, object_hook=renamed), ensure_ascii=False)
