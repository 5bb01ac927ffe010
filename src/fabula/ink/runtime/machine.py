"""Moves a story through its content: pointers, diverts, visits, and the calls out to the host.

`Machine` knows how to move; what each instruction means is in `commands`, and how many instructions make a line is in
`running`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from fabula.ink.runtime.content import Container, Divert, FrameKind, resolve
from fabula.ink.runtime.errors import InkBudgetExceeded, InkError, InkExternalError, InkRuntimeError
from fabula.ink.runtime.lists import InkList
from fabula.ink.runtime.state import Checkpoint, Pending, StoryState
from fabula.ink.runtime.values import VOID, DivertTarget, Value, Void, from_host, to_host

OUTPUT_LIMIT: Final = 10_000
_CHARACTERS_PER_STEP: Final = 256
_ITEMS_PER_STEP: Final = 16

HostFunction = Callable[..., Any]


class Suspend(Exception):
    """What a host function returns, or raises, when it cannot answer at once.

    The story stops with `pending_request` set, can be saved, and goes on with `resume(answer)`. The request should be
    plain JSON data if the story is to be saved meanwhile.

    >>> Suspend({"kind": "input"}).request
    {'kind': 'input'}
    """

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.request = request


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """A host function, and whether it may be called while the story looks ahead."""

    function: HostFunction
    lookahead_safe: bool


Draw = Callable[[str, list[int], int], int]
"""Chooses for the dice: of a place in the story and its outcomes in the order in which they would come, the one at a
position. The story may look ahead and come back, so the same question must have the same answer."""


class Machine:
    """A state with its content, its host functions, and a budget of steps."""

    __slots__ = ("allow_fallbacks", "bindings", "draw", "lookahead", "newline_at", "saw_unsafe", "state", "steps_left")

    def __init__(self, state: StoryState) -> None:
        self.state = state
        self.bindings: dict[str, Binding] = {}
        self.allow_fallbacks = True
        self.draw: Draw | None = None
        self.lookahead: Checkpoint | None = None
        self.newline_at = -1
        self.saw_unsafe = False
        self.steps_left = 0

    @property
    def can_continue(self) -> bool:
        """Whether there is content left to run."""
        return self.state.frame.container is not None

    def spend(self, steps: int) -> None:
        """Takes steps off the budget; long texts and lists cost more than one."""
        self.steps_left -= steps
        if self.steps_left < 0:
            raise InkBudgetExceeded("The story ran for more steps than its budget allows")

    def spend_on_value(self, value: Value) -> None:
        """Charges for the size of a value that was made or gone through."""
        if type(value) is str and len(value) > _CHARACTERS_PER_STEP:
            self.spend(len(value) // _CHARACTERS_PER_STEP)
        elif isinstance(value, InkList) and len(value) > _ITEMS_PER_STEP:
            self.spend(len(value) // _ITEMS_PER_STEP)

    def warn(self, message: str) -> None:
        """Notes something odd that does not stop the story."""
        self.state.notices.append(("warning", message))

    # Moving on

    def next_content(self) -> None:
        """Goes to the next instruction: the divert's target, the next one in line, or back to the caller."""
        state = self.state
        while True:
            frame = state.frame
            state.thread.previous_container = frame.container
            state.thread.previous_index = frame.index
            if state.diverted is not None:
                frame.container, frame.index = state.diverted
                state.diverted = None
                self.visit_entered()
                return
            if self._step_forward() or not self._return_to_caller():
                return
            self.spend(1)

    def _step_forward(self) -> bool:
        frame = self.state.frame
        container, index = frame.container, frame.index + 1
        while container is not None and index >= len(container.content):
            index = container.index + 1
            container = container.parent if index > 0 else None
        frame.container, frame.index = container, index
        return container is not None

    def _return_to_caller(self) -> bool:
        state = self.state
        if state.frame.kind == FrameKind.FUNCTION and len(state.thread.frames) > 1:
            state.pop_frame()
            if state.frame.is_evaluating:
                state.stack.append(VOID)
        elif state.can_pop_thread():
            state.pop_thread()
        else:
            self.leave_host_function()
            return False
        return state.frame.container is not None

    def leave_host_function(self) -> bool:
        """Ends a function that the host called; whether there was one."""
        if self.state.frame.kind != FrameKind.FUNCTION_FROM_HOST:
            return False
        self.state.frame.container = None
        self.state.safe_exit = True
        return True

    def visit_entered(self) -> None:
        """Counts visits of the containers that a jump has entered."""
        state = self.state
        container, index = state.frame.container, state.frame.index
        if container is None or index == -1:
            return
        child = resolve(container, index)
        if child is None:
            return
        ancestor: Container | None = container
        at_start = index == 0
        if child is container:
            ancestor, at_start = container.parent, container.index == 0
        before = self._lineage_before()
        entered = 0
        while ancestor is not None and (ancestor not in before or ancestor.count_at_start_only):
            state.visit(ancestor, at_start)
            at_start = at_start and ancestor.index == 0
            ancestor = ancestor.parent
            entered += 1
        self.steps_left -= entered // _ITEMS_PER_STEP

    def _lineage_before(self) -> frozenset[Container]:
        thread = self.state.thread
        container = thread.previous_container
        if container is None:
            return frozenset()
        previous = resolve(container, thread.previous_index)
        return previous.lineage() if isinstance(previous, Container) else container.lineage()

    def pointer_at(self, path: str) -> tuple[Container, int]:
        """Where a path leads, or a typed error."""
        place = self.state.content.place(path) if path else None
        if place is None:
            raise InkRuntimeError(f"Failed to find content at path '{path}'")
        return place

    def choose_path(self, path: str, *, new_turn: bool) -> None:
        """Jumps to a path, forgetting the choices on offer."""
        container, index = self.pointer_at(path)
        state = self.state
        state.flow.choices = []
        state.frame.container, state.frame.index = container, max(index, 0)
        if new_turn:
            state.turn += 1
        self.visit_entered()

    def follow_fallback(self) -> None:
        """Takes a fallback choice, when nothing else is on offer."""
        choices = self.state.flow.choices
        if not choices or not all(choice.is_fallback for choice in choices):
            return
        self.state.run_thread(choices[0].thread)
        self.choose_path(choices[0].target_path, new_turn=False)

    # Calling the host

    def call_external(self, divert: Divert) -> bool:
        """Calls a host function, or its fallback in Ink; False when the story has to wait for it."""
        binding = self.bindings.get(divert.target)
        if binding is None:
            self._call_fallback(divert.target)
            return True
        if not binding.lookahead_safe:
            if self.state.flow.output.in_string():
                raise InkRuntimeError(
                    f"External function {divert.target} could not be called because 1) it wasn't marked as "
                    "lookahead_safe when it was bound and 2) the story is in the middle of string generation, either "
                    'because choice text is being generated, or because you have ink like "hello {func()}". You can '
                    "work around this by generating the result of your function into a temporary variable before the "
                    f"string or choice gets generated: ~ temp x = {divert.target}()"
                )
            if self.lookahead is not None:
                self.saw_unsafe = True
                return True
        return self._call_bound(divert, binding)

    def _call_fallback(self, name: str) -> None:
        container = self.state.content.root.named.get(name) if self.allow_fallbacks else None
        if container is None:
            raise InkExternalError(
                f"EXTERNAL function '{name}' has not been bound, and there is no ink function of that name to fall "
                "back to."
            )
        self.state.push_frame(FrameKind.FUNCTION, len(self.state.flow.output.items))
        self.state.diverted = (container, 0)

    def _call_bound(self, divert: Divert, binding: Binding) -> bool:
        arguments = [to_host(self.state.pop()) for _ in range(divert.arguments)]
        arguments.reverse()
        try:
            answer = binding.function(*arguments)
        except Suspend as suspend:
            answer = suspend
        except InkError:
            raise
        except Exception as error:
            raise InkExternalError(f"EXTERNAL function '{divert.target}' failed: {error!r}") from error
        if isinstance(answer, Suspend):
            return self._suspend(divert, answer)
        self.push_answer(divert.target, answer)
        return True

    def _suspend(self, divert: Divert, answer: Suspend) -> bool:
        if self.lookahead is not None:
            self.saw_unsafe = True
            return True
        if any(frame.kind == FrameKind.FUNCTION_FROM_HOST for frame in self.state.thread.frames):
            raise InkExternalError(f"EXTERNAL function '{divert.target}' cannot wait inside evaluate_function.")
        self.state.pending = Pending(function=divert.target, request=answer.request)
        return False

    def push_answer(self, name: str, answer: object) -> None:
        """Puts what a host function returned on the evaluation stack."""
        value: Value
        try:
            value = VOID if answer is None or isinstance(answer, Void) else from_host(answer)
        except InkError as error:
            raise InkExternalError(f"EXTERNAL function '{name}' returned a foreign value. {error}") from error
        self.state.stack.append(value)
        self.spend_on_value(value)

    def container_of(self, target: DivertTarget) -> Container | None:
        """The container that a divert target names."""
        return self.state.content.container(target.path)
