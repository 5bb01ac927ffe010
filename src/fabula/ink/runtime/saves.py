"""A play as JSON and back, in the reference's save format (inkSaveVersion 10).

Besides the reference's fields a save has one of our own, `fabula`, which other runtimes ignore: the digest of the
story, the names of the places it points to (see `edited`), the turns played so far, and a host function that waits.
"""

from __future__ import annotations

import json
from typing import Final

from fabula.ink.runtime.callstack import CallStack, Frame, Thread
from fabula.ink.runtime.content import Container, FrameKind, Literal, Node, StoryContent, pointer_path, resolve
from fabula.ink.runtime.errors import InkStateError, InkUsageError
from fabula.ink.runtime.loader import VERSION
from fabula.ink.runtime.output import Output
from fabula.ink.runtime.state import DEPTH_LIMIT, THREAD_LIMIT, Flow, OfferedChoice, PastTurn, Pending, StoryState
from fabula.ink.runtime.tokens import (
    Json,
    TokenError,
    as_int,
    as_list,
    as_object,
    as_text,
    is_output,
    read_value,
    read_word,
    write_node,
    write_value,
)
from fabula.ink.runtime.values import Value

SAVE_VERSION: Final = 10
OLDEST_SAVE_VERSION: Final = 8
OWN_FIELD: Final = "fabula"
OWN_VERSION: Final = 1


def write_state(state: StoryState) -> dict[str, Json]:
    """The reference's fields of a save."""
    written: dict[str, Json] = {
        "flows": {name: _write_flow(flow) for name, flow in state.flows.items()},
        "currentFlowName": state.flow.name,
        "variablesState": {name: write_value(value) for name, value in state.globals.items()},
        "evalStack": [write_value(value) for value in state.stack],
    }
    if state.diverted is not None:
        written["currentDivertTarget"] = pointer_path(*state.diverted)
    written |= {
        "visitCounts": dict(state.visits),
        "turnIndices": dict(state.turns),
        "turnIdx": state.turn,
        "storySeed": state.seed,
        "previousRandom": state.previous_random,
        "inkSaveVersion": SAVE_VERSION,
        "inkFormatVersion": VERSION,
    }
    return written


def _write_flow(flow: Flow) -> dict[str, Json]:
    written: dict[str, Json] = {
        "callstack": {
            "threads": [_write_thread(thread) for thread in flow.calls.threads],
            "threadCounter": flow.calls.counter,
        },
        "outputStream": [write_node(node) for node in flow.output.items],
    }
    away = [choice for choice in flow.choices if flow.calls.thread_numbered(choice.thread.number) is None]
    if away:
        written["choiceThreads"] = {str(choice.thread.number): _write_thread(choice.thread) for choice in away}
    written["currentChoices"] = [_write_choice(index, choice) for index, choice in enumerate(flow.choices)]
    return written


def _write_thread(thread: Thread) -> dict[str, Json]:
    written: dict[str, Json] = {
        "callstack": [_write_frame(frame) for frame in thread.frames],
        "threadIndex": thread.number,
    }
    previous = thread.previous_container
    if previous is not None and resolve(previous, thread.previous_index) is not None:
        written["previousContentObject"] = pointer_path(previous, thread.previous_index)
    return written


def _write_frame(frame: Frame) -> dict[str, Json]:
    written: dict[str, Json] = {}
    if frame.container is not None:
        written["cPath"] = frame.container.path
        written["idx"] = frame.index
    written["exp"] = frame.is_evaluating
    written["type"] = int(frame.kind)
    if frame.temps:
        written["temp"] = {name: write_value(value) for name, value in frame.temps.items()}
    if frame.kind == FrameKind.FUNCTION:
        written["outputStart"] = frame.output_start
    return written


def _write_choice(index: int, choice: OfferedChoice) -> dict[str, Json]:
    written: dict[str, Json] = {
        "text": choice.text,
        "index": index,
        "originalChoicePath": choice.source_path,
        "originalThreadIndex": choice.thread.number,
        "targetPath": choice.target_path,
        "isInvisibleDefault": choice.is_fallback,
    }
    if choice.tags:
        written["tags"] = list(choice.tags)
    return written


def write_pending(pending: Pending) -> Json:
    """A waiting host function; its request has to be plain data."""
    try:
        return {"function": pending.function, "request": json.dumps(pending.request)}
    except (TypeError, ValueError, RecursionError) as error:
        raise InkUsageError(f"The request of '{pending.function}' is not plain JSON data: {error}") from error


def write_past(past: tuple[PastTurn, ...]) -> Json:
    """The turns played so far."""
    return [[turn.turn, turn.knot, *turn.places] for turn in past]


def read_state(saved: dict[str, Json], content: StoryContent, defaults: dict[str, Value]) -> StoryState:
    """Builds the state that a save describes, or raises InkStateError."""
    try:
        return _read_state(saved, content, defaults)
    except TokenError as error:
        raise InkStateError(f"The saved state cannot be loaded: {error}.") from error


def _read_state(saved: dict[str, Json], content: StoryContent, defaults: dict[str, Value]) -> StoryState:
    version = as_int(saved.get("inkSaveVersion"), "inkSaveVersion")
    if not OLDEST_SAVE_VERSION <= version <= SAVE_VERSION:
        raise TokenError(f"inkSaveVersion is {version}, but should be {OLDEST_SAVE_VERSION} to {SAVE_VERSION}")
    state = StoryState(content, as_int(saved.get("storySeed"), "storySeed"))
    _read_flows(state, saved)
    state.defaults = defaults
    state.globals = _read_variables(as_object(saved.get("variablesState"), "variablesState"), defaults)
    state.stack = [read_value(token) for token in as_list(saved.get("evalStack"), "evalStack")]
    if "currentDivertTarget" in saved:
        state.diverted = _place(content, as_text(saved["currentDivertTarget"], "currentDivertTarget"))
    state.visits = _read_counts(saved.get("visitCounts"), "visitCounts")
    state.turns = _read_counts(saved.get("turnIndices"), "turnIndices")
    state.turn = as_int(saved.get("turnIdx"), "turnIdx")
    state.previous_random = as_int(saved.get("previousRandom"), "previousRandom")
    _read_own(state, saved.get(OWN_FIELD))
    state.refresh()
    return state


def _read_flows(state: StoryState, saved: dict[str, Json]) -> None:
    token = saved.get("flows")
    if token is None:
        old = {"callstack": saved.get("callstackThreads")}
        state.flow = _read_flow(state.flow.name, {**saved, **old}, state.content)
        state.flows = {state.flow.name: state.flow}
        return
    flows = as_object(token, "flows")
    state.flows = {name: _read_flow(name, as_object(flow, "a flow"), state.content) for name, flow in flows.items()}
    names = list(state.flows)
    current = as_text(saved.get("currentFlowName", names[0] if names else None), "currentFlowName")
    if current not in state.flows:
        raise TokenError(f"there is no flow {current!r}")
    state.flow = state.flows[current]


def _read_variables(saved: dict[str, Json], defaults: dict[str, Value]) -> dict[str, Value]:
    return {name: read_value(saved[name]) if name in saved else value for name, value in defaults.items()}


def _read_counts(token: Json, what: str) -> dict[str, int]:
    return {path: as_int(count, what) for path, count in as_object(token, what).items()}


def _read_flow(name: str, saved: dict[str, Json], content: StoryContent) -> Flow:
    calls = as_object(saved.get("callstack"), "callstack")
    threads = [_read_thread(token, content) for token in as_list(calls.get("threads"), "threads")]
    if not 0 < len(threads) <= THREAD_LIMIT:
        raise TokenError("a flow should have a thread")
    flow = Flow(name, CallStack(threads, as_int(calls.get("threadCounter"), "threadCounter")))
    flow.output = Output([_read_output(token) for token in as_list(saved.get("outputStream"), "outputStream")])
    away = as_object(saved.get("choiceThreads") or {}, "choiceThreads")
    for token in as_list(saved.get("currentChoices"), "currentChoices"):
        flow.choices.append(_read_choice(as_object(token, "a choice"), flow.calls, away, content))
    return flow


def _read_output(token: Json) -> Node:
    node = read_word(token) if isinstance(token, str) else Literal(read_value(token))
    if not is_output(node):
        raise TokenError("the output stream holds something that is not output")
    return node


def _read_thread(token: Json, content: StoryContent) -> Thread:
    saved = as_object(token, "a thread")
    frames = [
        _read_frame(as_object(frame, "a frame"), content) for frame in as_list(saved.get("callstack"), "callstack")
    ]
    if not 0 < len(frames) <= DEPTH_LIMIT:
        raise TokenError("a thread should have a frame")
    thread = Thread(frames, as_int(saved.get("threadIndex"), "threadIndex"))
    if "previousContentObject" in saved:
        path = as_text(saved["previousContentObject"], "previousContentObject")
        thread.previous_container, thread.previous_index = _place(content, path)
    return thread


def _read_frame(saved: dict[str, Json], content: StoryContent) -> Frame:
    kind = as_int(saved.get("type"), "type")
    if kind not in (0, 1, 2):
        raise TokenError(f"there is no kind of call {kind}")
    container: Container | None = None
    index = 0
    if "cPath" in saved:
        container = content.container(as_text(saved["cPath"], "cPath"))
        index = as_int(saved.get("idx"), "idx")
        if container is None or not -1 <= index <= len(container.content):
            raise TokenError(f"there is no place {saved['cPath']} in this story")
    frame = Frame(FrameKind(kind), container, index)
    frame.is_evaluating = bool(saved.get("exp"))
    frame.temps = {name: read_value(value) for name, value in as_object(saved.get("temp") or {}, "temp").items()}
    frame.output_start = as_int(saved.get("outputStart", 0), "outputStart")
    return frame


def _read_choice(
    saved: dict[str, Json], calls: CallStack, away: dict[str, Json], content: StoryContent
) -> OfferedChoice:
    number = as_int(saved.get("originalThreadIndex"), "originalThreadIndex")
    thread = calls.thread_numbered(number)
    if thread is None:
        thread = _read_thread(away.get(str(number)), content)
    target = as_text(saved.get("targetPath"), "targetPath")
    _place(content, target)
    tags = as_list(saved.get("tags") or [], "tags")
    return OfferedChoice(
        text=as_text(saved.get("text"), "text"),
        tags=tuple(as_text(tag, "a tag") for tag in tags),
        source_path=as_text(saved.get("originalChoicePath"), "originalChoicePath"),
        target_path=target,
        is_fallback=bool(saved.get("isInvisibleDefault")),
        thread=thread.fork(),
    )


def _place(content: StoryContent, path: str) -> tuple[Container, int]:
    place = content.place(path)
    if place is None:
        raise TokenError(f"there is no place {path} in this story")
    return place


def _read_own(state: StoryState, token: Json) -> None:
    if token is None:
        return
    own = as_object(token, OWN_FIELD)
    if as_int(own.get("version"), "version") != OWN_VERSION:
        raise TokenError(f"the version of its field {OWN_FIELD!r} is not {OWN_VERSION}")
    state.past = tuple(read_past(turn) for turn in as_list(own.get("past", []), "past"))
    pending = own.get("pending")
    if pending is not None:
        state.pending = _read_pending(as_object(pending, "pending"))


def read_past(token: Json) -> PastTurn:
    """A turn played before the save."""
    parts = as_list(token, "a past turn")
    if len(parts) < 2:
        raise TokenError("a past turn should have a number and a knot")
    places = tuple(as_text(place, "a place") for place in parts[2:])
    return PastTurn(turn=as_int(parts[0], "a turn"), knot=as_text(parts[1], "a knot"), places=places, named=True)


def _read_pending(saved: dict[str, Json]) -> Pending:
    text = as_text(saved.get("request"), "request")
    try:
        request = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TokenError("the request of a waiting function is not JSON") from error
    return Pending(function=as_text(saved.get("function"), "function"), request=request)
