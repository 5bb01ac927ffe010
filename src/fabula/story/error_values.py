"""Errors as values, to be stored and told: what went wrong by its name and in a sentence, and a hint at what helps.

No code, method or command stands in one: each door has its own words for names and hints (`fabula.server.error_codes`,
`fabula.cli.player.sentences`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from fabula.story.values import Json, JsonObject

STORED_VERSION: Final = 2
"""Version 1 had no `v`: it was `{code, message}`, with a code of JSON-RPC."""


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
        plain: JsonObject = {"v": STORED_VERSION, "name": self.name, "message": self.message}
        if self.hint is not None:
            plain["hint"] = self.hint.value
        return {**plain, "data": self.data} if self.data else plain


def stored_error(plain: JsonObject) -> ErrorValue:
    """An error as any version stored it."""
    message, data, hint = plain.get("message"), plain.get("data"), plain.get("hint")
    return ErrorValue(
        name=_name(plain),
        message=message if isinstance(message, str) else "The turn failed. Try it again.",
        hint=_KNOWN_HINTS.get(hint) if isinstance(hint, str) else None,
        data=data if isinstance(data, dict) else {},
    )


def _name(plain: JsonObject) -> str:
    name: Json = plain.get("name")
    if isinstance(name, str):
        return name
    code = plain.get("code")
    return _OLD_CODES.get(code, "backend") if isinstance(code, int) else "backend"


_KNOWN_HINTS: Final = {hint.value: hint for hint in Hint}
_OLD_CODES: Final = {
    -32603: "internal",
    -32600: "invalid_request",
    -32602: "invalid_params",
    40404: "not_found",
    40909: "conflict",
    50001: "backend",
    50002: "stream",
}
"""What version 1 stored, by the name it has now. Nothing else uses these numbers here."""
