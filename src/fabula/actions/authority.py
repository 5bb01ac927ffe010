"""Authority: an action says who may do it. One that says nothing can be done by nobody through any door."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.store import TokenRole

P = ParamSpec("P")
R = TypeVar("R")
Action = Callable[Concatenate[House, Actor, P], Coroutine[Any, Any, R]]

_DECLARED = "_least_role"


def allowed(role: TokenRole) -> Callable[[Action[P, R]], Action[P, R]]:
    """Declares the least role that may do an action; anybody else is refused before it begins."""

    def declare(action: Action[P, R]) -> Action[P, R]:
        @wraps(action)
        def checked(house: House, actor: Actor, /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, R]:
            actor.must_be(role)
            return action(house, actor, *args, **kwargs)

        setattr(checked, _DECLARED, role)
        return checked

    return declare


def least_role(action: Callable[..., object]) -> TokenRole:
    """The role that an action was declared for; raises ValueError for one that was not."""
    role: TokenRole | None = getattr(action, _DECLARED, None)
    if role is None:
        raise ValueError(f"{action.__qualname__} does not say who may do it: declare it with @allowed.")
    return role
