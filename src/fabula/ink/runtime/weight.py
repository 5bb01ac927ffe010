"""How many letters a save of a play would have at least, without writing it.

A story that runs can fill its variables, calls and choices faster than anybody could write them down, and values that
take little memory because they are shared are written once for each place that has them. Whoever counts stops as soon
as there is more than was asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from fabula.ink.runtime.callstack import Frame, Thread
from fabula.ink.runtime.content import Text
from fabula.ink.runtime.lists import InkList
from fabula.ink.runtime.state import Flow, StoryState
from fabula.ink.runtime.values import Value

_OF_A_FRAME: Final = 40
_OF_A_CHOICE: Final = 120
_OF_A_COUNT: Final = 5
_OF_AN_ITEM: Final = 6
"""Letters that are written whatever they are called: names of fields, quotes, the shortest numbers."""


def saved_letters(state: StoryState, most: int) -> int:
    """The letters of a save, at least; of what has more than `most`, so many that it is known."""
    letters = 0
    for more in _parts(state):
        letters += more
        if letters > most:
            break
    return letters


def _parts(state: StoryState) -> Iterator[int]:
    for flow in state.flows.values():
        yield from _flow(flow)
    yield from _table(state.globals)
    yield from _values(state.stack)
    for counts in (state.visits, state.turns):
        yield _OF_A_COUNT * len(counts)
        yield from map(len, counts)


def _flow(flow: Flow) -> Iterator[int]:
    for thread in flow.calls.threads:
        yield from _thread(thread)
    for choice in flow.choices:
        yield _OF_A_CHOICE + len(choice.text) + sum(map(len, choice.tags))
        yield from _thread(choice.thread)
    yield from (len(item.value) for item in flow.output.items if isinstance(item, Text))


def _thread(thread: Thread) -> Iterator[int]:
    yield _OF_A_FRAME * len(thread.frames)
    yield from map(_frame, thread.frames)


def _frame(frame: Frame) -> int:
    return sum(_table(frame.temps)) if frame.temps else 0


def _table(values: Mapping[str, Value]) -> Iterator[int]:
    yield sum(map(len, values)) + _OF_A_COUNT * len(values)
    yield from _values(values.values())


def _values(values: Iterable[Value]) -> Iterator[int]:
    for value in values:
        if type(value) is str:
            yield len(value)
        elif isinstance(value, InkList):
            yield _OF_AN_ITEM * len(value)
