"""The values a story computes with, and how they look as text, truth and JSON.

Numbers, bools and strings are Python's own; the rest are small frozen classes. `Value` is what may lie on the
evaluation stack or in a variable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fabula.ink.runtime.arithmetic import INT_MAX, INT_MIN, float32, print_float
from fabula.ink.runtime.errors import InkRuntimeError, InkUsageError
from fabula.ink.runtime.lists import InkList


@dataclass(frozen=True, slots=True)
class DivertTarget:
    """A place in the story as a value: `-> knot.stitch`.

    >>> str(DivertTarget("knot"))
    '-> knot'
    """

    path: str

    def __str__(self) -> str:
        return f"-> {self.path}"


@dataclass(frozen=True, slots=True)
class VariablePointer:
    """A variable passed by `ref`: its name, and the frame it lives in (0 is global, -1 not known yet)."""

    name: str
    frame: int = -1


@dataclass(frozen=True, slots=True)
class ChoiceTag:
    """A tag made while the text of a choice was put together."""

    text: str


@dataclass(frozen=True, slots=True)
class Void:
    """What a function without a return value gives."""


VOID: Final = Void()

Value = int | float | str | InkList | DivertTarget | VariablePointer | ChoiceTag | Void
"""A value of the story; bool is a kind of int in Python, and `type(value) is bool` tells it apart."""

HostValue = int | float | str | InkList | DivertTarget
"""What the host passes in and gets back."""


def print_value(value: Value) -> str:
    """A value as the reader sees it.

    >>> print_value(True), print_value(2.0), print_value("x")
    ('true', '2', 'x')
    """
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return print_float(value)
    if isinstance(value, DivertTarget):
        return f"DivertTargetValue({value.path})"
    if isinstance(value, VariablePointer):
        return f"VariablePointerValue({value.name})"
    if isinstance(value, ChoiceTag):
        return f"# {value.text}"
    if isinstance(value, Void):
        return ""
    return str(value)


def is_true(value: Value) -> bool:
    """Whether a value counts as true in a condition.

    >>> is_true(0), is_true("x"), is_true(InkList())
    (False, True, False)
    """
    if isinstance(value, (int, float)):
        return value != 0
    if isinstance(value, (str, InkList)):
        return len(value) > 0
    if isinstance(value, DivertTarget):
        raise InkRuntimeError(
            f"Shouldn't use a divert target (to {value.path}) as a conditional value. Did you intend a function call "
            "'likeThis()' or a read count check 'likeThis'? (no arrows)"
        )
    if isinstance(value, VariablePointer):
        raise InkRuntimeError("Shouldn't be checking the truthiness of a variable pointer")
    return False


def same_value(one: Value | None, other: Value | None) -> bool:
    """Whether two values are of one type and equal."""
    return type(one) is type(other) and one == other


def from_host(value: object) -> HostValue:
    """Takes a value of the host into the story, or refuses its type.

    >>> from_host(0.5)
    0.5
    """
    if isinstance(value, (bool, str, InkList, DivertTarget)):
        return value
    if isinstance(value, int):
        if not INT_MIN <= value <= INT_MAX:
            raise InkUsageError(f"Ink numbers have 32 bits; {value} does not fit.")
        return int(value)
    if isinstance(value, float):
        return float32(value)
    raise InkUsageError(f"Ink knows int, float, bool, str, InkList and DivertTarget, not {type(value).__name__}.")


def to_host(value: Value) -> HostValue | None:
    """Gives a value of the story to the host; void is None, and a variable pointer is the variable's name."""
    if isinstance(value, VariablePointer):
        return value.name
    if isinstance(value, ChoiceTag):
        return value.text
    if isinstance(value, Void):
        return None
    return value
