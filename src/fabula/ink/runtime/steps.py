"""Runs instructions until a line of text is complete.

1. A step does one instruction and moves on. 2. When a line break is written, the moment is remembered and the story
looks ahead: glue may still take the break away. 3. As soon as more text comes, the story goes back to that moment and
the line is done; so it does when something goes wrong ahead. 4. At the end of content the reference's complaints
become notices.
"""

from __future__ import annotations

from fabula.ink.runtime.commands import TABLE
from fabula.ink.runtime.content import Container, FrameKind, Node, Op, pointer_path
from fabula.ink.runtime.errors import InkBudgetExceeded, InkError, InkRuntimeError
from fabula.ink.runtime.machine import OUTPUT_LIMIT, Machine

PIECES_PER_STEP = 16


def run_line(machine: Machine) -> None:
    """Runs one line, or up to the end, or until the host has to answer."""
    state = machine.state
    state.safe_exit = False
    machine.saw_unsafe = False
    machine.lookahead = None
    try:
        while not _run_step(machine):
            if state.pending is not None:
                return
            if state.frame.container is None:
                break
    except InkError as error:
        if machine.lookahead is None:
            _say_where(error, machine)
            raise  # whatever goes wrong while looking ahead goes wrong again with the next line
    _go_back(machine)
    if state.frame.container is None:
        _note_sudden_end(machine)
    state.safe_exit = False
    machine.saw_unsafe = False


def _run_step(machine: Machine) -> bool:
    """Does one step and looks after line breaks; True when a line is complete."""
    state = machine.state
    machine.spend(1)
    step(machine)
    if state.pending is not None:
        return False
    if state.frame.container is None and state.frame.kind != FrameKind.FUNCTION_FROM_HOST:
        machine.follow_fallback()
    output = state.flow.output
    if len(output.items) > OUTPUT_LIMIT:
        raise InkBudgetExceeded(f"One line is made of more than {OUTPUT_LIMIT} pieces")
    if output.string_starts:
        return False
    if machine.lookahead is not None:
        # What is looked through again at each step is paid for: a story may write blanks and glue without end.
        machine.spend((len(output.items) - machine.newline_at) // PIECES_PER_STEP)
        if not output.kept_newline(machine.newline_at):
            machine.lookahead = None
        elif machine.saw_unsafe or output.goes_beyond(machine.newline_at):
            _go_back(machine)
            return True
        elif state.frame.container is None:
            machine.lookahead = None
    elif output.ends_in_newline() and state.frame.container is not None:
        machine.lookahead = state.checkpoint()
        machine.newline_at = output.last_newline()
    return False


def _go_back(machine: Machine) -> None:
    if machine.lookahead is not None:
        machine.state.rewind(machine.lookahead)
        machine.lookahead = None


def step(machine: Machine) -> None:
    """Does the instruction under the pointer, and moves the pointer on."""
    state = machine.state
    frame = state.frame
    container, index = frame.container, frame.index
    if container is None:
        return
    node: Node | None
    if index < 0 or not container.content:
        node = container
    else:
        node = container.content[index] if index < len(container.content) else None
    while isinstance(node, Container):
        state.visit(node, True)
        machine.steps_left -= 1
        if not node.content:
            break
        container, index = node, 0
        node = node.content[0]
    frame.container, frame.index = container, index
    if node is not None:
        TABLE[node.op](machine, node)
    if state.frame.container is None or state.pending is not None:
        return
    machine.next_content()
    if node is not None and node.op == Op.START_THREAD:
        state.push_thread()


def _note_sudden_end(machine: Machine) -> None:
    state = machine.state
    if state.can_pop_thread():
        message = "Thread available to pop, threads should always be flat by the end of evaluation?"
        state.notices.append(("error", message))
    if state.flow.choices or state.safe_exit:
        return
    if len(state.thread.frames) < 2:
        message = "ran out of content. Do you need a '-> DONE' or '-> END'?"
    elif state.frame.kind == FrameKind.TUNNEL:
        message = "unexpectedly reached end of content. Do you need a '->->' to return from a tunnel?"
    elif state.frame.kind == FrameKind.FUNCTION:
        message = "unexpectedly reached end of content. Do you need a '~ return'?"
    else:
        message = "unexpectedly reached end of content for unknown reason. Please debug compiler!"
    state.notices.append(("error", message))


def _say_where(error: InkError, machine: Machine) -> None:
    frame = machine.state.frame
    if isinstance(error, InkRuntimeError) and not error.path and frame.container is not None:
        error.path = pointer_path(frame.container, frame.index)
        error.args = (f"{error.message} (at {error.path})",)
