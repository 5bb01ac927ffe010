"""What is said out of character is taken out of a line."""

from __future__ import annotations

import pytest

from fabula.language.asides import GO_ON, split_asides


@pytest.mark.parametrize(
    ("line", "said", "aside"),
    [
        ("I go on. ((shorter, please))", "I go on.", "shorter, please"),
        ("((less rain)) I look up ((and wind)).", "I look up .", "less rain and wind"),
        ("((shorter))", GO_ON, "shorter"),
        ("I whisper (to myself).", "I whisper (to myself).", ""),
        ("(())", "(())", ""),
    ],
)
def test_double_brackets_are_for_the_storyteller(line: str, said: str, aside: str) -> None:
    assert split_asides(line) == (said, aside)
