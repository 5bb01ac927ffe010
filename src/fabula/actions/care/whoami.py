"""Tell a caller who they are here, and which rooms this server has."""

from __future__ import annotations

from typing import Literal

import fabula
from fabula.actions.authority import allowed
from fabula.actions.care.door_policy import tokens_required
from fabula.actions.care.tokens import label_of
from fabula.actions.house import House
from fabula.actions.views import Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.store import TokenRole

FEATURES: tuple[str, ...] = ("canon", "dice", "explain", "journal", "memory", "time")
"""Rooms that not every version of Fabula has; a client shows what belongs to them only where they are named."""


class Caller(View):
    """Who calls. `token_id` is null for the operator: whoever calls a server that asks for no tokens."""

    type: Literal["caller"] = "caller"
    role: TokenRole
    label: str
    token_id: str | None
    tokens_required: bool
    version: str
    features: list[str]


@allowed("player")
async def tell_caller(house: House, actor: Actor, command: Nothing) -> Caller:
    """Tells who the caller is here, and what this server has beyond the basics."""
    return Caller(
        role=actor.role,
        label=await label_of(house, actor),
        token_id=actor.token_id,
        tokens_required=tokens_required(house.settings),
        version=fabula.__version__,
        features=list(FEATURES),
    )
