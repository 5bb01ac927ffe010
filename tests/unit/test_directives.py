"""Directives: which of them hold, by target, priority and time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from fabula.agents.directives import directives_text
from fabula.story.directives import Directive, forbidden_phrases, forbidding, holding


def said(kind: str, text: str = "Speak softly.", **more: Any) -> Directive:
    given = {"directive_id": more.pop("id", text[:8].strip(" .") or kind), "kind": kind, "text": text, **more}
    return Directive.model_validate({**given, "directive_id": str(given["directive_id"]).replace(" ", "-")})


def texts(found: list[Directive]) -> list[str]:
    return [one.text for one in found]


def test_the_highest_priority_stands_first_and_only_the_own_ones_hold() -> None:
    kept = [
        said("do", "Be brief.", priority=2),
        said("avoid", "Puns.", priority=7, **{"for": "narrator"}),
        said("do", "Limp.", priority=9, **{"for": "mara"}),
    ]
    assert texts(holding(kept, ("everyone", "narrator"), 0)) == ["Puns.", "Be brief."]
    assert texts(holding(kept, ("everyone", "actor", "mara"), 0)) == ["Limp.", "Be brief."]


def test_what_has_expired_holds_no_more() -> None:
    kept = [said("do", "Hurry.", expires=600)]
    assert texts(holding(kept, ("everyone",), 599)) == ["Hurry."]
    assert holding(kept, ("everyone",), 600) == []


def test_an_override_silences_what_is_below_it_for_the_same_one() -> None:
    kept = [
        said("do", "Be cheerful.", priority=3, **{"for": "mara"}),
        said("prohibit", "Names.", priority=6, **{"for": "mara"}),
        said("override", "Be silent.", priority=6, **{"for": "mara"}),
        said("do", "Rhyme.", priority=1, **{"for": "narrator"}),
    ]
    assert texts(holding(kept, ("everyone", "mara"), 0)) == ["Names.", "Be silent."]
    assert texts(holding(kept, ("everyone", "narrator"), 0)) == ["Rhyme."]


def test_an_override_for_everyone_silences_everybody() -> None:
    kept = [said("do", "Rhyme.", priority=4, **{"for": "narrator"}), said("override", "Plain prose.", priority=5)]
    assert texts(holding(kept, ("everyone", "narrator"), 0)) == ["Plain prose."]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["do", "avoid", "override", "prohibit"]),
            st.sampled_from(["everyone", "narrator", "mara"]),
            st.integers(1, 10),
            st.none() | st.integers(0, 20),
        ),
        max_size=12,
    ),
    st.integers(0, 20),
)
def test_whatever_is_said_nothing_below_an_override_that_holds_is_heard(
    rows: list[tuple[str, str, int, int | None]], minute: int
) -> None:
    kept = [
        said(kind, f"Text {number}.", id=f"d{number}", priority=priority, expires=expires, **{"for": target})
        for number, (kind, target, priority, expires) in enumerate(rows)
    ]
    held = holding(kept, ("everyone", "narrator"), minute)
    assert all(one.expires is None or minute < one.expires for one in held)
    assert all(one.target != "mara" for one in held)
    assert [one.priority for one in held] == sorted((one.priority for one in held), reverse=True)
    loud = [one for one in held if one.kind == "override"]
    for over in loud:
        silenced = [one for one in held if over.target in ("everyone", one.target) and one.priority < over.priority]
        assert silenced == []
    assert sorted(texts(holding(list(reversed(kept)), ("everyone", "narrator"), minute))) == sorted(texts(held))


def test_only_a_prohibition_names_phrases_and_tools() -> None:
    with pytest.raises(ValidationError, match="only a prohibition"):
        said("avoid", phrases=["the end"])
    with pytest.raises(ValidationError, match="needs a text"):
        said("do", "", id="empty")


def test_forbidden_phrases_and_tools_are_those_of_prohibitions_that_hold() -> None:
    kept = [
        said("prohibit", "", id="a", phrases=["the end", "dear reader"]),
        said("prohibit", "", id="b", tools=["commit_scene"], **{"for": "canon_keeper"}),
    ]
    assert forbidden_phrases(kept, ("everyone", "narrator"), 0) == ["the end", "dear reader"]
    assert forbidding(kept, "canon_keeper", "commit_scene", 0) == kept[1]
    assert forbidding(kept, "canon_keeper", "read_scene", 0) is None
    assert forbidding(kept, "extractor", "commit_scene", 0) is None


def test_they_are_told_in_words_with_the_names_of_characters() -> None:
    kept = [said("override", "Be silent.", **{"for": "mara"}), said("prohibit", "", id="x", phrases=["the end"])]
    text = directives_text(kept, {"mara": "Mara"})
    assert "- Above all else (Mara): Be silent." in text
    assert '- Never: Do not say or tell: "the end".' in text
