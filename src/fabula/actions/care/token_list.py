"""Access tokens for whoever runs the server from afar: list them, make one, end one."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.care.tokens import LONGEST_LABEL, create_token, list_tokens, revoke_token
from fabula.actions.house import House
from fabula.actions.views import Command, ListView, Paging, View, part_of
from fabula.ports.actors import Actor
from fabula.ports.store import Token, TokenRole


class CreateToken(Command):
    role: TokenRole
    label: str = Field(default="", max_length=LONGEST_LABEL)


class NameToken(Command):
    token_id: str


class TokenView(View):
    """A token, never its secret."""

    type: Literal["token"] = "token"
    token_id: str
    role: TokenRole
    label: str
    created_at_ms: int
    last_used_at_ms: int | None
    revoked_at_ms: int | None


class TokenCreated(TokenView):
    """`token` is what its owner sends. It is told this once and kept nowhere."""

    type: Literal["token_created"] = "token_created"  # type: ignore[assignment]
    token: str


class TokensListed(ListView):
    type: Literal["tokens_listed"] = "tokens_listed"
    tokens: list[TokenView]


@allowed("admin")
async def show_tokens(house: House, actor: Actor, command: Paging) -> TokensListed:
    """Lists all tokens, the revoked ones too, oldest first."""
    found, cursor = part_of(await list_tokens(house, actor), command, lambda token: token.token_id)
    return TokensListed(tokens=[TokenView(**_shown(token)) for token in found], next_cursor=cursor)


@allowed("admin")
async def make_token(house: House, actor: Actor, command: CreateToken) -> TokenCreated:
    """Makes a token of a role; its secret is in this answer and nowhere else."""
    made = await create_token(house, actor, role=command.role, label=command.label)
    return TokenCreated(**_shown(made.token), token=made.secret)


@allowed("admin")
async def end_token(house: House, actor: Actor, command: NameToken) -> TokenView:
    """Revokes a token; servers that run refuse it within seconds."""
    return TokenView(**_shown(await revoke_token(house, actor, command.token_id)))


def _shown(token: Token) -> dict[str, Any]:
    return {name: value for name, value in vars(token).items() if name != "hash"}
