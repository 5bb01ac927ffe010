"""Expressions: precedence climbing with the reference's own, slightly unusual, precedences."""

import math
import re
from abc import ABC, abstractmethod

from fabula.ink.syntax.scanner import RESERVED, Scanner
from fabula.ink.syntax.tree import (
    Binary,
    Call,
    Divert,
    DivertTarget,
    Expression,
    ListLiteral,
    Node,
    Number,
    Step,
    String,
    TagStart,
    Text,
    TunnelOnwards,
    Unary,
    Variable,
)

_OPERATOR = re.compile(r"&&|\|\||(?:and|or|hasnt|has|mod)(?=[ \t])|==|>=|<=|<|>|!=|\?|!\?|\^|\+|-(?!>)|\*|/|%")
_PRECEDENCE = {
    **dict.fromkeys(("&&", "||", "and", "or"), 1),
    **dict.fromkeys(("==", ">=", "<=", "<", ">", "!="), 2),
    **dict.fromkeys(("?", "has", "!?", "hasnt", "^"), 3),
    "+": 4,
    "-": 5,
    "*": 6,
    "/": 7,
    "%": 8,
    "mod": 8,
}
_PLAIN_NAME = {"and": "&&", "or": "||", "has": "?", "hasnt": "!?", "mod": "%"}
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?")
_MAX_INT = 2**31 - 1
_MAX_FLOAT = 3.4028235677973366e38
_MAX_STRINGS = 8


class ExpressionParser(Scanner, ABC):
    """Reads values, operators, calls, lists and strings; strings hold content, so that layer is still open here."""

    in_string = False
    in_choice = False
    tag_open = False
    _strings = 0

    @abstractmethod
    def mixed(self) -> list[Node]:
        """Text and inline logic up to something that cannot belong to it."""

    def expression(self, minimum: int = 0) -> Expression | None:
        self.depth += 1
        found = None if self.too_deep() else self._climb(minimum)
        self.depth -= 1
        return found

    def _climb(self, minimum: int) -> Expression | None:
        left = self._unary()
        while left is not None:
            self.space()
            match = _OPERATOR.match(self.text, self.pos)
            if match is None:
                break
            operator = match.group()
            precedence = _PRECEDENCE[operator]
            if precedence <= minimum:
                break
            at = self.base + self.pos
            self.pos = match.end()
            right = self.expression(precedence)
            if right is None:
                self.expected(f"right side of '{operator}' expression")
                return None
            left = Binary(
                at=at,
                operator=_PLAIN_NAME.get(operator, operator),
                left=left,
                right=right,
            )
        return left

    def _unary(self) -> Expression | None:
        self.space()
        start = self.pos
        if self.sees("->"):
            return self._divert_target()
        prefix = self._prefix()
        inner = self._primary()
        if inner is None and prefix:
            self.depth += 1
            inner = None if self.too_deep() else self._unary()
            self.depth -= 1
        if inner is None:
            self.pos = start
            return None
        if prefix:
            inner = _with_prefix(self.base + start, prefix, inner)
        return self._with_postfix(inner)

    def _prefix(self) -> str | None:
        text, pos = self.text, self.pos
        if text.startswith(("-", "!"), pos):
            self.pos += 1
            self.space()
            return text[pos]
        if text.startswith("not", pos) and self.word() == "not":
            self.pos += 3
            self.space()
            return "!"
        return None

    def _with_postfix(self, inner: Expression) -> Expression:
        self.space()
        sign = self.text[self.pos : self.pos + 2]
        if sign not in ("++", "--"):
            return inner
        self.pos += 2
        if not isinstance(inner, Variable):
            self.error(
                f"can only increment and decrement variables, so '{sign}' has nothing to change here",
                self.pos - 2,
            )
            return inner
        return Step(at=inner.at, name=inner.name, increase=sign == "++", amount=None)

    def _primary(self) -> Expression | None:
        sign = self.text[self.pos : self.pos + 1]
        if sign == "(":
            return self._list() or self._parenthesis()
        if sign == '"':
            return self._string()
        start = self.pos
        name = self.identifier()
        if name is None:
            return self._number()
        if name in ("true", "false"):
            return Number(at=self.base + start, value=name == "true")
        after_name = self.pos
        self.space()
        if self.sees("("):
            args = self.arguments()
            return Call(at=self.base + start, name=name, args=tuple(args or ()))
        self.pos = after_name
        if name in RESERVED:
            self.pos = start
            return None
        return Variable(at=self.base + start, path=self._dotted(name))

    def _dotted(self, first: str) -> tuple[str, ...]:
        """`first.second.third`; a last dot with nothing after it is let pass, as a sentence's end might be."""
        path = [first]
        while True:
            end = self.pos
            self.space()
            if not self.sign("."):
                break
            end = self.pos
            self.space()
            name = self.identifier()
            if name is None:
                break
            path.append(name)
        self.pos = end
        return tuple(path)

    def _number(self) -> Number | None:
        match = _NUMBER.match(self.text, self.pos)
        if match is None:
            return None
        start = self.pos
        self.pos = match.end()
        value: int | float
        if match.group(1) is None:
            digits = match.group().lstrip("0")
            value = int(digits or "0") if len(digits) < 12 else math.inf
            fits = value <= _MAX_INT
        else:
            value = float(match.group())
            fits = value < _MAX_FLOAT
        if not fits:
            self.error(
                f"The number {match.group()[:40]} is out of the range of numbers that ink supports",
                start,
            )
            value = 0
        return Number(at=self.base + start, value=value)

    def _string(self) -> String | None:
        start = self.pos
        self.pos += 1
        kept = self.in_string, self.tag_open
        self._strings += 1
        if self._strings > _MAX_STRINGS:
            self.error("Strings are nested too deeply")
            parts: list[Node] = []
        else:
            self.in_string, self.tag_open = True, False
            parts = self.mixed()
            self.in_string, self.tag_open = kept
        self._strings -= 1
        self.expect('"', "close quote for string expression")
        if any(isinstance(part, Divert | TunnelOnwards) for part in parts):
            self.error("String expressions cannot contain diverts (->)", start)
        if any(isinstance(part, TagStart) for part in parts):
            self.error(
                "Tags aren't allowed inside of strings. Please use \\# if you want a hash symbol.",
                start,
            )
        return String(
            at=self.base + start,
            parts=tuple(parts) or (Text(at=self.base + start, text=""),),
        )

    def _parenthesis(self) -> Expression | None:
        start = self.pos
        self.pos += 1
        inner = self.expression()
        if inner is None:
            self.pos = start
            return None
        self.space()
        self.expect(")", "closing parenthesis ')' for expression")
        return inner

    def _list(self) -> ListLiteral | None:
        """`()`, `(a)`, `(a, list.b)`: names only, else it is a parenthesis."""
        start = self.pos
        self.pos += 1
        items: list[str] = []
        separated = True
        self.space()
        while not self.sign(")"):
            name = self._list_member()
            if name is None or not separated:
                self.pos = start
                return None
            items.append(name)
            self.space()
            separated = self.sign(",")
            self.space()
        return ListLiteral(at=self.base + start, items=tuple(items))

    def _list_member(self) -> str | None:
        name = self.identifier()
        if name is None or name in RESERVED or not self.sign("."):
            return None if name in RESERVED else name
        item = self.identifier()
        return None if item is None else f"{name}.{item}"

    def arguments(self) -> list[Expression] | None:
        """`(a, b)`, or None where no parenthesis opens."""
        if not self.sign("("):
            return None
        args: list[Expression] = []
        self.space()
        while not self.sees(")"):
            value = self.expression()
            if value is None:
                break
            args.append(value)
            self.space()
            if not self.sign(","):
                break
        self.expect(")", "closing ')' for function call")
        return args

    def divert_path(self) -> tuple[str, ...] | None:
        """`knot.stitch.label`, with spaces allowed around the names."""
        self.space()
        name = self.identifier()
        return None if name is None else self._dotted(name)

    def _divert_target(self) -> DivertTarget | None:
        start = self.pos
        self.pos += 2
        target = None if self.sees("->") else self.divert_path()
        if target is None:
            self.pos = start
            return None
        self.space()
        args = self.arguments() if self.sees("(") else None
        self.space()
        if self.sees("->"):
            self.pos = start
            return None
        divert = Divert(at=self.base + start, target=target, args=tuple(args or ()))
        return DivertTarget(at=self.base + start, divert=divert)


def _with_prefix(at: int, prefix: str, inner: Expression) -> Expression:
    """A sign before a plain number is part of the number."""
    if isinstance(inner, Number):
        if prefix == "!":
            return Number(at=at, value=not inner.value)
        if not isinstance(inner.value, bool):
            return Number(at=at, value=-inner.value)
    return Unary(at=at, operator="_" if prefix == "-" else prefix, inner=inner)
