"""No act is passed over because of the letters by which sentences are sorted out first."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from fabula.language.social_acts import _ACTS, _SIGNS, acts_in

# The pattern's own tree: there is no public way to see every text that a pattern stands for.
parser: Any = import_module("re._parser")
codes: Any = import_module("re._constants")


def test_every_way_to_say_an_act_has_one_of_its_signs() -> None:
    for act, pattern in _ACTS:
        for said in _ways_to_say(parser.parse(pattern.pattern, re.IGNORECASE)):
            assert any(sign in said for sign in _SIGNS[act]), (act, said)


def test_an_act_is_found_in_large_letters_and_in_letters_that_only_match_each_other() -> None:
    assert acts_in("THANK YOU!") == ["thanks"]
    assert acts_in("I admit it: I ſwear.") == ["confession", "promise"]


def _ways_to_say(parts: Any) -> list[str]:
    """Every text that a pattern matches, in small letters; what may be anything is left out."""
    found = [""]
    for code, value in parts:
        found = [text + more for text in found for more in set(_ways_of(code, value))]
    return found


def _ways_of(code: Any, value: Any) -> list[str]:
    if code is codes.LITERAL:
        return [chr(value).lower()]
    if code is codes.AT:
        return [""]
    if code is codes.BRANCH:
        return [text for branch in value[1] for text in _ways_to_say(branch)]
    if code is codes.SUBPATTERN:
        return _ways_to_say(value[3])
    if code is codes.MAX_REPEAT and value[:2] == (0, 1):
        return ["", *_ways_to_say(value[2])]
    return ["\0"]
