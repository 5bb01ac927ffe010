"""Where models may be reached: the policy that every base_url passes at save and at call."""

from __future__ import annotations

from typing import Protocol


class Addresses(Protocol):
    """Law: `check` answers the normalised base_url, or raises InvalidRequest that says why it is refused."""

    async def check(self, base_url: str) -> str: ...
