"""What single tools ask beyond the table of authority; each answers why not, or None."""

from __future__ import annotations

from fabula.actions.canon.changes import Propose
from fabula.actions.canon.scene_commits import CommitScene
from fabula.actions.house import House
from fabula.actions.plays.play_memories import ListMemories, SearchMemories
from fabula.actions.tools.callers import Agent, Caller
from fabula.recall.perception import PLAYER_OWNER


async def speaks_for_itself(
    house: House, caller: Caller, command: Propose | CommitScene, session_id: str | None
) -> str | None:
    """An agent proposes on the word of the engine, or of the player whom it quotes; never on a game master's."""
    if isinstance(caller, Agent) and any(one.authority not in ("system", "player") for one in command.changes):
        return "An agent proposes with the authority `system`, or `player` where it quotes one."
    return None


async def only_own_memories(
    house: House, caller: Caller, command: ListMemories | SearchMemories, session_id: str | None
) -> str | None:
    """A player reads what the player remembers: what characters remember, and think, is for authors and agents."""
    if isinstance(caller, Agent) or caller.may_act_as("author") or command.owner_id == PLAYER_OWNER:
        return None
    return "What characters remember is for authors."
