"""Lines as they are meant: a rewrite is tried only where its letters stand, and never missed because of that."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.understudy.reading.rewrites import CONTRACTIONS, REWRITES, Rewrite, plain_line, plain_wish


@pytest.mark.parametrize("rewrite", [*CONTRACTIONS, *REWRITES], ids=lambda rewrite: rewrite[0].pattern[:40])
def test_whatever_a_rewrite_finds_has_one_of_its_signs(rewrite: Rewrite) -> None:
    pattern, _, signs = rewrite

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.from_regex(pattern.pattern, alphabet=st.characters(codec="ascii", exclude_categories=["Lu"])))
    def holds(text: str) -> None:
        assert any(sign in text for sign in signs) or pattern.search(text) is None

    holds()


def test_every_alternative_of_a_rewrite_has_a_sign() -> None:
    """Words of the patterns, put together at random: more of them fit than of random letters."""
    words = sorted(
        {word for pattern, _, _ in (*CONTRACTIONS, *REWRITES) for word in re.findall(r"[a-z']+", pattern.pattern)}
    )

    @settings(max_examples=400, deadline=None, database=None)
    @given(st.lists(st.sampled_from(words), min_size=2, max_size=6).map(" ".join))
    def holds(text: str) -> None:
        for pattern, _, signs in (*CONTRACTIONS, *REWRITES):
            assert any(sign in text for sign in signs) or pattern.search(text) is None, (pattern.pattern, text)

    holds()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I'd better not.", "i had better not."),
        ("Don't you dare, I won't!", "do not you dare, i will not!"),
        ("Ill go, whats the matter?", "i will go, what is the matter?"),
        ("The sailors' boat isn't Mara's.", "the sailors 's boat is not mara 's."),
    ],
)
def test_contractions_are_written_out(said: str, meant: str) -> None:
    assert plain_line(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("could you take me to the inn", "i go to the inn"),
        ("i was wondering if we could go", "i go"),
        ("would you care for some bread", "i offer some bread"),
        ("let me see the lamp", "i want to see the lamp"),
        ("towards the harbour", "i go to the harbour"),
        ("the inn it is then", ", i choose the inn"),
        ("i would very much like to go", "i go"),
    ],
)
def test_wishes_are_plain_acts(said: str, meant: str) -> None:
    assert plain_wish(said) == meant
