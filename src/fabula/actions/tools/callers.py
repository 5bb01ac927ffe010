"""Who calls a tool: a person with the role of their token, or an agent, which is confined to one play and its world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.store import TokenRole

AgentName = Literal["director", "narrator", "actor", "keeper", "resolver", "extractor", "canon_keeper", "architect"]
Who = TokenRole | AgentName
AGENTS: Final[tuple[AgentName, ...]] = get_args(AgentName)
PEOPLE: Final[tuple[TokenRole, ...]] = ("player", "author", "admin")
EVERYBODY: Final[tuple[Who, ...]] = (*PEOPLE, *AGENTS)


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A role of the engine at work. It reaches this world and this play, and nothing else, whoever plays."""

    name: AgentName
    world_id: str | None = None
    session_id: str | None = None


Caller = Actor | Agent


def who_is(caller: Caller) -> Who:
    """As whom the table of authority knows a caller."""
    return caller.name if isinstance(caller, Agent) else caller.role


def actor_for(caller: Caller) -> Actor:
    """As whom an action runs that the table has allowed. What an agent may reach was checked before."""
    return OPERATOR if isinstance(caller, Agent) else caller


def token_of(caller: Caller) -> str | None:
    """The token of a person; agents and the operator have none."""
    return None if isinstance(caller, Agent) else caller.token_id
