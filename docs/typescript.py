"""Writes the protocol as TypeScript types, from the OpenRPC document that the server itself answers with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, get_args

_NOTE = "// Written by `make docs` from the code: change the code, not this file.\n"
_JSON = "export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def protocol_types() -> str:
    """Every shape, then the events and frames of streams, then the methods with their params and results."""
    from fabula.server.rpc.catalogue import build_catalogue
    from fabula.server.rpc.openrpc import openrpc
    from fabula.server.rpc.progress import ProgressMethod
    from fabula.server.rpc.streams import StreamingMethod
    from fabula.story.events import InkEvent, Progress, SceneEvent
    from fabula.story.feed_events import FeedEvent

    catalogue = sorted(build_catalogue(), key=lambda method: method.name)
    document: Any = openrpc(build_catalogue())
    schemas: dict[str, Any] = document["components"]["schemas"]
    commands = {method.command.__name__: method.command for method in catalogue}
    sent = _reachable(schemas, commands)
    optional = _optional_fields()
    parts = [_NOTE, _JSON]
    for name, schema in sorted(schemas.items()):
        if name != "JsonValue":
            lenient = name in sent
            parts.append(_declaration(name, schema, None if lenient else optional.get(name, frozenset())))
    parts.append(_union("SceneEvent", (kind.__name__ for kind in get_args(SceneEvent))))
    parts.append(_union("InkEvent", (kind.__name__ for kind in get_args(InkEvent))))
    parts.append(_union("FeedEvent", (kind.__name__ for kind in get_args(FeedEvent)), "Events of the session feed."))
    parts.append(f"export type StreamEvent = SceneEvent | InkEvent | {Progress.__name__};\n")
    parts.append(f"export type StreamFrame = {_type(schemas['StreamMessage']['properties']['frame'])};\n")
    parts.append(_methods(catalogue, schemas))
    streaming = [method.name for method in catalogue if isinstance(method, StreamingMethod)]
    watched = [method.name for method in catalogue if isinstance(method, ProgressMethod)]
    parts.append(_union("TurnMethod", map(json.dumps, streaming), "Methods that answer with the turn stream."))
    parts.append(_union("ProgressMethod", map(json.dumps, watched), "Methods that take `stream: true`."))
    return "\n".join(parts)


def _methods(catalogue: Iterable[Any], schemas: dict[str, Any]) -> str:
    rows = []
    for method in catalogue:
        params = method.command.__name__ if schemas[method.command.__name__].get("properties") else "NoParams"
        results = " | ".join(model.__name__ for model in method.results)
        rows.append(f"  /** {method.summary} */\n")
        session = str(method.session_bound).lower()
        rows.append(f'  "{method.name}": {{ params: {params}; result: {results}; session: {session} }};\n')
    none = "export type NoParams = Record<string, never>;\n\n"
    doc = "/** Every method; `session` says whether the envelope names one. */\n"
    return f"{none}{doc}export interface Methods {{\n{''.join(rows)}}}\n"


def _optional_fields() -> dict[str, frozenset[str]]:
    """The fields that may be missing from what the server sends, by the name of the shape."""
    from fabula.story.events import Event
    from fabula.story.values import Sparse

    return {kind.__name__: kind.optional for base in (Sparse, Event) for kind in _under(base)}


def _under(kind: Any) -> Iterator[Any]:
    for child in kind.__subclasses__():
        yield child
        yield from _under(child)


def _reachable(schemas: dict[str, Any], names: Iterable[str]) -> set[str]:
    """The shapes that clients send, with all that they hold: what has a default may be left out of these."""
    found: set[str] = set()
    waiting = [name for name in names if name in schemas]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(schemas[name]))
    return found


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield _name_of(schema["$ref"])
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _declaration(name: str, schema: Any, optional: frozenset[str] | None) -> str:
    """A named shape. `optional` is None for what clients send."""
    about = _comment(schema.get("description", ""))
    if schema.get("type") != "object" or "properties" not in schema:
        return f"{about}export type {name} = {_type(schema)};\n"
    required = set(schema.get("required", ()))
    rows = [
        f"  {field}{'' if _is_there(field, inner, required, optional) else '?'}: {_type(inner)};\n"
        for field, inner in schema["properties"].items()
    ]
    return f"{about}export interface {name} {{\n{''.join(rows)}}}\n"


def _is_there(field: str, schema: Any, required: set[str], optional: frozenset[str] | None) -> bool:
    if field in required or (field == "type" and "const" in schema):
        return True
    return optional is not None and field not in optional and "default" in schema


def _comment(text: str) -> str:
    return f"/** {' '.join(text.split())} */\n" if text else ""


def _union(name: str, members: Iterable[str], about: str = "") -> str:
    return f"{_comment(about)}export type {name} =\n" + "\n".join(f"  | {member}" for member in members) + ";\n"


def _type(schema: Any) -> str:
    match schema:
        case {"$ref": str(reference)}:
            name = _name_of(reference)
            return "Json" if name == "JsonValue" else name
        case {"const": value}:
            return json.dumps(value)
        case {"enum": values}:
            return " | ".join(map(json.dumps, values))
        case {"anyOf": shapes} | {"oneOf": shapes}:
            return " | ".join(dict.fromkeys(map(_type, shapes)))
        case {"type": "array", "items": items}:
            inner = _type(items)
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case {"type": "array"}:
            return "Json[]"
        case {"type": "object", "properties": dict(properties)}:
            required = set(schema.get("required", ()))
            rows = (f"{name}{'' if name in required else '?'}: {_type(inner)}" for name, inner in properties.items())
            return f"{{ {'; '.join(rows)} }}"
        case {"type": "object"}:
            values = schema.get("additionalProperties", True)
            return f"{{ [key: string]: {_type(values) if isinstance(values, dict) else 'Json'} }}"
        case {"type": str(plain)}:
            return _PLAIN[plain]
    return "Json"


def type_of(schema: Any) -> str:
    """A schema as one writes its type."""
    return _type(schema)


def shapes_within(schemas: dict[str, Any], names: Iterable[str]) -> set[str]:
    """The named shapes, and all that they hold."""
    return _reachable(schemas, names)


def names_in(schema: Any) -> list[str]:
    """The shapes that a schema refers to."""
    return list(_references(schema))


def _name_of(reference: str) -> str:
    return reference.rsplit("/", 1)[1]
