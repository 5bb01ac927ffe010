"""Writes docs/reference/ from the code, so that it cannot drift: `python -m docs.build`; `--check` only compares."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

from docs.typescript import names_in, protocol_types, shapes_within, type_of

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "fabula"
REFERENCE = "docs/reference"
_NOTE = "<!-- Written by `make docs` from the code: change the code, not this page. -->\n"
_ROOMS_BEGIN, _ROOMS_END = "<!-- rooms: written by `make docs` -->", "<!-- end of rooms -->"


def pages() -> dict[str, Callable[[], str]]:
    """Every written page by its path, with the function that writes it."""
    return {
        f"{REFERENCE}/settings.md": settings_page,
        f"{REFERENCE}/commands.md": commands_page,
        f"{REFERENCE}/errors.md": errors_page,
        f"{REFERENCE}/metrics.md": metrics_page,
        f"{REFERENCE}/work.md": work_page,
        **({f"{REFERENCE}/methods.md": methods_page} if (SOURCE / "server/rpc/catalogue.py").exists() else {}),
        f"{REFERENCE}/game-socket.md": game_socket_page,
        f"{REFERENCE}/socket-io.md": socket_io_page,
        f"{REFERENCE}/mcp.md": mcp_page,
        f"{REFERENCE}/turn-stream.md": turn_stream_page,
        f"{REFERENCE}/keys.md": keys_page,
        f"{REFERENCE}/loops.md": loops_page,
        "web/src/protocol/protocol.gen.ts": protocol_types,
        "ARCHITECTURE.md": architecture_page,
    }


def settings_page() -> str:
    """Each setting: its name, what it does, its default, and the variables it is read from."""
    from fabula.settings import Settings, aliases_of, is_secret

    rows = []
    for name, field in Settings.model_fields.items():
        variables = ", ".join(f"`{alias}`" for alias in aliases_of(name))
        default = "*(secret, empty)*" if is_secret(name) else f"`{_plain(field.default)}`"
        rows.append(f"| `{name}` | {field.description} | {default} | {variables} |")
    return (
        f"{_NOTE}# Settings\n\n"
        "Settings come from a TOML file (`fabula.toml` in the working directory, or the one named by `--config` or\n"
        "`FABULA_CONFIG`), then from the environment, then from flags; the later one wins. Lists are separated by\n"
        "commas in the environment. A `FABULA_*` variable that sets nothing is told on standard error, with the\n"
        "nearest name. `fabula doctor --settings` shows what a server would use, with secrets hidden.\n\n"
        "| setting | what it does | default | read from |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def _plain(default: object) -> str:
    if default in ("", ()):
        return "(empty)"
    return str(default).lower() if isinstance(default, bool) else str(default)


def loops_page() -> str:
    """Each loop with its picture."""
    from fabula.actions.plays.loops import loop_lines

    parts = [
        f"## `{line.name}`\n\n{line.sentence}\n\n```mermaid\n{line.drawing}```\n\n"
        f"Resumes at: {', '.join(f'`{node}`' for node in line.nodes)}.\n"
        for line in loop_lines()
    ]
    return (
        f"{_NOTE}# Loops\n\n"
        "What takes several steps is a graph whose steps are kept as they are done. After a crash it goes on at the\n"
        "step it was in, and finished calls of models are answered with the same words. `loop.state` tells where one\n"
        "stands, `fabula loops draw` and `loop.list` give these pictures. A dashed way leads to work of its own, for\n"
        "which the loop does not wait. Turns in the swift pace ask one model once: they take the steps of `scene`,\n"
        "keep none of them, and begin anew after a crash.\n\n" + "\n".join(parts)
    )


def keys_page() -> str:
    """Each key of the browser app, from its own table and its English words."""
    table = (ROOT / "web/src/app/keys.ts").read_text("utf-8")
    words = (ROOT / "web/src/words/en/app.ts").read_text("utf-8")
    labels = dict(re.findall(r'^  (\w+): "([^"]+)",$', words[words.index("export const keys = {") :], re.MULTILINE))
    where = {
        "anywhere": "anywhere",
        "text": "while reading, in no field",
        "box": "in the box",
    }
    rooms: dict[str, list[str]] = {"app": [], "stage": []}
    row = re.compile(r'^  (\w+): \{ keys: \[(.+?)\], where: "(\w+)", room: "(\w+)" \},$', re.MULTILINE)
    for id, keys, place, room in row.findall(table):
        printed = ", ".join(f"`{key}`" for key in re.findall(r'"([^"]+)"', keys))
        rooms[room].append(f"| {printed} | {labels[id]} | {where[place]} |")
    head = "| key | what it does | where |\n|---|---|---|\n"
    return (
        f"{_NOTE}# Keys of the browser app\n\n"
        "The command key of a Mac counts as `Ctrl`. Every key can be changed at `/app/me`; `?` shows them in the\n"
        "app.\n\n"
        f"## Everywhere\n\n{head}"
        + "\n".join(rooms["app"])
        + f"\n\n## On the stage\n\n{head}"
        + "\n".join(rooms["stage"])
        + "\n"
    )


def mcp_page() -> str:
    """Each tool of MCP: what it does, what it takes, and who may call it; then resources and prompts."""
    from fabula.actions.tools.authority_table import AUTHORITY
    from fabula.actions.tools.callers import AGENTS, PEOPLE
    from fabula.actions.tools.registry import all_tools
    from fabula.server.mcp.descriptions import PLACES, PROMPTS, SCHEME, input_schema

    def row(name: str, summary: str, writes: bool) -> str:
        schema = input_schema(name)
        wanted = set(schema.get("required", []))  # type: ignore[arg-type]
        fields = ", ".join(f"`{one}`" + ("" if one in wanted else "?") for one in schema["properties"])  # type: ignore[union-attr]
        people = next((one for one in PEOPLE if one in AUTHORITY[name]), "nobody")
        agents = ", ".join(one for one in AGENTS if one in AUTHORITY[name])
        return f"| `{name}` | {summary}{' **Writes.**' if writes else ''} | {fields} | {people} | {agents} |"

    rows = [row(one.name, one.summary, one.writes) for one in all_tools()]
    places = [f"| `{SCHEME}{place}/{{id}}` | {what} |" for place, what in PLACES.items()]
    prompts = [f"| `{one.name}` | {one.sentence} | `{one.argument}` |" for one in PROMPTS]
    return (
        f"{_NOTE}# MCP\n\n"
        "What other agents find at `POST /mcp` and in `fabula mcp`;\n"
        "[the how-to](../how-to/use-fabula-from-another-agent.md) shows how to connect one. A tool answers with JSON\n"
        "as text, in the shape of [its method](methods.md). People are listed by the lowest role that may call;\n"
        "agents are those of Fabula itself, each held to its own play and world.\n"
        "Whoever is not listed is denied, and the refusal stands in the audit (`audit.list`).\n\n"
        "## Tools\n\n| tool | what it does | takes | role | agents |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\n## Resources\n\n| address | what it is |\n|---|---|\n"
        + "\n".join(places)
        + "\n\n## Prompts\n\n| prompt | what it is for | takes |\n|---|---|---|\n"
        + "\n".join(prompts)
        + "\n"
    )


def metrics_page() -> str:
    """Each figure of `/metrics`: its name as Prometheus sees it, its labels, and what it counts."""
    from fabula.ports.meters import METERS

    suffixes = {"counter": "_total", "gauge": "", "seconds": "_bucket, _sum, _count"}
    rows = [
        f"| `{meter.name}` | {meter.kind} | {', '.join(f'`{label}`' for label in meter.labels)} "
        f"| {f'`{suffix}`' if (suffix := suffixes[meter.kind]) else ''} | {meter.sentence} |"
        for meter in METERS
    ]
    return (
        f"{_NOTE}# Metrics\n\n"
        "`GET /metrics` tells these figures in the format of Prometheus, to callers with the role `admin`; beside\n"
        "them stand those of Python and the process. Labels come from closed sets: ids, names of players and words of\n"
        "stories are never among them. They are counted since the process started. Processes that share a port\n"
        "(`serve --workers`, `worker --processes`) tell the figures of all of them, each with the number of its\n"
        "process in the label `process`.\n\n"
        "| name | kind | labels | ends in | what it tells |\n|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def work_page() -> str:
    """Each kind of work: its queue, how long and how often it is tried, and what it does."""
    from types import SimpleNamespace
    from typing import cast

    from fabula.actions.house import House
    from fabula.actions.periodic_jobs import periodic_jobs
    from fabula.actions.work_kinds import work_kinds
    from fabula.settings import Settings

    # The kinds only keep the house for when they run.
    runner = SimpleNamespace(forget_old=None, sweep_checkpoints=None)
    house = cast(House, SimpleNamespace(settings=Settings(), work=runner))
    every = {job.kind: job.every_s // 60 for job in periodic_jobs(house)}
    rows = [
        f"| `{name}` | {kind.queue} | {kind.priority} "
        f"| {'' if kind.deadline_s is None else f'{kind.deadline_s:.0f} s'} "
        f"| {kind.most_attempts} | {'fails' if kind.backoff is None else 'is buried'} "
        f"| {f'every {every[name]} min' if name in every else ''} | {kind.does} |"
        for name, kind in work_kinds(house).items()
    ]
    return (
        f"{_NOTE}# Kinds of work\n\n"
        "Work is what must be done once it was promised, whoever dies meanwhile: a row in the database that one\n"
        "process at a time holds. Servers do it themselves, or leave it to `fabula worker` where there is a broker.\n"
        "Of one queue the highest priority comes first. What fails as often as it may be tried fails for good, or is\n"
        "buried, which `fabula outbox` shows for what follows turns. Periodic work is begun by `fabula beat`, or by\n"
        "servers where there is no broker, once in each period.\n\n"
        "| kind | queue | priority | may take | tries | in the end | periodic | what it does |\n"
        "|---|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    )


def commands_page() -> str:
    """Each command with its arguments and options."""
    from fabula.cli.main import COMMANDS, load

    parts = [f"{_NOTE}# Commands\n\n`fabula COMMAND --help` shows the same on the terminal.\n"]
    for name in COMMANDS:
        parts.extend(_command(f"fabula {name}", load(name)))
    return "\n".join(parts)


def _command(path: str, command: Any) -> Iterator[str]:
    yield f"## `{path}`\n\n{(command.help or '').strip()}\n"
    options = [row for parameter in command.params if (row := _parameter(parameter))]
    if options:
        yield "| | |\n|---|---|\n" + "\n".join(options) + "\n"
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        yield from _command(f"{path} {name}", inner)


def _parameter(parameter: Any) -> str | None:
    if parameter.name == "help" or getattr(parameter, "hidden", False):
        return None
    if parameter.param_type_name == "argument":
        return f"| `{(parameter.metavar or parameter.name).upper()}` | {parameter.help or ''} |"
    names = ", ".join(f"`{option}`" for option in [*parameter.opts, *parameter.secondary_opts])
    return f"| {names} | {parameter.help or ''} |"


def errors_page() -> str:
    """Each error with its code, from the trees drawn at the head of the modules that define them."""
    rows = [f"| `{code}` | `{name}` | {sentence} |" for _, name, code, sentence in error_rows()]
    return (
        f"{_NOTE}# Errors\n\n"
        "Every error is `{code, message, data?}`; the message is one sentence that says what to do next. On file\n"
        "routes and refusals at the door it is the whole body; in JSON-RPC it stands under `error`.\n\n"
        "| code | name | when |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


_ERROR_LINE = re.compile(r"^(?:[│ ]*[├└]── )?(?P<kind>[A-Z]\w+)\s+(?P<name>[a-z_]+)\s{2,}(?P<sentence>\S.*)$")


def error_rows() -> list[tuple[str, str, int, str]]:
    """(class, name, code, when) of every error."""
    from fabula.ports import errors, models
    from fabula.server import error_codes

    rows = []
    for module in (error_codes, errors, models):
        for line in (module.__doc__ or "").splitlines():
            if (found := _ERROR_LINE.match(line)) and hasattr(module, found["kind"]):
                name = getattr(module, found["kind"]).name
                rows.append((found["kind"], name, error_codes.error_code(name), found["sentence"]))
    return rows


_ENVELOPE = """## The envelope

A request is one JSON object. What a method takes stands in `params`; everything around it is the envelope:

    {"jsonrpc": "2.0", "id": "7", "session_id": "session_01K...", "method": "session.backtrack", "params": {"turns": 1}}

- `id` is a string of your choice. It is given back in the answer, and means nothing else: the same request sent twice
  is done twice, whatever its id. (Methods that play a turn take a `key` with which a repeat is harmless: see
  [sending it once](turn-stream.md#sending-it-once). So can a message to a character of an Ink story: see
  [play an Ink story over HTTP](../how-to/play-an-ink-story-over-http.md#say-it-once-whatever-the-network-does).)
- `session_id` names the session, for methods that are about one. It stands beside `id` and `method`, never in `params`.
- `params` may be left out where a method takes nothing. A field that the method does not know is refused.
- Batches are not taken.

The answer has the same `id`, and either `result` or `error`:

    {"jsonrpc": "2.0", "id": "7", "session_id": "session_01K...", "result": {"type": "session", "turn_index": 3, ...}}
    {"jsonrpc": "2.0", "id": "7", "session_id": "session_01K...", "error": {"code": 40404, "message": "..."}}

`result.type` says what it is. `story.start_session` and `session.fork` put the id of the new session into the answer's
`session_id`. The HTTP status is 200 for errors, too, with three exceptions: a body that is no request (400), a turn
that is refused before its [stream](turn-stream.md) begins (the status of its code), and refusals at the door, such as
a missing token (401). See [errors](errors.md).
"""


def methods_page() -> str:
    """Each method of the protocol, from the OpenRPC document that the server itself answers with."""
    from fabula.server.rpc.catalogue import build_catalogue
    from fabula.server.rpc.openrpc import openrpc
    from fabula.server.rpc.streams import StreamingMethod

    catalogue = build_catalogue()
    document: Any = openrpc(catalogue)
    streams = {method.name for method in catalogue if isinstance(method, StreamingMethod)}
    parts = [
        f"{_NOTE}# Methods\n\n`POST /rpc` takes JSON-RPC 2.0. The server describes itself with `rpc.discover` and at\n"
        "`/openrpc.json`; this page is that document, with every field. `?` marks what may be left out.\n",
        _ENVELOPE,
    ]
    parts.extend(_method(method, streams=method["name"] in streams) for method in document["methods"])
    parts.append("## Shapes\n\nWhat methods take and answer, field by field; `?` marks what may be missing.\n")
    parts.extend(_shapes(document))
    return "\n".join(parts)


def _method(method: Any, *, streams: bool) -> str:
    session = " The envelope names the session in `session_id`." if method.get("x-session") else ""
    answer = "with [the turn stream](turn-stream.md)" if streams else _answers(method["result"])
    params = "".join(_field(one["name"], one["schema"], there=one["required"]) for one in method["params"])
    words = " ".join(method.get("description", "").split())
    takes = f"Takes:\n\n{params}\n" if params else "Takes nothing. "
    takes += f"{words}\n\n" if words else ""
    return (
        f"## `{method['name']}`\n\n{method['summary']}{session}\n\n"
        f"{takes}Answers {answer}. For {method['x-role']}s and above.\n"
    )


def _answers(result: Any) -> str:
    shapes = result["schema"].get("anyOf")
    names = [one["$ref"].rsplit("/", 1)[1] for one in shapes] if shapes else [result["name"]]
    return " or ".join(_linked(name) for name in names)


def _linked(shape: str) -> str:
    return f"[`{shape}`](#{shape.lower()})"


def _shapes(document: Any) -> Iterator[str]:
    """Every shape of a param or a result, and what those hold."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    named = [name for method in document["methods"] for name in names_in([method["params"], method["result"]])]
    for name in sorted(shapes_within(schemas, [name for name in named if name in schemas])):
        if name != "JsonValue":
            yield _shape(name, schemas[name])


def _shape(name: str, schema: Any) -> str:
    about = f"{' '.join(schema['description'].split())}\n\n" if schema.get("description") else ""
    if "properties" not in schema:
        return f"### `{name}`\n\n{about}{_code(type_of(schema))}\n"
    required = set(schema.get("required", ()))
    fields = "".join(
        _field(field, inner, there=field in required or "default" in inner)
        for field, inner in schema["properties"].items()
    )
    return f"### `{name}`\n\n{about}{fields}"


def _field(name: str, schema: Any, *, there: bool) -> str:
    default = schema.get("default")
    told = (
        f", {_code(json.dumps(default))} unless told" if "default" in schema and default not in (None, [], {}) else ""
    )
    about = f". {' '.join(schema['description'].split())}" if schema.get("description") else ""
    return f"- `{name}{'' if there else '?'}`: {_code(type_of(schema))}{told}{about}\n"


def _code(text: str) -> str:
    return f"`{text}`"


def game_socket_page() -> str:
    """Each message of the game socket, from the models that read and write it."""
    from fabula.server.game_socket import wire
    from fabula.story import npc

    values = (npc.NpcSpec, npc.Relationship, npc.NpcWorld, npc.TagSpec, npc.ToolSpec, npc.Someone, npc.PlayedTag)
    codes = ", ".join(f"`{code}`" for literal in get_args(wire.ErrorCode) for code in get_args(literal))
    return "\n".join(
        [
            f"{_NOTE}# The game socket\n",
            "`/ws` speaks JSON text frames `{type, ...}`. Fields may stand beside `type` or inside `payload`, unknown\n"
            "fields are ignored, and a bad frame is answered with `error` while the connection stays open.\n"
            "[Give your NPCs a voice](../how-to/give-your-npcs-a-voice.md) shows how the messages follow each other.\n",
            "## From the game\n",
            *(_message(kind) for kind in get_args(wire.ClientMessage)),
            "## To the game\n",
            *(_sent_message(kind) for kind in get_args(wire.ServerMessage)),
            f"## Error codes\n\n{codes}.\n",
            "## Values inside messages\n",
            *(_message(kind, name=kind.__name__) for kind in (*values, npc.ToolResult)),
        ]
    )


def socket_io_page() -> str:
    """Each event of the Socket.IO door, from the shapes that read and write it."""
    from fabula.server.realtime import bounded_server, connection, door, events

    bounds = (
        f"A packet has at most {bounded_server.LARGEST_PACKET // 1024} KiB, and at most "
        f"{bounded_server.PACKETS_PER_SECOND} come a second. A token has at most {door.MOST_CONNECTIONS} connections "
        f"at a server. One connection is told {connection.MOST_BEATS} turns at once and watches "
        f"{connection.MOST_WATCHED} sessions. What is no event, or too much, ends the connection."
    )
    acknowledged = [(f"`{kind.__name__}`", kind) for kind in (events.Accepted, events.Refused)]
    return "\n".join(
        [
            f"{_NOTE}# Socket.IO\n",
            "`/socket.io/` speaks Socket.IO 4 (protocol revision 5) over WebSocket or polling, in the namespace `/`.\n"
            'Where tokens are asked for, the `auth` payload `{token: "..."}` shows one, or the handshake as any other\n'
            "request does; who is not let in gets `connect_error` with `data: {code, message}`. Codes are those of\n"
            "[errors](errors.md). [Play over Socket.IO](../how-to/play-over-socket-io.md) shows how the events follow\n"
            "each other.\n",
            f"{bounds}\n",
            "## From the client\n\nEvery event is acknowledged, if that is asked for, with `Accepted` or `Refused`.\n",
            *(_client_event(kind, f"`{name}`") for name, kind in events.CLIENT_EVENTS.items()),
            "## Acknowledgements\n",
            *(_typed(kind, name) for name, kind in acknowledged),
            "## To the client\n",
            *(_typed(kind, f"`{name}`") for name, kind in events.SERVER_EVENTS.items()),
            "## Values inside events\n",
            _typed(events.Metadata, "`Metadata`"),
        ]
    )


def _client_event(kind: Any, title: str) -> str:
    """A command under a title."""
    rows = [
        f"| `{name}` | {_type_name(field.annotation)} | {'' if field.is_required() else 'may be missing'} |"
        for name, field in kind.model_fields.items()
    ]
    about = " ".join((kind.__doc__ or "").split())
    return f"### {title}\n\n{about}\n\n| field | type | |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _typed(kind: Any, title: str) -> str:
    """A typed dictionary under a title."""
    marked = get_type_hints(kind, include_extras=True)
    rows = []
    for name, hint in marked.items():
        optional = get_origin(hint) is NotRequired
        shown = get_type_hints(kind)[name]
        kinds = {"frame": "as in the turn stream", "event": "as in the feed", "result": "as in the turn stream"}
        type_name = kinds.get(name) or _type_name(shown).rpartition(".")[2]
        rows.append(f"| `{name}` | {type_name} | {'may be missing' if optional else ''} |")
    about = " ".join((kind.__doc__ or "").split())
    return f"### {title}\n\n{about}\n\n| field | type | |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _message(kind: Any, name: str = "") -> str:
    title = name or f"`{kind.model_fields['type'].default}`"
    about = " ".join(line.strip() for line in (kind.__doc__ or "").split())
    rows = [_message_field(field, kind.model_fields[field], kind) for field in kind.model_fields if field != "type"]
    table = "| field | type | |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
    return f"### {title}\n\n{about}\n\n{table}"


def _sent_message(kind: Any) -> str:
    """A message of ours, from its typed dictionary."""
    hints, marked = get_type_hints(kind), get_type_hints(kind, include_extras=True)
    rows = [
        f"| `{name}` | {_type_name(hint)} | {'may be missing' if get_origin(marked[name]) is NotRequired else ''} |"
        for name, hint in hints.items()
        if name != "type"
    ]
    about = " ".join((kind.__doc__ or "").split())
    table = "| field | type | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    return f"### `{get_args(hints['type'])[0]}`\n\n{about}\n\n{table}"


def _message_field(name: str, field: Any, kind: Any) -> str:
    return f"| `{name.rstrip('_')}` | {_type_name(field.annotation)} | {_field_note(name, field, kind)} |"


def _type_name(annotation: Any) -> str:
    """A field's type as a reader of JSON would say it."""
    shown = annotation.__name__ if isinstance(annotation, type) and "[" not in str(annotation) else str(annotation)
    shown = re.sub(r"\b(?:typing|pydantic\.types|fabula\.story\.\w+)\.", "", shown)
    shown = re.sub(r"Annotated\[str, \w+\([^)]*\)\]", "str", shown).replace("dict[str, JsonValue]", "object")
    shown = re.sub(r"Literal\[(.*?)\]", lambda found: found[1].replace(", ", " | "), shown)
    shown = re.sub(r"Union\[(.*)\]", lambda found: found[1].replace(", ", " | "), shown)
    return shown.replace("JsonValue", "any JSON").replace(" | None", "").replace("|", "or")


def _field_note(name: str, field: Any, kind: Any) -> str:
    if name in getattr(kind, "optional", ()):
        return "may be missing"
    if field.is_required():
        return "needed" if kind.model_config.get("extra") == "ignore" else ""
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}` unless told"
    return f"`{field.default}` unless told" if field.default and isinstance(field.default, (str, int)) else ""


def turn_stream_page() -> str:
    """The page of the turn stream with its tables of events as the types are now; the rest is written by hand."""
    from fabula.story.events import InkEvent, SceneEvent
    from fabula.story.feed_events import FeedEvent

    page = (ROOT / REFERENCE / "turn-stream.md").read_text("utf-8")
    for name, events in (("Ink plays", InkEvent), ("scene plays", SceneEvent), ("the feed", FeedEvent)):
        page = between(
            page, f"<!-- events of {name}: written by `make docs` -->", "<!-- end of events -->", _events(events)
        )
    return page


def between(page: str, begin: str, end: str, text: str) -> str:
    """A page with another text between two marks."""
    before, found, rest = page.partition(begin)
    assert found, f"the page has no mark {begin}"
    return f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}"


def _events(union: Any) -> str:
    rows = ["| event | fields | meaning |", "|---|---|---|"]
    for kind in get_args(union):
        names = [field.name for field in dataclasses.fields(kind)]
        told = ", ".join(f"`{name}{'?' if name in kind.optional else ''}`" for name in names if name != "type")
        rows.append(f"| `{get_args(get_type_hints(kind)['type'])[0]}` | {told} | {kind.__doc__} |")
    return "\n".join(rows)


def architecture_page() -> str:
    """ARCHITECTURE.md with its list of rooms as the folders and their docstrings are now."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    rows = "\n".join(f"| `{name}` | {sentence} |" for name, sentence in rooms().items())
    layers = "\n".join(f"    {row}" for row in import_rows())
    block = (
        f"| room | what it is for |\n|---|---|\n{rows}\n\n"
        "Import rows: a room may import rooms below it, never above; rooms on one row do not know each other.\n\n"
        f"{layers}"
    )
    return between(text, _ROOMS_BEGIN, _ROOMS_END, block)


def rooms() -> dict[str, str]:
    """Every room of src/fabula with the first sentence of its docstring, in the order of the import rows."""
    order = [name for row in import_rows() for name in row.split(" | ")]
    return {name: first_sentence(_module_of(name)) for name in order}


def import_rows() -> list[str]:
    """The layers of the import contract, top to bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    return list(next(contract["layers"] for contract in contracts if contract["type"] == "layers"))


def _module_of(room: str) -> Path:
    folder = SOURCE / room
    return folder / "__init__.py" if folder.is_dir() else SOURCE / f"{room}.py"


def first_sentence(module: Path) -> str:
    """The first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0].strip()


def stale() -> list[str]:
    """The pages that differ from what the code says."""
    return [path for path, write in pages().items() if not _is(ROOT / path, write())]


def _is(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text("utf-8") == text


def main(arguments: list[str]) -> int:
    os.environ.setdefault("COLUMNS", "100")
    if "--check" in arguments:
        for path in (found := stale()):
            print(f"{path} is out of date: run make docs")
        return 1 if found else 0
    for path, write in pages().items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(write(), "utf-8")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
