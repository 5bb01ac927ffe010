"""Keep apis: which models there are and how they are reached. Keys go in and never come out."""

from __future__ import annotations

from typing import Final, Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.repositories import APIS, checked_new_name
from fabula.actions.views import Command, ListView, Paging, View, changed
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, StoreError
from fabula.ports.store import Unit
from fabula.story.resources import Api, Provider

_LONG_KEY: Final = 16


class CreateApi(Command):
    api_id: str
    display_name: str
    provider: Provider
    base_url: str
    api_key: str
    model: str


class UpdateApi(Command):
    api_id: str
    display_name: str | None = None
    provider: Provider | None = None
    base_url: str | None = None
    api_key: str | None = None
    model: str | None = None


class NameApi(Command):
    api_id: str


class ListModels(Command):
    provider: Provider
    base_url: str
    api_key: str


class ApiView(View):
    optional = frozenset({"api_key_masked", "api_key_problem"})
    type: Literal["api"] = "api"
    api_id: str
    display_name: str
    provider: Provider
    base_url: str
    model: str
    has_api_key: bool
    api_key_masked: str | None = None
    api_key_problem: str | None = None


class ApisListed(ListView):
    type: Literal["apis_listed"] = "apis_listed"
    apis: list[ApiView]


class ApiModelsListed(View):
    type: Literal["api_models_listed"] = "api_models_listed"
    provider: Provider
    base_url: str
    models: list[str]


class ApiDeleted(View):
    type: Literal["api_deleted"] = "api_deleted"
    api_id: str


def secret_name(api_id: str) -> str:
    """Under which name an api's key is kept among the secrets."""
    return f"api:{api_id}"


@allowed("admin")
async def create_api(house: House, actor: Actor, command: CreateApi) -> ApiView:
    """Adds an api. Its key is encrypted and never shown again."""
    checked_new_name(command.api_id, APIS.noun)
    api = await checked_api(house, Api(**command.model_dump(exclude={"api_key"})), command.api_key)
    async with house.store.writing() as unit:
        await APIS.add(unit, api.api_id, api)
        await _keep_key(unit, api.api_id, command.api_key)
        return await _view(unit, actor, api)


@allowed("author")
async def get_api(house: House, actor: Actor, command: NameApi) -> ApiView:
    """Shows an api, its key masked."""
    async with house.store.reading() as unit:
        return await _view(unit, actor, await APIS.get(unit, command.api_id))


@allowed("player")
async def list_apis(house: House, actor: Actor, command: Paging) -> ApisListed:
    """Lists all apis by id. Players see of a key only whether there is one."""
    async with house.store.reading() as unit:
        apis, cursor = await APIS.page(unit, command)
        return ApisListed(apis=[await _view(unit, actor, api) for api in apis], next_cursor=cursor)


@allowed("admin")
async def list_models(house: House, actor: Actor, command: ListModels) -> ApiModelsListed:
    """Asks an address which models it offers; nothing is kept."""
    if command.provider == "open_ai":
        await house.addresses.check(command.base_url)
    found = await house.models.list_models(
        provider=command.provider, base_url=command.base_url, api_key=command.api_key
    )
    return ApiModelsListed(provider=command.provider, base_url=found.base_url, models=list(found.models))


@allowed("admin")
async def update_api(house: House, actor: Actor, command: UpdateApi) -> ApiView:
    """Changes an api; fields that are not given stay as they are. A new address needs the key again, "" removes it."""
    async with house.store.reading() as unit:
        before = await APIS.get(unit, command.api_id)
    after = Api(**changed(before, command, "display_name", "provider", "base_url", "model"))
    after = await checked_api(house, after, command.api_key or "")
    async with house.store.writing() as unit:
        # Asked again where nobody else can write: the key belongs to the address that is replaced now.
        standing = await APIS.get(unit, command.api_id)
        if after.base_url not in ("", standing.base_url) and command.api_key is None:
            await _must_have_no_key(unit, after)
        await APIS.put(unit, after.api_id, after)
        if command.api_key is not None:
            await _keep_key(unit, after.api_id, command.api_key)
        view = await _view(unit, actor, after)
    house.models.forget(command.api_id)
    return view


@allowed("admin")
async def delete_api(house: House, actor: Actor, command: NameApi) -> ApiDeleted:
    """Removes an api that no group uses, and its key."""
    async with house.store.writing() as unit:
        await APIS.remove(unit, command.api_id)
        await unit.secrets.remove(secret_name(command.api_id))
    house.models.forget(command.api_id)
    return ApiDeleted(api_id=command.api_id)


async def checked_api(house: House, api: Api, key: str) -> Api:
    """The api with a normalised address; raises when the provider cannot be used like this."""
    if api.provider == "open_ai":
        if not api.model.strip():
            raise InvalidRequest("Name the model: `model` is empty.")
        return api.model_copy(update={"base_url": await house.addresses.check(api.base_url)})
    if api.base_url or key:
        raise InvalidRequest(f"An api of provider '{api.provider}' takes an empty base_url and an empty api_key.")
    if api.provider == "local" and not api.model.strip():
        raise InvalidRequest("Name a GGUF file of the models folder in `model`.")
    return api


async def _must_have_no_key(unit: Unit, api: Api) -> None:
    if await unit.secrets.has(secret_name(api.api_id)):
        raise InvalidRequest(
            f"The stored key of '{api.api_id}' is not sent to another address. "
            f"Give `api_key` again with the new base_url, or an empty one to remove it."
        )


async def _keep_key(unit: Unit, api_id: str, key: str) -> None:
    if key:
        await unit.secrets.put(secret_name(api_id), key)
    else:
        await unit.secrets.remove(secret_name(api_id))


async def _view(unit: Unit, actor: Actor, api: Api) -> ApiView:
    name = secret_name(api.api_id)
    has_key = await unit.secrets.has(name)
    if not has_key or not actor.may_act_as("author"):
        return ApiView(**dict(api), has_api_key=has_key)
    try:
        key = await unit.secrets.get(name) or ""
    except StoreError as error:
        # The key that encrypts it is lost: the api is still shown, so that its key can be entered again.
        return ApiView(**dict(api), has_api_key=True, api_key_problem=error.message)
    return ApiView(**dict(api), has_api_key=True, api_key_masked=masked(key))


def masked(key: str) -> str:
    """A key as it may be shown: long ones by their ends, of which most stays hidden, and all others as stars."""
    return f"{key[:4]}...{key[-4:]}" if len(key) >= _LONG_KEY else "*" * 8
