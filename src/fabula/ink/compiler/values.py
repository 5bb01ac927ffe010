"""Expressions and diverts to runtime objects; what they name is looked up here, and what is not found is a problem."""

from abc import ABC, abstractmethod
from typing import assert_never

from fabula.ink.compiler.objects import Container, Divert, Json, ReadCount, TargetValue
from fabula.ink.compiler.symbols import FlowScope, Symbols
from fabula.ink.syntax import tree
from fabula.ink.syntax.sources import ProblemLog
from fabula.ink.syntax.tree import (
    Binary,
    Call,
    DivertKind,
    DivertTarget,
    Expression,
    ListLiteral,
    Node,
    Number,
    Parameter,
    Step,
    String,
    Unary,
    Variable,
)

NATIVE_FUNCTIONS = {
    "MIN": 2,
    "MAX": 2,
    "POW": 2,
    "FLOOR": 1,
    "CEILING": 1,
    "INT": 1,
    "FLOAT": 1,
    "LIST_MIN": 1,
    "LIST_MAX": 1,
    "LIST_ALL": 1,
    "LIST_COUNT": 1,
    "LIST_VALUE": 1,
    "LIST_INVERT": 1,
}
# name -> command, what it takes, and how that is said
_COMMANDS = {
    "CHOICE_COUNT": (
        "choiceCnt",
        0,
        "The CHOICE_COUNT() function shouldn't take any arguments",
    ),
    "TURNS": ("turn", 0, "The TURNS() function shouldn't take any arguments"),
    "RANDOM": (
        "rnd",
        2,
        "RANDOM should take 2 parameters: a minimum and a maximum integer",
    ),
    "SEED_RANDOM": ("srnd", 1, "SEED_RANDOM should take 1 parameter - an integer seed"),
    "LIST_RANGE": (
        "range",
        3,
        "LIST_RANGE should take 3 parameters - a list, a min and a max",
    ),
    "LIST_RANDOM": ("lrnd", 1, "LIST_RANDOM should take 1 parameter - a list"),
}
_COUNTERS = {"TURNS_SINCE": "turns", "READ_COUNT": "readc"}
BUILT_IN_FUNCTIONS = frozenset((*NATIVE_FUNCTIONS, *_COMMANDS, *_COUNTERS))
_ENDINGS = {("END",): "end", ("DONE",): "done"}


class ValueWriter(ABC):
    """Writes expressions and diverts into containers, seen from one flow at a time."""

    def __init__(self, symbols: Symbols, log: ProblemLog) -> None:
        self.symbols = symbols
        self.log = log
        self.scope = symbols.story

    @abstractmethod
    def content(self, nodes: tuple[Node, ...], into: Container) -> None:
        """Content in its order."""

    # -- expressions ----------------------------------------------------------------------------------------------

    def evaluated(self, value: Expression, into: Container) -> None:
        into.add("ev")
        self.value(value, into)
        into.add("/ev")

    def value(self, value: Expression, into: Container) -> None:
        match value:
            case Number(value=number):
                into.add(number)
            case String(parts=parts):
                into.add("str")
                self.content(parts, into)
                into.add("/str")
            case Variable():
                self._variable(value, into)
            case DivertTarget():
                self._divert_target(value, into)
            case Call():
                self.call(value, into)
            case Unary(operator=operator, inner=inner):
                self._refuse_target(inner)
                self.value(inner, into)
                into.add(operator)
            case Binary():
                self._binary(value, into)
            case ListLiteral():
                self._list_literal(value, into)
            case Step():
                self.log.error(value.at, "Can't use increment/decrement as sub-expression")
            case _:
                assert_never(value)

    def _binary(self, value: Binary, into: Container) -> None:
        """A long chain of operators leans to the left; it is walked, not recursed into."""
        chain: list[Binary] = []
        first: Expression = value
        while isinstance(first, Binary):
            chain.append(first)
            self._check_operands(first)
            first = first.left
        self.value(first, into)
        for one in reversed(chain):
            self.value(one.right, into)
            into.add("L^" if one.operator == "^" else one.operator)

    def _check_operands(self, value: Binary) -> None:
        sides = (value.left, value.right)
        targets = [side for side in sides if isinstance(side, DivertTarget)]
        comparable = all(isinstance(side, DivertTarget | Variable) for side in sides)
        if targets and not (value.operator in ("==", "!=") and comparable):
            self._refuse_target(targets[0])
        if value.operator == "?" and isinstance(value.left, Unary) and value.left.operator == "!":
            self.log.error(
                value.at,
                "Using 'not' or '!' here negates only the left side rather than the result of the '?' or 'has' "
                "operator. You need to add parentheses around the (A ? B) expression.",
            )

    def _refuse_target(self, value: Expression | None) -> None:
        if isinstance(value, DivertTarget):
            self.log.error(
                value.at,
                f"Can't use a divert target like that. Did you intend to call '{value.divert.name}' as a function: "
                "likeThis(), or check the read count: likeThis, with no arrows?",
            )

    def condition(self, value: Expression, into: Container) -> None:
        self._refuse_target(value)
        self.value(value, into)

    # -- names ----------------------------------------------------------------------------------------------------

    def _variable(self, value: Variable, into: Container) -> None:
        constant = self.symbols.constants.get(value.name)
        if constant is not None:
            if _is_literal(constant.value):
                self.value(constant.value, into)
            return
        if self.symbols.list_item(value.path) is not None:
            if len(value.path) == 1:
                self._check_ambiguous(value.at, value.name)
            into.add({"VAR?": value.name})
            return
        target = self.symbols.resolve(value.path, self.scope)
        if target is not None:
            target.container.visits = True
            into.add(ReadCount(target=target.container))
            return
        into.add({"VAR?": value.name})
        self._check_found(value)

    def _check_ambiguous(self, at: int, item: str) -> None:
        if self.symbols.is_ambiguous(item):
            owners = sorted(name for name, _ in self.symbols.list_items[item])
            self.log.error(
                at,
                f"Ambiguous item name '{item}' found in multiple lists, including {' and '.join(owners)}",
            )

    def _check_found(self, value: Variable) -> None:
        if len(value.path) > 1:
            near = self.symbols.near_target(value.name, self.scope)
            self.log.error(
                value.at,
                f"Could not find a place to count or a list item with the name {value.name}{near}",
            )
        elif self.symbols.variable_kind(value.name, self.scope) is None:
            near = self.symbols.near_variable(value.name, self.scope)
            self.log.error(value.at, f"Unresolved variable: {value.name}{near}")

    def assign(self, name: str, at: int, into: Container, *, new: bool) -> None:
        """The value on top of the stack goes into a variable."""
        if new:
            into.add({"temp=": name})
            return
        kind = self.symbols.variable_kind(name, self.scope)
        if kind is None:
            if name in self.symbols.constants:
                self.log.error(
                    at,
                    f"Can't re-assign to a constant (do you need to use VAR when declaring '{name}'?)",
                )
            else:
                near = self.symbols.near_variable(name, self.scope)
                self.log.error(at, f"Variable could not be found to assign to: '{name}'{near}")
        into.add({"VAR=" if kind == "global" else "temp=": name, "re": True})

    def step(self, step: Step, into: Container) -> None:
        """`x++` and its kin: x, the amount, the operator, and back into x."""
        into.add({"VAR?": step.name})
        if step.amount is None:
            into.add(1)
        else:
            self.value(step.amount, into)
        into.add("+" if step.increase else "-")
        self.assign(step.name, step.at, into, new=False)

    def _list_literal(self, value: ListLiteral, into: Container) -> None:
        items: dict[str, Json] = {}
        for name in value.items:
            path = tuple(name.split("."))
            found = self.symbols.list_item(path)
            if found is None:
                if len(value.items) == 1 and self._known(path):
                    self._variable(Variable(at=value.at, path=path), into)
                    return
                near = self.symbols.near_variable(name, self.scope)
                self.log.error(
                    value.at,
                    f"Could not find list definition that contains item '{name}'{near}",
                )
                continue
            if len(path) == 1:
                self._check_ambiguous(value.at, name)
            key = f"{found[0]}.{found[1].name}"
            if key in items:
                self.log.warning(value.at, f"Duplicate of item '{name}' in list.")
            items[key] = found[1].value
        into.add({"list": items})

    def _known(self, path: tuple[str, ...]) -> bool:
        """A single name in parentheses that is no list item is just that name."""
        name = ".".join(path)
        return (
            name in self.symbols.constants
            or self.symbols.variable_kind(name, self.scope) is not None
            or self.symbols.resolve(path, self.scope) is not None
        )

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, call: Call, into: Container) -> None:
        if call.name in _COMMANDS:
            command, count, sentence = _COMMANDS[call.name]
            if len(call.args) != count:
                self.log.error(call.at, sentence)
            self._check_whole(call)
            self._arguments(call, into)
            into.add(command)
        elif call.name in _COUNTERS:
            self._counter(call, into)
        elif call.name in NATIVE_FUNCTIONS:
            count = NATIVE_FUNCTIONS[call.name]
            if len(call.args) != count:
                self.log.error(
                    call.at,
                    f"{call.name} should take {count} parameter{'s' if count > 1 else ''}",
                )
            self._arguments(call, into)
            into.add(call.name)
        elif call.name in self.symbols.lists:
            self._list_call(call, into)
        else:
            divert = tree.Divert(at=call.at, target=(call.name,), args=call.args)
            self._passing(divert, into, is_call=True)

    def _arguments(self, call: Call, into: Container) -> None:
        for argument in call.args:
            self.value(argument, into)

    def _check_whole(self, call: Call) -> None:
        if call.name not in ("RANDOM", "SEED_RANDOM"):
            return
        for argument in call.args:
            if isinstance(argument, Number) and type(argument.value) is not int:
                self.log.error(argument.at, f"{call.name}'s parameters should be integers")

    def _counter(self, call: Call, into: Container) -> None:
        argument = call.args[0] if len(call.args) == 1 else None
        if not isinstance(argument, DivertTarget | Variable):
            self.log.error(
                call.at,
                f"The {call.name}() function should take one argument: a divert target to the target knot, stitch, "
                f"gather or choice you want to check. e.g. {call.name}(-> myKnot)",
            )
            return
        if isinstance(argument, DivertTarget):
            self._divert_target(argument, into, turns_only=call.name == "TURNS_SINCE")
        else:
            if self.symbols.variable_kind(argument.name, self.scope) is None and self.symbols.resolve(
                argument.path, self.scope
            ):
                self.log.error(
                    call.at,
                    f"Should be {call.name}(-> {argument.name}): it wants a divert target",
                )
            self.value(argument, into)
        into.add(_COUNTERS[call.name])

    def _list_call(self, call: Call, into: Container) -> None:
        if len(call.args) > 1:
            self.log.error(
                call.at,
                "Can currently only construct a list from one integer (or an empty list from a given list definition)",
            )
        if not call.args:
            into.add({"list": {}, "origins": [call.name]})
            return
        into.add(f"^{call.name}")
        self.value(call.args[0], into)
        into.add("listInt")

    # -- diverts --------------------------------------------------------------------------------------------------

    def divert(self, node: tree.Divert, into: Container) -> None:
        if node.target in _ENDINGS:
            into.add(_ENDINGS[node.target])
        elif node.target:
            self._passing(node, into)

    def tunnel_onwards(self, node: tree.TunnelOnwards, into: Container) -> None:
        into.add("ev")
        if node.after is None:
            into.add("void")
        else:
            self._onwards_target(node.after, into)
        into.add("/ev")
        into.add("->->")

    def _onwards_target(self, node: tree.Divert, into: Container) -> None:
        if node.target in _ENDINGS:
            self.log.error(
                node.at,
                f"Can't go onwards to {node.name} from a tunnel; divert to it after the tunnel",
            )
            return
        divert = self._resolved(node, is_call=False)
        self._pass_arguments(node, divert, into)
        if divert.variable is not None:
            into.add({"VAR?": divert.variable})
        elif isinstance(divert.target, Container):
            into.add(TargetValue(target=divert.target))

    def _passing(self, node: tree.Divert, into: Container, *, is_call: bool = False) -> None:
        divert = self._resolved(node, is_call=is_call)
        if node.args and not is_call:
            into.add("ev")
        self._pass_arguments(node, divert, into)
        if node.args and not is_call:
            into.add("/ev")
        if node.kind is DivertKind.THREAD:
            into.add("thread")
        elif divert.external is not None:
            divert.key = "x()"
        elif is_call:
            divert.key = "f()"
        elif node.kind is DivertKind.TUNNEL:
            divert.key = "->t->"
        into.add(divert)

    def _resolved(self, node: tree.Divert, *, is_call: bool) -> Divert:
        """Where a divert leads; a name that leads nowhere is a problem."""
        name = node.target[0]
        kind = self.symbols.variable_kind(name, self.scope)
        if kind is not None:
            self._check_divert_argument(node, name, kind)
            return Divert(variable=name)
        if len(node.target) == 1 and (name in BUILT_IN_FUNCTIONS or name in self.symbols.externals):
            return self._external(node, name, is_call=is_call)
        target = self.symbols.resolve(node.target, self.scope)
        if target is None:
            self._report_missing(node, is_call=is_call)
            return Divert()
        if isinstance(target, FlowScope):
            self._check_flow(node, target, is_call=is_call)
        elif node.args or is_call:
            self.log.error(
                node.at,
                f"'{node.name}' needs to be a knot or stitch in order to pass arguments",
            )
        return Divert(target=target.container)

    def _external(self, node: tree.Divert, name: str, *, is_call: bool) -> Divert:
        if not is_call:
            self.log.error(node.at, f"{name} must be called as a function: ~ {name}()")
        counts = self.symbols.externals.get(name)
        if counts is not None and len(node.args) not in counts:
            wanted = " or ".join(str(count) for count in sorted(counts))
            self.log.error(
                node.at,
                f"incorrect number of arguments sent to external function '{name}'. "
                f"Expected {wanted} but got {len(node.args)}",
            )
        return Divert(external=name, arguments=len(node.args))

    def _report_missing(self, node: tree.Divert, *, is_call: bool) -> None:
        if is_call:
            near = self.symbols.near_function(node.name, BUILT_IN_FUNCTIONS)
            self.log.error(node.at, f"Function call target not found: '{node.name}'{near}")
        else:
            near = self.symbols.near_target(node.name, self.scope)
            self.log.error(node.at, f"Divert target not found: '-> {node.name}'{near}")

    def _check_divert_argument(self, node: tree.Divert, name: str, kind: str) -> None:
        if kind != "argument":
            return
        for parameter in self.scope.params:
            if parameter.name == name and not parameter.is_divert:
                self.log.error(
                    parameter.at,
                    f"Since '{name}' is used as a variable divert target, it should be marked as: -> {name}",
                )

    def _check_flow(self, node: tree.Divert, flow: FlowScope, *, is_call: bool) -> None:
        if is_call and not flow.is_function:
            self.log.error(
                node.at,
                f"{flow.name} hasn't been marked as a function, but it's being called as one. "
                f"Do you need to declare the knot as '== function {flow.name} =='?",
            )
        elif flow.is_function and not is_call:
            self.log.error(
                node.at,
                f"{flow.name} can't be diverted to. It can only be called as a function since it's been marked as "
                f"such: '{flow.name}(...)'",
            )
        wanted, given = len(flow.params), len(node.args)
        if wanted != given:
            word = "Function call" if is_call else "Divert"
            but = "but there weren't any passed to it" if given == 0 else f"but got {given}"
            self.log.error(node.at, f"{word} to '{flow.name}' requires {wanted} arguments, {but}")
            return
        for parameter, argument in zip(flow.params, node.args, strict=True):
            self._check_argument(flow, parameter, argument)

    def _check_argument(self, flow: FlowScope, parameter: Parameter, argument: Expression) -> None:
        if not parameter.is_divert or isinstance(argument, DivertTarget) or parameter.by_reference:
            return
        if not isinstance(argument, Variable):
            self.log.error(
                argument.at,
                f"Target '{flow.name}' expects a divert target for the parameter -> {parameter.name}",
            )
        elif self.symbols.variable_kind(argument.name, self.scope) is None and self.symbols.resolve(
            argument.path, self.scope
        ):
            self.log.error(
                argument.at,
                f"Passing read count of '{argument.name}' instead of a divert target. "
                f"You probably meant '-> {argument.name}'",
            )

    def _pass_arguments(self, node: tree.Divert, divert: Divert, into: Container) -> None:
        params = self._params_of(node, divert)
        for index, argument in enumerate(node.args):
            parameter = params[index] if index < len(params) else None
            if parameter is not None and parameter.by_reference:
                self._reference(argument, parameter, into)
            else:
                self.value(argument, into)

    def _params_of(self, node: tree.Divert, divert: Divert) -> tuple[Parameter, ...]:
        if divert.variable is not None:
            return ()
        target = self.symbols.resolve(node.target, self.scope)
        return target.params if isinstance(target, FlowScope) else ()

    def _reference(self, argument: Expression, parameter: Parameter, into: Container) -> None:
        if not isinstance(argument, Variable):
            self.log.error(
                argument.at,
                f"Expected variable name to pass by reference to 'ref {parameter.name}'",
            )
            return
        if self.symbols.variable_kind(argument.name, self.scope) is None:
            if self.symbols.resolve(argument.path, self.scope) is not None:
                self.log.error(
                    argument.at,
                    f"can't pass a read count by reference. '{argument.name}' is a knot/stitch/label, "
                    f"but 'ref {parameter.name}' requires the name of a VAR to be passed.",
                )
            else:
                self._check_found(argument)
            return
        into.add({"^var": argument.name, "ci": -1})

    def _divert_target(self, value: DivertTarget, into: Container, *, turns_only: bool = False) -> None:
        """A place as a value. What becomes of it is unknown, so its visits and turns are counted."""
        divert = value.divert
        if divert.target in _ENDINGS:
            self.log.error(value.at, "Can't use -> DONE or -> END as variable divert targets")
            return
        if divert.args:
            self.log.error(value.at, "can't store arguments in a divert target variable")
        if self.symbols.variable_kind(divert.target[0], self.scope) is not None:
            self.log.error(
                value.at,
                f"Since '{divert.name}' is a variable, it shouldn't be preceded by '->' here.",
            )
            return
        target = self.symbols.resolve(divert.target, self.scope)
        if target is None:
            self._report_missing(divert, is_call=False)
            return
        target.container.turns = True
        target.container.visits = target.container.visits or not turns_only
        if isinstance(target, FlowScope):
            self._check_storable(value, target)
        into.add(TargetValue(target=target.container))

    def _check_storable(self, value: DivertTarget, flow: FlowScope) -> None:
        for parameter in flow.params:
            if parameter.by_reference:
                self.log.error(
                    value.at,
                    f"Can't store a divert target to a knot or function that has by-reference arguments "
                    f"('{flow.name}' has 'ref {parameter.name}').",
                )


def _is_literal(value: Expression) -> bool:
    """A constant that can be written in place; any other was refused where it was declared."""
    if isinstance(value, String):
        return len(value.parts) == 1 and isinstance(value.parts[0], tree.Text)
    return isinstance(value, Number | DivertTarget)
