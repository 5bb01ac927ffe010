"""Dice: the notation that players know, honest faces, and the same numbers again from the same seed."""

from __future__ import annotations

from collections import Counter
from random import Random

import d20
import d20.expression
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import Mass, examples

from fabula.rules.draws import Draws
from fabula.rules.formulas import LONGEST, FormulaError, names_in, parse_formula
from fabula.rules.rolls import roll

WRITTEN = """
1d20|2d6|d8|3d4+2|1d20+5|1d20-1|4d6kh3|4d6kl3|4d6p1|2d20kh1+5|2d20kl1+5|8d6mi2|10d6ma4|3d6e6|4d6ro<3|4d6rr1|5d6ra6
(1,2,3)kh2|(1d6,2d8)kh1|-(3d4)|+2d4|7//2|7/2|7%3|2d6>7|2d6>=7|2d6<7|2d6<=7|2d6==7|2d6!=7|1+2*3|(1+2)*3|1d6[fire]+2d4[cold]
d%|3d%|d%+d10|10d10k>5|10d10p<3|10d10k10|4d6kh2kl1|(2d6)kh1|((1d4+1),5)kl1|4d6p1p2|4d6mi2mi3|0d6|3d6rr<3|(1,)|()|1.5*2
6d6rr1e6|1==1|2!=2|3<=2|3d6ro1ro2|2d10kh1*2|--3|-+2|(((4)))|100d6|50d4kl10|10d6kh3p6|6d6k1k6|6d6kl2kh2|1d1|12d12e12
(1d4,1d6,1d8)kh2|(1d4,1d6,1d8)p<3|(4d6kh3,4d6kh3)kh1|2*(1d6+1)|1d6*1d6|20//3//2|20/4/5|20%7%4|5-3-1|2+3-4+1|3*2//4
"""
NOTATION = [one for line in WRITTEN.split("\n") for one in line.split("|") if one]


def drawn_up(random: Random) -> str:
    """A formula of many parts, as nobody would write it but a computer."""
    dice = f"{random.randint(1, 9)}d{random.choice([2, 3, 4, 6, 8, 10, 12, 20, 100])}"
    for _ in range(random.randint(0, 2)):
        op = random.choice(["kh1", "kl2", "k>2", "p<2", "p1", "ro1", "rr1", "ra6", "e6", "mi2", "ma5", "kh2kl1"])
        dice += "" if dice.endswith("d2") and op[0] == "r" else op
    rest = random.choice(["", "+3", "-1d4", "*2", "//2", "+(1d6,1d8)kh1", ">7", "+2d4kl1[cold]", "-(1+1d2)"])
    return dice + rest


GENERATED = [drawn_up(Random(number)) for number in range(200 - len(NOTATION))]


class OurDraws:
    """Stands in for the generator of the d20 library, so that both roll the same dice."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        if stop is None:
            return self._draws.below(start)
        return start + step * self._draws.below((stop - start) // step)


@pytest.mark.parametrize("text", [*NOTATION, *GENERATED])
def test_a_formula_comes_to_what_the_d20_library_makes_of_the_same_dice(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(3):
        monkeypatch.setattr(d20.expression, "random", OurDraws(Draws(seed)))
        try:
            theirs = d20.roll(text).total
        except d20.TooManyRolls:
            with pytest.raises(FormulaError, match="dice fall in one roll"):
                roll(parse_formula(text), Draws(seed))
        else:
            assert roll(parse_formula(text), Draws(seed)).total == theirs


@pytest.mark.mass
@pytest.mark.parametrize("size", [2, 4, 6, 8, 10, 12, 20, 100])
def test_every_face_falls_as_often_as_the_others(size: int, mass: Mass) -> None:
    rolls = mass(1_000_000)
    draws = Draws(20260101)
    fallen = Counter(draws.below(size) for _ in range(rolls))
    expected = rolls / size
    chi_square = sum((fallen[face] - expected) ** 2 / expected for face in range(size))
    assert chi_square < most_likely(size - 1), fallen


def most_likely(freedom: int) -> float:
    """What chi-square stays under in 999 of 1,000 fair trials (Wilson and Hilferty)."""
    part = 2 / (9 * freedom)
    return float(freedom * (1 - part + 3.0902 * part**0.5) ** 3)


def test_one_number_says_nothing_of_the_next() -> None:
    draws = Draws(7)
    pairs = Counter((draws.below(6), draws.below(6)) for _ in range(36_000))
    assert sum((pairs[a, b] - 1000) ** 2 / 1000 for a in range(6) for b in range(6)) < most_likely(35)


@given(st.integers(0, 2**31), st.integers(0, 500), st.integers(1, 50))
def test_draws_go_on_from_a_cursor_as_if_nobody_had_stopped(seed: int, skipped: int, size: int) -> None:
    whole = Draws(seed)
    for _ in range(skipped):
        whole.below(6)
    later = Draws(seed, whole.cursor)
    assert [whole.below(size) for _ in range(20)] == [later.below(size) for _ in range(20)]


def test_fate_dice_show_minus_one_to_one() -> None:
    fallen = roll(parse_formula("300dF"), Draws(1))
    assert {die.value for die in fallen.dice} == {-1, 0, 1}
    assert fallen.total == sum(die.value for die in fallen.dice)


def test_names_stand_for_stats() -> None:
    formula = parse_formula("1d1 + strength * 2 - (level // 3)")
    assert names_in(formula) == {"strength", "level"}
    assert roll(formula, Draws(0), {"strength": 4, "level": 7}).total == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ends where"),
        ("2d6+", "ends where"),
        ("2d6 2", "not expected"),
        ("((1)", "ends where"),
        ("1d0", "1 to 1000000 sides"),
        ("1001d6", "At most 1000 dice"),
        ("9999999999", "at most 9 digits"),
        ("(1,2)e6", "not expected"),
        ("4d6mi>2", "plain number"),
        ("__import__('os')", "not expected"),
        ("1+" * 100 + "1", f"at most {LONGEST} letters"),
        ("(" * 30 + "1" + ")" * 30, "at most 20 deep"),
        ("1;2", "not expected"),
    ],
)
def test_what_is_no_formula_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(FormulaError, match=said):
        parse_formula(text)


@pytest.mark.parametrize("text", ["1/0", "5//(2-2)", "3%0", "unknown + 1", "d1e1", "9d2rr<3"])
def test_what_cannot_be_reckoned_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(FormulaError, match=r"\.$"):
        roll(parse_formula(text), Draws(0))


@examples(2000)
@given(st.text("0123456789d%F+-*/()<>=!kplhreoami, .[]x_", max_size=40))
def test_any_text_is_rolled_or_refused_and_never_breaks(text: str) -> None:
    try:
        rolled = roll(parse_formula(text), Draws(1), {})
    except FormulaError as error:
        assert str(error).endswith(".")
    else:
        assert len(rolled.dice) <= 1000


@pytest.mark.parametrize("text", ["500d9" + "rrl1" * 48, "1d2e1e2"])
def test_a_roll_that_looks_at_its_dice_again_and_again_is_ended(text: str) -> None:
    with pytest.raises(FormulaError, match="takes too long"):
        roll(parse_formula(text), Draws(1, 0))


@pytest.mark.parametrize(
    "text", ["999999999*999999999*9", "9" * 95 + ".0*" + "9" * 95 + ".0", "9" * 190 + ".0", "-999999999*999999999"]
)
def test_no_number_of_a_roll_is_larger_than_json_carries(text: str) -> None:
    with pytest.raises(FormulaError, match="too large"):
        roll(parse_formula(text), Draws(1, 0))


@pytest.mark.parametrize("text", ["(rank, rank) * 1.5", "-(rank, rank) // 1.5", "rank"])
def test_a_value_that_is_far_too_large_is_refused_before_it_is_reckoned_with(text: str) -> None:
    with pytest.raises(FormulaError, match="too large"):
        roll(parse_formula(text), Draws(1, 0), {"rank": int(1.7e308)})
