"""Formulas as trees: the notation of the `d20` library, with fate dice (`4dF`) and names of stats beside it.

comparison   a == b, >=, <=, !=, <, >
sum          a + b, a - b
product      a * b, a / b, a // b, a % b
sign         -a, +a
value        2d6, d20, d%, 4dF, 3, 1.5, (a), (a, b), strength; then [notes], which are passed over
operations   on dice and sets: k keep, p drop; on dice alone: rr, ro, ra, e, mi, ma
selectors    3 (exactly), h2, l1, >4, <3
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

LONGEST = 200
DEEPEST = 20
MOST_DICE = 1000
LARGEST_DIE = 1_000_000
LONGEST_NUMBER = 9

BinaryOp = Literal["==", ">=", "<=", "!=", "<", ">", "+", "-", "*", "/", "//", "%"]
SetOp = Literal["k", "p", "rr", "ro", "ra", "e", "mi", "ma"]
SelectorKind = Literal["exactly", "h", "l", ">", "<"]
DieSize = int | Literal["%", "F"]


@dataclass(frozen=True, kw_only=True)
class Number:
    value: int | float


@dataclass(frozen=True, kw_only=True)
class Name:
    """A stat, or another value that the formula is given."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Sign:
    is_negative: bool
    value: Formula


@dataclass(frozen=True, kw_only=True)
class Binary:
    op: BinaryOp
    left: Formula
    right: Formula


@dataclass(frozen=True, kw_only=True)
class Dice:
    count: int
    size: DieSize


@dataclass(frozen=True, kw_only=True)
class Group:
    """One formula in brackets."""

    value: Formula


@dataclass(frozen=True, kw_only=True)
class SetOf:
    values: tuple[Formula, ...]


@dataclass(frozen=True, kw_only=True)
class Selector:
    kind: SelectorKind
    number: int


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What is done to the selected members; several selectors of one operation add up."""

    op: SetOp
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, kw_only=True)
class Operated:
    value: Dice | Group | SetOf
    operations: tuple[Operation, ...]


Formula = Number | Name | Sign | Binary | Dice | Group | SetOf | Operated


class FormulaError(Exception):
    """A text that is no formula. Its message is a sentence for who wrote it."""


_BLANKS = re.compile(r"\s*")
_TOKEN = re.compile(
    r"(?:(?P<dice>\d*d(?:%|F\b|\d+))|(?P<number>\d+\.\d+|\d+)|(?P<note>\[[^\[\]]*\])"
    r"|(?P<op>==|>=|<=|!=|//|[-+*/%<>(),])|(?P<word>[A-Za-z_]\w*))"
)
_OPERATION = re.compile(r"(?P<op>rr|ro|ra|mi|ma|k|p|e)(?P<kind>[hl<>]?)(?P<number>\d+)")
_COMPARISONS: Final = ("==", ">=", "<=", "!=", "<", ">")
_SETS_ONLY: Final = frozenset({"k", "p"})
_AT_ONCE: Final = frozenset({"mi", "ma"})
"""Operations that replace each other instead of adding up."""


def parse_formula(text: str) -> Formula:
    """The tree of a formula; raises FormulaError with what is wrong and where."""
    if len(text) > LONGEST:
        raise FormulaError(f"A formula has at most {LONGEST} letters.")
    return _Parser(text).whole()


def names_in(formula: Formula) -> frozenset[str]:
    """The names that a formula needs values for."""
    match formula:
        case Name():
            return frozenset({formula.name})
        case Sign() | Group() | Operated():
            return names_in(formula.value)
        case Binary():
            return names_in(formula.left) | names_in(formula.right)
        case SetOf():
            return frozenset().union(*map(names_in, formula.values))
        case Number() | Dice():
            return frozenset()


class _Parser:
    """Recursive descent over the text; the depth is bounded, so is the stack."""

    def __init__(self, text: str) -> None:
        self._text, self._place, self._depth = text, 0, 0

    def whole(self) -> Formula:
        formula = self._comparison()
        if self._text[self._place :].strip():
            raise self._wrong()
        return formula

    def _comparison(self) -> Formula:
        self._depth += 1
        if self._depth > DEEPEST:
            raise FormulaError(f"A formula is nested at most {DEEPEST} deep.")
        left = self._sum()
        while op := self._take_op(*_COMPARISONS):
            left = Binary(op=op, left=left, right=self._sum())
        self._depth -= 1
        return left

    def _sum(self) -> Formula:
        left = self._product()
        while op := self._take_op("+", "-"):
            left = Binary(op=op, left=left, right=self._product())
        return left

    def _product(self) -> Formula:
        left = self._signed()
        while op := self._take_op("*", "//", "/", "%"):
            left = Binary(op=op, left=left, right=self._signed())
        return left

    def _signed(self) -> Formula:
        signs = []
        while sign := self._take_op("+", "-"):
            signs.append(sign)
        value = self._value()
        for sign in reversed(signs):
            value = Sign(is_negative=sign == "-", value=value)
        return value

    def _value(self) -> Formula:
        value = self._plain_value()
        while (token := self._next()) and token.lastgroup == "note":
            self._place = token.end()
        return value

    def _plain_value(self) -> Formula:
        token = self._next()
        if token is None:
            raise self._wrong()
        self._place = token.end()
        text = token[token.lastgroup or 0]
        match token.lastgroup:
            case "dice":
                return self._operated(_dice(text), dice=True)
            case "number":
                return Number(value=float(text) if "." in text else _integer(text))
            case "word":
                return Name(name=text)
            case "op" if text == "(":
                return self._operated(self._bracket(), dice=False)
            case _:
                self._place = token.start()
                raise self._wrong()

    def _bracket(self) -> Group | SetOf:
        values: list[Formula] = []
        has_comma = False
        while not self._take_op(")"):
            values.append(self._comparison())
            if self._take_op(","):
                has_comma = True
            elif self._take_op(")"):
                break
            else:
                raise self._wrong()
        return Group(value=values[0]) if len(values) == 1 and not has_comma else SetOf(values=tuple(values))

    def _operated(self, value: Dice | Group | SetOf, *, dice: bool) -> Formula:
        operations: list[Operation] = []
        while found := _OPERATION.match(self._text, self._place):
            op: SetOp = found["op"]  # type: ignore[assignment]
            if not dice and op not in _SETS_ONLY:
                raise self._wrong()
            self._place = found.end()
            kind: SelectorKind = found["kind"] or "exactly"  # type: ignore[assignment]
            if op in _AT_ONCE and kind != "exactly":
                raise FormulaError(f"'{op}' takes a plain number, as in 4d6{op}2.")
            _add(operations, op, Selector(kind=kind, number=_integer(found["number"])))
        return Operated(value=value, operations=tuple(operations)) if operations else value

    def _take_op(self, *ops: BinaryOp | Literal["(", ")", ","]) -> BinaryOp | None:
        token = self._next()
        if token is None or token.lastgroup != "op" or token["op"] not in ops:
            return None
        self._place = token.end()
        op: BinaryOp = token["op"]  # type: ignore[assignment]
        return op

    def _next(self) -> re.Match[str] | None:
        blanks = _BLANKS.match(self._text, self._place)
        return _TOKEN.match(self._text, self._place if blanks is None else blanks.end())

    def _wrong(self) -> FormulaError:
        rest = self._text[self._place :].strip()
        if not rest:
            return FormulaError("The formula ends where a number, dice or a name should follow.")
        return FormulaError(f"'{rest[:20]}' was not expected at letter {self._place + 1} of the formula.")


def _dice(text: str) -> Dice:
    count, size = text.split("d", 1)
    number = _integer(count) if count else 1
    if number > MOST_DICE:
        raise FormulaError(f"At most {MOST_DICE} dice are rolled at once.")
    if size in ("%", "F"):
        return Dice(count=number, size="%" if size == "%" else "F")
    sides = _integer(size)
    if not 1 <= sides <= LARGEST_DIE:
        raise FormulaError(f"A die has 1 to {LARGEST_DIE} sides.")
    return Dice(count=number, size=sides)


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise FormulaError(f"A number has at most {LONGEST_NUMBER} digits.")
    return int(text)


def _add(operations: list[Operation], op: SetOp, selector: Selector) -> None:
    """The same operation twice in a row is one with more selectors."""
    if operations and operations[-1].op == op and op not in _AT_ONCE:
        operations[-1] = Operation(op=op, selectors=(*operations[-1].selectors, selector))
    else:
        operations.append(Operation(op=op, selectors=(selector,)))
