"""Choose a model: one step from "there is a model" to "new plays use it", and one step back.

1. A name is looked up: the understudy, an api that is kept, what was found on this machine, or a model found there.
2. The model is asked real questions (`api_trials`). One that fails is not used, and what was used before stays.
3. An api is made or changed, a group of its name binds it to all roles, and the group `default` binds it, too: that is
   what new stories and plays take. `understudy` binds the group back to the built-in storyteller.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.api_trials import ApiTested, Candidate, kept_candidate, tried
from fabula.actions.library.apis import checked_api, secret_name
from fabula.actions.library.builtins import BUILTIN_GROUP, UNDERSTUDY
from fabula.actions.repositories import API_GROUPS, APIS, checked_new_name
from fabula.actions.setups.default_binding import DEFAULT_GROUP
from fabula.actions.views import Command, Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InUse, InvalidRequest, NotFound
from fabula.ports.models import Found, FoundIn, ModelError
from fabula.ports.store import Unit
from fabula.story.resources import Api, ApiGroup, Bindings, Provider
from fabula.story.values import Value

CUSTOM = "custom"
FEW = 8


class UseModel(Command):
    """`name` is looked up as above; without one the first usable model is taken. Or say address and model.

    `anyway` takes a model that failed its test.
    """

    name: str = ""
    base_url: str = ""
    api_key: str = ""
    model: str = ""
    api_id: str = DEFAULT_GROUP
    anyway: bool = False
    seconds: float = Field(default=60.0, ge=1.0, le=600.0)


class NameModel(Command):
    api_id: str


class FoundModel(Value):
    """A model that could be used. `use` is the name by which it is chosen."""

    use: str
    source: FoundIn
    provider: Provider
    base_url: str
    model: str
    models: list[str]
    usable: bool
    latency_ms: int | None
    problem: str


class ModelsDetected(View):
    type: Literal["models_detected"] = "models_detected"
    found: list[FoundModel]


class ModelUsed(View):
    """`switched` is False when the model failed its test: then all is as before, and `test` says what failed."""

    optional = frozenset({"test"})
    type: Literal["model_used"] = "model_used"
    switched: bool
    api_id: str
    api_group_id: str
    provider: Provider
    base_url: str
    model: str
    test: ApiTested | None = None


class ModelRemoved(View):
    """`rebound` are the groups that used it, and now use the understudy in its place."""

    type: Literal["model_removed"] = "model_removed"
    api_id: str
    rebound: list[str]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a name means: an api to be kept as `api_id`, and where it was found."""

    candidate: Candidate
    label: str
    kept: bool = False

    @property
    def api(self) -> Api:
        return self.candidate.api


@allowed("admin")
async def detect_models(house: House, actor: Actor, command: Nothing) -> ModelsDetected:
    """Looks for models that could be used: in the environment, on the usual ports of this machine, and GGUF files."""
    return ModelsDetected(found=[_found_view(found) for found in await house.models.detect()])


@allowed("admin")
async def use_model(house: House, actor: Actor, command: UseModel) -> ModelUsed:
    """Tests a model and, if it passes, lets new stories and plays use it; one that fails changes nothing."""
    if _is_understudy(command.name):
        await house.store.write(lambda unit: _bind(unit, DEFAULT_GROUP, UNDERSTUDY.api_id, UNDERSTUDY.display_name))
        return _used(UNDERSTUDY, switched=True, test=None)
    choice = await find_choice(house, command)
    test = await tried(house, choice.candidate, seconds=command.seconds)
    if not test.ok and not command.anyway:
        return _used(choice.api, switched=False, test=test)

    async def write(unit: Unit) -> None:
        await _keep(unit, choice)
        if choice.api.api_id != DEFAULT_GROUP:
            await _bind(unit, DEFAULT_GROUP, choice.api.api_id, choice.label)

    await house.store.write(write)
    return _used(choice.api, switched=True, test=test)


@allowed("admin")
async def remove_model(house: House, actor: Actor, command: NameModel) -> ModelRemoved:
    """Forgets an api and its key; groups that used it use the understudy from now on."""
    if _is_understudy(command.api_id):
        raise InvalidRequest("The understudy is built in: it needs nothing, and always stays.")

    async def write(unit: Unit) -> list[str]:
        await APIS.get(unit, command.api_id)
        rebound = await _rebind(unit, command.api_id)
        await APIS.remove(unit, command.api_id)
        await unit.secrets.remove(secret_name(command.api_id))
        return rebound

    rebound = await house.store.write(write)
    house.models.forget(command.api_id)
    return ModelRemoved(api_id=command.api_id, rebound=rebound)


async def group_of_model(house: House, actor: Actor, name: str, *, seconds: float = 60.0) -> str:
    """The id of a group that plays with a model, for one play: a group, an api, or a model that was found.

    A model that is not kept yet is tested first; one that fails raises a ModelError that says why.
    """
    if _is_understudy(name):
        return BUILTIN_GROUP.api_group_id
    async with house.store.reading() as unit:
        if await API_GROUPS.find(unit, name) is not None:
            return name
    choice = await find_choice(house, UseModel(name=name, api_id=_id_for(name)))
    actor.must_be("admin", "Connecting a model")
    if not choice.kept:
        test = await tried(house, choice.candidate, seconds=seconds)
        if not test.ok:
            raise ModelError(f"{choice.api.model} cannot be used: {test.problem}")
    await house.store.write(lambda unit: _keep(unit, choice))
    return choice.api.api_id


async def find_choice(house: House, command: UseModel) -> Choice:
    """The model that is meant; raises with what there is when it is none."""
    if command.base_url:
        return await _custom(house, command)
    if command.name:
        async with house.store.reading() as unit:
            kept = await APIS.find(unit, command.name)
        if kept is not None:
            return await _kept(house, kept, command)
    found = await house.models.detect()
    return await _chosen(house, _pick(found, command), command)


def _pick(found: Sequence[Found], command: UseModel) -> Found:
    if not command.name:
        usable = next((one for one in found if one.usable or (one.reach.reachable and command.model)), None)
        if usable is not None:
            return usable
        if found:
            raise NotFound(_unusable(found[0]))
        raise NotFound(
            "No model was found. Set OPENAI_API_KEY, start a model server, put a GGUF file into the models folder, or "
            "say the address and the model. Stories can be played without one."
        )
    named = [one for one in found if _is_named(one, command.name)]
    offering = [one for one in found if command.name in one.reach.models]
    if named:
        return next((one for one in named if one.reach.reachable), named[0])
    if offering:
        return offering[0]
    known = ", ".join([UNDERSTUDY.api_id, *(one.name for one in found)])
    raise NotFound(f"No model or model server named '{command.name}' was found. There are: {known}.")


async def _chosen(house: House, found: Found, command: UseModel) -> Choice:
    if not found.reach.reachable:
        raise NotFound(_unusable(found))
    model = command.model or (command.name if command.name in found.reach.models else found.model)
    if not model:
        raise NotFound(_unusable(found))
    key = command.api_key or found.key
    if not key and found.source == "environment":
        key = house.settings.openai_api_key
    api = Api(
        api_id=checked_new_name(command.api_id, APIS.noun),
        display_name=f"{model} ({found.name})" if found.name != model else model,
        provider=found.provider,
        base_url=found.base_url,
        model=model,
    )
    return Choice(candidate=Candidate(api=await checked_api(house, api, key), key=key), label=api.display_name)


async def _custom(house: House, command: UseModel) -> Choice:
    """An address that the caller names; the model, too, unless only one is offered there."""
    address, model = await house.addresses.check(command.base_url), command.model
    if not model:
        listed = await house.models.list_models(provider="open_ai", base_url=address, api_key=command.api_key)
        if len(listed.models) != 1:
            offered = ", ".join(listed.models[:FEW]) or "unknown"
            raise InvalidRequest(f"Name the model. Offered there: {offered}.")
        model = listed.models[0]
    api = Api(
        api_id=checked_new_name(command.api_id, APIS.noun),
        display_name=f"{model} ({CUSTOM})",
        provider="open_ai",
        base_url=address,
        model=model,
    )
    return Choice(candidate=Candidate(api=api, key=command.api_key), label=api.display_name)


async def _kept(house: House, api: Api, command: UseModel) -> Choice:
    candidate = await kept_candidate(house, api.api_id)
    if command.model and command.model != api.model:
        changed = api.model_copy(update={"model": command.model, "display_name": f"{command.model} ({api.api_id})"})
        return Choice(candidate=Candidate(api=changed, key=candidate.key), label=changed.display_name)
    return Choice(candidate=candidate, label=api.display_name, kept=True)


async def _keep(unit: Unit, choice: Choice) -> None:
    """The api and the group of its name."""
    api, key = choice.api, choice.candidate.key
    if await APIS.find(unit, api.api_id) is None:
        await APIS.add(unit, api.api_id, api)
    elif not choice.kept:
        await APIS.put(unit, api.api_id, api)
    if not choice.kept:
        if key:
            await unit.secrets.put(secret_name(api.api_id), key)
        else:
            await unit.secrets.remove(secret_name(api.api_id))
    await _bind(unit, api.api_id, api.api_id, choice.label)


async def _bind(unit: Unit, group_id: str, api_id: str, label: str) -> None:
    """A group that uses one api for all roles, made or changed."""
    group = ApiGroup(
        api_group_id=group_id,
        display_name=label,
        bindings=Bindings.all_to(api_id),
    )
    if await API_GROUPS.find(unit, group_id) is None:
        await API_GROUPS.add(unit, group_id, group)
    else:
        await API_GROUPS.put(unit, group_id, group)


async def _rebind(unit: Unit, api_id: str) -> list[str]:
    """Gives the roles that an api has in any group to the understudy; its own group goes, if nothing plays with it."""
    rebound: list[str] = []
    for user in await unit.resources.users("api", api_id):
        group = await API_GROUPS.get(unit, user.id)
        roles = {name: UNDERSTUDY.api_id if id == api_id else id for name, id in group.bindings.model_dump().items()}
        name = UNDERSTUDY.display_name if set(roles.values()) == {UNDERSTUDY.api_id} else group.display_name
        after = group.model_copy(update={"bindings": Bindings.model_validate(roles), "display_name": name})
        await API_GROUPS.put(unit, group.api_group_id, after)
        if not await _was_removed(unit, group.api_group_id, api_id):
            rebound.append(group.api_group_id)
    return rebound


async def _was_removed(unit: Unit, group_id: str, api_id: str) -> bool:
    if group_id != api_id or group_id == DEFAULT_GROUP or await unit.resources.users("api_group", group_id):
        return False
    try:
        await API_GROUPS.remove(unit, group_id)
    except InUse:
        return False
    return True


def _is_understudy(name: str) -> bool:
    return name.casefold() == UNDERSTUDY.api_id


def _is_named(found: Found, name: str) -> bool:
    wanted = name.casefold()
    return wanted in {found.name.casefold(), found.name.casefold().removesuffix(".gguf")}


def _id_for(name: str) -> str:
    """An id for the api of a model that is named so."""
    return re.sub(r"[^A-Za-z0-9\-_.:]+", "-", name).strip("-").lower()[:128] or CUSTOM


def _unusable(found: Found) -> str:
    where = f" at {found.base_url}" if found.base_url else ""
    return f"{found.name}{where} cannot be used: {found.reach.problem or 'name one of its models'}"


def _found_view(found: Found) -> FoundModel:
    return FoundModel(
        use=found.name,
        source=found.source,
        provider=found.provider,
        base_url=found.base_url,
        model=found.model,
        models=list(found.reach.models),
        usable=found.usable,
        latency_ms=found.reach.latency_ms,
        problem=found.reach.problem or "",
    )


def _used(api: Api, *, switched: bool, test: ApiTested | None) -> ModelUsed:
    return ModelUsed(
        switched=switched,
        api_id=api.api_id,
        api_group_id=DEFAULT_GROUP,
        provider=api.provider,
        base_url=api.base_url,
        model=api.model,
        test=test,
    )
