"""Where plays stood lately: the states that turns left behind, and the end of the transcript up to there.

A turn that is committed never changes; what is changed by hand is a turn of its own. So what is kept here is true for
as long as the turn exists, on every machine, and a play that goes on where this process left it reads neither again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace

from cachetools import LRUCache
from pydantic import ValidationError

from fabula.loops.turns.large_turns import LargeTurns
from fabula.ports.plays import SpokenMessage, Turn
from fabula.ports.stored import damaged
from fabula.story.past_lines import line_bytes, newest_lines
from fabula.story.plays import PlayState
from fabula.story.sizes import memory_size, written_json
from fabula.story.state import MemoryEntry
from fabula.story.values import Json, JsonObject

STANDINGS_KEPT = 256
STANDINGS_BYTES = 24 * 2**20
"""All that are kept take about so much together, however large the states and lines of plays are."""
LARGE_STATE_BYTES = 128 * 2**10
"""A state that takes more is large: what a turn leaves behind of it is worth looking for."""
READ_KEPT = 64
"""So many states that were read, and are not large, are kept."""
WEIGHTS_KEPT = 1024
"""Of so many states that were read their weight is known, also of those that are too large to be kept."""
LARGE_AT_ONCE = 4
LARGE_BYTES_AT_ONCE = 8 * 2**20
"""So many turns of large states are played at once, and such of so many bytes together."""


@dataclass(frozen=True, kw_only=True)
class PastSummary:
    """What stands in prompts for the first lines of a play, of which so many are left out."""

    lines: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A play after a turn. `past` are the last lines of the transcript, of which `lines` were asked for.

    `play_bytes` is what the play takes in memory (`state_bytes`).
    `so_far` is what stood for the lines before them in the last prompt, if anything did. `as_stored` says that the
    store has the lines letter for letter; those that were read from it are.
    """

    play: PlayState
    play_bytes: int
    past: Sequence[MemoryEntry]
    lines: int
    so_far: PastSummary | None = None
    as_stored: bool = True

    @property
    def weight(self) -> int:
        """About the bytes that it takes in memory. Lines that several standings share count for each."""
        return self.play_bytes + sum(map(line_bytes, self.past))

    def with_lines(self, said: Sequence[MemoryEntry]) -> Standing:
        """The standing when these were told, too."""
        past = [*self.past, *said]
        as_stored = self.as_stored and all(map(_is_kept_as_it_is, said))
        return replace(self, past=newest_lines(past[max(0, len(past) - self.lines) :]), as_stored=as_stored)


class TurnStateCache:
    """The states after the turns that were played last: so many, and so large together."""

    def __init__(self, *, kept: int = STANDINGS_KEPT, most_bytes: int = STANDINGS_BYTES) -> None:
        least = most_bytes // kept
        self._has_large = False
        self._large_turns = LargeTurns(at_once=LARGE_AT_ONCE, most_bytes=LARGE_BYTES_AT_ONCE)

        def size(standing: Standing) -> int:
            weight = standing.weight
            self._has_large |= weight > LARGE_STATE_BYTES
            return min(most_bytes, max(least, weight))

        self._kept: LRUCache[str, Standing] = LRUCache(most_bytes, getsizeof=size)
        self._newest: LRUCache[str, str] = LRUCache(kept)
        self._read: LRUCache[str, PlayState] = LRUCache(READ_KEPT)
        self._weights: LRUCache[str, int] = LRUCache(WEIGHTS_KEPT)

    def take_large(self) -> bool:
        """Whether a large state was kept since this was last asked."""
        found, self._has_large = self._has_large, False
        return found

    def room_for(self, turn_id: str, play: PlayState) -> AbstractAsyncContextManager[object]:
        """What a turn waits for that begins at the state after this one, and has while it is played."""
        size = self._weigh(turn_id, play)
        return self._large_turns.turn_of(size) if size > LARGE_STATE_BYTES else nullcontext()

    def _weigh(self, turn_id: str, play: PlayState, stored: JsonObject | None = None) -> int:
        """What a state takes in memory. Once for each, because writing a state down takes time."""
        known = self._kept.get(turn_id)
        if known is not None:
            return known.play_bytes
        weight = self._weights.get(turn_id)
        if weight is None:
            weight = self._weights[turn_id] = state_bytes(play, play.as_json() if stored is None else stored)
        return weight

    def keep(self, turn: Turn, standing: Standing) -> None:
        """Remembers how a turn left the play, unless the store would spell its words differently."""
        if standing.as_stored:
            self._kept[turn.turn_id] = standing
            self._newest[turn.session_id] = turn.turn_id

    def newest(self, session_id: str) -> str | None:
        """The turn of a session that was remembered last: most likely where it stands now."""
        turn_id = self._newest.get(session_id)
        return turn_id if turn_id in self._kept else None

    def after(self, turn_id: str) -> Standing | None:
        """The standing after a turn, if it is still remembered."""
        return self._kept.get(turn_id)

    def state_after(self, turn_id: str) -> PlayState | None:
        """The state after a turn, if it was played or read lately."""
        standing = self._kept.get(turn_id)
        return self._read.get(turn_id) if standing is None else standing.play

    def keep_read(self, turn_id: str, play: PlayState, stored: JsonObject) -> None:
        """Remembers a state that was read: what follows a turn reads it for the world, the memories and the summary.
        `stored` is the same state as it was stored."""
        if self._weigh(turn_id, play, stored) <= LARGE_STATE_BYTES:
            self._read[turn_id] = play


def state_bytes(play: PlayState, stored: JsonObject) -> int:
    """About the bytes that a state takes in memory; `stored` is the same state as it is stored.

    Its letters count, and beside them what its variables are made of: these may be nothing but short values, each of
    which takes many times its letters.
    """
    world = play.world
    variables: list[Json] = [world.custom, world.player_state, *world.character_state.values()]
    return memory_size(variables) + len(written_json(stored))


def entry_of(message: SpokenMessage) -> MemoryEntry:
    """A line of the transcript as the roles remember it."""
    try:
        return MemoryEntry(
            speaker_id=message.speaker_id,
            speaker_name=message.speaker_name,
            kind=message.kind,
            text=message.text,
            heard_by=None if message.heard_by is None else list(message.heard_by),
        )
    except ValidationError as error:
        raise damaged(f"The line '{message.message_id}' of the transcript", error) from None


def _is_kept_as_it_is(entry: MemoryEntry) -> bool:
    """Whether a line is kept letter for letter: half surrogates and NUL characters are not."""
    words = entry.speaker_name + entry.text
    return "\0" not in words and (words.isascii() or words.encode("utf-8", "ignore").decode() == words)
