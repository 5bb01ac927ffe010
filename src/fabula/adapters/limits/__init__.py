"""Limits: `local` counts in one process, `redis` over all servers, with the local ones for when Redis is away."""

from __future__ import annotations

from fabula.adapters.limits.local import LocalLimits
from fabula.ports.limits import Limits
from fabula.ports.world import Clock
from fabula.settings import Settings


def open_limits(settings: Settings, clock: Clock) -> Limits:
    """The limits that the settings name. The client of Redis is imported only where it is used."""
    if not settings.redis_url:
        return LocalLimits(clock.monotonic)
    from fabula.adapters.limits.redis import RedisLimits

    return RedisLimits(settings.redis_url, clock.monotonic)
