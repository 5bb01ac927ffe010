"""Does one thing in an open house and closes it again: what most commands are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fabula.actions.house import House
from fabula.settings import Settings
from fabula.wiring import open_house

T = TypeVar("T")


def in_house(settings: Settings, do: Callable[[House], Awaitable[T]]) -> T:
    """What `do` answers in a house of these settings."""

    async def run() -> T:
        async with open_house(settings) as house:
            return await do(house)

    return asyncio.run(run())
