"""The tools of a scene for those who work on it after a turn: the extractor reads, the canon keeper commits."""

from __future__ import annotations

from fabula.actions.canon.scene_commits import CommitScene, ReadScene, SceneCommitted, SceneRead
from fabula.actions.house import House
from fabula.actions.tools.call_tool import call_tool
from fabula.actions.tools.callers import Agent, AgentName
from fabula.actions.tools.registry import all_tools


class AgentScenes:
    """Calls them as the table of authority allows it, each as the agent whose work it is."""

    def __init__(self, house: House, session_id: str) -> None:
        self._house, self._session_id = house, session_id

    async def read(self, command: ReadScene) -> SceneRead:
        return SceneRead.model_validate_json(await self._call("extractor", "read_scene", command))

    async def commit(self, command: CommitScene) -> SceneCommitted:
        return SceneCommitted.model_validate_json(await self._call("canon_keeper", "commit_scene", command))

    async def _call(self, name: AgentName, tool: str, command: ReadScene | CommitScene) -> bytes:
        agent = Agent(name=name, session_id=self._session_id)
        given = {"session_id": self._session_id, **command.model_dump(mode="json")}
        return await call_tool(self._house, all_tools(), agent, tool, given)
