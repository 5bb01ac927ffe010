"""Everything about one play that changes: flows, variables, counts, the evaluation stack.

A `Checkpoint` remembers a moment. Piles and streams are copied into it (cheaply, see `callstack`), while changes of
variables and counts are written to a journal that can be played backwards. `rewind` goes back to a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fabula.ink.runtime.callstack import CallStack, Frame, Thread
from fabula.ink.runtime.content import Container, FrameKind, StoryContent
from fabula.ink.runtime.errors import InkDepthExceeded, InkRuntimeError
from fabula.ink.runtime.lists import InkList
from fabula.ink.runtime.output import Output
from fabula.ink.runtime.values import Value, VariablePointer, same_value

DEFAULT_FLOW: Final = "DEFAULT_FLOW"
DEPTH_LIMIT: Final = 5_000
THREAD_LIMIT: Final = 500
_POINTER_LIMIT: Final = 64
_ABSENT: Final = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class OfferedChoice:
    """A choice as the story made it, with the thread it was made in."""

    text: str
    tags: tuple[str, ...]
    source_path: str
    target_path: str
    is_fallback: bool
    thread: Thread


@dataclass(frozen=True, kw_only=True, slots=True)
class PastTurn:
    """A turn that was played: its number, its knot, and the names of its place (see `edited`)."""

    turn: int
    knot: str
    places: tuple[str, ...]
    named: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Pending:
    """A host function that is waiting for its answer."""

    function: str
    request: Any


class Flow:
    """One of the parallel strands of a play."""

    __slots__ = ("calls", "choices", "name", "output")

    def __init__(self, name: str, calls: CallStack) -> None:
        self.name = name
        self.calls = calls
        self.output = Output()
        self.choices: list[OfferedChoice] = []

    def copy(self) -> Flow:
        """A flow that may change without touching this one."""
        twin = Flow(self.name, self.calls.copy())
        twin.output = self.output.copy()
        twin.choices = self.choices.copy()
        return twin


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A moment to which the state can go back."""

    flow: Flow
    stack: list[Value]
    numbers: tuple[int, int, int]
    diverted: tuple[Container, int] | None
    safe_exit: bool
    notices: int
    journal: int
    changed: frozenset[str]


class StoryState:
    """The changing half of a story."""

    __slots__ = (
        "changed",
        "content",
        "defaults",
        "diverted",
        "flow",
        "flows",
        "frame",
        "globals",
        "journal",
        "notices",
        "past",
        "pending",
        "previous_random",
        "safe_exit",
        "seed",
        "stack",
        "thread",
        "turn",
        "turns",
        "visits",
    )

    thread: Thread
    frame: Frame

    def __init__(self, content: StoryContent, seed: int) -> None:
        self.content = content
        self.flow = Flow(DEFAULT_FLOW, CallStack.start(content.root))
        self.flows: dict[str, Flow] = {DEFAULT_FLOW: self.flow}
        self.stack: list[Value] = []
        self.globals: dict[str, Value] = {}
        self.defaults: dict[str, Value] = {}
        self.visits: dict[str, int] = {}
        self.turns: dict[str, int] = {}
        self.turn = -1
        self.seed = seed
        self.previous_random = 0
        self.diverted: tuple[Container, int] | None = None
        self.safe_exit = False
        self.notices: list[tuple[str, str]] = []
        self.past: tuple[PastTurn, ...] = ()
        self.pending: Pending | None = None
        self.journal: list[tuple[dict[str, Any], str, object]] = []
        self.changed: set[str] = set()
        self.refresh()

    def copy(self) -> StoryState:
        """A state that may change without touching this one; the story's content stays shared."""
        twin = StoryState.__new__(StoryState)
        twin.content = self.content
        twin.flows = {name: flow.copy() for name, flow in self.flows.items()}
        twin.flow = twin.flows[self.flow.name]
        twin.stack = self.stack.copy()
        twin.globals = self.globals.copy()
        twin.defaults = self.defaults
        twin.visits = self.visits.copy()
        twin.turns = self.turns.copy()
        twin.turn, twin.seed, twin.previous_random = self.turn, self.seed, self.previous_random
        twin.diverted = self.diverted
        twin.safe_exit = self.safe_exit
        twin.notices = self.notices.copy()
        twin.past = self.past
        twin.pending = self.pending
        twin.journal = []
        twin.changed = set()
        self.refresh()
        twin.refresh()
        return twin

    def refresh(self) -> None:
        """Looks up the running thread and frame again, after anything that moved or shared them."""
        self.thread = self.flow.calls.threads[-1]
        self.frame = self.thread.top()

    # Going back

    def checkpoint(self) -> Checkpoint:
        """Remembers this moment."""
        flow = self.flow.copy()
        self.refresh()
        return Checkpoint(
            flow,
            self.stack.copy(),
            (self.turn, self.seed, self.previous_random),
            self.diverted,
            self.safe_exit,
            len(self.notices),
            len(self.journal),
            frozenset(self.changed),
        )

    def rewind(self, moment: Checkpoint) -> None:
        """Goes back to a moment of the same flow; a moment is good for one return."""
        while len(self.journal) > moment.journal:
            table, key, old = self.journal.pop()
            if old is _ABSENT:
                del table[key]
            else:
                table[key] = old
        self.flow = self.flows[moment.flow.name] = moment.flow
        self.stack = moment.stack
        self.turn, self.seed, self.previous_random = moment.numbers
        self.diverted = moment.diverted
        self.safe_exit = moment.safe_exit
        del self.notices[moment.notices :]
        self.changed = set(moment.changed)
        self.refresh()

    def _write(self, table: dict[str, Any], key: str, new: object) -> None:
        self.journal.append((table, key, table.get(key, _ABSENT)))
        table[key] = new

    # Counts

    def visit(self, container: Container, at_start: bool) -> None:
        """Counts a visit, if the container wants it counted."""
        if container.count_at_start_only and not at_start:
            return
        if container.count_visits:
            self._write(self.visits, container.path, self.visits.get(container.path, 0) + 1)
        if container.count_turns:
            self._write(self.turns, container.path, self.turn)

    def visit_count(self, container: Container) -> int:
        """How often a container was visited."""
        if not container.count_visits:
            raise InkRuntimeError(
                f"Read count for target ({container.name}) unknown. The story may need to be compiled with "
                "countAllVisits flag (-c)."
            )
        return self.visits.get(container.path, 0)

    def turns_since(self, container: Container) -> int:
        """How many turns ago a container was visited, -1 for never."""
        if not container.count_turns:
            raise InkRuntimeError(
                f"TURNS_SINCE() for target ({container.name}) unknown. The story may need to be compiled with "
                "countAllVisits flag (-c)."
            )
        turn = self.turns.get(container.path)
        return -1 if turn is None else self.turn - turn

    # The evaluation stack

    def pop(self) -> Value:
        """Takes the last value off the evaluation stack."""
        if not self.stack:
            raise InkRuntimeError("The evaluation stack is empty")
        return self.stack.pop()

    # The call stack

    def push_frame(self, kind: FrameKind, output_start: int) -> None:
        """Starts a call; the caller's frame keeps pointing at the calling instruction."""
        if len(self.thread.frames) >= DEPTH_LIMIT:
            raise InkDepthExceeded(f"Calls are nested deeper than {DEPTH_LIMIT}")
        frame = Frame(kind, self.frame.container, self.frame.index)
        frame.output_start = output_start
        self.thread.frames.append(frame)
        self.frame = frame

    def pop_frame(self) -> None:
        """Ends a call."""
        if self.frame.kind == FrameKind.FUNCTION:
            self.flow.output.trim_function_end(self.frame.output_start)
        self.thread.pop()
        self.frame = self.thread.top()

    def can_pop_thread(self) -> bool:
        """Whether another thread waits below the running one."""
        return len(self.flow.calls.threads) > 1 and self.frame.kind != FrameKind.FUNCTION_FROM_HOST

    def push_thread(self) -> None:
        """Starts a thread as a copy of the running one."""
        if len(self.flow.calls.threads) >= THREAD_LIMIT:
            raise InkDepthExceeded(f"Threads are nested deeper than {THREAD_LIMIT}")
        self.flow.calls.threads.append(self.flow.calls.fork_thread())
        self.refresh()

    def pop_thread(self) -> None:
        """Ends the running thread."""
        self.flow.calls.threads.pop()
        self.refresh()

    def run_thread(self, thread: Thread) -> None:
        """Goes on with a thread of a choice, alone."""
        self.flow.calls.threads = [thread.fork()]
        self.refresh()

    def force_end(self) -> None:
        """Ends the flow: nothing on the call stack, no choices."""
        calls = self.flow.calls
        self.flow.calls = CallStack(CallStack.start(None).threads, calls.counter)
        self.flow.choices = []
        self.safe_exit = True
        self.refresh()

    # Variables

    def is_global(self, name: str) -> bool:
        """Whether the story declares a global of this name."""
        return name in self.globals or name in self.defaults

    def raw_variable(self, name: str, frame: int = -1) -> Value | None:
        """A variable's own value, which may be a pointer to another; None when there is none."""
        if frame <= 0:
            value = self.globals.get(name)
            if value is None:
                value = self.defaults.get(name)
            if value is None:
                value = self.content.lists.single(name)
            if value is not None:
                return value
        if frame == -1:
            return self.frame.temps.get(name)
        return None if frame == 0 else self._frame_numbered(frame).temps.get(name)

    def variable(self, name: str) -> Value | None:
        """A variable's value, pointers followed."""
        value = self.raw_variable(name)
        hops = 0
        while isinstance(value, VariablePointer):
            value = self.raw_variable(value.name, value.frame)
            hops = _hop(hops)
        return value

    def assign(self, name: str, value: Value, *, is_global: bool, declares: bool) -> None:
        """Sets or declares a variable; a `ref` parameter sets the variable that it stands for."""
        frame = -1
        if declares:
            if isinstance(value, VariablePointer):
                value = self._resolve_pointer(value)
                if not is_global and value == VariablePointer(name, len(self.thread.frames)):
                    return  # a plain divert passed the variable to a `ref` parameter of the same name: it is itself
        else:
            is_global = self.is_global(name)
            hops = 0
            pointer = self.raw_variable(name)
            while isinstance(pointer, VariablePointer):
                name, frame = pointer.name, pointer.frame
                is_global = frame == 0
                pointer = self.raw_variable(name, frame)
                hops = _hop(hops)
        if is_global:
            self.set_global(name, value)
        else:
            self._set_temp(name, value, declares, frame)

    def set_global(self, name: str, value: Value) -> None:
        """Sets a global, and notes the change for observers."""
        old = self.globals.get(name)
        value = _keep_origins(old, value)
        if not same_value(old, value):
            self.changed.add(name)
        self._write(self.globals, name, value)

    def _set_temp(self, name: str, value: Value, declares: bool, frame: int) -> None:
        if frame == -1:
            target = self.frame
        else:
            self._frame_numbered(frame)
            target = self.thread.writable(frame - 1)
        if not declares and name not in target.temps:
            raise InkRuntimeError(f"Could not find temporary variable to set: {name}")
        target.temps[name] = _keep_origins(target.temps.get(name), value)

    def _resolve_pointer(self, pointer: VariablePointer) -> VariablePointer:
        frame = pointer.frame
        if frame == -1:
            frame = self.frame_of(pointer.name)
        value = self.raw_variable(pointer.name, frame)
        return value if isinstance(value, VariablePointer) else VariablePointer(pointer.name, frame)

    def frame_of(self, name: str) -> int:
        """The number of the frame a variable lives in: the running one, or 0 for global."""
        return len(self.thread.frames) if name in self.frame.temps else 0

    def _frame_numbered(self, number: int) -> Frame:
        if not 0 < number <= len(self.thread.frames):
            raise InkRuntimeError("A reference points to a variable of a call that is over")
        return self.thread.frames[number - 1]


def _hop(hops: int) -> int:
    if hops >= _POINTER_LIMIT:
        raise InkRuntimeError("References to variables go round in a circle")
    return hops + 1


def _keep_origins(old: Value | None, new: Value) -> Value:
    """An empty list assigned over a list remembers which lists it belonged to."""
    if isinstance(new, InkList) and not new.items and isinstance(old, InkList):
        return InkList(None, old.origins)
    return new
