"""How often a caller may ask: calls of all doors, and turns, by token and by session.

Callers without a token (the operator, and everybody where no tokens are asked for) and admins are not counted. Nothing
here asks the store: a call costs a look into memory, a turn one question to Redis where there is one.
"""

from __future__ import annotations

import math

from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.errors import TooMany
from fabula.ports.limits import Allowance


async def check_calls(house: House, actor: Actor) -> None:
    """Counts a call; raises TooMany where there were too many within a minute."""
    a_minute = house.settings.calls_per_minute
    if a_minute and _is_counted(actor):
        allowance = Allowance(name=f"calls:{actor.token_id}", a_minute=a_minute, portioned=True)
        _refuse_in(await house.limits.take(allowance), f"You may call {a_minute} times a minute.")


async def check_turns(house: House, actor: Actor, session_id: str) -> None:
    """Counts a turn of a caller and of a session; raises TooMany where there were too many within a minute."""
    if not _is_counted(actor):
        return
    of_caller, of_session = house.settings.turns_per_minute, house.settings.session_turns_per_minute
    named = (f"turns:{actor.token_id}", of_caller), (f"session:{session_id}", of_session)
    wanted = [Allowance(name=name, a_minute=a_minute) for name, a_minute in named if a_minute]
    if wanted:
        least = min(one.a_minute for one in wanted)
        _refuse_in(await house.limits.take(*wanted), f"You may play {least} turns a minute here.")


def _is_counted(actor: Actor) -> bool:
    return actor.token_id is not None and not actor.may_act_as("admin")


def _refuse_in(wait_s: float, sentence: str) -> None:
    if wait_s > 0:
        seconds = max(1, math.ceil(wait_s))
        raise TooMany(f"{sentence} Try again in {seconds} s.", retry_after_s=seconds)
