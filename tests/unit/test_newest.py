"""A dictionary that keeps only what was used last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.story.newest import Newest

Use = tuple[str, int]


@given(st.lists(st.tuples(st.sampled_from(["get", "put"]), st.integers(0, 6))), st.integers(1, 4))
def test_it_holds_the_last_used_and_no_more(uses: list[Use], most: int) -> None:
    newest: Newest[int, str] = Newest(most)
    order: list[int] = []
    for kind, key in uses:
        if kind == "put":
            newest.put(key, f"value {key}")
            order = [*(one for one in order if one != key), key][-most:]
        else:
            assert newest.get(key) == (f"value {key}" if key in order else None)
            if key in order:
                order = [*(one for one in order if one != key), key]
        assert len(newest) == len(order)
