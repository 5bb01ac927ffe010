"""`fabula mcp`: lets another agent use the stories and worlds of this machine, over standard input and output."""

from __future__ import annotations

import asyncio
import os
from typing import Annotated

import typer

from fabula.actions.care.tokens import find_token, token_hash
from fabula.cli.options import ConfigOption, DataDirOption, print_json, settings_from
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import TokenNeeded
from fabula.settings import Settings
from fabula.wiring import open_house

app = typer.Typer(help="Let another agent use the stories and worlds of this machine (MCP).")

TOKEN_VARIABLE = "FABULA_TOKEN"


@app.command()
def mcp(
    tools: Annotated[bool, typer.Option("--tools", help="List the tools and who may call them, and leave.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Let another agent use stories and worlds, over MCP.

    It speaks the Model Context Protocol over standard input and output. The agent may do what you may; with
    FABULA_TOKEN in the environment it may do what that token may.
    """
    if tools:
        from fabula.actions.tools.authority_table import AUTHORITY

        print_json({name: sorted(who) for name, who in AUTHORITY.items()})
        return
    settings = settings_from(config, data_dir=data_dir)
    asyncio.run(_serve(settings, os.environ.get(TOKEN_VARIABLE, "")))


async def _serve(settings: Settings, token: str) -> None:
    from fabula.server.mcp.protocol import serve_pipes

    async with open_house(settings, tends_turns=True) as house:
        actor = OPERATOR
        if token:
            found = await find_token(house, token_hash(token))
            if found is None:
                raise TokenNeeded(f"The token in {TOKEN_VARIABLE} is unknown or revoked.")
            actor = Actor(role=found.role, token_id=found.token_id)
        await serve_pipes(house, actor)
