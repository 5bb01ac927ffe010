"""What the games of a token may send: the same bucket for all its connections, and nobody else's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.loops.npc.company import MOST_AGENTS
from fabula.ports.actors import OPERATOR, Actor
from fabula.server.game_socket.connection import LARGEST_NOTICE
from fabula.server.game_socket.pace import (
    ENTRIES_OF_BOUNDARIES,
    ENTRY_BYTES,
    MOST_ENTRIES_AT_ONCE,
    MOST_FRAMES_AT_ONCE,
    TOKEN_FRAME_BYTES,
    TokenPaces,
)
from fabula.server.game_socket.wire import LARGEST_FRAME

PLAYERS = [Actor(role="player", token_id=token) for token in "abc"]


@examples(400)
@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.integers(0, 2), st.integers(0, 60), st.sampled_from([0, 7, 8, 30])),
        max_size=60,
    )
)
def test_each_token_has_one_bucket_that_fills_steadily(steps: list[tuple[int, int, int, int]]) -> None:
    seconds = [0.0]
    paces = TokenPaces(lambda: seconds[0], per_second=16, at_once=50, bytes_each=8)
    left, at = dict.fromkeys(range(3), 50.0), dict.fromkeys(range(3), 0.0)
    for eighths, who, count, size in steps:
        # Eighths of a second are exact, and so are the sums.
        seconds[0] += eighths / 8
        left[who] = min(50.0, left[who] + 16 * (seconds[0] - at[who]))
        at[who] = seconds[0]
        cost = count * (1 + size // 8)
        assert paces.allows(PLAYERS[who], count, size) is (cost <= left[who])
        left[who] -= cost if cost <= left[who] else 0
        for free in (OPERATOR, Actor(role="admin", token_id="d")):
            assert paces.allows(free, 1_000, 1_000)


def test_whatever_may_be_sent_at_all_fits_into_a_bucket_that_is_full() -> None:
    assert 1 + LARGEST_FRAME // TOKEN_FRAME_BYTES <= MOST_FRAMES_AT_ONCE
    assert ENTRIES_OF_BOUNDARIES * (1 + LARGEST_FRAME // ENTRY_BYTES) <= MOST_ENTRIES_AT_ONCE
    assert MOST_AGENTS + LARGEST_NOTICE // ENTRY_BYTES <= MOST_ENTRIES_AT_ONCE
