"""The story as a program plays it: continue, choose, save, load, and talk with the host.

A call either succeeds or leaves the story as it was before: whatever goes wrong, nothing is half done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any, Literal

from fabula.ink.runtime.callstack import CallStack
from fabula.ink.runtime.content import Command, Container, FrameKind, Op, Text
from fabula.ink.runtime.edits import knot_of, name_places, places_of, prepare_names, relocate
from fabula.ink.runtime.errors import InkExternalError, InkFormatError, InkStateError, InkUsageError
from fabula.ink.runtime.loader import load_story
from fabula.ink.runtime.machine import Binding, Draw, HostFunction, Machine
from fabula.ink.runtime.output import Output
from fabula.ink.runtime.saves import OWN_FIELD, OWN_VERSION, read_state, write_past, write_pending, write_state
from fabula.ink.runtime.state import DEFAULT_FLOW, Flow, PastTurn, StoryState
from fabula.ink.runtime.steps import run_line
from fabula.ink.runtime.tokens import Json, TokenError, as_object, parse_json, write_json
from fabula.ink.runtime.values import HostValue, Value, from_host, to_host
from fabula.ink.runtime.weight import saved_letters

Observer = Callable[[str, HostValue | None], object]

DEFAULT_BUDGET = 100_000
_PAST_TURNS_KEPT = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """A choice on offer. `index` is what `choose` wants.

    >>> Choice(index=0, text="Go", tags=()).text
    'Go'
    """

    index: int
    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """Something odd in the last call that did not stop the story, such as running out of content."""

    severity: Literal["warning", "error"]
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionResult:
    """What an Ink function returned, and the text it wrote."""

    value: HostValue | None
    text: str


class Variables(MutableMapping[str, "HostValue | None"]):
    """The story's global variables as a mapping; only declared ones can be set, and none can be removed.

    >>> story = Story.from_source("VAR coins = 3\\nYou have {coins}.\\n-> END")
    >>> story.variables["coins"] = story.variables["coins"] + 1
    >>> story.continue_()
    'You have 4.\\n'
    """

    __slots__ = ("_story",)

    def __init__(self, story: Story) -> None:
        self._story = story

    def __getitem__(self, name: str) -> HostValue | None:
        return to_host(self._story._state.globals[name])

    def __setitem__(self, name: str, value: HostValue | None) -> None:
        self._story._set_variable(name, value)

    def __delitem__(self, name: str) -> None:
        raise InkUsageError("A story's variables cannot be removed.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._story._state.globals)

    def __len__(self) -> int:
        return len(self._story._state.globals)


class Story:
    """A compiled story, being played.

    >>> story = Story('{"inkVersion": 21, "root": [["^Hello, world!", "\\\\n", "done", null], "done", null]}')
    >>> story.continue_()
    'Hello, world!\\n'
    >>> story.can_continue
    False

    The seed feeds RANDOM and shuffles: pass another one for another play. `step_budget` bounds the work of one call.
    """

    __slots__ = ("_busy", "_machine", "_observers", "step_budget")

    def __init__(self, story_json: str, *, seed: int = 0, allow_external_fallbacks: bool = True) -> None:
        content = load_story(story_json)
        self._setup(Machine(StoryState(content, _seed(seed))))
        self._machine.allow_fallbacks = allow_external_fallbacks
        self._declare_globals()

    @staticmethod
    def from_source(source: str, *, include: Callable[[str], str | None] | None = None, seed: int = 0) -> Story:
        """Compiles Ink text and starts the story.

        >>> Story.from_source("Hello, world!").continue_()
        'Hello, world!\\n'
        """
        from fabula.ink.compiler import compile_ink  # most plays start from JSON and never need the compiler

        result = compile_ink(source, include=include)
        if result.story_json is None:
            raise InkFormatError("The source has errors: " + "; ".join(map(str, result.errors[:5])))
        return Story(result.story_json, seed=seed)

    def _setup(self, machine: Machine) -> None:
        self._machine = machine
        self._observers: dict[str, list[Observer]] = {}
        self._busy = False
        self.step_budget = DEFAULT_BUDGET

    def _declare_globals(self) -> None:
        state = self._state
        declarations = state.content.root.named.get("global decl")
        if declarations is not None:
            # Declarations are run once and cannot go round in circles: however many there are, they may all run.
            self._machine.steps_left = max(self.step_budget, 2 * len(declarations.content))
            self._machine.choose_path("global decl", new_turn=False)
            run_line(self._machine)
        fresh = StoryState(state.content, state.seed)
        fresh.globals, fresh.defaults = state.globals, state.globals.copy()
        self._machine.state = fresh

    @property
    def variables(self) -> Variables:
        """The global variables. Made when they are asked for: kept, they and the story would be a circle."""
        return Variables(self)

    @property
    def _state(self) -> StoryState:
        return self._machine.state

    @property
    def digest(self) -> str:
        """A short hash of the compiled story; equal stories have equal digests."""
        return self._state.content.digest

    # Reading

    @property
    def can_continue(self) -> bool:
        """Whether `continue_` has something to say.

        >>> Story.from_source("One line.").can_continue
        True
        """
        return self._machine.can_continue and self._state.pending is None

    def continue_(self) -> str:
        """Runs the next line and returns it, with its line break.

        Returns "" when a host function has to wait: see `pending_request`.
        """
        self._refuse_if_busy()
        if self._state.pending is not None:
            raise InkUsageError("The story waits for an answer: call resume(answer) first.")
        if not self._machine.can_continue:
            raise InkUsageError("The story cannot continue now: look at can_continue first.")
        self._machine.steps_left = self.step_budget
        return self._run_line()

    def continue_maximally(self) -> str:
        """Runs lines until there is a choice, an end, or a request; the budget is for all of them together."""
        self._refuse_if_busy()
        lines = []
        before, done = self._state.copy(), False
        self._machine.steps_left = self.step_budget
        try:
            while self.can_continue:
                lines.append(self._run_line())
            done = True
        finally:
            if not done:
                self._machine.state = before
        return "".join(lines)

    def resume(self, answer: object = None) -> str:
        """Gives a waiting host function its answer, and goes on with the line that it interrupted."""
        self._refuse_if_busy()
        pending = self._state.pending
        if pending is None:
            raise InkUsageError("The story does not wait for an answer.")
        self._machine.steps_left = self.step_budget
        return self._run_line(lambda: self._give_answer(pending.function, answer))

    def _give_answer(self, function: str, answer: object) -> None:
        self._machine.push_answer(function, answer)
        self._state.pending = None
        self._machine.next_content()

    def _run_line(self, first: Callable[[], None] | None = None) -> str:
        self._check_externals()
        state = self._state
        moment, pending = state.checkpoint(), state.pending
        done = False
        self._busy = True
        try:
            state.notices.clear()
            if first is None:
                state.flow.output = Output()
            else:
                first()
            run_line(self._machine)
            done = True
        finally:
            self._busy = False
            if not done:
                state.rewind(moment)
                state.pending = pending
                state.journal.clear()
                state.changed.clear()
        state.journal.clear()
        self._tell_observers()
        return "" if state.pending is not None else state.flow.output.text()

    @property
    def current_text(self) -> str:
        """The text of the last line."""
        return self._state.flow.output.text()

    @property
    def current_tags(self) -> list[str]:
        """The tags of the last line.

        >>> story = Story.from_source("A line. # loud # sad")
        >>> story.continue_(), story.current_tags
        ('A line.\\n', ['loud', 'sad'])
        """
        return self._state.flow.output.tags()

    @property
    def pending_request(self) -> Any:
        """What a waiting host function asked for with `Suspend`, or None."""
        pending = self._state.pending
        return None if pending is None else pending.request

    @property
    def steps_taken(self) -> int:
        """The steps that the last call took of its budget."""
        return self.step_budget - self._machine.steps_left

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Oddities of the last call, such as running out of content."""
        return tuple(
            Notice(severity="error" if severity == "error" else "warning", message=message)
            for severity, message in self._state.notices
        )

    @property
    def warnings(self) -> list[str]:
        """The messages of `notices`."""
        return [message for _, message in self._state.notices]

    @property
    def global_tags(self) -> list[str]:
        """The tags at the top of the story."""
        return self.tags_for_path("")

    def tags_for_path(self, path: str) -> list[str]:
        """The tags at the top of a knot or stitch."""
        return _opening_tags(self._container(path))

    @property
    def current_knot(self) -> str:
        """The knot or stitch that the reader is in; before the first knot it is "".

        >>> story = Story.from_source("-> hall\\n=== hall\\nEchoes.\\n* [Go] -> END")
        >>> story.continue_(), story.current_knot
        ('Echoes.\\n', 'hall')
        """
        return knot_of(self._state)

    @property
    def visited(self) -> frozenset[str]:
        """The paths of everything that was visited, as far as visits are counted."""
        return frozenset(self._state.visits)

    # Choosing

    @property
    def current_choices(self) -> list[Choice]:
        """The choices on offer, once the story cannot continue without one.

        >>> story = Story.from_source("* [Stay] You stay.\\n* [Go] You go.\\n- -> END")
        >>> story.continue_maximally(), [choice.text for choice in story.current_choices]
        ('', ['Stay', 'Go'])
        >>> story.choose(1)
        >>> story.continue_()
        'You go.\\n'
        """
        if self._machine.can_continue or self._state.pending is not None:
            return []
        shown = [choice for choice in self._state.flow.choices if not choice.is_fallback]
        return [Choice(index=index, text=choice.text, tags=choice.tags) for index, choice in enumerate(shown)]

    def choose(self, index: int) -> None:
        """Takes a choice by its index."""
        self._refuse_if_busy()
        count = len(self.current_choices)
        if not 0 <= index < count:
            raise InkUsageError(f"There is no choice {index}: {count} are on offer.")
        shown = [choice for choice in self._state.flow.choices if not choice.is_fallback]
        chosen = shown[index]
        self._machine.pointer_at(chosen.target_path)
        self._remember_turn()
        self._state.run_thread(chosen.thread)
        self._machine.choose_path(chosen.target_path, new_turn=True)
        self._state.journal.clear()

    def choose_path(self, path: str, args: tuple[HostValue, ...] | list[HostValue] = (), reset: bool = True) -> None:
        """Goes to a knot or stitch, with arguments; by default everything on the call stack is left behind.

        >>> story = Story.from_source("Start.\\n-> END\\n=== greet(name)\\nHello, {name}.\\n-> END")
        >>> story.choose_path("greet", ["Ann"])
        >>> story.continue_()
        'Hello, Ann.\\n'
        """
        self._refuse_if_busy()
        values = [from_host(value) for value in args]
        self._container(path)
        state = self._state
        if not reset and state.frame.kind == FrameKind.FUNCTION:
            raise InkUsageError(f"The story is in a function: going to {path!r} now needs reset=True.")
        self._remember_turn()
        state.pending = None
        if reset:
            state.diverted = None
            state.stack.clear()
            state.force_end()
        state.stack += values
        self._machine.choose_path(path, new_turn=True)
        state.safe_exit = False
        state.journal.clear()

    def _remember_turn(self) -> None:
        state = self._state
        turn = PastTurn(turn=state.turn, knot=knot_of(state), places=places_of(state))
        state.past = (*state.past[-_PAST_TURNS_KEPT + 1 :], turn)

    # Functions, both ways

    def bind_external(self, name: str, function: HostFunction, lookahead_safe: bool = False) -> None:
        """Ties an EXTERNAL function to one of the host.

        A function that is not safe for look-ahead is never called before its line is reached for good. It may return
        int, float, bool, str, InkList, DivertTarget, None, or `Suspend(request)` to answer later.

        >>> from fabula.ink import Suspend
        >>> story = Story.from_source("EXTERNAL ask(question)\\nThe answer is {ask(6)}.\\n-> END")
        >>> story.bind_external("ask", lambda question: Suspend({"question": question}))
        >>> story.continue_(), story.pending_request
        ('', {'question': 6})
        >>> story.resume(42)
        'The answer is 42.\\n'
        """
        if name in self._machine.bindings:
            raise InkUsageError(f"EXTERNAL function '{name}' is bound already.")
        self._machine.bindings[name] = Binding(function=function, lookahead_safe=lookahead_safe)

    def unbind_external(self, name: str) -> None:
        """Takes a binding back."""
        if self._machine.bindings.pop(name, None) is None:
            raise InkUsageError(f"EXTERNAL function '{name}' is not bound.")

    def has_function(self, name: str) -> bool:
        """Whether the story has a knot or function of this name."""
        return name in self._state.content.root.named

    def evaluate_function(self, name: str, *args: HostValue) -> HostValue | None:
        """Runs an Ink function and returns its value; what the reader sees stays untouched.

        >>> Story.from_source("=== function twice(x)\\n~ return x * 2").evaluate_function("twice", 21)
        42
        """
        return self.call_function(name, *args).value

    def call_function(self, name: str, *args: HostValue) -> FunctionResult:
        """Runs an Ink function and returns its value and its text."""
        container = self._state.content.root.named.get(name)
        if container is None:
            raise InkUsageError(f"There is no function '{name}' in this story.")
        values = [from_host(value) for value in args]
        machine, state = self._machine, self._state
        nested = self._busy
        if not nested:
            machine.steps_left = self.step_budget
        self._check_externals()
        moment, pending, notices = state.checkpoint(), state.pending, list(state.notices)
        ahead = (machine.lookahead, machine.newline_at, machine.saw_unsafe)
        self._busy, state.pending = True, None
        done = False
        try:
            result = self._evaluate(container, values)
            done = True
        finally:
            self._busy, state.pending = nested, pending
            machine.lookahead, machine.newline_at, machine.saw_unsafe = ahead
            if not done:
                state.rewind(moment)
        state.notices[:] = notices
        if not nested:
            state.journal.clear()
            self._tell_observers()
        return result

    def _evaluate(self, container: Container, values: list[HostValue]) -> FunctionResult:
        state = self._state
        output, height, safe_exit = state.flow.output, len(state.stack), state.safe_exit
        before = (state.thread.previous_container, state.thread.previous_index)
        state.push_frame(FrameKind.FUNCTION_FROM_HOST, 0)
        state.frame.eval_height = height
        state.frame.container, state.frame.index = container, 0
        depth = len(state.thread.frames)
        state.stack += values
        lines = []
        while self._machine.can_continue:
            state.flow.output = Output()
            run_line(self._machine)
            lines.append(state.flow.output.text())
        if len(state.thread.frames) != depth or state.frame.kind != FrameKind.FUNCTION_FROM_HOST:
            raise InkUsageError("The function did not come to its end: it may have ended the story or offered choices.")
        value: Value | None = state.stack[-1] if len(state.stack) > height else None
        del state.stack[height:]
        state.pop_frame()
        state.flow.output = output
        state.safe_exit = safe_exit
        state.thread.previous_container, state.thread.previous_index = before
        return FunctionResult(value=None if value is None else to_host(value), text="".join(lines))

    def _check_externals(self) -> None:
        content, bindings = self._state.content, self._machine.bindings
        if content.externals <= bindings.keys():
            return
        knots = content.root.named if self._machine.allow_fallbacks else {}
        missing = sorted(name for name in content.externals if name not in bindings and name not in knots)
        if missing:
            raise InkExternalError(
                f"EXTERNAL functions without a binding or a fallback: {', '.join(missing)}. Call bind_external first."
            )

    # Variables

    def observe_variable(self, name: str, observer: Observer) -> Callable[[], None]:
        """Calls the observer with name and value when a global has changed; returns a function that ends it.

        >>> story = Story.from_source("VAR coins = 1\\n~ coins = 5\\nRich!\\n-> END")
        >>> stop = story.observe_variable("coins", print)
        >>> line = story.continue_()
        coins 5
        """
        if name not in self._state.globals:
            raise InkUsageError(f"There is no variable '{name}' in this story.")
        self._observers.setdefault(name, []).append(observer)
        return lambda: self._observers[name].remove(observer) if observer in self._observers[name] else None

    def _tell_observers(self) -> None:
        changed = sorted(self._state.changed)
        self._state.changed.clear()
        for name in changed:
            for observer in list(self._observers.get(name, ())):
                observer(name, to_host(self._state.globals[name]))

    def _set_variable(self, name: str, value: object) -> None:
        if name not in self._state.globals:
            raise InkUsageError(f"There is no variable '{name}' in this story.")
        self._state.set_global(name, from_host(value))
        if not self._busy:
            self._state.journal.clear()
            self._tell_observers()

    # Saving

    def state_json(self) -> str:
        """The whole play as text, in the reference's save format."""
        self._refuse_if_busy()
        state = self._state
        saved = write_state(state)
        own: dict[str, Json] = {"version": OWN_VERSION, "story": state.content.digest, **name_places(state)}
        own["past"] = write_past(state.past)
        if state.pending is not None:
            own["pending"] = write_pending(state.pending)
        saved[OWN_FIELD] = own
        return write_json(saved)

    def saved_letters(self, most: int) -> int:
        """How many letters `state_json` would have at least; beyond `most` nobody counts on.

        >>> story = Story.from_source('VAR name = "Ann"')
        >>> 50 < story.saved_letters(1_000) <= len(story.state_json())
        True
        """
        return saved_letters(self._state, most)

    def prepare_saves(self) -> None:
        """Does once for a story and its copies what takes long when one of them is saved for the first time."""
        prepare_names(self._state.content)

    def load_state(self, text: str) -> None:
        """Goes to a saved moment, of this story or of an earlier version of it.

        Raises InkStateError for a text that is not a save, and InkEditedError when the story was edited so that the
        saved place does not exist unchanged; the story then stays where it is.

        >>> story = Story.from_source("One.\\nTwo.\\n-> END")
        >>> saved = story.state_json()
        >>> story.continue_maximally()
        'One.\\nTwo.\\n'
        >>> story.load_state(saved)
        >>> story.continue_()
        'One.\\n'
        """
        self._refuse_if_busy()
        try:
            saved = as_object(parse_json(text), "a save")
        except TokenError as error:
            raise InkStateError(f"The saved state cannot be loaded: {error}.") from error
        content = self._state.content
        self._machine.state = read_state(relocate(saved, content), content, self._state.defaults)

    def fork(self, *, seed: int | None = None, draw: Draw | None = None) -> Story:
        """A copy to try things with: it shares the story's content, and running it never touches this one.

        Bound functions are shared; observers stay behind. With a seed, its dice fall differently from here on; with
        `draw`, somebody chooses for them.

        >>> story = Story.from_source("One.\\nTwo.\\n-> END")
        >>> story.fork().continue_maximally(), story.continue_()
        ('One.\\nTwo.\\n', 'One.\\n')
        """
        self._refuse_if_busy()
        twin = Story.__new__(Story)
        machine = Machine(self._state.copy())
        if seed is not None:
            machine.state.seed, machine.state.previous_random = _seed(seed), 0
        machine.draw = draw
        machine.bindings = self._machine.bindings.copy()
        machine.allow_fallbacks = self._machine.allow_fallbacks
        twin._setup(machine)
        twin.step_budget = self.step_budget
        return twin

    def reset(self) -> None:
        """Starts the story again from its beginning, with the same seed."""
        self._refuse_if_busy()
        old = self._state
        fresh = StoryState(old.content, old.seed)
        fresh.globals, fresh.defaults = old.defaults.copy(), old.defaults
        self._machine.state = fresh

    # Flows

    @property
    def current_flow_name(self) -> str:
        """The flow being played."""
        return self._state.flow.name

    @property
    def alive_flow_names(self) -> list[str]:
        """All flows but the default one."""
        return [name for name in self._state.flows if name != DEFAULT_FLOW]

    def switch_flow(self, name: str) -> None:
        """Goes to another flow, which starts at the top of the story if it is new."""
        self._refuse_if_busy()
        state = self._state
        if name not in state.flows:
            state.flows[name] = Flow(name, CallStack.start(state.content.root))
        state.flow = state.flows[name]
        state.refresh()

    def switch_to_default_flow(self) -> None:
        """Goes back to the flow that every story starts with."""
        self.switch_flow(DEFAULT_FLOW)

    def remove_flow(self, name: str) -> None:
        """Ends a flow; if it is the current one, the default flow goes on."""
        self._refuse_if_busy()
        if name == DEFAULT_FLOW:
            raise InkUsageError("The default flow cannot be removed.")
        if name not in self._state.flows:
            raise InkUsageError(f"There is no flow '{name}'.")
        if self._state.flow.name == name:
            self.switch_to_default_flow()
        del self._state.flows[name]

    # Small helps

    def _refuse_if_busy(self) -> None:
        if self._busy:
            raise InkUsageError("The story is in the middle of a line: host functions may only use variables.")

    def _container(self, path: str) -> Container:
        container = self._state.content.container(path)
        if container is None:
            raise InkUsageError(f"There is no knot or stitch '{path}' in this story.")
        return container


def _seed(seed: int) -> int:
    value = from_host(seed)
    if not isinstance(value, int):
        raise InkUsageError("A seed is a whole number.")
    return int(value)


def _opening_tags(container: Container) -> list[str]:
    while container.content and isinstance(container.content[0], Container):
        container = container.content[0]
    tags: list[str] = []
    in_tag = False
    for node in container.content:
        if isinstance(node, Command) and node.op in (Op.BEGIN_TAG, Op.END_TAG):
            in_tag = node.op == Op.BEGIN_TAG
        elif not in_tag:
            break
        elif not isinstance(node, Text):
            raise InkUsageError("Only plain tags at the top of a flow can be read before it is played.")
        else:
            tags.append(node.value)
    return tags
