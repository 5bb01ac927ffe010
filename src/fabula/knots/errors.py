"""Errors that the compiler cannot know: AI knots that are named where they cannot be played."""

from __future__ import annotations

from collections.abc import Iterator

from fabula.ink import CompileResult, Problem, Severity
from fabula.ink.syntax.tree import Call, Choice, ExternalDeclaration, Node, String, walk
from fabula.knots.names import ASKED, HOST_FUNCTIONS
from fabula.knots.scan import Scan


def errors_of(scan: Scan) -> Iterator[Problem]:
    """Everything that would fail while the story is played."""
    yield from _targets_with_arguments(scan)
    yield from _waits_inside_text(scan)


def functions_of_no_game(scan: Scan) -> Iterator[Problem]:
    """EXTERNAL functions that are called, though no game stands behind a story here: it could not even begin."""
    nodes = list(walk(*scan.result.tree.nodes))
    unknown = {node.name: node for node in nodes if isinstance(node, ExternalDeclaration)}
    for name in {flow.name for flow in scan.result.tree.flows} | HOST_FUNCTIONS:
        unknown.pop(name, None)
    for node in nodes:
        if isinstance(node, Call) and (declared := unknown.pop(node.name, None)):
            signature = f"{node.name}({', '.join(declared.params)})"
            message = (
                f"'{node.name}' is EXTERNAL, and no game stands behind a story that is played here. "
                f"Write what happens instead: === function {signature}"
            )
            yield scan.problem(Severity.ERROR, node.at, message)


def _targets_with_arguments(scan: Scan) -> Iterator[Problem]:
    """A knot that an AI hands back to gets no arguments."""
    for talk in scan.talks:
        for named in talk.named:
            if named.flow is not None and named.flow.params:
                message = f"'{named.name}' needs arguments, so {talk.word} cannot go to it"
                yield scan.problem(Severity.ERROR, named.at, message)


def _waits_inside_text(scan: Scan) -> Iterator[Problem]:
    """While a choice's text or a string is put together, the story cannot stop and wait for an answer."""
    waits = _waiting_functions(scan.result)
    for node in walk(*scan.result.tree.nodes):
        for call in _calls_in_text(node):
            if call.name in waits:
                message = (
                    f"'{call.name}' cannot be asked inside the text of a choice or a string. "
                    f"Keep its answer first, with ~ temp answer = {call.name}(...), and write {{answer}} here"
                )
                yield scan.problem(Severity.ERROR, call.at, message)


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
    waits = set(ASKED) - {flow.name for flow in flows}
    called = {
        flow.name: {node.name for node in walk(*flow.body) if isinstance(node, Call)}
        for flow in flows
        if flow.is_function
    }
    while more := {name for name, calls in called.items() if calls & waits} - waits:
        waits |= more
    return waits
