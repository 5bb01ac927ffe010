"""`fabula token`: makes, lists and revokes access tokens. A token is shown once, when it is made."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table

from fabula.actions.care.tokens import create_token, list_tokens, revoke_token
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.ports.actors import OPERATOR
from fabula.ports.store import Token, TokenRole
from fabula.settings import Settings
from fabula.wiring import open_house

app = typer.Typer(help="Make, list and revoke access tokens.", no_args_is_help=True)


@app.command()
def create(
    role: Annotated[TokenRole, typer.Option(help="What its owner may do: all, write stories, or play them.")],
    label: Annotated[str, typer.Option(help="Whose token it is; shown in the list.")] = "",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Make a token and show it, this once."""

    async def make(settings: Settings) -> None:
        async with open_house(settings) as house:
            made = await create_token(house, OPERATOR, role=role, label=label)
        if json:
            print_json({**_row(made.token), "token": made.secret})
            return
        # The token alone goes to standard output, so that a file it is sent to holds nothing else.
        print(made.secret, flush=True)
        screen(stderr=True).print(
            f"Keep it: it is not shown again. To end it: fabula token revoke {made.token.token_id}"
        )

    asyncio.run(make(settings_from(config, data_dir=data_dir)))


@app.command("list")
def list_(config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Show all tokens, the revoked ones too."""

    async def find(settings: Settings) -> list[Token]:
        async with open_house(settings) as house:
            return await list_tokens(house, OPERATOR)

    tokens = asyncio.run(find(settings_from(config, data_dir=data_dir)))
    if json:
        print_json([_row(token) for token in tokens])
    elif tokens:
        screen().print(_table(tokens))
    else:
        screen().print("There are no tokens. `fabula token create --role admin` makes one.")


@app.command()
def revoke(
    token_id: Annotated[str, typer.Argument(help="The token's id, from `fabula token list`.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """End a token; running servers refuse it within seconds."""

    async def end(settings: Settings) -> Token:
        async with open_house(settings) as house:
            return await revoke_token(house, OPERATOR, token_id)

    ended = asyncio.run(end(settings_from(config, data_dir=data_dir)))
    screen().print(f"The token {ended.token_id} is revoked.")


def _row(token: Token) -> dict[str, object]:
    return {
        "token_id": token.token_id,
        "role": token.role,
        "label": token.label,
        "created_at_ms": token.created_at_ms,
        "last_used_at_ms": token.last_used_at_ms,
        "revoked_at_ms": token.revoked_at_ms,
    }


def _table(tokens: list[Token]) -> Table:
    table = Table("id", "role", "label", "made", "last used", "revoked")
    table.columns[0].no_wrap = True
    table.columns[0].overflow = "fold"
    for token in tokens:
        days = (_day(token.created_at_ms), _day(token.last_used_at_ms) or "never", _day(token.revoked_at_ms))
        table.add_row(token.token_id, token.role, token.label, *days)
    return table


def _day(ms: int | None) -> str:
    return "" if ms is None else datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
