"""What the scripted model server can be told to do with a request, as a closed set of behaviours."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.story.values import Json, JsonObject


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How fast an answer comes. Zero tokens a second means as fast as the wire takes them."""

    first_token_ms: float = 0.0
    tokens_per_second: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Say:
    """Answers with a text, token by token."""

    text: str
    pace: Pace | None = None
    finish_reason: str = "stop"
    with_usage: bool = True


@dataclass(frozen=True, kw_only=True)
class Fail:
    """Answers with an HTTP error. `param` names the refused parameter, as providers do."""

    status: int
    message: str = "scripted failure"
    retry_after: str | None = None
    param: str | None = None


@dataclass(frozen=True, kw_only=True)
class CutMidStream:
    """Sends some tokens and closes the connection. `politely` ends the body well, but without a finish."""

    text: str = "The tale breaks off here and"
    tokens: int = 3
    politely: bool = False


@dataclass(frozen=True, kw_only=True)
class Garbage:
    """Sends bytes that are no JSON where JSON is due."""


@dataclass(frozen=True, kw_only=True)
class Endless:
    """Repeats a token until the client goes away."""

    token: str = "again "
    varied: bool = False


@dataclass(frozen=True, kw_only=True)
class Refuse:
    """Declines to answer, in the field that providers have for it."""

    text: str = "I cannot help with that."
    by_filter: bool = False


@dataclass(frozen=True, kw_only=True)
class Silence:
    """An answer with no text at all."""


@dataclass(frozen=True, kw_only=True)
class ErrorInStream:
    """Starts an answer and sends an error instead of its rest."""

    message: str = "the model ran out of memory"


@dataclass(frozen=True, kw_only=True)
class Redirect:
    """Sends the client elsewhere."""

    to: str
    status: int = 307


Behaviour = Say | Fail | CutMidStream | Garbage | Endless | Refuse | Silence | ErrorInStream | Redirect
Script = Sequence[Behaviour | str] | Callable[[JsonObject], Behaviour | str]
"""Behaviours in the order of the requests (the last one stays), or a function of the request's JSON."""


def say_json(value: Json) -> Say:
    """Answers with a JSON text."""
    return Say(text=json.dumps(value, ensure_ascii=False))


def sound_model(request: JsonObject) -> Behaviour:
    """Answers the questions with which an api is tested as a sound model would."""
    said = json.dumps(request.get("messages"))
    if "LANTERN" in said:
        return Say(text="LANTERN")
    if "`people`" in said:
        return say_json({"place": "lighthouse", "people": 2})
    return Say(text="The lamp turns above the waves. Spray runs down the glass. Nobody sleeps tonight.")


def chosen(script: Script, request: JsonObject, index: int) -> Behaviour:
    """What the script says for the request with this number."""
    answer = script(request) if callable(script) else _nth(script, index)
    return Say(text=answer) if isinstance(answer, str) else answer


def _nth(script: Sequence[Behaviour | str], index: int) -> Behaviour | str:
    if not script:
        return "The lamp burns low, and somewhere a door closes."
    return script[min(index, len(script) - 1)]
