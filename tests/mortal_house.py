"""A house whose process dies at one step of what it writes, for scripts that are killed amid what they do."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from tests.mortal_database import MortalDatabase

from fabula.actions.house import House
from fabula.adapters.stores.checkpoints import StoreCheckpoints
from fabula.adapters.stores.loop_saver import LoopSaver
from fabula.adapters.stores.store import SqlStore
from fabula.settings import Settings
from fabula.wiring import open_house


class PromptSaver(LoopSaver):
    """Writes where a loop stands at each node, not a moment later: so its process dies on both sides of every node."""

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        put = await super().aput(config, checkpoint, metadata, new_versions)
        await self.settle()
        return put


@asynccontextmanager
async def mortal_house(settings: str, lives_for: int) -> AsyncIterator[House]:
    """A house that lives for so many steps. Whoever outlives them ends as they would have died, with nothing put in
    order."""
    async with open_house(Settings.model_validate_json(settings)) as house:
        assert isinstance(house.store, SqlStore) and isinstance(house.checkpoints, StoreCheckpoints)
        house.store.database = MortalDatabase(house.store.database, lives_for)
        house.checkpoints._saver = PromptSaver(house.store)
        yield house
        os._exit(0)
