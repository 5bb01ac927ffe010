"""The budget of a play: once its tokens are used up, no model is asked for it any more."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.ports.errors import Conflict
from fabula.ports.plays import Play
from fabula.ports.store import Unit


async def check_budget(house: House, unit: Unit, play: Play) -> None:
    """Raises Conflict when the tokens of a play are used up."""
    if play.token_budget is not None:
        waiting = house.models.unrecorded_tokens(play.session_id)
        check_used(house, play, await unit.calls.tokens_used(play.session_id), waiting=waiting)


def check_used(house: House, play: Play, recorded: int, *, waiting: int) -> None:
    """The same, where the tokens that were written down are known already.

    `waiting` are those that were not written down when the reading began. They may have been written meanwhile, and
    stand in neither count: for a moment they are rather counted twice than not at all.
    """
    if play.token_budget is None:
        return
    used = recorded + max(waiting, house.models.unrecorded_tokens(play.session_id))
    if used >= play.token_budget:
        raise Conflict(
            f"This session has used {used} of its {play.token_budget} tokens. Raise token_budget in its config.",
            used=used,
            token_budget=play.token_budget,
        )
