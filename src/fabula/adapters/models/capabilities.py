"""What a model's server can do: a small table of defaults, corrected by what the server refuses at run time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Structured = Literal["json_schema", "json_object", "words"]
TokensField = Literal["max_tokens", "max_completion_tokens", "none"]


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Which parameters a model takes. `words` means that a schema can only be asked for in the prompt."""

    structured: Structured = "json_schema"
    seed: bool = True
    system_role: bool = True
    temperature: bool = True
    stream_usage: bool = True
    tokens_field: TokensField = "max_tokens"


_REASONING = Capabilities(temperature=False, tokens_field="max_completion_tokens")
_DEFAULTS: tuple[tuple[re.Pattern[str], Capabilities], ...] = (
    (re.compile(r"(^|/)(o[1-9]|gpt-[5-9])"), _REASONING),
    (re.compile(r"(^|/)deepseek-(chat|reasoner)"), Capabilities(structured="json_object", seed=False)),
    (re.compile(r"(^|/)gemma-?[12]?\b"), Capabilities(system_role=False)),
)


def default_capabilities(model: str) -> Capabilities:
    """What a model is believed to take before it was asked the first time."""
    name = model.lower()
    return next((known for pattern, known in _DEFAULTS if pattern.search(name)), Capabilities())


def without_parameter(now: Capabilities, complaint: str, param: str | None) -> Capabilities | None:
    """The capabilities without the one that a server has just refused; None when it complains of another thing."""
    text = f"{param or ''} {complaint}".lower()
    if "response_format" in text or "json_schema" in text or "json_object" in text or "structured output" in text:
        return _less_structure(now)
    if "max_completion_tokens" in text or "max_tokens" in text:
        return _other_tokens_field(now)
    if "stream_options" in text or "include_usage" in text:
        return replace(now, stream_usage=False) if now.stream_usage else None
    if re.search(r"\bseed\b", text):
        return replace(now, seed=False) if now.seed else None
    if "temperature" in text:
        return replace(now, temperature=False) if now.temperature else None
    if re.search(r"system\W+(role|message|prompt|instruction)|role\W+.{0,24}system|developer instruction", text):
        return replace(now, system_role=False) if now.system_role else None
    return None


def _less_structure(now: Capabilities) -> Capabilities | None:
    match now.structured:
        case "json_schema":
            return replace(now, structured="json_object")
        case "json_object":
            return replace(now, structured="words")
        case "words":
            return None


def _other_tokens_field(now: Capabilities) -> Capabilities | None:
    match now.tokens_field:
        case "max_tokens":
            return replace(now, tokens_field="max_completion_tokens")
        case "max_completion_tokens":
            return replace(now, tokens_field="none")
        case "none":
            return None
