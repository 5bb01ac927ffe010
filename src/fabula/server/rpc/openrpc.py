"""The OpenRPC document, written from the models that decode the requests and the types that streams are told in."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, get_args

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

import fabula
from fabula.server.rpc.method import Catalogue, Method
from fabula.server.stream.envelope import StreamMessage
from fabula.story.events import Progress, TurnEvent
from fabula.story.feed_events import FeedEvent
from fabula.story.values import JsonObject


def openrpc(catalogue: Catalogue) -> JsonObject:
    """The whole protocol as one document."""
    methods = sorted(catalogue, key=lambda method: method.name)
    models = sorted(
        {model for one in methods for model in (one.command, *one.results)}, key=lambda model: model.__name__
    )
    inputs, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schemas = {**definitions.get("$defs", {}), **stream_schemas()}
    return {
        "openrpc": "1.3.2",
        "info": {"title": "Fabula", "version": fabula.__version__, "license": {"name": "MIT"}},
        "methods": [_describe(one, inputs, schemas) for one in methods],
        "components": {"schemas": schemas},
    }


def _describe(method: Method, inputs: Any, schemas: dict[str, Any]) -> JsonObject:
    command = _resolve(inputs[(method.command, "validation")], schemas)
    required = set(command.get("required", ()))
    params: list[Any] = [
        {"name": name, "required": name in required, "schema": schema}
        for name, schema in command.get("properties", {}).items()
    ]
    return {
        "name": method.name,
        "summary": method.summary,
        **_parameters_in_words(method),
        "paramStructure": "by-name",
        "params": params,
        "result": _result(method, inputs),
        "x-role": method.role,
        "x-session": method.session_bound,
    }


def _parameters_in_words(method: Method) -> JsonObject:
    """What the command says of its parameters; one that says nothing, or has none, is left to its summary."""
    words = method.command.__doc__ if method.command.model_fields else None
    return {"description": inspect.cleandoc(words)} if words else {}


def _result(method: Method, inputs: Any) -> JsonObject:
    shapes = [inputs[(model, "validation")] for model in method.results]
    return {"name": method.result.__name__, "schema": shapes[0] if len(shapes) == 1 else {"anyOf": shapes}}


def _resolve(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = schemas[schema["$ref"].rsplit("/", 1)[1]]
    return found


def stream_schemas() -> dict[str, Any]:
    """The message of the turn stream with its frames and events, and the events of the session feed.

    Clients only read them: all that applies is there.
    """
    message = TypeAdapter(StreamMessage).json_schema(ref_template="#/components/schemas/{model}")
    feed = TypeAdapter(FeedEvent).json_schema(ref_template="#/components/schemas/{model}")
    schemas: dict[str, Any] = {**message.pop("$defs"), **feed.pop("$defs"), "StreamMessage": message}
    for kind in get_args(TurnEvent | Progress | FeedEvent):
        properties = schemas[kind.__name__]["properties"]
        schemas[kind.__name__]["required"] = [name for name in properties if name not in kind.optional]
    return schemas


@cache
def openrpc_once(catalogue: Catalogue) -> JsonObject:
    """The document of a catalogue, written at the first question."""
    return openrpc(catalogue)
