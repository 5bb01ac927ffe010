"""Numbers are those of the reference: int32, float32, their printing, and System.Random."""

from __future__ import annotations

import math
import struct
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ink.runtime.ink_support import play, start

from fabula.ink import InkRuntimeError
from fabula.ink.runtime.arithmetic import INT_MAX, INT_MIN, float32, int32, json_float, power, print_float, truncate
from fabula.ink.runtime.reference_random import first_random, random_numbers


def printed(expression: str) -> str:
    return play(start(f"{{{expression}}}\n-> END\n")).strip()


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("-7 mod 3", "-1"),
        ("7 % -3", "1"),
        ("7 / 2.0", "3.5"),
        ("7.0 / 3", "2.3333333"),
        ("2147483647 + 1", "-2147483648"),
        ("65536 * 65536", "0"),
        ("0.1 + 0.2", "0.3"),
        ("1.0", "1"),
        ("1.0 / 3.0", "0.33333334"),
        ("10000000.0", "1E+07"),
        ("1234567.0", "1234567"),
        ("0.00001 * 1.0", "1E-05"),
        ("1.0 / 0.0", "Infinity"),
        ("POW(2, 3)", "8"),
        ("POW(2, -1)", "0.5"),
        ("FLOOR(-2.5)", "-3"),
        ("CEILING(2.1)", "3"),
        ("INT(-2.9)", "-2"),
        ("FLOAT(3) / 2", "1.5"),
        ("MIN(3, 2.5)", "2.5"),
        ("MAX(3, 2)", "3"),
        ("true + true", "2"),
        ("true", "true"),
        ("not 0", "true"),
        ("1 == 1.0", "true"),
        ('1 + "a"', "1a"),
        ('2.0 + "a"', "2a"),
        ('true + "a"', "truea"),
        ('"abc" ? "b"', "true"),
        ('"abc" !? "b"', "false"),
    ],
)
def test_an_expression_prints_as_in_the_reference(expression: str, text: str) -> None:
    assert printed(expression) == text


@pytest.mark.parametrize("expression", ["1 / zero", "1 % zero", "smallest / minus", '"a" - "b"', '"a" > "b"'])
def test_what_the_reference_refuses_is_a_typed_error(expression: str) -> None:
    story = start(
        "VAR zero = 0\nVAR minus = -1\nVAR smallest = 0\n~ smallest = -2147483647 - 1\nOne.\n{" + expression + "}\n"
    )
    assert story.continue_() == "One.\n"
    with pytest.raises(InkRuntimeError):
        story.continue_()


@given(st.integers())
def test_int32_wraps_as_two_complement(number: int) -> None:
    assert int32(number) == struct.unpack("<i", struct.pack("<I", number & 0xFFFFFFFF))[0]


@given(st.floats(width=32, allow_nan=False))
def test_a_printed_float_reads_back_as_itself(number: float) -> None:
    text = print_float(number)
    assert float32(float(text.replace("Infinity", "inf"))) == number
    assert len(text.lstrip("-").replace(".", "").partition("E")[0].strip("0")) <= 9


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_in_json_stays_a_float(number: float) -> None:
    text = json_float(number)
    assert "." in text or "E" in text
    assert float32(float(text)) == number


@pytest.mark.parametrize(("number", "whole"), [(2.9, 2), (-2.9, -2), (math.nan, INT_MIN), (1e20, INT_MIN)])
def test_a_float_becomes_an_int(number: float, whole: int) -> None:
    assert truncate(number) == whole


def test_powers_outside_the_numbers_are_infinite_or_nothing() -> None:
    assert power(10, 1000) == math.inf
    assert power(-10, 1001) == -math.inf
    assert power(0, -1) == math.inf
    assert math.isnan(power(-1, 0.5))


@pytest.mark.parametrize(
    ("seed", "numbers"),
    [(0, [1559595546, 1755192844, 1649316166]), (42, [1434747710, 302596119, 269548474]), (1, [534011718])],
)
def test_the_sequence_is_that_of_system_random(seed: int, numbers: list[int]) -> None:
    assert list(islice(random_numbers(seed), len(numbers))) == numbers


@given(st.integers(INT_MIN, INT_MAX))
def test_any_seed_gives_a_number(seed: int) -> None:
    assert 0 <= first_random(seed) < INT_MAX


def test_a_seeded_story_is_the_same_every_time() -> None:
    source = "~ SEED_RANDOM(7)\n{RANDOM(1, 100)} {RANDOM(1, 100)} {~a|b|c|d}{~a|b|c|d}\n-> END\n"
    assert play(start(source, seed=1)) == play(start(source, seed=2))


def test_a_list_gives_the_item_that_the_reference_gives() -> None:
    source = "LIST l = A, (B), (C), (D), E\n" + "{LIST_RANDOM(l)}\n" * 10
    assert play(start(source, seed=84)).split() == list("CCBCCDDCCC")
