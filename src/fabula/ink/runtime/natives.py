"""Operators and built-in functions on values, coerced to one type as the reference does.

1. Void is refused. 2. Two values with a list among them go the list way. 3. Otherwise both become the higher type of
bool < int < float < list < string < divert target, and the operation of that type is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from fabula.ink.runtime import arithmetic
from fabula.ink.runtime.arithmetic import float32, int32
from fabula.ink.runtime.errors import InkRuntimeError
from fabula.ink.runtime.lists import InkList, ListDefinitions
from fabula.ink.runtime.values import DivertTarget, Value, VariablePointer, Void, is_true, print_value

Operation = Callable[..., Any]

_INT: Final[Mapping[str, Operation]] = {
    "+": lambda x, y: int32(x + y),
    "-": lambda x, y: int32(x - y),
    "*": lambda x, y: int32(x * y),
    "/": arithmetic.divide_ints,
    "%": arithmetic.modulo_ints,
    "_": lambda x: int32(-x),
    "==": lambda x, y: x == y,
    ">": lambda x, y: x > y,
    "<": lambda x, y: x < y,
    ">=": lambda x, y: x >= y,
    "<=": lambda x, y: x <= y,
    "!=": lambda x, y: x != y,
    "!": lambda x: x == 0,
    "&&": lambda x, y: x != 0 and y != 0,
    "||": lambda x, y: x != 0 or y != 0,
    "MIN": min,
    "MAX": max,
    "POW": arithmetic.power,
    "FLOOR": lambda x: x,
    "CEILING": lambda x: x,
    "INT": lambda x: x,
    "FLOAT": lambda x: float32(x),
}

_FLOAT: Final[Mapping[str, Operation]] = {
    "+": lambda x, y: float32(x + y),
    "-": lambda x, y: float32(x - y),
    "*": lambda x, y: float32(x * y),
    "/": arithmetic.divide_floats,
    "%": arithmetic.modulo_floats,
    "_": lambda x: -x,
    "==": lambda x, y: x == y,
    ">": lambda x, y: x > y,
    "<": lambda x, y: x < y,
    ">=": lambda x, y: x >= y,
    "<=": lambda x, y: x <= y,
    "!=": lambda x, y: x != y,
    "!": lambda x: x == 0.0,
    "&&": lambda x, y: x != 0.0 and y != 0.0,
    "||": lambda x, y: x != 0.0 or y != 0.0,
    "MIN": min,
    "MAX": max,
    "POW": arithmetic.power,
    "FLOOR": arithmetic.floor,
    "CEILING": arithmetic.ceiling,
    "INT": arithmetic.truncate,
    "FLOAT": lambda x: x,
}

_STRING: Final[Mapping[str, Operation]] = {
    "+": lambda x, y: x + y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "?": lambda x, y: y in x,
    "!?": lambda x, y: y not in x,
}

_LIST: Final[Mapping[str, Operation]] = {
    "+": InkList.union,
    "-": InkList.without,
    "?": InkList.contains,
    "!?": lambda x, y: not x.contains(y),
    "^": InkList.intersect,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    ">": InkList.greater,
    "<": InkList.less,
    ">=": InkList.greater_or_equal,
    "<=": InkList.less_or_equal,
    "&&": lambda x, y: bool(x) and bool(y),
    "||": lambda x, y: bool(x) or bool(y),
    "!": lambda x: 0 if x else 1,
    "LIST_MIN": InkList.min_as_list,
    "LIST_MAX": InkList.max_as_list,
    "LIST_COUNT": len,
    "LIST_VALUE": InkList.max_value,
}

_DIVERT: Final[Mapping[str, Operation]] = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}

_OF_DEFINITIONS: Final[Mapping[str, Callable[[ListDefinitions, InkList], InkList]]] = {
    "LIST_ALL": ListDefinitions.everything,
    "LIST_INVERT": ListDefinitions.inverse,
}

_UNARY: Final = frozenset(
    {
        "_",
        "!",
        "FLOOR",
        "CEILING",
        "INT",
        "FLOAT",
        "LIST_MIN",
        "LIST_MAX",
        "LIST_ALL",
        "LIST_COUNT",
        "LIST_VALUE",
        "LIST_INVERT",
    }
)

NATIVE_NAMES: Final = frozenset({*_INT, *_FLOAT, *_STRING, *_LIST, *_OF_DEFINITIONS})

_ORDER: Final[Mapping[type, int]] = {bool: 0, int: 0, float: 1, InkList: 2, str: 3, DivertTarget: 4, VariablePointer: 5}
_OPERATIONS: Final[tuple[Mapping[str, Operation], ...]] = (_INT, _FLOAT, _LIST, _STRING, _DIVERT, {})
_NAMES: Final = ("Int", "Float", "List", "String", "DivertTarget", "VariablePointer")


def argument_count(name: str) -> int:
    """How many values the function takes.

    >>> argument_count("+"), argument_count("FLOOR")
    (2, 1)
    """
    return 1 if name in _UNARY else 2


def call_native(name: str, arguments: list[Value], lists: ListDefinitions) -> Value:
    """Does one built-in operation.

    >>> call_native("/", [7, 2], ListDefinitions()), call_native("/", [7.0, 2], ListDefinitions())
    (3, 3.5)
    """
    kinds = []
    for argument in arguments:
        kind = _ORDER.get(type(argument))
        if kind is None:
            raise _misfit(name, argument)
        kinds.append(kind)
    if len(arguments) == 2 and 2 in kinds:
        return _call_with_list(name, arguments[0], arguments[1], kinds, lists)
    highest = max(kinds)
    return _perform(name, highest, [_cast(value, highest) for value in arguments], lists)


def _misfit(name: str, argument: Value) -> InkRuntimeError:
    if isinstance(argument, Void):
        return InkRuntimeError(
            f'Attempting to perform {name} on a void value. Did you forget to "return" a value from a function you '
            "called here?"
        )
    return InkRuntimeError(f"Cannot perform operation {name} on {type(argument).__name__}")


def _perform(name: str, kind: int, arguments: list[Any], lists: ListDefinitions) -> Value:
    operation = _OPERATIONS[kind].get(name)
    if operation is not None:
        result: Value = operation(*arguments)
        return result
    of_definitions = _OF_DEFINITIONS.get(name) if kind == 2 else None
    if of_definitions is None:
        raise InkRuntimeError(f"Cannot perform operation {name} on {_NAMES[kind]}")
    return of_definitions(lists, arguments[0])


def _call_with_list(name: str, left: Value, right: Value, kinds: list[int], lists: ListDefinitions) -> Value:
    if name in ("+", "-") and isinstance(left, InkList) and type(right) is int:
        operation = _INT[name]
        return lists.shifted(left, [(item, operation(number, right)) for item, number in left.items.items()])
    if name in ("&&", "||") and kinds[0] != kinds[1]:
        result: bool = _INT[name](int(is_true(left)), int(is_true(right)))
        return result
    if kinds[0] == kinds[1]:
        return _perform(name, 2, [left, right], lists)
    raise InkRuntimeError(f"Can not call use {name} operation on {_NAMES[kinds[0]]} and {_NAMES[kinds[1]]}")


def _cast(value: Value, kind: int) -> Value:
    own = _ORDER[type(value)]
    if own == kind:
        return int(value) if type(value) is bool else value
    if kind == 1 and isinstance(value, int):
        return float32(value)
    if kind == 3 and isinstance(value, (int, float)):
        return print_value(value)
    raise InkRuntimeError(f"Can't cast {print_value(value)} from {_NAMES[own]} to {_NAMES[kind]}")
