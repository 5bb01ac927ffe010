"""The feed of a session: whoever has it open learns what others do there, on any server that shares the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.care.tokens import is_valid
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, FabulaError
from fabula.ports.feeds import FeedEntry
from fabula.ports.plays import Play
from fabula.story.feed_events import FeedEvent, FeedSessionDeleted, FeedSnapshot, SessionEvent

MOST_FEEDS = 64
"""So many feeds one caller may have open at one server."""

LOOK_EVERY_S = 15.0
"""How often it is asked whether the one who listens may still do so."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """An event of a feed, and the id after which a client goes on."""

    id: str
    event: FeedEvent


@allowed("player")
async def watch_feed(
    house: House, actor: Actor, session_id: str, last_event_id: str, *, look_every_s: float = LOOK_EVERY_S
) -> AsyncGenerator[Told, None]:
    """What happens to a session, from the event that was seen last; a snapshot comes first where one may be missing."""
    await _play(house, actor, session_id)
    if house.open_feeds[_caller(actor)] >= MOST_FEEDS:
        raise Conflict(f"You have {MOST_FEEDS} feeds open already. Close one of them first.")
    return _feed(house, actor, session_id, last_event_id, look_every_s)


def _caller(actor: Actor) -> str:
    return actor.token_id or ""


async def _feed(
    house: House, actor: Actor, session_id: str, last_event_id: str, look_every_s: float
) -> AsyncGenerator[Told, None]:
    followed = house.feeds.follow(session_id, last_event_id)
    waiting: asyncio.Task[FeedEntry[SessionEvent] | None] | None = None
    house.open_feeds[_caller(actor)] += 1
    try:
        while True:
            # A task, because a generator that is interrupted while it waits cannot go on.
            waiting = waiting or asyncio.create_task(_next(followed))
            done, _ = await asyncio.wait([waiting], timeout=look_every_s)
            if not done:
                if not await _may_listen(house, actor, session_id):
                    return
                continue
            entry, waiting = waiting.result(), None
            if entry is None:
                return
            if entry.event is not None:
                yield Told(id=entry.id, event=entry.event)
                if isinstance(entry.event, FeedSessionDeleted):
                    return
                continue
            if not await _may_listen(house, actor, session_id):
                return
            play = await _play(house, actor, session_id)
            snapshot = FeedSnapshot(head_turn_id=play.head_turn_id, active_turn_id=play.active_turn_id)
            yield Told(id=entry.id, event=snapshot)
    finally:
        house.open_feeds[_caller(actor)] -= 1
        if waiting is not None:
            waiting.cancel()
            await asyncio.wait([waiting])
        await followed.aclose()


async def _next(followed: AsyncGenerator[FeedEntry[SessionEvent], None]) -> FeedEntry[SessionEvent] | None:
    return await anext(followed, None)


async def _play(house: House, actor: Actor, session_id: str) -> Play:
    async with house.store.reading() as unit:
        return await play_of(unit, actor, session_id)


async def _may_listen(house: House, actor: Actor, session_id: str) -> bool:
    """Whether the token still holds, and still reaches a session that is there."""
    try:
        if not await is_valid(house, actor):
            return False
        await _play(house, actor, session_id)
    except FabulaError:
        return False
    return True
