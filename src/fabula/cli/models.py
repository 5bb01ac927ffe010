"""`fabula models`: which models are known and answer, which could be used, and the one command that uses one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Annotated, TypeVar

import typer
from rich.table import Table

from fabula.actions.house import House
from fabula.actions.library.api_groups import NameApiGroup, get_api_group
from fabula.actions.library.api_trials import TOKENS_OF_A_TURN, ApiTested, tried
from fabula.actions.library.apis import NameApi, get_api, list_apis, secret_name
from fabula.actions.library.model_choice import (
    ModelRemoved,
    ModelUsed,
    NameModel,
    UseModel,
    find_choice,
    remove_model,
    use_model,
)
from fabula.actions.setups.default_binding import default_group
from fabula.actions.views import Paging
from fabula.adapters.models.detect import command_for, detect
from fabula.cli.in_house import in_house
from fabula.cli.options import (
    NOT_DONE,
    ConfigOption,
    DataDirOption,
    JsonOption,
    print_json,
    say_error,
    screen,
    settings_from,
)
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError
from fabula.ports.models import Found, Reach

app = typer.Typer(help="See, find, test and choose models.", no_args_is_help=True)

Row = dict[str, object]
T = TypeVar("T")

NameArgument = Annotated[
    str,
    typer.Argument(
        help="`understudy`, an api, a name from `fabula models detect`, a model or a GGUF file; else the first found."
    ),
]
BaseUrlOption = Annotated[str, typer.Option(help="The address of another model server.")]
ApiKeyOption = Annotated[str, typer.Option(help="Its key, better as env:NAME: then it is read when it is needed.")]
ModelOption = Annotated[str, typer.Option(help="The model to use; else the one that was found.")]
SecondsOption = Annotated[float, typer.Option(help="How long each question of the test may take.", min=1, max=600)]
_CHECKS = {"stream": "streams its words", "json": "answers in JSON", "system_role": "heeds the system's instructions"}


@app.command("list")
def list_(config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Show the apis of this server, whether they answer, and which of them new plays use."""

    async def look(house: House) -> list[Row]:
        used = await _used_by_default(house)
        return [
            await _api_row(house, api.api_id, api.api_id in used)
            for api in (await list_apis(house, OPERATOR, Paging())).apis
        ]

    rows = in_house(settings_from(config, data_dir=data_dir), look)
    if json:
        print_json(list(rows))
    else:
        screen().print(_table(rows, "api", "provider", "model", "default", "answers", "note"))


@app.command("detect")
def detect_(config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Look for models in the environment, on the usual ports of this machine, and in the models folder."""
    found = asyncio.run(detect(settings_from(config, data_dir=data_dir)))
    rows = [_found_row(one) for one in found]
    if json:
        print_json(list(rows))
        return
    if not rows:
        screen().print(
            "No model was found. Set OPENAI_API_KEY, start a model server on port 11434, 1234 or 8080, or put a GGUF "
            "file into the models folder. Stories can be played without one: the understudy needs nothing."
        )
        return
    screen().print(_table(rows, "name", "address", "model", "answers", "note"))
    usable = next((one for one in found if one.usable), None)
    if usable is not None:
        screen().print(f"To use it: {command_for(usable)}")


@app.command()
def test(
    name: NameArgument = "",
    base_url: BaseUrlOption = "",
    api_key: ApiKeyOption = "",
    model: ModelOption = "",
    seconds: SecondsOption = 60.0,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Ask a model real questions, as a play would, and measure how fast it writes. Nothing is changed."""

    async def ask(house: House) -> ApiTested:
        known = name or await _default_name(house, base_url)
        choice = await find_choice(house, UseModel(name=known, base_url=base_url, api_key=api_key, model=model))
        return await _with_life(f"Asking {choice.api.model}", tried(house, choice.candidate, seconds=seconds), json)

    tested = in_house(settings_from(config, data_dir=data_dir), ask)
    if json:
        print_json(tested.as_json())
    else:
        _show_test(tested)
    if not tested.ok:
        raise typer.Exit(NOT_DONE)


@app.command()
def use(
    name: NameArgument = "",
    base_url: BaseUrlOption = "",
    api_key: ApiKeyOption = "",
    model: ModelOption = "",
    api_id: Annotated[str, typer.Option(help="The id under which the api is kept.")] = "default",
    anyway: Annotated[bool, typer.Option("--anyway", help="Use it although it fails its test.")] = False,
    seconds: SecondsOption = 60.0,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Test a model and let new stories and plays use it. One that fails changes nothing; `use understudy` goes back."""
    wanted = UseModel(
        name=name, base_url=base_url, api_key=api_key, model=model, api_id=api_id, anyway=anyway, seconds=seconds
    )

    async def choose(house: House) -> ModelUsed:
        return await _with_life("Asking the model", use_model(house, OPERATOR, wanted), json)

    _tell_use(in_house(settings_from(config, data_dir=data_dir), choose), json)


@app.command()
def default(
    name: Annotated[str, typer.Argument(help="An api of `fabula models list`; none to see which one it is.")] = "",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show which model new plays use, or choose another one that is known."""
    settings = settings_from(config, data_dir=data_dir)
    if name:

        async def choose(house: House) -> ModelUsed:
            await get_api(house, OPERATOR, NameApi(api_id=name))
            return await _with_life("Asking the model", use_model(house, OPERATOR, UseModel(name=name)), json)

        _tell_use(in_house(settings, choose), json)
        return
    used = in_house(settings, _used_by_default)
    if json:
        print_json({"apis": list(used)})
    else:
        screen().print(f"New plays use: {', '.join(f'{model} (api {api})' for api, model in used.items())}.")


@app.command()
def remove(
    api_id: Annotated[str, typer.Argument(help="An api of `fabula models list`.")],
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Forget an api and its key. What used it uses the understudy from now on."""

    async def forget(house: House) -> ModelRemoved:
        return await remove_model(house, OPERATOR, NameModel(api_id=api_id))

    removed = in_house(settings_from(config, data_dir=data_dir), forget)
    if json:
        print_json(removed.as_json())
        return
    rebound = f" These groups use the understudy now: {', '.join(removed.rebound)}." if removed.rebound else ""
    screen().print(f"The api '{removed.api_id}' is forgotten, and its key.{rebound}")


async def _with_life(what: str, work: Awaitable[T], json: bool) -> T:
    """Waits, and shows on a terminal that and how long; Ctrl+C stops."""
    out = screen()
    if json or not out.is_terminal:
        return await work
    task = asyncio.ensure_future(work)
    try:
        with out.status(f"{what}…") as status:
            seconds = 0
            while not (await asyncio.wait([task], timeout=1))[0]:
                seconds += 1
                status.update(f"{what}… {seconds} s (Ctrl+C stops)")
        return await task
    finally:
        task.cancel()


def _tell_use(used: ModelUsed, json: bool) -> None:
    if json:
        print_json(_use_row(used))
    elif used.switched:
        if used.test is not None:
            _show_test(used.test)
        where = f" at {used.base_url}" if used.base_url else ""
        screen().print(f"New plays now use {used.model}{where}. To go back: fabula models use understudy")
    elif used.test is not None:
        _show_test(used.test)
        say_error(
            f"{used.model} is not used: {used.test.problem} Everything is as it was. "
            "To take it all the same, add --anyway."
        )
    if not used.switched:
        raise typer.Exit(NOT_DONE)


def _use_row(used: ModelUsed) -> Row:
    row: Row = {
        "api_id": used.api_id,
        "api_group_id": used.api_group_id,
        "address": used.base_url,
        "model": used.model,
        "switched": used.switched,
    }
    return row if used.test is None else {**row, "test": used.test.as_json()}


def _show_test(tested: ApiTested) -> None:
    table = Table.grid(padding=(0, 2))
    for check in tested.checks:
        table.add_row("✓" if check.ok else "✗", _CHECKS[check.name], f"{check.latency_ms} ms", check.note)
    screen().print(table)
    pace = tested.tokens_per_second
    if pace is not None:
        screen().print(f"{tested.model} writes {pace:g} tokens a second; its first word came after {_seconds(tested)}.")
    if tested.slow and pace:
        screen().print(
            f"That is slow: a turn of the story will take about {TOKENS_OF_A_TURN / pace:.0f} seconds. "
            "A smaller model, or the understudy, answers sooner.",
            style="yellow",
        )


def _seconds(tested: ApiTested) -> str:
    return f"{(tested.first_word_ms or 0) / 1000:.1f} s"


async def _used_by_default(house: House) -> dict[str, str]:
    """The apis, with their models, that a new play would use."""
    async with house.store.reading() as unit:
        group_id = await default_group(unit)
    assert group_id is not None, "the built-in group is always there"
    group = await get_api_group(house, OPERATOR, NameApiGroup(api_group_id=group_id))
    ids = sorted(set(group.bindings.model_dump().values()))
    return {id: (await get_api(house, OPERATOR, NameApi(api_id=id))).model for id in ids}


async def _default_name(house: House, base_url: str) -> str:
    return "" if base_url else next(iter(await _used_by_default(house)))


async def _api_row(house: House, api_id: str, is_default: bool) -> Row:
    api = await get_api(house, OPERATOR, NameApi(api_id=api_id))
    row: Row = {
        "api": api.api_id,
        "provider": api.provider,
        "model": api.model,
        "address": api.base_url,
        "default": "yes" if is_default else "",
    }
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
        "address": found.base_url or found.source,
        "model": found.model,
        "models": list(found.reach.models),
        "answers": _answers(found.reach),
        "latency_ms": found.reach.latency_ms,
        "note": found.reach.problem or "",
        "command": command_for(found) if found.usable else None,
    }


def _answers(reach: Reach) -> str:
    if not reach.reachable:
        return "no"
    return "not asked yet" if reach.latency_ms is None else f"in {reach.latency_ms} ms"


def _table(rows: Sequence[Row], *columns: str) -> Table:
    table = Table(*columns, box=None)
    for row in rows:
        table.add_row(*(str(row[column]) for column in columns))
    return table
