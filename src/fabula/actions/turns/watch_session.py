"""Watch a session: its feed and the frames of its turns as one row, the same for everyone who watches.

1. The feed says that a turn began. Its frames follow, to the last one; only then what the feed said meanwhile.
2. Everything has an id: where the feed stood, and the last frame. Who comes back with it hears the rest of the turn it
   was in, then what came since, on any server that shares the store.
3. Another server does not know the place in the feed. It tells where the session stands, then the turns that were
   committed on the line from the last one that was seen, as far as they are few.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.turns.watch_feed import Told as FeedTold
from fabula.actions.turns.watch_feed import watch_feed
from fabula.actions.turns.watch_turn import END, LAST, WatchedTurn, to_the_end, turn_from, whole_turn
from fabula.ports.actors import Actor
from fabula.ports.bus import Frame
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.story.events import Told
from fabula.story.feed_events import FeedEvent, FeedSnapshot, TurnBegan

MOST_MISSED = 20
"""So many turns are told to who was away; after more of them the session is read anew."""

TOLD_TURNS_KEPT = 64
_BETWEEN = "|"


@dataclass(frozen=True, kw_only=True)
class WatchedFrame:
    """A frame of a turn."""

    id: str
    turn: Turn
    frame: Frame[Told]


@dataclass(frozen=True, kw_only=True)
class WatchedEvent:
    """An event of the feed."""

    id: str
    event: FeedEvent


Watched = WatchedFrame | WatchedEvent


@allowed("player")
async def watch_session(house: House, actor: Actor, session_id: str, after: str = "") -> AsyncGenerator[Watched, None]:
    """What happens to a session and what is told in it, on from the id that was seen last."""
    feed_seen, _, frame_seen = after.partition(_BETWEEN)
    async with house.store.reading() as unit:
        await play_of(unit, actor, session_id)
    rest = None
    if frame_seen:
        # Named first, so that an id which names nothing is refused before anything is opened.
        rest = await turn_from(house, actor, session_id, frame_seen)
    feed = await watch_feed(house, actor, session_id, feed_seen)
    watch = _Watch(house=house, actor=actor, session_id=session_id, feed_id=feed_seen, frame_id=frame_seen)
    return watch.go_on(feed, rest)


@dataclass(kw_only=True)
class _Watch:
    """One who watches: where they stand in the feed, and in which turn."""

    house: House
    actor: Actor
    session_id: str
    feed_id: str
    frame_id: str
    told: deque[str] = field(default_factory=lambda: deque(maxlen=TOLD_TURNS_KEPT))

    async def go_on(
        self, feed: AsyncGenerator[FeedTold, None], rest: WatchedTurn | None
    ) -> AsyncGenerator[Watched, None]:
        seen = self.frame_id.removesuffix(LAST).rpartition(":")[0].partition("~")[0]
        async with aclosing(feed):
            if rest is not None and rest.turn.turn_id == seen:
                async with aclosing(self._frames(rest)) as frames:
                    async for frame in frames:
                        yield frame
            elif rest is not None:
                await rest.frames.aclose()
            if seen:
                self.told.append(seen)
            async for entry in feed:
                turns = await self._turns_behind(entry.event, seen)
                self._move_to(entry, turns)
                yield WatchedEvent(id=self._id(), event=entry.event)
                for turn_id in turns:
                    seen = turn_id
                    whole = await whole_turn(self.house, self.session_id, turn_id)
                    async with aclosing(self._frames(whole)) as frames:
                        async for frame in frames:
                            yield frame
                self.feed_id = entry.id

    def _move_to(self, entry: FeedTold, turns: list[str]) -> None:
        """Who leaves right behind this event must still hear its turns when they come back."""
        if isinstance(entry.event, FeedSnapshot) and not self.frame_id:
            self.frame_id = f"{entry.event.head_turn_id}{END}"
        if turns and isinstance(entry.event, TurnBegan):
            self.feed_id, self.frame_id = entry.id, f"{turns[0]}:"
        else:
            # Without a place in the feed a snapshot comes again, and with it the turns that are missing then.
            self.feed_id = "" if turns else entry.id

    async def _turns_behind(self, event: FeedEvent, seen: str) -> list[str]:
        """The turns that are told after an event, those that were told already left out."""
        if isinstance(event, TurnBegan):
            found = [event.turn_id]
        elif isinstance(event, FeedSnapshot):
            async with self.house.store.reading() as unit:
                missed = await _missed(unit, self.session_id, event.head_turn_id, seen) if seen else []
            found = [*missed, *([] if event.active_turn_id is None else [event.active_turn_id])]
        else:
            found = []
        return [turn_id for turn_id in found if turn_id not in self.told]

    async def _frames(self, watched: WatchedTurn) -> AsyncGenerator[Watched, None]:
        """The frames of a turn to the last one, whichever process plays it to its end."""
        self.told.append(watched.turn.turn_id)
        async with aclosing(to_the_end(self.house, self.actor, watched)) as frames:
            async for self.frame_id, frame in frames:
                yield WatchedFrame(id=self._id(), turn=watched.turn, frame=frame)

    def _id(self) -> str:
        return f"{self.feed_id}{_BETWEEN}{self.frame_id}"


async def _missed(unit: Unit, session_id: str, head_turn_id: str, seen: str) -> list[str]:
    """The turns that were played from one that was seen to the head; none where the way does not lead there soon."""
    missed: list[str] = []
    turn_id: str | None = head_turn_id
    for _ in range(MOST_MISSED + 1):
        if turn_id is None or turn_id == seen:
            break
        turn = await unit.plays.turn(turn_id)
        if turn is None:
            return []
        if turn.kind == "play" and turn.session_id == session_id:
            missed.append(turn.turn_id)
        turn_id = turn.parent_id
    return missed[::-1] if turn_id == seen else []
