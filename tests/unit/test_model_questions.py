"""What is told of an answer that cannot be used."""

from __future__ import annotations

import pytest

from fabula.loops.model_questions import unusable


@pytest.mark.parametrize(
    ("problems", "told"),
    [
        (["the plan is empty or too short"], "the plan is empty or too short. Try again."),
        (["'a' is missing", "'b' is missing"], "'a' is missing; 'b' is missing. Try again."),
        (
            ["The model answered with nothing. Use another model."],
            "The model answered with nothing. Use another model.",
        ),
    ],
)
def test_what_cannot_be_used_is_told_with_one_advice(problems: list[str], told: str) -> None:
    assert unusable("The plan", problems).message == f"The plan could not be used: {told}"
