"""What SQLite may answer for a column: whatever was asked before, no value of another type gets through."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.adapters.stores.row_types import FittingTypes, Wanted, made_to_fit

TYPES = [int, float, str, bytes, type(None)]
VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text(max_size=3) | st.binary(max_size=3)
WANTED: st.SearchStrategy[Wanted] = st.lists(
    st.none() | st.frozensets(st.sampled_from(TYPES), min_size=1), min_size=3, max_size=3
)
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=5)


@given(WANTED, st.lists(ROWS, max_size=6))
@examples(100)
def test_what_fitted_once_lets_nothing_else_through(wanted: Wanted, asked: list[list[tuple[object, ...]]]) -> None:
    types = FittingTypes(wanted)
    for rows in asked:
        wrong = [
            value
            for row in rows
            for value, fitting in zip(row, wanted, strict=True)
            if fitting is not None and type(value) not in fitting
        ]
        assert types.fit(rows) is not bool(wrong)


@given(ROWS)
@examples(100)
def test_what_is_made_to_fit_does(rows: list[tuple[object, ...]]) -> None:
    wanted: Wanted = [frozenset([int]), frozenset([str, type(None)]), None]
    made = made_to_fit(rows, wanted)
    assert FittingTypes(wanted).fit(made)
    assert [row[2] for row in made] == [row[2] for row in rows]


def test_one_statement_knows_nothing_of_another() -> None:
    numbers, texts = FittingTypes([frozenset([int])]), FittingTypes([frozenset([str])])
    assert numbers.fit([(1,)]) and not texts.fit([(1,)])
    assert texts.fit([("1",)]) and not numbers.fit([("1",)])


def test_very_many_combinations_are_looked_at_and_not_all_kept() -> None:
    types = FittingTypes([None] * 6)
    rows = [tuple(TYPES[n // 5**place % 5]() for place in range(6)) for n in range(5**6)]
    assert all(types.fit(rows[start : start + 100]) for start in range(0, len(rows), 100))
    assert len(types._known) < 1_000
