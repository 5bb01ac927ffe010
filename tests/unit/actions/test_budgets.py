"""The budget of a play counts what is being written down, too."""

from __future__ import annotations

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.plays.budgets import check_used
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.sessions import UpdateConfig, update_config
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Conflict


async def test_tokens_that_are_written_down_while_a_budget_is_read_are_counted(stage: Stage) -> None:
    session = await stage.session()
    await stage.play(session, update_config, UpdateConfig(token_budget=10))
    async with stage.house.store.reading() as unit:
        play = await play_of(unit, OPERATOR, session)
    check_used(stage.house, play, 9, waiting=0)
    with pytest.raises(Conflict, match="has used 10 of its 10 tokens"):
        check_used(stage.house, play, 0, waiting=10)
