"""Which model is asked after turns of a session, if any."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.plays.budgets import check_budget
from fabula.actions.repositories import API_GROUPS, APIS
from fabula.ports.errors import Conflict
from fabula.ports.store import Unit
from fabula.story.plays import SessionSettings
from fabula.story.resources import Api


async def follower_api(house: House, unit: Unit, session: SessionSettings) -> Api | None:
    """The model that is asked after turns of a session; None where rules do that."""
    if house.settings.summaries == "rule":
        return None
    group = await API_GROUPS.find(unit, session.api_group_id)
    api = None if group is None else await APIS.find(unit, group.bindings.api_for("keeper"))
    # A model in this very process would keep the next turn waiting.
    if api is None or api.provider == "understudy" or (api.provider == "local" and house.settings.summaries == "auto"):
        return None
    play = await unit.plays.get(session.session_id)
    try:
        if play is not None:
            await check_budget(house, unit, play)
    except Conflict:
        return None
    return api
