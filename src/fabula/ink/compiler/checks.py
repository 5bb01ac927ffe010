"""Names that collide and things that stand where they must not: what the reference refuses, refused here too."""

from fabula.ink.compiler.symbols import FlowScope, Symbols
from fabula.ink.compiler.values import BUILT_IN_FUNCTIONS
from fabula.ink.syntax.scanner import RESERVED
from fabula.ink.syntax.sources import ProblemLog
from fabula.ink.syntax.tree import (
    Choice,
    Divert,
    DivertTarget,
    FlowLevel,
    Node,
    Return,
    StoryTree,
    Tree,
    Variable,
    VariableDeclaration,
    children,
    walk,
)


def check_names(symbols: Symbols, log: ProblemLog) -> None:
    """Every declared name against those that come before it in rank: knots, lists, variables, labels, arguments."""
    checker = _NameChecker(symbols, log)
    for name, variable in symbols.variables.items():
        is_list = name in symbols.lists
        checker.check(
            name,
            variable.at,
            "list" if is_list else "variable",
            variables=False,
            lists=not is_list,
        )
        if isinstance(variable, VariableDeclaration):
            _check_initial(symbols, variable, log)
    for name, constant in symbols.constants.items():
        checker.check(name, constant.at, "constant", variables=False)
    for owners in symbols.list_items.values():
        for _, item in owners:
            checker.check(item.name, item.at, "list item", variables=False, lists=False)
    for scope in _scopes(symbols.story):
        checker.check_scope(scope)


def _scopes(story: FlowScope) -> list[FlowScope]:
    found = [story]
    for knot in story.flows.values():
        found.append(knot)
        found.extend(knot.flows.values())
    return found


def _check_initial(symbols: Symbols, variable: VariableDeclaration, log: ProblemLog) -> None:
    value = variable.value
    if (
        isinstance(value, Variable)
        and value.name not in symbols.constants
        and symbols.list_item(value.path) is None
        and (value.name in symbols.variables or symbols.resolve(value.path, symbols.story) is not None)
    ):
        log.error(
            variable.at,
            "global variable assignments cannot refer to other variables, "
            "only literal values, constants and list items",
        )


class _NameChecker:
    def __init__(self, symbols: Symbols, log: ProblemLog) -> None:
        self._symbols = symbols
        self._log = log

    def check_scope(self, scope: FlowScope) -> None:
        if scope.level is FlowLevel.KNOT:
            self._check_word(scope.name, scope.at, "function" if scope.is_function else "knot")
        elif scope.level is FlowLevel.STITCH:
            self.check(scope.name, scope.at, "stitch")
        for label, point in scope.labels.items():
            self.check(label, point.node.at, type(point.node).__name__.lower())
            self._check_label(label, point.node.at, scope)
        self._check_params(scope)
        for name, at in scope.temporaries.items():
            self.check(name, at, "temp")
            if any(parameter.name == name for parameter in scope.params):
                self._log.error(
                    at,
                    f"temp '{name}': name has already been used for an argument to {scope.name}",
                )
            elif self._symbols.resolve((name,), scope) is not None and name not in self._symbols.story.flows:
                self._log.error(
                    at,
                    f"temp '{name}': name has already been used for a label or stitch",
                )

    def _check_label(self, label: str, at: int, scope: FlowScope) -> None:
        outer: FlowScope | None = scope
        while outer is not None:
            if label == outer.name or (label in outer.flows and outer.level is not FlowLevel.STORY):
                self._log.error(at, f"The label '{label}' has the same name as a flow around it")
                return
            outer = outer.parent

    def _check_params(self, scope: FlowScope) -> None:
        seen: set[str] = set()
        for parameter in scope.params:
            self.check(parameter.name, parameter.at, "argument")
            if parameter.name in seen:
                self._log.error(
                    parameter.at,
                    f"Multiple arguments with the same name: '{parameter.name}'",
                )
            seen.add(parameter.name)

    def check(
        self,
        name: str,
        at: int,
        kind: str,
        *,
        lists: bool = True,
        variables: bool = True,
    ) -> None:
        if self._check_word(name, at, kind):
            return
        symbols = self._symbols
        knot = symbols.story.flows.get(name)
        if knot is not None and knot.level is FlowLevel.KNOT:
            self._clash(name, at, kind, "function" if knot.is_function else "knot")
        elif lists and name in symbols.lists:
            self._clash(name, at, kind, "list")
        elif lists and name in symbols.list_items:
            self._clash(name, at, kind, "list item")
        elif variables and name in symbols.variables:
            self._clash(name, at, kind, "variable")

    def _check_word(self, name: str, at: int, kind: str) -> bool:
        if name in RESERVED:
            self._log.error(
                at,
                f"'{name}' cannot be used for the name of a {kind} because it's a reserved keyword",
            )
        elif name in BUILT_IN_FUNCTIONS:
            self._log.error(
                at,
                f"'{name}' cannot be used for the name of a {kind} because it's a built in function",
            )
        else:
            return False
        return True

    def _clash(self, name: str, at: int, kind: str, other: str) -> None:
        self._log.error(at, f"{kind} '{name}': name has already been used for a {other}")


def check_flows(tree: StoryTree, log: ProblemLog) -> None:
    """Functions neither divert nor offer choices; only functions return."""
    for knot in tree.flows:
        if knot.is_function:
            _check_function(knot.name, knot.body, log)
            for stitch in knot.stitches:
                log.error(
                    stitch.at,
                    f"Functions may not contain stitches, but saw '{stitch.name}' within the function '{knot.name}'",
                )
            continue
        _check_no_return(knot.name, knot.body, log)
        for stitch in knot.stitches:
            if stitch.is_function:
                log.error(
                    stitch.at,
                    "Functions cannot be stitches - i.e. they should be defined as '== function myFunc ==' "
                    "rather than internal to another knot.",
                )
            _check_no_return(stitch.name, stitch.body, log)


def _check_function(name: str, body: tuple[Node, ...], log: ProblemLog) -> None:
    waiting: list[Tree] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Divert):
            log.error(
                node.at,
                f"Functions may not contain diverts, but saw '-> {node.name}' in '{name}'",
            )
        elif isinstance(node, Choice):
            log.error(node.at, f"Functions may not contain choices, but saw one in '{name}'")
        elif not isinstance(node, DivertTarget):
            waiting.extend(children(node))


def _check_no_return(name: str, body: tuple[Node, ...], log: ProblemLog) -> None:
    for node in walk(*body):
        if isinstance(node, Return):
            log.error(
                node.at,
                f"Return statements can only be used in knots that are declared as functions: == function {name} ==",
            )
            return
