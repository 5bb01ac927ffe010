"""Where plays stood lately: the states that turns left behind, and the end of the transcript up to there.

A turn that is committed never changes; what is changed by hand is a turn of its own. So what is kept here is true for
as long as the turn exists, on every machine, and a play that goes on where this process left it reads neither again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachetools import LRUCache

from fabula.ports.plays import SpokenMessage, Turn
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry

STANDINGS_KEPT = 256


@dataclass(frozen=True, kw_only=True)
class PastSummary:
    """What stands in prompts for the first lines of a play, of which so many are left out."""

    lines: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A play after a turn. `past` are the last lines of the transcript, of which `lines` were asked for.

    `so_far` is what stood for the lines before them in the last prompt, if anything did. `as_stored` says that the
    store has the lines letter for letter; those that were read from it are.
    """

    play: PlayState
    past: Sequence[MemoryEntry]
    lines: int
    so_far: PastSummary | None = None
    as_stored: bool = True

    def after(self, play: PlayState, said: Sequence[MemoryEntry]) -> Standing:
        """The standing after one more turn."""
        past = [*self.past, *said]
        as_stored = self.as_stored and all(map(_is_kept_as_it_is, said))
        return replace(self, play=play, past=past[max(0, len(past) - self.lines) :], as_stored=as_stored)


class TurnStateCache:
    """The states after the turns that were played last."""

    def __init__(self, *, kept: int = STANDINGS_KEPT) -> None:
        self._kept: LRUCache[str, Standing] = LRUCache(kept)
        self._newest: LRUCache[str, str] = LRUCache(kept)

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


def entry_of(message: SpokenMessage) -> MemoryEntry:
    """A line of the transcript as the roles remember it."""
    return MemoryEntry(
        speaker_id=message.speaker_id,
        speaker_name=message.speaker_name,
        kind=message.kind,
        text=message.text,
        heard_by=None if message.heard_by is None else list(message.heard_by),
    )


def _is_kept_as_it_is(entry: MemoryEntry) -> bool:
    """Whether a line is kept letter for letter: half surrogates and NUL characters are not."""
    words = entry.speaker_name + entry.text
    return "\0" not in words and (words.isascii() or words.encode("utf-8", "ignore").decode() == words)
