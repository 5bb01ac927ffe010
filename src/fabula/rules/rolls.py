"""Rolling a formula: the tree is evaluated with seeded draws, and every die that fell is kept to be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from fabula.rules.draws import Draws
from fabula.rules.formulas import (
    Binary,
    BinaryOp,
    Dice,
    DieSize,
    Formula,
    FormulaError,
    Group,
    Name,
    Number,
    Operated,
    Operation,
    Selector,
    SetOf,
    Sign,
    parse_formula,
)

MOST_ROLLS = 1000
MOST_STEPS = 50_000
"""So many dice are looked at in one roll: whoever chooses among a thousand again and again makes everybody wait."""
LARGEST_NUMBER = 2**53
"""What JSON carries to every client."""
Amount = int | float


@dataclass(frozen=True, kw_only=True)
class FallenDie:
    """One die as it lies: all it showed, and whether it counts."""

    size: DieSize
    shown: tuple[int, ...]
    is_kept: bool

    @property
    def value(self) -> int:
        return self.shown[-1]


@dataclass(frozen=True, kw_only=True)
class Rolled:
    """What a formula came to."""

    total: int
    dice: tuple[FallenDie, ...]


def roll(formula: Formula, draws: Draws, values: Mapping[str, Amount] | None = None) -> Rolled:
    """Rolls a formula; `values` are those of its names. Raises FormulaError where it cannot be reckoned."""
    roller = _Roller(draws, values or {})
    total = _bounded(roller.evaluate(formula).total)
    return Rolled(total=int(total), dice=tuple(die.fallen() for die in roller.dice))


def roll_or_nothing(text: str, draws: Draws, values: Mapping[str, Amount]) -> Rolled:
    """What a formula of a game system comes to, or nothing where it cannot be reckoned: by zero, without end, or by far
    too much. Whoever wrote it cannot know every sheet, and a turn is not lost over it."""
    try:
        return roll(parse_formula(text), draws, values)
    except FormulaError:
        return Rolled(total=0, dice=())


class _Part:
    """A number of the formula. Who drops it from its set makes it count for nothing."""

    def __init__(self, number: Amount, members: list[_Part] | None = None) -> None:
        self._number, self._members, self.is_kept = number, members, True

    @property
    def number(self) -> Amount:
        return self._number if self._members is None else sum(member.total for member in self._members)

    @property
    def total(self) -> Amount:
        return self.number if self.is_kept else 0

    @property
    def kept(self) -> list[_Part]:
        """What operations choose among."""
        members = [self] if self._members is None else self._members
        return [member for member in members if member.is_kept]


class _Die(_Part):
    def __init__(self, size: DieSize, shown: int) -> None:
        super().__init__(shown)
        self.size, self.shown = size, [shown]

    def show(self, value: int) -> None:
        self.shown.append(value)
        self._number = value

    def fallen(self) -> FallenDie:
        return FallenDie(size=self.size, shown=tuple(self.shown), is_kept=self.is_kept)


class _Roller:
    def __init__(self, draws: Draws, values: Mapping[str, Amount]) -> None:
        self._draws, self._values, self._rolls, self._steps = draws, values, 0, 0
        self.dice: list[_Die] = []

    def evaluate(self, formula: Formula) -> _Part:
        match formula:
            case Number():
                return _Part(formula.value)
            case Name():
                if formula.name not in self._values:
                    raise FormulaError(f"Nothing is known of '{formula.name}'.")
                return _Part(_bounded(self._values[formula.name]))
            case Sign():
                value = self.evaluate(formula.value).total
                return _Part(-value if formula.is_negative else value)
            case Binary():
                left, right = self.evaluate(formula.left).total, self.evaluate(formula.right).total
                return _Part(_bounded(_reckon(formula.op, left, right)))
            case Group():
                return self.evaluate(formula.value)
            case SetOf():
                return _Part(0, [self.evaluate(value) for value in formula.values])
            case Dice():
                return self._throw(formula)
            case Operated():
                target = self.evaluate(formula.value)
                size = formula.value.size if isinstance(formula.value, Dice) else 1
                for operation in formula.operations:
                    self._operate(operation, target, size)
                return target
            case _:
                assert_never(formula)

    def _throw(self, dice: Dice) -> _Part:
        return _Part(0, [self._die(dice.size) for _ in range(dice.count)])

    def _die(self, size: DieSize) -> _Die:
        die = _Die(size, self._face(size))
        self.dice.append(die)
        return die

    def _face(self, size: DieSize) -> int:
        self._rolls += 1
        if self._rolls > MOST_ROLLS:
            raise FormulaError(f"At most {MOST_ROLLS} dice fall in one roll.")
        match size:
            case "%":
                return self._draws.below(10) * 10
            case "F":
                return self._draws.below(3) - 1
            case _:
                return self._draws.below(size) + 1

    def _operate(self, operation: Operation, target: _Part, size: DieSize) -> None:
        match operation.op:
            case "k":
                chosen = {id(member) for member in self._chosen(operation.selectors, target)}
                for member in target.kept:
                    member.is_kept = id(member) in chosen
            case "p":
                for member in self._chosen(operation.selectors, target):
                    member.is_kept = False
            case "rr":
                while again := _dice_of(self._chosen(operation.selectors, target)):
                    self._reroll(again, size)
            case "ro":
                self._reroll(_dice_of(self._chosen(operation.selectors, target)), size)
            case "ra":
                self._add(target, self._chosen(operation.selectors, target)[:1], size)
            case "e":
                self._explode(operation.selectors, target, size)
            case "mi":
                least = operation.selectors[-1].number
                self._show([die for die in _dice_of(target.kept) if die.number < least], least)
            case "ma":
                most = operation.selectors[-1].number
                self._show([die for die in _dice_of(target.kept) if die.number > most], most)
            case _:
                assert_never(operation.op)

    def _chosen(self, selectors: Sequence[Selector], target: _Part) -> list[_Part]:
        """The members that any selector takes, each once, in the order of the set."""
        kept = target.kept
        self._steps += len(kept) * (1 + len(selectors))
        if self._steps > MOST_STEPS:
            raise FormulaError("This roll takes too long. Use fewer dice, or fewer operations on them.")
        taken = {id(member) for selector in selectors for member in _selected(selector, kept)}
        return [member for member in kept if id(member) in taken]

    def _reroll(self, dice: Sequence[_Die], size: DieSize) -> None:
        for die in dice:
            die.show(self._face(size))

    def _show(self, dice: Sequence[_Die], value: int) -> None:
        for die in dice:
            die.show(value)

    def _add(self, target: _Part, exploding: Sequence[_Part], size: DieSize) -> None:
        assert target._members is not None
        target._members.extend(self._die(size) for _ in exploding)

    def _explode(self, selectors: Sequence[Selector], target: _Part, size: DieSize) -> None:
        done: set[int] = set()
        while exploding := [one for one in self._chosen(selectors, target) if id(one) not in done]:
            self._add(target, exploding, size)
            done.update(map(id, exploding))


def _selected(selector: Selector, members: list[_Part]) -> list[_Part]:
    number = selector.number
    match selector.kind:
        case "h":
            return sorted(members, key=lambda one: one.total, reverse=True)[:number]
        case "l":
            return sorted(members, key=lambda one: one.total)[:number]
        case ">":
            return [one for one in members if one.total > number]
        case "<":
            return [one for one in members if one.total < number]
        case "exactly":
            return [one for one in members if one.total == number]
        case _:
            assert_never(selector.kind)


def _dice_of(members: Sequence[_Part]) -> list[_Die]:
    return [member for member in members if isinstance(member, _Die)]


def _bounded(number: Amount) -> Amount:
    # Infinity and what is no number are not within any bound.
    if not -LARGEST_NUMBER <= number <= LARGEST_NUMBER:
        raise FormulaError("The numbers of this formula grow too large.")
    return number


def _reckon(op: BinaryOp, left: Amount, right: Amount) -> Amount:
    if op in ("/", "//", "%") and right == 0:
        raise FormulaError("Nothing can be divided by zero.")
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return left // right
        case "%":
            return left % right
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case ">=":
            return int(left >= right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case "<":
            return int(left < right)
        case _:
            assert_never(op)
