"""Who acts: every action is told, and decides by it what it does, shows or refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabula.ports.errors import Denied
from fabula.ports.store import TokenRole

_RANKS: Mapping[TokenRole, int] = {"player": 1, "author": 2, "admin": 3}

NOBODY = ""
"""No token has this id, so nothing is reached by it."""


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Someone who was let in, with the role that they have here.

    `token_id` is None for the operator: whoever sits at the machine, or calls a server on loopback that asks for no
    tokens. What an operator makes belongs to the house.
    """

    role: TokenRole
    token_id: str | None = None

    def may_act_as(self, role: TokenRole) -> bool:
        """Whether this actor may do what `role` may: an admin may do all, an author all that players may."""
        return _RANKS[self.role] >= _RANKS[role]

    def must_be(self, role: TokenRole, what: str = "This") -> None:
        """Raises Denied unless this actor may act as `role`."""
        if not self.may_act_as(role):
            raise Denied(f"{what} needs a token with the role {role}; yours has the role {self.role}.")

    @property
    def sees_only(self) -> str | None:
        """The token whose plays are all that this actor sees; None sees every play."""
        return None if self.role == "admin" else self.token_id or NOBODY

    @property
    def sees_plans(self) -> bool:
        """Whether the director's plans and what characters only think are shown: to authors, not to players."""
        return self.may_act_as("author")

    def owns(self, owner_token_id: str | None) -> bool:
        """Whether something belongs to this actor. Admins own everything, and what has no owner is theirs alone."""
        if self.role == "admin":
            return True
        return self.token_id is not None and self.token_id == owner_token_id


OPERATOR = Actor(role="admin")
"""Who runs the server on this machine."""
