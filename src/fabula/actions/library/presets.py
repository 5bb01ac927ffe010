"""Keep presets: how each role is asked. They are stored as deviations from the built-in prompts and shown whole."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.listing import Listing
from fabula.actions.repositories import PRESETS, checked_name, checked_new_name
from fabula.actions.views import Command, ListView, View, changed, refuse
from fabula.agents.presets.entries import Changed, Refusal, create_entry, delete_entry, update_entry
from fabula.agents.presets.forms import expand, normalise
from fabula.agents.presets.summaries import summary
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, FabulaError, InvalidRequest, NotFound
from fabula.story.resources import AgentPreset, AgentRole, Preset, PresetAgents, PresetEntry
from fabula.story.values import JsonObject


class CreatePreset(Command):
    preset_id: str
    display_name: str
    agents: PresetAgents


class UpdatePreset(Command):
    preset_id: str
    display_name: str | None = None
    agents: PresetAgents | None = None


class NamePreset(Command):
    preset_id: str


class NamePresetEntry(Command):
    preset_id: str
    agent: AgentRole
    module_id: str
    entry_id: str


class CreatePresetEntry(NamePresetEntry):
    display_name: str
    text: str
    enabled: bool = True
    order: int | None = None


class UpdatePresetEntry(NamePresetEntry):
    display_name: str | None = None
    text: str | None = None
    enabled: bool | None = None
    order: int | None = None


class PresetView(View):
    may_be_large = True
    type: Literal["preset"] = "preset"
    preset_id: str
    display_name: str
    agents: PresetAgents


class PresetSummary(View):
    """A preset without its texts; each agent tells how many modules and entries it has."""

    type: Literal["preset"] = "preset"
    preset_id: str
    display_name: str
    agents: JsonObject


class PresetsListed(ListView):
    type: Literal["presets_listed"] = "presets_listed"
    presets: list[PresetSummary]


class PresetDeleted(View):
    type: Literal["preset_deleted"] = "preset_deleted"
    preset_id: str


class PresetEntryView(View):
    type: Literal["preset_entry"] = "preset_entry"
    preset_id: str
    agent: AgentRole
    module_id: str
    entry: PresetEntry


class PresetEntryDeleted(View):
    type: Literal["preset_entry_deleted"] = "preset_entry_deleted"
    preset_id: str
    agent: AgentRole
    module_id: str
    entry_id: str


@allowed("author")
async def create_preset(house: House, actor: Actor, command: CreatePreset) -> PresetView:
    """Adds a preset; what it does not say is taken from the built-in prompts."""
    checked_new_name(command.preset_id, PRESETS.noun)
    preset = Preset(preset_id=command.preset_id, display_name=command.display_name, agents=_compact(command.agents))
    async with house.store.writing() as unit:
        await PRESETS.add(unit, preset.preset_id, preset)
    return _view(preset)


@allowed("author")
async def get_preset(house: House, actor: Actor, command: NamePreset) -> PresetView:
    """Shows a preset with all modules and texts."""
    async with house.store.reading() as unit:
        return _view(await PRESETS.get(unit, command.preset_id))


@allowed("player")
async def list_presets(house: House, actor: Actor, command: Listing) -> PresetsListed:
    """Lists presets without their texts, by id or `order`. `query` finds words of names and ids."""
    async with house.store.reading() as unit:
        presets, cursor = await PRESETS.page(unit, command)
    return PresetsListed(presets=[PresetSummary.model_validate(summary(one)) for one in presets], next_cursor=cursor)


@allowed("author")
async def update_preset(house: House, actor: Actor, command: UpdatePreset) -> PresetView:
    """Changes a preset; `agents` is replaced whole."""
    async with house.store.writing() as unit:
        before = await PRESETS.get(unit, command.preset_id)
        after = Preset(**changed(before, command, "display_name", "agents"))
        after = after.model_copy(update={"agents": _compact(after.agents)})
        await PRESETS.put(unit, after.preset_id, after)
    return _view(after)


@allowed("author")
async def delete_preset(house: House, actor: Actor, command: NamePreset) -> PresetDeleted:
    """Removes a preset that no draft or session uses."""
    async with house.store.writing() as unit:
        await PRESETS.remove(unit, command.preset_id)
    return PresetDeleted(preset_id=command.preset_id)


@allowed("author")
async def create_preset_entry(house: House, actor: Actor, command: CreatePresetEntry) -> PresetEntryView:
    """Adds the author's own text to a module of a role's prompt."""
    checked_new_name(command.entry_id, "preset entry")
    fields = command.model_dump(exclude={"preset_id", "agent"})
    async with house.store.writing() as unit:
        preset = await PRESETS.get(unit, command.preset_id)
        done = _done(create_entry(command.agent, preset.agents.of(command.agent), **fields))
        await PRESETS.put(unit, preset.preset_id, _with_agent(preset, command.agent, done.agent))
    return _entry_view(command, done.entry)


@allowed("author")
async def update_preset_entry(house: House, actor: Actor, command: UpdatePresetEntry) -> PresetEntryView:
    """Changes an entry; of a built-in one only its order and whether it is enabled."""
    _check_names(command)
    fields = command.model_dump(exclude={"preset_id", "agent"})
    async with house.store.writing() as unit:
        preset = await PRESETS.get(unit, command.preset_id)
        done = _done(update_entry(command.agent, preset.agents.of(command.agent), **fields))
        await PRESETS.put(unit, preset.preset_id, _with_agent(preset, command.agent, done.agent))
    return _entry_view(command, done.entry)


@allowed("author")
async def delete_preset_entry(house: House, actor: Actor, command: NamePresetEntry) -> PresetEntryDeleted:
    """Removes one of the author's own texts."""
    _check_names(command)
    async with house.store.writing() as unit:
        preset = await PRESETS.get(unit, command.preset_id)
        agent = preset.agents.of(command.agent)
        done = delete_entry(command.agent, agent, module_id=command.module_id, entry_id=command.entry_id)
        if isinstance(done, Refusal):
            raise _error(done)
        await PRESETS.put(unit, preset.preset_id, _with_agent(preset, command.agent, done))
    return PresetEntryDeleted(**command.model_dump())


def _check_names(command: NamePresetEntry) -> None:
    checked_name(command.module_id, "preset module")
    checked_name(command.entry_id, "preset entry")


def _compact(agents: PresetAgents) -> PresetAgents:
    compact, problems = normalise(agents)
    refuse(problems, "preset")
    return compact


def _done(outcome: Changed | Refusal) -> Changed:
    if isinstance(outcome, Refusal):
        raise _error(outcome)
    return outcome


def _error(refusal: Refusal) -> FabulaError:
    kinds: dict[str, type[FabulaError]] = {"missing": NotFound, "duplicate": Conflict}
    return kinds.get(refusal.kind, InvalidRequest)(refusal.reason)


def _with_agent(preset: Preset, role: AgentRole, agent: AgentPreset) -> Preset:
    return preset.model_copy(update={"agents": preset.agents.model_copy(update={role: agent})})


def _view(preset: Preset) -> PresetView:
    return PresetView(**dict(expand(preset)))


def _entry_view(command: NamePresetEntry, entry: PresetEntry) -> PresetEntryView:
    return PresetEntryView(preset_id=command.preset_id, agent=command.agent, module_id=command.module_id, entry=entry)
