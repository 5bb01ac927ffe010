"""Problems that the compiler cannot know: AI knots that are named where they cannot be played."""

from __future__ import annotations

from collections.abc import Iterator

from fabula.ink import CompileResult, Problem, Severity
from fabula.ink.syntax.tree import Call, Choice, Divert, DivertTarget, Flow, Node, String, walk

_WAITS = frozenset({"generate", "input", "SEED_AI"})


def knot_problems(result: CompileResult) -> Iterator[Problem]:
    """Everything that would fail while the story is played."""
    yield from _targets_with_arguments(result)
    yield from _waits_inside_text(result)


def talks_of(result: CompileResult) -> Iterator[tuple[str, str]]:
    """The (character, target) pairs of the agents that the story names."""
    for node, named in _calls(result):
        if node.name == "agent" and len(named) == 2:
            yield named[0].name, named[1].name


def _calls(result: CompileResult) -> Iterator[tuple[Divert, tuple[Divert, ...]]]:
    """Every divert to an AI knot that the story does not define itself, with the knots it names."""
    own = {flow.name for flow in result.tree.flows}
    for body in _bodies(result):
        for node in walk(*body):
            if isinstance(node, Divert) and node.name in ("agent", "continue") and node.name not in own:
                yield node, tuple(arg.divert for arg in node.args if isinstance(arg, DivertTarget))


def _targets_with_arguments(result: CompileResult) -> Iterator[Problem]:
    """A knot that an AI hands back to gets no arguments."""
    flows: dict[str, Flow] = {}
    for flow in result.tree.flows:
        flows[flow.name] = flow
        flows.update({f"{flow.name}.{stitch.name}": stitch for stitch in flow.stitches})
    for node, named in _calls(result):
        for one in named:
            flow_named = flows.get(one.name)
            if flow_named is not None and flow_named.params:
                yield _problem(result, one.at, f"'{one.name}' needs arguments, so {node.name} cannot go to it")


def _waits_inside_text(result: CompileResult) -> Iterator[Problem]:
    """While a choice's text or a string is put together, the story cannot stop and wait for an answer."""
    waits = _waiting_functions(result)
    for body in _bodies(result):
        for node in walk(*body):
            for call in _calls_in_text(node):
                if call.name in waits:
                    yield _problem(
                        result,
                        call.at,
                        f"'{call.name}' cannot be asked inside the text of a choice or a string. "
                        f"Keep its answer first, with ~ temp answer = {call.name}(...), and write {{answer}} here",
                    )


def _calls_in_text(node: object) -> Iterator[Call]:
    parts: tuple[Node, ...] = ()
    if isinstance(node, Choice):
        # A string in a choice's text is found on its own.
        parts = (*node.start, *node.only)
    elif isinstance(node, String):
        parts = node.parts
    seen_in_strings = {id(call) for part in walk(*parts) if isinstance(part, String) for call in walk(*part.parts)}
    for found in walk(*parts):
        if isinstance(found, Call) and id(found) not in seen_in_strings:
            yield found


def _waiting_functions(result: CompileResult) -> set[str]:
    """The functions that wait for an answer, and those that call them."""
    flows = result.tree.flows
    waits = set(_WAITS) - {flow.name for flow in flows}
    called = {
        flow.name: {node.name for node in walk(*flow.body) if isinstance(node, Call)}
        for flow in flows
        if flow.is_function
    }
    while more := {name for name, calls in called.items() if calls & waits} - waits:
        waits |= more
    return waits


def _bodies(result: CompileResult) -> list[tuple[Node, ...]]:
    return [result.tree.body, *(part.body for flow in result.tree.flows for part in (flow, *flow.stitches))]


def _problem(result: CompileResult, at: int, message: str) -> Problem:
    place = result.sources.place(at)
    return Problem(severity=Severity.ERROR, message=message, file=place.file, line=place.line, column=place.column)
