"""Whether a model's answer has the asked shape: found for anything that JSON can say, and told in words."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import calls_of

from fabula.adapters.models.structure import DEEPEST, decoded, find_json, odd_part, schema_problem
from fabula.agents.talks.decisions import CAREFUL_FIRST, DECISION_SCHEMA, read_decision
from fabula.ports.models import ModelUnusable

names = st.sampled_from(["weights", "reply", "reason", "guidance", "NEEDS_INPUT", "DIRECT_CONTINUE", "other", "\ud800"])
whole = st.integers(-(2**63), 2**63 - 1)
values = st.recursive(
    st.none() | st.booleans() | whole | st.floats() | st.text(st.characters(), max_size=5) | st.just("\udfff"),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(names, below, max_size=4),
    max_leaves=12,
)
weights = st.dictionaries(
    st.sampled_from([*CAREFUL_FIRST, "other"]), st.floats() | st.integers() | st.just(10**400) | values, max_size=4
)
proposals = st.fixed_dictionaries({"weights": weights | values, "reply": st.text(max_size=3) | values})

UNFIT = [
    ({"reply": "Yes."}, '"weights" is a required property'),
    ({"weights": {"NEEDS_INPUT": "much"}}, 'at \'weights.NEEDS_INPUT\': "much" is not of type "number"'),
    ({"weights": {}, "reply": None}, "at 'reply': null is not of type \"string\""),
    ({"weights": {}, "mood": 1}, "Additional properties are not allowed ('mood' was unexpected)"),
    ({"weights": {}, "\ud800": 1}, "something in it is half a character"),
    ([], '[] is not of type "object"'),
]


@pytest.mark.parametrize(("value", "problem"), UNFIT)
def test_what_does_not_fit_is_told_with_its_place(value: Any, problem: str) -> None:
    assert schema_problem(value, DECISION_SCHEMA) == problem
    with pytest.raises(ModelUnusable, match="does not fit the asked shape") as refused:
        decoded(json.dumps(value), DECISION_SCHEMA)
    assert refused.value.message.endswith(f"{problem}.")


def test_an_answer_of_very_many_values_does_not_fit() -> None:
    with pytest.raises(ModelUnusable, match="holds more than 10000 values"):
        decoded(json.dumps({"weights": [{}] * 10_000}), DECISION_SCHEMA)


def test_an_answer_that_breaks_off_is_not_read_again_from_each_of_its_brackets() -> None:
    with pytest.raises(ModelUnusable, match="holds no JSON"):
        decoded('{"a":[' * 49 + "1," * 5_000 + 'x"]', DECISION_SCHEMA)
    read = calls_of(lambda: find_json('{"a":[' * 49 + "1," * 5_000 + 'x"]'))["raw_decode"]
    assert 1 <= read <= 5
    assert find_json("{so} [they say] {well} " * 3 + '{"a": 1}') == ({"a": 1}, True)


@given(values)
def test_whatever_json_says_is_fit_or_not_and_what_is_unfit_is_never_a_decision(value: Any) -> None:
    text = json.dumps(value)
    try:
        fit = decoded(text, DECISION_SCHEMA)
    except ModelUnusable as refused:
        assert refused.reply_text == text
        assert read_decision(text)[0] is None
    else:
        assert fit == json.loads(text)


@given(proposals | values)
def test_whatever_json_says_is_a_decision_or_is_told_to_be_none(value: Any) -> None:
    decision, problems = read_decision(json.dumps(value))
    if decision is None:
        assert problems
        return
    assert not problems and (decision.goes_on or decision.reply)
    assert math.isclose(math.fsum(decision.weights.values()), 1.0)
    assert decision.weights[decision.outcome] == max(decision.weights.values())


@given(st.lists(st.floats(min_value=0, allow_infinity=False, allow_nan=False), min_size=4, max_size=4).filter(any))
def test_weights_of_any_size_decide_for_the_largest_and_the_more_careful(sizes: list[float]) -> None:
    spelled = json.dumps({"weights": dict(zip(CAREFUL_FIRST, sizes, strict=True)), "reply": "Aye."})
    decision, _ = read_decision(spelled)
    assert decision is not None and decision.outcome == CAREFUL_FIRST[sizes.index(max(sizes))]


UNSEEN = ["", " \n", "\u200b\u200b", "\ufeff \u2060", "\u202e\u0007", "\u200b" * 5_000 + "Aye."]


@pytest.mark.parametrize("reply", UNSEEN)
def test_a_reply_of_which_nothing_is_seen_is_no_answer(reply: str) -> None:
    decision, problems = read_decision(json.dumps({"weights": {"NEEDS_INPUT": 1}, "reply": reply}))
    assert decision is None and problems == ["'reply' is empty, but the player waits for an answer"]


ODD = {
    "half a character": ('{"reply": ["Aye", "\\ud83d"]}', "something in it is half a character"),
    "half a name": ('[{"\\udc00": 1}]', "something in it is half a character"),
    "a large number": ("[18446744073709551616]", "something in it is too large a number"),
    "a small number": ("[-9223372036854775809]", "something in it is too large a number"),
    "an infinite number": ("[1e999]", "something in it is too large a number"),
    "no number": ("[NaN]", "something in it is no number"),
    "a deep nest": ("[" * 500 + "]" * 500, f"it nests deeper than {DEEPEST} levels"),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_nobody_can_keep_is_refused_whatever_the_asked_shape(odd: str) -> None:
    text, problem = ODD[odd]
    with pytest.raises(ModelUnusable) as refused:
        decoded(text, {})
    assert refused.value.message.endswith(f"{problem}.") and refused.value.reply_text == text


def test_what_can_be_kept_has_no_odd_part() -> None:
    assert odd_part({"a": [1, -(2**63), 2**63 - 1, 1e308, True, None, "\N{WAVING HAND SIGN}"], "b": {}}) is None


def test_a_number_of_thousands_of_digits_is_no_json() -> None:
    with pytest.raises(ModelUnusable, match="holds no JSON"):
        decoded(f"Here it is: [{'9' * 5_000}]", {})
