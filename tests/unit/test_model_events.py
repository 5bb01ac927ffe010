"""Events come out of a stream the same, however its bytes were cut."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.adapters.models.events import EventReader, NotAnEvent

FRAMES = st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), max_size=6)


def read(raw: bytes, size: int) -> list[dict[str, Any]]:
    reader, found = EventReader(), list[dict[str, Any]]()
    for start in range(0, len(raw), size):
        found += reader.feed(raw[start : start + size])
    return [*found, *reader.close()]


@given(FRAMES, st.integers(1, 40), st.sampled_from([b"\n\n", b"\r\n\r\n"]), st.booleans())
def test_events_do_not_depend_on_how_bytes_were_cut(
    frames: list[dict[str, str]], size: int, end: bytes, closed: bool
) -> None:
    raw = b": keep-alive\n" + b"".join(b"data: " + orjson.dumps(frame) + end for frame in frames)
    raw += b"data: [DONE]\n\ndata: never read" if closed else b""
    assert read(raw, size) == frames


def test_a_last_event_without_its_line_end_is_read() -> None:
    assert read(b'data: {"a": 1}', 4) == [{"a": 1}]


@pytest.mark.parametrize("raw", [b"data: {\n", b"data: [1]\n", b"data: \xff\n", b"data:" + b"x" * (9 * 2**20)])
def test_what_is_no_event_is_refused(raw: bytes) -> None:
    with pytest.raises(NotAnEvent):
        read(raw, 2**20)
