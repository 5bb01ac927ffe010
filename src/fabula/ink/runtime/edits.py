"""Carries a save over to an edited story: resumes at the same place, or says why not and where to go on instead.

1. Every save holds the names of the places it points to (see `naming`) beside their paths. 2. Loading it into another
version of the story looks each place up by name and rewrites the paths. 3. A place that the play needs, such as a
choice on offer or the spot a tunnel returns to, must be found unchanged, or the save is refused. Visits of places that
are gone are forgotten. 4. A refusal names the nearest earlier turn whose place still exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabula.ink.runtime.callstack import Thread
from fabula.ink.runtime.content import ChoicePoint, StoryContent, pointer_path, resolve
from fabula.ink.runtime.errors import InkEditedError, InkStateError
from fabula.ink.runtime.lists import item_name, parse_item
from fabula.ink.runtime.place_names import Place, PlaceNames, knot_path
from fabula.ink.runtime.saves import OWN_FIELD, read_past
from fabula.ink.runtime.state import PastTurn, StoryState
from fabula.ink.runtime.tokens import Json, TokenError, as_int, as_list, as_object, as_text
from fabula.ink.runtime.values import DivertTarget, Value

_RETURN_TEMP = "$r"
_BAR = "|"

# Naming the places of a save


def knot_of(state: StoryState) -> str:
    """The knot or stitch the reader is in."""
    for choice in state.flow.choices:
        place = state.content.place(choice.source_path)
        if place is not None:
            return knot_path(place[0])
    for frame in reversed(state.thread.frames):
        if frame.container is not None:
            return knot_path(frame.container)
    return state.past[-1].knot if state.past else ""


def places_of(state: StoryState) -> tuple[str, ...]:
    """The places that a return to this moment would need, as keys that still hold paths."""
    needed: dict[str, None] = {}
    for choice in state.flow.choices:
        if not choice.is_fallback:
            needed[f"choice|{choice.source_path}"] = None
            needed.update(dict.fromkeys(_caller_keys(choice.thread)))
    if state.frame.container is not None:
        needed[_position_key(state.frame.container.path, state.frame.index)] = None
    return tuple(needed)


def _caller_keys(thread: Thread) -> Iterator[str]:
    for frame in thread.frames[:-1]:
        if frame.container is not None:
            yield _position_key(frame.container.path, frame.index)


def _position_key(path: str, index: int) -> str:
    return f"position|{path}|{index}"


def name_places(state: StoryState) -> dict[str, Json]:
    """The part of a save that lets it follow its story through edits."""
    namer = _Namer(state.content)
    state.past = tuple(namer.past_turn(turn) for turn in state.past)
    for flow in state.flows.values():
        for thread in flow.calls.threads:
            namer.thread(thread)
        for choice in flow.choices:
            namer.add(f"choice|{choice.source_path}")
            namer.thread(choice.thread)
    namer.values(state.globals.values())
    namer.values(state.stack)
    for path in state.visits.keys() | state.turns.keys():
        namer.add(f"container|{path}", tolerant=True)
    if state.diverted is not None:
        namer.add(f"container|{pointer_path(*state.diverted)}")
    return {"knot": knot_of(state), "places": namer.named}


def prepare_names(content: StoryContent) -> None:
    """Does beforehand what takes long when the first play of a large story is saved."""
    _place_names(content).prepare()


MOST_WRITTEN = 50_000


class _Namer:
    def __init__(self, content: StoryContent) -> None:
        self._content = content
        self._names = _place_names(content)
        self.named: dict[str, Json] = {}

    def add(self, key: str, tolerant: bool = False) -> None:
        if key not in self.named or not tolerant:
            name = self.name(key, tolerant)
            if name is not None:
                self.named[key] = name

    def name(self, key: str, tolerant: bool) -> str | None:
        """`knot|name|name`, or None for what needs no name or has none. A story has its places for ever: kept."""
        kept = self._names.written
        if (key, tolerant) not in kept:
            if len(kept) > MOST_WRITTEN:
                kept.clear()
            kept[key, tolerant] = self._name(key, tolerant)
        return kept[key, tolerant]

    def _name(self, key: str, tolerant: bool) -> str | None:
        found = _look_up(self._content, key)
        if found is None:
            return None
        kind, place = found
        knot = self._names.knot(place[0])
        if kind == "container" and place[0].path == knot:
            return None
        names = self._names.unique_names(kind, place)
        return _BAR.join((knot, *(names[-1:] if tolerant else names)))

    def thread(self, thread: Thread) -> None:
        for frame in thread.frames:
            if frame.container is not None:
                self.add(_position_key(frame.container.path, frame.index))
            self.values(frame.temps.values())
        if thread.previous_container is not None:
            self.add(f"container|{pointer_path(thread.previous_container, thread.previous_index)}", tolerant=True)

    def values(self, values: Iterable[Value]) -> None:
        for value in values:
            if isinstance(value, DivertTarget):
                self.add(f"container|{value.path}")

    def past_turn(self, turn: PastTurn) -> PastTurn:
        if turn.named:
            return turn
        names = (f"{key.partition(_BAR)[0]}|{self.name(key, True) or ''}" for key in turn.places)
        return PastTurn(turn=turn.turn, knot=turn.knot, places=tuple(names), named=True)


def _place_names(content: StoryContent) -> PlaceNames:
    if content.names is None:
        content.names = PlaceNames(content)
    names: PlaceNames = content.names
    return names


def _look_up(content: StoryContent, key: str) -> tuple[str, Place] | None:
    """The kind of place a key asks for, and the place; a path to a single instruction is a position."""
    kind, _, path = key.partition(_BAR)
    if kind == "position":
        path, _, index = path.rpartition(_BAR)
        container = content.container(path)
        number = int(index)
        if container is None or number >= len(container.content):
            return None
        return ("container", (container, -1)) if number < 0 else ("position", (container, number))
    if kind == "choice":
        place = content.place(path)
        return ("choice", place) if place is not None and isinstance(resolve(*place), ChoicePoint) else None
    container = content.container(path)
    if container is not None:
        return "container", (container, -1)
    place = content.place(path)
    return None if place is None else ("position", place)


# Moving a save into an edited story


def relocate(saved: dict[str, Json], content: StoryContent) -> dict[str, Json]:
    """The save with its paths rewritten for this story; unchanged if it was made with this very story."""
    try:
        own = saved.get(OWN_FIELD)
        if own is None or as_object(own, OWN_FIELD).get("story") == content.digest:
            return saved
        return _Mover(as_object(own, OWN_FIELD), content).move(saved)
    except TokenError as error:
        raise InkStateError(f"The saved state cannot be loaded: {error}.") from error


class _Lost(Exception):
    """A needed place is not there."""


class _Mover:
    def __init__(self, own: dict[str, Json], content: StoryContent) -> None:
        self._own = own
        self._content = content
        self._names = _place_names(content)
        self._places = as_object(own.get("places"), "places")
        self._knot = as_text(own.get("knot", ""), "knot")

    def move(self, saved: dict[str, Json]) -> dict[str, Json]:
        try:
            return self._move(saved)
        except _Lost as loss:
            turn, knot = self._way_back()
            raise InkEditedError(f"The story was edited: {loss}.", turn, knot) from None

    def _move(self, saved: dict[str, Json]) -> dict[str, Json]:
        self._check_pending()
        moved = dict(saved)
        flows = as_object(saved.get("flows"), "flows")
        moved["flows"] = {name: self._flow(as_object(flow, "a flow")) for name, flow in flows.items()}
        variables = as_object(saved.get("variablesState"), "variablesState")
        moved["variablesState"] = {
            name: self._value(value, f"the variable '{name}'") for name, value in variables.items()
        }
        stack = as_list(saved.get("evalStack"), "evalStack")
        moved["evalStack"] = [self._value(value, "a value in use") for value in stack]
        if "currentDivertTarget" in saved:
            path = as_text(saved["currentDivertTarget"], "currentDivertTarget")
            moved["currentDivertTarget"] = self._needed_path(path, "the target of a divert")
        for counts in ("visitCounts", "turnIndices"):
            moved[counts] = self._counts(as_object(saved.get(counts), counts))
        return moved

    def _check_pending(self) -> None:
        pending = self._own.get("pending")
        if pending is None:
            return
        function = as_text(as_object(pending, "pending").get("function"), "function")
        if function not in self._content.externals:
            raise _Lost(f"it waited for '{function}', which is not an EXTERNAL function any more")

    def _flow(self, flow: dict[str, Json]) -> dict[str, Json]:
        moved = dict(flow)
        calls = as_object(flow.get("callstack"), "callstack")
        threads = as_list(calls.get("threads"), "threads")
        moved["callstack"] = {**calls, "threads": [self._thread(thread, None) for thread in threads]}
        spots: dict[str, Place] = {}
        choices = [as_object(choice, "a choice") for choice in as_list(flow.get("currentChoices"), "currentChoices")]
        moved["currentChoices"] = self._choices(choices, spots)
        away = as_object(flow.get("choiceThreads") or {}, "choiceThreads")
        moved["choiceThreads"] = {
            number: self._thread(thread, spots[number]) for number, thread in away.items() if number in spots
        }
        return moved

    def _choices(self, choices: list[dict[str, Json]], spots: dict[str, Place]) -> list[Json]:
        has_visible = any(not choice.get("isInvisibleDefault") for choice in choices)
        moved: list[Json] = []
        for choice in choices:
            source = as_text(choice.get("originalChoicePath"), "originalChoicePath")
            spot = self._find(f"choice|{source}")
            if spot is None and has_visible and choice.get("isInvisibleDefault"):
                continue  # a fallback is never taken while there is a choice to make
            if spot is None:
                raise _Lost(self._missing(f"choice|{source}", f"the choice '{choice.get('text')}'"))
            spots[str(choice.get("originalThreadIndex"))] = spot
            moved.append({**choice, **self._choice_paths(spot)})
        return moved

    def _choice_paths(self, spot: Place) -> dict[str, Json]:
        node = spot[0].content[spot[1]]
        return {"originalChoicePath": pointer_path(*spot), "targetPath": getattr(node, "target_path", "")}

    def _thread(self, token: Json, spot: Place | None) -> Json:
        """A thread with its frames moved; the top frame of a choice's thread stands at the choice itself."""
        thread = as_object(token, "a thread")
        frames = [as_object(frame, "a frame") for frame in as_list(thread.get("callstack"), "callstack")]
        moved: dict[str, Json] = dict(thread)
        last = len(frames) - 1
        moved["callstack"] = [
            self._frame(frame, spot if number == last else None) for number, frame in enumerate(frames)
        ]
        previous = thread.get("previousContentObject")
        if previous is not None:
            path = self._path(as_text(previous, "previousContentObject"))
            if path is None and spot is not None:
                path = pointer_path(*spot)
            if path is not None:
                moved["previousContentObject"] = path
            else:
                del moved["previousContentObject"]
        return moved

    def _frame(self, frame: dict[str, Json], spot: Place | None) -> Json:
        moved = dict(frame)
        if "cPath" in frame:
            if spot is None:
                spot = self._frame_spot(frame)
            moved["cPath"], moved["idx"] = spot[0].path, spot[1]
        temps = as_object(frame.get("temp") or {}, "temp")
        kept = {name: self._temp(name, value, moved.get("cPath")) for name, value in temps.items()}
        moved["temp"] = {name: value for name, value in kept.items() if value is not None}
        return moved

    def _frame_spot(self, frame: dict[str, Json]) -> Place:
        path, index = as_text(frame["cPath"], "cPath"), as_int(frame.get("idx"), "idx")
        key = _position_key(path, index)
        spot = self._find(key)
        if spot is None:
            raise _Lost(self._missing(key, "the text at the saved place"))
        return spot

    def _temp(self, name: str, value: Json, container_path: Json) -> Json:
        """A temporary variable; the compiler's own return address may go, unless a choice's text is being written."""
        if name != _RETURN_TEMP or (isinstance(container_path, str) and container_path.endswith(".s")):
            return self._value(value, f"the temporary variable '{name}'")
        try:
            return self._value(value, name)
        except _Lost:
            return None

    def _value(self, value: Json, owner: str) -> Json:
        if not isinstance(value, dict):
            return value
        if "^->" in value:
            return {"^->": self._needed_path(as_text(value["^->"], "a divert target"), f"the target held by {owner}")}
        if "list" in value:
            return {**value, "list": self._list(as_object(value["list"], "a list"), owner)}
        return value

    def _list(self, items: dict[str, Json], owner: str) -> Json:
        moved: dict[str, Json] = {}
        for name in items:
            item = parse_item(name)
            if not self._content.lists.knows(item):
                raise _Lost(f"{owner} holds the list item {name}, which is not declared any more")
            moved[item_name(item)] = self._content.lists.by_name[item[0] or ""].numbers[item[1]]
        return moved

    def _counts(self, counts: dict[str, Json]) -> Json:
        moved: dict[str, Json] = {}
        for path, count in counts.items():
            new = self._path(path)
            if new is not None:
                moved[new] = count
        return moved

    # Looking places up

    def _find(self, key: str) -> Place | None:
        """The place in this story that a key of the save means."""
        names = self._places.get(key)
        if not isinstance(names, str):
            return None
        kind = key.partition(_BAR)[0]
        knot, *choices = names.split(_BAR)
        kinds = ("choice",) if kind == "choice" else ("container", "position")
        found = (self._names.find(kind, knot, tuple(choices)) for kind in kinds)
        return next((place for place in found if place is not None), None)

    def _path(self, path: str) -> str | None:
        """A path of the save as a path of this story; knots and stitches are their own names."""
        if f"container|{path}" in self._places:
            place = self._find(f"container|{path}")
            return None if place is None else pointer_path(*place)
        container = self._content.container(path)
        return path if container is not None and knot_path(container) == path else None

    def _needed_path(self, path: str, owner: str) -> str:
        new = self._path(path)
        if new is None:
            raise _Lost(f"{owner} ({path}) does not exist any more")
        return new

    def _missing(self, key: str, what: str) -> str:
        names = self._places.get(key)
        knot, *choices = names.split(_BAR) if isinstance(names, str) else [self._knot]
        where = f"knot '{knot}'" if knot else "the opening"
        if knot and self._content.container(knot) is None:
            return f"{where} does not exist any more"
        if not choices:
            return f"{what} in {where} cannot be told from others like it"
        return f"{what} in {where} was changed, removed, or is there more than once"

    # Where to go on instead

    def _way_back(self) -> tuple[int | None, str | None]:
        turn: int | None = None
        knots = [self._knot]
        for token in reversed(as_list(self._own.get("past", []), "past")):
            past = read_past(token)
            knots.append(past.knot)
            if turn is None and past.places and all(map(self._still_there, past.places)):
                turn = past.turn
        alive = (knot for knot in knots if knot and self._is_knot(knot))
        return turn, next(alive, None)

    def _is_knot(self, path: str) -> bool:
        container = self._content.container(path)
        return container is not None and knot_path(container) == path

    def _still_there(self, place: str) -> bool:
        kind, _, named = place.partition(_BAR)
        knot, *names = named.split(_BAR)
        return bool(names) and self._names.find(kind, knot, tuple(names)) is not None
