"""What each instruction does: one small function per kind, gathered in `TABLE` by number."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final

from fabula.ink.runtime.arithmetic import INT_MAX, int32
from fabula.ink.runtime.content import (
    Assign,
    ChoicePoint,
    Command,
    Container,
    Divert,
    FrameKind,
    Glue,
    Literal,
    Native,
    Node,
    Op,
    ReadCountOf,
    ReadVariable,
    Text,
)
from fabula.ink.runtime.errors import InkRuntimeError
from fabula.ink.runtime.lists import InkList
from fabula.ink.runtime.machine import Machine
from fabula.ink.runtime.natives import argument_count, call_native
from fabula.ink.runtime.output import clean_white_space
from fabula.ink.runtime.reference_random import first_random, random_numbers
from fabula.ink.runtime.state import OfferedChoice
from fabula.ink.runtime.values import (
    VOID,
    ChoiceTag,
    DivertTarget,
    Value,
    VariablePointer,
    Void,
    is_true,
    print_value,
)

Action = Callable[[Machine, Any], None]

MOST_CHOSEN_FOR: Final = 64
"""Draws with more outcomes than this are left to the dice, so that choosing for them stays cheap."""


def _nothing(machine: Machine, node: Node) -> None:
    """An empty container, or a no-op."""


# Content


def _text(machine: Machine, node: Text) -> None:
    state = machine.state
    if state.frame.is_evaluating:
        state.stack.append(node.value)
    else:
        state.flow.output.push_text(node, state.thread)


def _glue(machine: Machine, node: Glue) -> None:
    if machine.state.frame.is_evaluating:
        raise InkRuntimeError("Glue in the middle of an expression")
    machine.state.flow.output.push_glue(node)


def _literal(machine: Machine, node: Literal) -> None:
    state = machine.state
    if state.frame.is_evaluating:
        state.stack.append(node.value)
    elif isinstance(node.value, ChoiceTag):
        state.flow.output.push_tag(node.value)


def _pointer(machine: Machine, node: Literal) -> None:
    assert isinstance(node.value, VariablePointer)
    state = machine.state
    if state.frame.is_evaluating:
        state.stack.append(VariablePointer(node.value.name, state.frame_of(node.value.name)))


# Diverts


def _divert(machine: Machine, node: Divert) -> None:
    state = machine.state
    if node.conditional and not is_true(state.pop()):
        return
    if node.container is None:
        raise InkRuntimeError(f"Divert target doesn't exist: {node.target}")
    state.diverted = (node.container, node.index)
    if node.pushes is not None:
        state.push_frame(node.pushes, len(state.flow.output.items))


def _variable_divert(machine: Machine, node: Divert) -> None:
    state = machine.state
    if node.conditional and not is_true(state.pop()):
        return
    target = state.variable(node.target)
    if target is None:
        raise InkRuntimeError(f"Tried to divert using a target from a variable that could not be found ({node.target})")
    if not isinstance(target, DivertTarget):
        content = "was empty/null (the value 0)." if target == 0 else f"contained '{print_value(target)}'."
        raise InkRuntimeError(
            f"Tried to divert to a target from a variable, but the variable ({node.target}) didn't contain a divert "
            f"target, it {content}"
        )
    state.diverted = machine.pointer_at(target.path)
    if node.pushes is not None:
        state.push_frame(node.pushes, len(state.flow.output.items))


def _external(machine: Machine, node: Divert) -> None:
    if node.conditional and not is_true(machine.state.pop()):
        return
    machine.call_external(node)


def _pop_function(machine: Machine, node: Command) -> None:
    if not machine.leave_host_function():
        _return(machine, FrameKind.FUNCTION)


def _pop_tunnel(machine: Machine, node: Command) -> None:
    onward = machine.state.pop()
    if not isinstance(onward, (DivertTarget, Void)):
        raise InkRuntimeError("Expected void if ->-> doesn't override target")
    if machine.leave_host_function():
        return
    _return(machine, FrameKind.TUNNEL)
    if isinstance(onward, DivertTarget):
        machine.state.diverted = machine.pointer_at(onward.path)


_RETURNS: Final = {
    FrameKind.FUNCTION: "function return statement (~ return)",
    FrameKind.TUNNEL: "tunnel onwards statement (->->)",
}


def _return(machine: Machine, kind: FrameKind) -> None:
    state = machine.state
    if len(state.thread.frames) < 2:
        raise InkRuntimeError(f"Found {_RETURNS[kind]}, when expected end of flow (-> END or choice)")
    if state.frame.kind != kind:
        raise InkRuntimeError(f"Found {_RETURNS[kind]}, when expected {_RETURNS[state.frame.kind]}")
    state.pop_frame()


def _done(machine: Machine, node: Command) -> None:
    state = machine.state
    if state.can_pop_thread():
        state.pop_thread()
    else:
        state.safe_exit = True
        state.frame.container = None


def _end(machine: Machine, node: Command) -> None:
    machine.state.force_end()


# Expressions


def _eval_start(machine: Machine, node: Command) -> None:
    if machine.state.frame.is_evaluating:
        raise InkRuntimeError("Already in expression evaluation?")
    machine.state.frame.is_evaluating = True


def _eval_end(machine: Machine, node: Command) -> None:
    if not machine.state.frame.is_evaluating:
        raise InkRuntimeError("Not in expression evaluation mode")
    machine.state.frame.is_evaluating = False


def _eval_output(machine: Machine, node: Command) -> None:
    state = machine.state
    if state.stack:
        value = state.stack.pop()
        if not isinstance(value, Void):
            text = print_value(value)
            machine.spend_on_value(text)
            state.flow.output.push_text(Text(text), state.thread)


def _duplicate(machine: Machine, node: Command) -> None:
    value = machine.state.pop()
    machine.state.stack += [value, value]


def _pop(machine: Machine, node: Command) -> None:
    machine.state.pop()


def _native(machine: Machine, node: Native) -> None:
    stack = machine.state.stack
    count = argument_count(node.name)
    if len(stack) < count:
        raise InkRuntimeError(f"Too few values for {node.name}")
    arguments = stack[-count:]
    del stack[-count:]
    for argument in arguments:
        machine.spend_on_value(argument)
    result = call_native(node.name, arguments, machine.state.content.lists)
    stack.append(result)
    machine.spend_on_value(result)


def _read_variable(machine: Machine, node: ReadVariable) -> None:
    value = machine.state.variable(node.name)
    if value is None:
        machine.warn(
            f"Variable not found: '{node.name}'. Using default value of 0 (false). This can happen with temporary "
            "variables if the declaration hasn't yet been hit. Globals are always given a default value on load if a "
            "value doesn't exist in the save state."
        )
        value = 0
    machine.state.stack.append(value)


def _read_count_of(machine: Machine, node: ReadCountOf) -> None:
    if node.container is None:
        raise InkRuntimeError(f"Read count of something that doesn't exist: {node.target}")
    machine.state.stack.append(machine.state.visit_count(node.container))


def _assign(machine: Machine, node: Assign) -> None:
    value = machine.state.pop()
    machine.state.assign(node.name, value, is_global=node.is_global, declares=node.declares)


# Strings and tags


def _begin_string(machine: Machine, node: Command) -> None:
    if not machine.state.frame.is_evaluating:
        raise InkRuntimeError("Expected to be in an expression when evaluating a string")
    machine.state.flow.output.push_command(node)
    machine.state.frame.is_evaluating = False


def _end_string(machine: Machine, node: Command) -> None:
    state, output = machine.state, machine.state.flow.output
    start = output.string_starts[-1] if output.string_starts else 0
    removed = output.cut(start)
    for item in removed:
        if isinstance(item, Literal) and isinstance(item.value, ChoiceTag):
            output.push_tag(item.value)
    text = "".join(item.value for item in removed if isinstance(item, Text))
    state.frame.is_evaluating = True
    state.stack.append(text)
    machine.spend_on_value(text)


def _begin_tag(machine: Machine, node: Command) -> None:
    machine.state.flow.output.push_command(node)


def _end_tag(machine: Machine, node: Command) -> None:
    output = machine.state.flow.output
    if not output.in_string():
        output.push_command(node)
        return
    start = len(output.items) - 1
    while start >= 0 and not isinstance(output.items[start], Command):
        start -= 1
    if start >= 0 and output.items[start].op != Op.BEGIN_TAG:
        raise InkRuntimeError("Unexpected ControlCommand while extracting tag from choice")
    text = "".join(item.value for item in output.cut(max(start, 0)) if isinstance(item, Text))
    machine.state.stack.append(ChoiceTag(clean_white_space(text)))


# Choices


def _choice(machine: Machine, node: ChoicePoint) -> None:
    state = machine.state
    shown = not node.has_condition or is_true(state.pop())
    tags: list[str] = []
    choice_only = _pop_choice_text(machine, tags) if node.has_choice_only_content else ""
    start = _pop_choice_text(machine, tags) if node.has_start_content else ""
    if node.target is None:
        raise InkRuntimeError(f"Choice leads nowhere: {node.target_path}")
    if node.once_only and state.visit_count(node.target) > 0:
        shown = False
    if not shown:
        return
    machine.spend(len(state.thread.frames) // 16)
    state.flow.choices.append(
        OfferedChoice(
            text=(start + choice_only).strip(" \t"),
            tags=tuple(reversed(tags)),
            source_path=node.path,
            target_path=node.target.path,
            is_fallback=node.is_fallback,
            thread=state.flow.calls.fork_thread(),
        )
    )
    state.refresh()


def _pop_choice_text(machine: Machine, tags: list[str]) -> str:
    text = machine.state.pop()
    if not isinstance(text, str):
        raise InkRuntimeError("Expected the text of a choice")
    stack = machine.state.stack
    while stack and isinstance(stack[-1], ChoiceTag):
        tags.append(stack[-1].text)
        stack.pop()
    return text


def _choice_count(machine: Machine, node: Command) -> None:
    machine.state.stack.append(len(machine.state.flow.choices))


# Turns and visits


def _turns(machine: Machine, node: Command) -> None:
    machine.state.stack.append(int32(machine.state.turn + 1))


def _turns_since(machine: Machine, node: Command) -> None:
    container = _counted_container(machine)
    machine.state.stack.append(-1 if container is None else machine.state.turns_since(container))


def _read_count(machine: Machine, node: Command) -> None:
    container = _counted_container(machine)
    machine.state.stack.append(0 if container is None else machine.state.visit_count(container))


def _counted_container(machine: Machine) -> Container | None:
    target = machine.state.pop()
    if not isinstance(target, DivertTarget):
        note = (
            ". Did you accidentally pass a read count ('knot_name') instead of a target ('-> knot_name')?"
            if type(target) is int
            else ""
        )
        raise InkRuntimeError(
            "TURNS_SINCE / READ_COUNT expected a divert target (knot, stitch, label name), but saw "
            f"{print_value(target)}{note}"
        )
    container = machine.container_of(target)
    if container is None:
        machine.warn(f"Failed to find container for TURNS_SINCE / READ_COUNT lookup at {target.path}")
    return container


def _visit_index(machine: Machine, node: Command) -> None:
    container = machine.state.frame.container
    if container is not None:
        machine.state.stack.append(machine.state.visit_count(container) - 1)


# Random


def _random(machine: Machine, node: Command) -> None:
    state = machine.state
    highest = _pop_int(machine, "Invalid value for maximum parameter of RANDOM(min, max)")
    lowest = _pop_int(machine, "Invalid value for minimum parameter of RANDOM(min, max)")
    size = highest - lowest + 1
    if size > INT_MAX:
        raise InkRuntimeError("RANDOM was called with a range that exceeds the size that ink numbers can use.")
    if size <= 0:
        raise InkRuntimeError(
            f"RANDOM was called with minimum as {lowest} and maximum as {highest}. The maximum must be larger"
        )
    state.stack.append(_fallen(machine, size) + lowest)


def _next_random(machine: Machine) -> int:
    state = machine.state
    state.previous_random = first_random(int32(state.seed + state.previous_random))
    return state.previous_random


def _fallen(machine: Machine, size: int) -> int:
    """One of so many outcomes, as the dice fall, unless somebody chooses for them."""
    fell, frame = _next_random(machine) % size, machine.state.frame
    if machine.draw is None or frame.container is None or size > MOST_CHOSEN_FOR:
        return fell
    outcomes = [*range(fell, size), *range(fell)]
    return machine.draw(f"{frame.container.path}:{frame.index}", outcomes, 0)


def _seed_random(machine: Machine, node: Command) -> None:
    machine.state.seed = _pop_int(machine, "Invalid value passed to SEED_RANDOM")
    machine.state.previous_random = 0
    machine.state.stack.append(VOID)


def _shuffle_index(machine: Machine, node: Command) -> None:
    state = machine.state
    size = _pop_int(machine, "expected number of elements in sequence for shuffle index")
    count = _pop_int(machine, "expected the visit count of a sequence for shuffle index")
    container = state.frame.container
    if size <= 0 or count < 0 or container is None:
        raise InkRuntimeError("A shuffle needs at least one element")
    machine.spend(size // 16)
    loop, position = divmod(count, size)
    left = list(range(size))
    order: list[int] = []
    numbers = random_numbers(int32(_path_sum(container.path) + loop + state.seed))
    chooses = machine.draw if size <= MOST_CHOSEN_FOR else None
    for number in islice(numbers, position + 1 if chooses is None else size):
        order.append(left.pop(number % len(left)))
    state.stack.append(order[-1] if chooses is None else chooses(container.path, order, position))


def _path_sum(path: str) -> int:
    """The sum of a path's UTF-16 units, by which the reference tells shuffles apart."""
    units = path.encode("utf-16-le", "surrogatepass")
    return sum(units[0::2]) + 256 * sum(units[1::2])


def _pop_int(machine: Machine, complaint: str) -> int:
    value = machine.state.pop()
    if type(value) is not int:
        raise InkRuntimeError(complaint)
    return value


# Lists


def _list_from_int(machine: Machine, node: Command) -> None:
    number = _pop_int(machine, "Passed non-integer when creating a list element from a numerical value.")
    name = machine.state.pop()
    definition = machine.state.content.lists.by_name.get(name) if isinstance(name, str) else None
    if definition is None:
        raise InkRuntimeError(f"Failed to find LIST called {print_value(name)}")
    item = definition.by_number.get(number)
    machine.state.stack.append(InkList() if item is None else InkList({item: number}))


def _list_range(machine: Machine, node: Command) -> None:
    state = machine.state
    high, low, target = state.pop(), state.pop(), state.pop()
    if not isinstance(target, InkList):
        raise InkRuntimeError("Expected list, minimum and maximum for LIST_RANGE")
    state.stack.append(target.sub_range(low, high))
    machine.spend_on_value(target)


def _list_random(machine: Machine, node: Command) -> None:
    state = machine.state
    target = state.pop()
    if not isinstance(target, InkList):
        raise InkRuntimeError("Expected list for LIST_RANDOM")
    result: Value = InkList()
    if target.items:
        index = _fallen(machine, len(target))
        item, number = next(islice(target.items.items(), index, None))
        result = InkList({item: number})
    state.stack.append(result)


_ACTIONS: Final[dict[Op, Action]] = {
    Op.CONTAINER: _nothing,
    Op.TEXT: _text,
    Op.GLUE: _glue,
    Op.LITERAL: _literal,
    Op.POINTER: _pointer,
    Op.DIVERT: _divert,
    Op.VARIABLE_DIVERT: _variable_divert,
    Op.EXTERNAL: _external,
    Op.CHOICE: _choice,
    Op.READ_VARIABLE: _read_variable,
    Op.READ_COUNT_OF: _read_count_of,
    Op.ASSIGN: _assign,
    Op.NATIVE: _native,
    Op.EVAL_START: _eval_start,
    Op.EVAL_OUTPUT: _eval_output,
    Op.EVAL_END: _eval_end,
    Op.DUPLICATE: _duplicate,
    Op.POP: _pop,
    Op.POP_FUNCTION: _pop_function,
    Op.POP_TUNNEL: _pop_tunnel,
    Op.BEGIN_STRING: _begin_string,
    Op.END_STRING: _end_string,
    Op.NO_OP: _nothing,
    Op.CHOICE_COUNT: _choice_count,
    Op.TURNS: _turns,
    Op.TURNS_SINCE: _turns_since,
    Op.READ_COUNT: _read_count,
    Op.RANDOM: _random,
    Op.SEED_RANDOM: _seed_random,
    Op.VISIT_INDEX: _visit_index,
    Op.SHUFFLE_INDEX: _shuffle_index,
    Op.START_THREAD: _nothing,
    Op.DONE: _done,
    Op.END: _end,
    Op.LIST_FROM_INT: _list_from_int,
    Op.LIST_RANGE: _list_range,
    Op.LIST_RANDOM: _list_random,
    Op.BEGIN_TAG: _begin_tag,
    Op.END_TAG: _end_tag,
}

TABLE: Final[list[Action]] = [_ACTIONS[op] for op in Op]
