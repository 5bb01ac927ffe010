"""The budget of a play counts what is being written down, too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.plays.budgets import check_used
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.sessions import UpdateConfig, update_config
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Conflict


@dataclass
class Writing:
    """Models whose records are written, and are said to be unwritten until somebody waits for them."""

    models: Any
    tokens: int
    settled: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.models, name)

    def unrecorded_tokens(self, session_id: str) -> int:
        return 0 if self.settled else self.tokens

    async def settle(self) -> None:
        self.settled = True


async def test_tokens_that_are_written_down_while_a_budget_is_read_are_counted(stage: Stage) -> None:
    session = await stage.session()
    await stage.play(session, update_config, UpdateConfig(token_budget=10))
    async with stage.house.store.reading() as unit:
        play = await play_of(unit, OPERATOR, session)
    check_used(stage.house, play, 9, waiting=0)
    with pytest.raises(Conflict, match="has used 10 of its 10 tokens"):
        check_used(stage.house, play, 0, waiting=10)


async def test_tokens_that_were_counted_twice_while_they_were_written_down_stop_nobody(stage: Stage) -> None:
    session = await stage.session()
    await stage.say(session, "Hello.")
    await stage.house.models.settle()
    async with stage.house.store.reading() as unit:
        used = await unit.calls.tokens_used(session)
    await stage.play(session, update_config, UpdateConfig(token_budget=used + 1))
    models = Writing(stage.house.models, used)
    house = replace(stage.house, models=cast(Any, models))
    await Stage(house=house).say(session, "Hello again.")
    assert models.settled
