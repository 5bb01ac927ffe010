"""Whether a model's answer has the asked shape: found for anything that JSON can say, and told in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.adapters.models.structure import decoded, schema_problem
from fabula.agents.knots.decisions import DECISION_SCHEMA, read_decision
from fabula.ports.models import ModelUnusable

names = st.sampled_from(["weights", "reply", "reason", "guidance", "NEEDS_INPUT", "DIRECT_CONTINUE", "other", "\ud800"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5) | st.just("\udfff"),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(names, below, max_size=4),
    max_leaves=12,
)

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
