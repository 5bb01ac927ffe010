"""`fabula models`: which models are known and answer, which could be used, and the one command that uses one."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.table import Table

from fabula.actions.house import House
from fabula.actions.library.api_groups import (
    CreateApiGroup,
    NameApiGroup,
    UpdateApiGroup,
    create_api_group,
    get_api_group,
)
from fabula.actions.library.api_groups import update_api_group as change_group
from fabula.actions.library.apis import (
    CreateApi,
    NameApi,
    UpdateApi,
    create_api,
    get_api,
    list_apis,
    secret_name,
    update_api,
)
from fabula.actions.views import Paging
from fabula.adapters.models.address_policy import AddressPolicy
from fabula.adapters.models.detect import Found, Reach, command_for, detect, probe
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError, InvalidRequest, NotFound
from fabula.settings import Settings
from fabula.story.resources import ROLES, Bindings
from fabula.wiring import open_house

app = typer.Typer(help="See, find and choose models.", no_args_is_help=True)

Row = dict[str, object]


@app.command("list")
def list_(config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Show the apis of this server, whether they answer, and how fast."""

    async def look(settings: Settings) -> list[Row]:
        async with open_house(settings) as house:
            return [await _api_row(house, api.api_id) for api in (await list_apis(house, OPERATOR, Paging())).apis]

    rows = asyncio.run(look(settings_from(config, data_dir=data_dir)))
    if json:
        print_json(list(rows))
    else:
        screen().print(_table(rows, "api", "provider", "model", "answers", "note"))


@app.command("detect")
def detect_(config: ConfigOption = None, json: JsonOption = False) -> None:
    """Look for models in the environment and on the usual ports of this machine."""
    found = asyncio.run(detect(settings_from(config)))
    rows = [_found_row(one) for one in found]
    if json:
        print_json(list(rows))
        return
    if not rows:
        screen().print(
            "No model was found. Set OPENAI_API_KEY, or start a model server on port 11434, 1234 or 8080. "
            "Stories can be played without one: the understudy needs nothing."
        )
        return
    screen().print(_table(rows, "name", "address", "model", "answers", "note"))
    usable = next((one for one in found if one.reach.reachable), None)
    if usable is not None:
        screen().print(f"To use it: {command_for(usable)}")


@app.command()
def use(
    name: Annotated[str, typer.Argument(help="Its name in `fabula models detect`; else the first that answers.")] = "",
    base_url: Annotated[str, typer.Option(help="The address of another model server.")] = "",
    api_key: Annotated[str, typer.Option(help="Its key, better as env:NAME: then it is read when it is needed.")] = "",
    model: Annotated[str, typer.Option(help="The model to use; else the one that was found.")] = "",
    api_id: Annotated[str, typer.Option(help="The id of the api and the group that are made or changed.")] = "default",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Make an api and a group that use a model for all seven roles; new stories and sessions then use it."""

    async def choose(settings: Settings) -> Row:
        found = await _chosen(settings, name=name, base_url=base_url, api_key=api_key)
        async with open_house(settings) as house:
            return await put_to_use(house, found, model=model or found.model, key=_key(found, settings), api_id=api_id)

    row = asyncio.run(choose(settings_from(config, data_dir=data_dir)))
    if json:
        print_json(row)
    else:
        screen().print(f"All roles now use {row['model']} at {row['address']} (api and group '{api_id}').")


async def put_to_use(house: House, found: Found, *, model: str, key: str, api_id: str) -> Row:
    """The api and the group for a found model, made or changed."""
    if not model:
        offered = ", ".join(found.reach.models[:8]) or "unknown"
        raise InvalidRequest(f"Name the model with --model. Offered there: {offered}.")
    display = f"{model} ({found.name})"
    chosen = {"api_id": api_id, "display_name": display, "base_url": found.base_url, "api_key": key, "model": model}
    try:
        await get_api(house, OPERATOR, NameApi(api_id=api_id))
        await update_api(house, OPERATOR, UpdateApi(provider="open_ai", **chosen))
    except NotFound:
        await create_api(house, OPERATOR, CreateApi(provider="open_ai", **chosen))
    await _bind_all(house, api_id, display)
    return {"api_id": api_id, "api_group_id": api_id, "address": found.base_url, "model": model}


async def _bind_all(house: House, api_id: str, display: str) -> None:
    bindings = Bindings.model_validate({f"{role}_api_id": api_id for role in ROLES})
    try:
        await get_api_group(house, OPERATOR, NameApiGroup(api_group_id=api_id))
        await change_group(
            house, OPERATOR, UpdateApiGroup(api_group_id=api_id, display_name=display, bindings=bindings)
        )
    except NotFound:
        await create_api_group(
            house, OPERATOR, CreateApiGroup(api_group_id=api_id, display_name=display, bindings=bindings)
        )


async def _chosen(settings: Settings, *, name: str, base_url: str, api_key: str) -> Found:
    """The model server that was asked for, or the first that answers."""
    if base_url:
        reach = await probe(
            AddressPolicy(allow_private=True), base_url, None if api_key.startswith("env:") else api_key
        )
        model = reach.models[0] if len(reach.models) == 1 else ""
        return Found(
            name="custom", source="this machine", base_url=reach.base_url, model=model, key=api_key, reach=reach
        )
    every = await detect(settings)
    fitting = [one for one in every if one.name.lower() == name.lower()] if name else every
    answering = [one for one in fitting if one.reach.reachable]
    if answering:
        return answering[0]
    if fitting:
        raise NotFound(f"{fitting[0].name} at {fitting[0].base_url} cannot be used: {fitting[0].reach.problem}")
    if name:
        raise NotFound(f"No model server named '{name}' was found. `fabula models detect` shows those there are.")
    raise NotFound("No model was found. Set OPENAI_API_KEY, start a model server, or give --base-url and --model.")


def _key(found: Found, settings: Settings) -> str:
    """How the key is kept: by the name of its variable when it has one, else itself, encrypted."""
    return found.key or (settings.openai_api_key if found.source == "environment" else "")


async def _api_row(house: House, api_id: str) -> Row:
    api = await get_api(house, OPERATOR, NameApi(api_id=api_id))
    row: Row = {"api": api.api_id, "provider": api.provider, "model": api.model, "address": api.base_url}
    started = house.clock.monotonic()
    try:
        async with house.store.reading() as unit:
            key = await unit.secrets.get(secret_name(api_id)) or ""
        offered = await house.models.list_models(provider=api.provider, base_url=api.base_url, api_key=key)
    except FabulaError as error:
        return {**row, "answers": "no", "latency_ms": None, "note": error.message}
    took = round((house.clock.monotonic() - started) * 1000)
    missing = api.provider != "understudy" and bool(offered.models) and api.model not in offered.models
    note = f"does not offer '{api.model}'" if missing else ""
    return {**row, "answers": f"in {took} ms", "latency_ms": took, "note": note}


def _found_row(found: Found) -> Row:
    return {
        "name": found.name,
        "address": found.base_url,
        "model": found.model,
        "models": list(found.reach.models),
        "answers": _answers(found.reach),
        "latency_ms": found.reach.latency_ms,
        "note": found.reach.problem or "",
        "command": command_for(found) if found.reach.reachable else None,
    }


def _answers(reach: Reach) -> str:
    return f"in {reach.latency_ms} ms" if reach.reachable else "no"


def _table(rows: list[Row], *columns: str) -> Table:
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(str(row[column]) for column in columns))
    return table
