"""A tool: its name, what it takes, and the action that it is. Without a rule there is no tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from fabula.actions.authority import least_role
from fabula.actions.house import House
from fabula.actions.tools.callers import Caller, Who
from fabula.actions.views import Command, Paging, View
from fabula.ports.actors import Actor
from fabula.ports.store import TokenRole
from fabula.story.values import JsonObject

C = TypeVar("C", bound=Command)

SESSION: Final = "session_id"
WORLD: Final = "world_id"
USUAL_PAGE: Final = 50

Check = Callable[[House, Caller, Any, str | None], Awaitable[str | None]]
"""What a tool asks beyond the table: house, caller, command and session; answers why not. One that raises denies."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`role` is the least role of its action: the table may list fewer people, never more.

    `defaults` stand in for arguments that were not given: answers to programs are short unless more is asked for.
    """

    name: str
    command: type[Command]
    run: Callable[[House, Actor, Any, str | None], Awaitable[View]]
    role: TokenRole
    summary: str
    writes: bool
    of_session: bool
    may_name_session: bool = False
    check: Check | None = None
    defaults: JsonObject = field(default_factory=dict)

    @property
    def confines(self) -> bool:
        """Whether a call names the play or the world that it is about, so that an agent can be held to it."""
        return self.of_session or self.may_name_session or WORLD in self.command.model_fields


def tool(
    name: str,
    command: type[C],
    action: Callable[[House, Actor, C], Awaitable[View]],
    *,
    writes: bool = False,
    check: Check | None = None,
    defaults: JsonObject | None = None,
) -> Tool:
    """A tool that is an action and nothing more."""

    async def run(house: House, actor: Actor, given: Any, _: str | None) -> View:
        return await action(house, actor, given)

    return _tool(name, command, action, run, writes=writes, of_session=False, check=check, defaults=defaults)


def session_tool(
    name: str,
    command: type[C],
    action: Callable[[House, Actor, str, C], Awaitable[View]],
    *,
    writes: bool = False,
    check: Check | None = None,
    defaults: JsonObject | None = None,
) -> Tool:
    """A tool about a session, which stands among its arguments as `session_id`."""

    async def run(house: House, actor: Actor, given: Any, session_id: str | None) -> View:
        assert session_id is not None
        return await action(house, actor, session_id, given)

    return _tool(name, command, action, run, writes=writes, of_session=True, check=check, defaults=defaults)


def free_tool(
    name: str,
    command: type[C],
    action: Callable[[House, Actor, str | None, C], Awaitable[View]],
    *,
    writes: bool = False,
    check: Check | None = None,
) -> Tool:
    """A tool about a world, or with a `session_id` about what that play sees of it and adds to it."""

    async def run(house: House, actor: Actor, given: Any, session_id: str | None) -> View:
        return await action(house, actor, session_id, given)

    more = {"writes": writes, "of_session": False, "may_name_session": True, "check": check}
    return _tool(name, command, action, run, defaults=None, **more)


def _tool(name: str, command: type[C], action: Any, run: Any, *, defaults: JsonObject | None, **more: Any) -> Tool:
    pages: JsonObject = {"limit": USUAL_PAGE} if issubclass(command, Paging) else {}
    return Tool(
        name=name,
        command=command,
        run=run,
        role=least_role(action),
        summary=_first_line(action),
        defaults={**pages, **(defaults or {})},
        **more,
    )


def _first_line(action: Callable[..., object]) -> str:
    if not (action.__doc__ or "").strip():
        raise ValueError(f"{action.__qualname__} is a tool and needs a docstring.")
    return str(action.__doc__).strip().splitlines()[0]


class Registry:
    """All tools by name, each with its row of the table of authority."""

    def __init__(self, tools: Iterable[Tool], table: Mapping[str, frozenset[Who]]) -> None:
        self._tools: dict[str, Tool] = {}
        self._table = dict(table)
        for one in tools:
            if one.name in self._tools:
                raise ValueError(f"The tool {one.name} is registered twice.")
            if not table.get(one.name):
                raise ValueError(f"The tool {one.name} has no rule: say in the table of authority who may call it.")
            self._tools[one.name] = one
        if unknown := sorted(set(table) - set(self._tools)):
            raise ValueError(f"The table of authority speaks of {unknown[0]}, which is no tool.")
        for one in self._tools.values():
            _refuse_what_no_action_allows(one, table[one.name])

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def allows(self, name: str, who: Who) -> bool:
        """Whether the table lists somebody for a tool. What it does not list is denied."""
        return who in self._table.get(name, frozenset())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())


def _refuse_what_no_action_allows(tool: Tool, who: frozenset[Who]) -> None:
    people = [one for one in ("player", "author", "admin") if one in who]
    if any(not Actor(role=one).may_act_as(tool.role) for one in people):
        raise ValueError(f"The action of {tool.name} is for the role {tool.role}: its rule lists somebody below it.")
    if len(people) < len(who) and not tool.confines:
        raise ValueError(f"{tool.name} names neither a play nor a world: no agent can be held to one there.")
