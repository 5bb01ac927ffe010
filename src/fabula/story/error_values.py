"""Errors as values, to be stored and told: what went wrong by its name and in a sentence, and a hint at what helps.

No code, method or command stands in one: each door has its own words for names and hints (`fabula.server.error_codes`,
`fabula.cli.player.sentences`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from fabula.story.values import JsonObject


class Hint(Enum):
    """What a user can do next. The value is how it is stored: it never changes."""

    BACKTRACK = "backtrack"
    LIST_BRANCHES = "list_branches"
    RETRY_TURN = "retry_turn"


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorValue:
    """`name` is stable and in snake_case; `data` is for programs."""

    name: str
    message: str
    hint: Hint | None = None
    data: JsonObject = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """The error as it is stored."""
        plain: JsonObject = {"name": self.name, "message": self.message}
        if self.hint is not None:
            plain["hint"] = self.hint.value
        return {**plain, "data": self.data} if self.data else plain


def stored_error(plain: JsonObject) -> ErrorValue:
    """An error that was stored; a name or hint that is not known here does no harm."""
    name, message, data, hint = (plain.get(key) for key in ("name", "message", "data", "hint"))
    return ErrorValue(
        name=name if isinstance(name, str) else "backend",
        message=message if isinstance(message, str) else "The turn failed. Try it again.",
        hint=_KNOWN_HINTS.get(hint) if isinstance(hint, str) else None,
        data=data if isinstance(data, dict) else {},
    )


_KNOWN_HINTS: Final = {hint.value: hint for hint in Hint}
