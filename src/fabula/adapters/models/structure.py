"""JSON from model replies: asked for by schema, found tolerantly, and checked strictly."""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any

from fabula.ports.models import MOST_REPLY_VALUES, Message, ModelUnusable
from fabula.story.caches import IdentityCache
from fabula.story.values import Json, JsonObject

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)
_HALF = re.compile("[\ud800-\udfff]")
DEEPEST = 64
MOST_STARTS = 64
MOST_READINGS = 2
"""How often all letters of an answer are read in looking for JSON: from each bracket it may go on to the end."""
_validators: IdentityCache[JsonObject, Any] = IdentityCache(64)


def decoded(text: str, schema: JsonObject) -> Json:
    """The JSON of a reply that fits the schema; raises ModelUnusable with the first problem."""
    value, found = find_json(text)
    if not found:
        raise ModelUnusable("The model's answer holds no JSON. Try again, or use another model.", reply_text=text)
    problem = odd_part(value) or schema_problem(value, schema)
    if problem is not None:
        raise ModelUnusable(f"The model's answer does not fit the asked shape: {problem}.", reply_text=text)
    return value


def find_json(text: str) -> tuple[Json, bool]:
    """The first JSON in a text, whatever chatter or fence stands around it; and whether there is any."""
    for candidate in (text.strip(), *(match.strip() for match in _FENCE.findall(text))):
        try:
            return json.loads(candidate), True
        except ValueError:
            continue
        except RecursionError:
            return None, False
    return _first_embedded(text)


def _first_embedded(text: str) -> tuple[Json, bool]:
    decoder, left = json.JSONDecoder(), MOST_READINGS * len(text)
    for match in islice(re.finditer(r"[{\[]", text), MOST_STARTS):
        try:
            return decoder.raw_decode(text, match.start())[0], True
        except json.JSONDecodeError as error:
            left -= error.pos - match.start()
            if left < 0 or _was_cut(error):
                break
        except (RecursionError, ValueError):
            # A number of thousands of digits is refused with a plain ValueError.
            break
    return None, False


def _was_cut(error: json.JSONDecodeError) -> bool:
    """Whether the text simply ended too soon: what stands inside it is then a part, not the answer."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip())


def odd_part(value: Json) -> str | None:
    """What of a value nobody could keep or send, though JSON can spell it, in words; None when there is nothing."""
    level: list[Json] = [value]
    count = 0
    for _ in range(DEEPEST):
        count += len(level)
        if count > MOST_REPLY_VALUES:
            return f"it holds more than {MOST_REPLY_VALUES} values"
        below: list[Json] = []
        for part in level:
            if isinstance(part, dict):
                below += [*part.keys(), *part.values()]
            elif isinstance(part, list):
                below += part
            elif problem := _oddity(part):
                return f"something in it is {problem}"
        if not below:
            return None
        level = below
    return f"it nests deeper than {DEEPEST} levels"


def _oddity(part: Json) -> str | None:
    match part:
        case str():
            return "half a character" if _HALF.search(part) else None
        case float() if math.isnan(part):
            return "no number"
        case float():
            return None if math.isfinite(part) else "too large a number"
        case int():
            return None if -(2**63) <= part < 2**63 else "too large a number"
        case _:
            return None


def schema_problem(value: Json, schema: JsonObject) -> str | None:
    """The first way in which a value does not fit, in words; None when it fits."""
    validator = _validators.of(schema, lambda: _validator(schema))
    try:
        # It ends at the first error. To list them, as `iter_errors` does, means to make them all before the first.
        validator.validate(value)
    except UnicodeEncodeError:
        return "something in it is half a character"
    except ValueError as error:
        return _told(error)
    return None


def _told(error: Any) -> str:
    place = ".".join(str(step) for step in error.instance_path)
    return f"at '{place}': {error.message[:300]}" if place else str(error.message[:300])


def _validator(schema: JsonObject) -> Any:
    # Imported at first use: the command line starts without it.
    from jsonschema_rs import validator_for

    return validator_for(schema)


def with_schema_in_words(messages: tuple[Message, ...], schema: JsonObject) -> tuple[Message, ...]:
    """The prompt with the schema written out, for models that cannot be held to one."""
    words = (
        "Answer with one JSON value and nothing else: no fence, no comment. It must fit this JSON Schema:\n"
        + json.dumps(schema, ensure_ascii=False)
    )
    return (*messages, Message(role="system", content=words))


def strict_schema(schema: JsonObject) -> bool:
    """Whether OpenAI's strict mode takes the schema: every object closed, and every property required."""
    return _strict(schema)


def _strict(part: Json) -> bool:
    if isinstance(part, list):
        return all(map(_strict, part))
    if not isinstance(part, dict):
        return True
    if part.get("type") == "object" or "properties" in part:
        names = part.get("properties")
        required = part.get("required")
        wanted = set(names) if isinstance(names, dict) else set()
        given = {str(name) for name in required} if isinstance(required, list) else set()
        if part.get("additionalProperties") is not False or wanted != given:
            return False
    return all(map(_strict, part.values()))
