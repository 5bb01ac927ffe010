"""Lore bundles: what takes long about the lore of a story, made once for all processes."""

from __future__ import annotations

from typing import Protocol

from fabula.story.values import JsonObject


class LoreBundles(Protocol):
    """Bundles by the version of what they were made of, inside one unit of work.

    Law:
    - `put` keeps a bundle under its version; one that is there already stays.
    - `get` answers the bundle of a version, and None for a version that has none; `has` says whether there is one.
    - `prune` keeps the newest ones, so many of them, and answers how many it removed.
    """

    async def put(self, version: str, bundle: JsonObject) -> None: ...

    async def get(self, version: str) -> JsonObject | None: ...

    async def has(self, version: str) -> bool: ...

    async def prune(self, *, keep: int) -> int: ...
