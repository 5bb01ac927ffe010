"""A method: its name, what it takes, what it answers, and who may call it. Without a rule there is no method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from fabula.actions.authority import least_role
from fabula.actions.house import House
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.store import TokenRole

C = TypeVar("C", bound=Command)


@dataclass(frozen=True, kw_only=True)
class Call:
    """What surrounds a command: the session it is for, and who asks."""

    session_id: str | None
    actor: Actor
    request_id: str


Handler = Callable[[House, Any, Call], Awaitable[View]]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One entry of the catalogue.

    `role` is the least role that may call it; `other_result` is what else it answers. One that `takes_stories` may be
    sent more than others.
    """

    name: str
    command: type[Command]
    result: type[View]
    handler: Handler
    role: TokenRole
    summary: str
    session_bound: bool = False
    other_result: type[View] | None = None
    takes_stories: bool = False

    @property
    def results(self) -> tuple[type[View], ...]:
        """The shapes of its answers."""
        return (self.result,) if self.other_result is None else (self.result, self.other_result)

    @property
    def may_answer_at_length(self) -> bool:
        return any(result.may_be_large for result in self.results)


def method(
    name: str,
    command: type[C],
    action: Callable[[House, Actor, C], Awaitable[View]],
    result: type[View],
    *,
    other_result: type[View] | None = None,
) -> Method:
    """A method that is an action and nothing more."""

    async def handle(house: House, given: Any, call: Call) -> View:
        return await action(house, call.actor, given)

    return Method(
        name=name,
        command=command,
        result=result,
        handler=handle,
        role=least_role(action),
        summary=first_sentence(action.__doc__),
        other_result=other_result,
    )


def session_method(
    name: str,
    command: type[C],
    action: Callable[[House, Actor, str, C], Awaitable[View]],
    result: type[View],
) -> Method:
    """A method that is about the session named in the envelope."""

    async def handle(house: House, given: Any, call: Call) -> View:
        assert call.session_id is not None
        return await action(house, call.actor, call.session_id, given)

    return Method(
        name=name,
        command=command,
        result=result,
        handler=handle,
        role=least_role(action),
        summary=first_sentence(action.__doc__),
        session_bound=True,
    )


def free_method(
    name: str,
    command: type[C],
    action: Callable[[House, Actor, str | None, C], Awaitable[View]],
    result: type[View],
) -> Method:
    """A method that may be about the session named in the envelope, or about something else."""

    async def handle(house: House, given: Any, call: Call) -> View:
        return await action(house, call.actor, call.session_id, given)

    return Method(
        name=name,
        command=command,
        result=result,
        handler=handle,
        role=least_role(action),
        summary=first_sentence(action.__doc__),
    )


class Catalogue:
    """All methods by name; a name stands once."""

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods: dict[str, Method] = {}
        for one in methods:
            if one.name in self._methods:
                raise ValueError(f"The method {one.name} is registered twice.")
            self._methods[one.name] = one

    def find(self, name: str) -> Method | None:
        return self._methods.get(name)

    def __iter__(self) -> Iterator[Method]:
        return iter(self._methods.values())


def first_sentence(doc: str | None) -> str:
    """The first line of a docstring; a method without one cannot be registered."""
    if not doc or not doc.strip():
        raise ValueError("An action that is a method needs a docstring.")
    return doc.strip().splitlines()[0]
