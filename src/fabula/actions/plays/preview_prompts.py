"""Preview prompts: what a role would be told by a preset, with placeholders or from a real story, draft or play."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.protocol import RoleQuestion
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.suggest_replies import checked_limit
from fabula.actions.repositories import DRAFTS, PRESETS, SCHEMAS, SESSIONS
from fabula.actions.setups.draft_setup import gather_draft_setup
from fabula.actions.views import Command, View
from fabula.agents.previews import mode_problem, preview_runtime, preview_template
from fabula.loops.generation.contexts import graph_context, opening_context, planner_context, section_context
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.contexts import ActorPurpose, ArchitectContext, KeeperPhase, NarratorPurpose, RoleContext
from fabula.story.resources import AgentRole, ArchitectMode
from fabula.story.values import JsonObject, Value


class PreviewTemplate(Command):
    preset_id: str
    agent: AgentRole
    module_id: str | None = None
    architect_mode: ArchitectMode | None = None


class PreviewRuntime(PreviewTemplate):
    resource_id: str | None = None
    draft_id: str | None = None
    character_id: str | None = None
    actor_purpose: ActorPurpose | None = None
    narrator_purpose: NarratorPurpose | None = None
    keeper_phase: KeeperPhase | None = None
    previous_node_id: str | None = None
    player_input: str | None = None
    reply_limit: int | None = None


class PreviewEntry(Value):
    entry_id: str
    display_name: str
    kind: str
    order: int
    source: Literal["preset", "synthetic"]
    compiled_text: str


class PreviewModule(Value):
    module_id: str
    display_name: str
    order: int
    entries: list[PreviewEntry]


class PreviewMessage(Value):
    role: Literal["system", "user"]
    modules: list[PreviewModule]


class PresetPromptPreview(View):
    optional = frozenset({"module_id", "architect_mode"})
    type: Literal["preset_prompt_preview"] = "preset_prompt_preview"
    preset_id: str
    agent: AgentRole
    module_id: str | None = None
    architect_mode: ArchitectMode | None = None
    preview_kind: Literal["template", "runtime"]
    message_role: Literal["system", "user", "full"]
    messages: list[PreviewMessage]
    unresolved_context_keys: list[str]


@allowed("author")
async def preview_preset_template(house: House, actor: Actor, command: PreviewTemplate) -> PresetPromptPreview:
    """Shows a role's prompt as a preset writes it, with placeholders for the context."""
    async with house.store.reading() as unit:
        preset = await PRESETS.get(unit, command.preset_id)
    preview, problems = preview_template(
        preset.preset_id,
        command.agent,
        preset.agents.of(command.agent),
        module_id=command.module_id,
        mode=command.architect_mode,
    )
    return _view(command.agent, preview, problems)


@allowed("author")
async def preview_preset_runtime(
    house: House, actor: Actor, session_id: str | None, command: PreviewRuntime
) -> PresetPromptPreview:
    """Shows exactly what a role would be sent now, for a resource, a draft or the session in the envelope."""
    if problem := mode_problem(command.agent, command.architect_mode):
        raise InvalidRequest(problem)
    async with house.store.reading() as unit:
        preset = await PRESETS.get(unit, command.preset_id)
        if command.agent in ("planner", "architect"):
            context = await _generation_context(unit, command)
        else:
            context = await _scene_context(house, unit, actor, session_id, command)
    agent = preset.agents.of(command.agent)
    preview, problems = preview_runtime(preset.preset_id, agent, context, module_id=command.module_id)
    return _view(command.agent, preview, problems)


def _view(agent: AgentRole, preview: JsonObject, problems: list[str]) -> PresetPromptPreview:
    if problems:
        raise InvalidRequest(problems[0])
    # The swift pace speaks with the director's voice, and is shown under its name.
    return PresetPromptPreview.model_validate({**preview, "agent": agent})


async def _generation_context(unit: Unit, command: PreviewRuntime) -> RoleContext:
    if command.agent == "architect" and command.architect_mode != "graph":
        return await _draft_context(unit, command)
    resource_id = _needed(command.resource_id, "resource_id", command)
    materials = await gather_draft_setup(unit, resource_id, None, command.preset_id)
    if command.agent == "planner":
        return planner_context(materials)
    return graph_context(materials, materials.resource.planned_story or "")


async def _draft_context(unit: Unit, command: PreviewRuntime) -> ArchitectContext:
    draft = await DRAFTS.get(unit, _needed(command.draft_id, "draft_id", command))
    materials = await gather_draft_setup(unit, draft.resource_id, None, command.preset_id)
    if command.architect_mode == "draft_init":
        return opening_context(materials, draft.planned_story, draft.outline_sections)
    if draft.status != "building":
        raise InvalidRequest("This draft has all its sections: the architect would not be asked again.")
    schemas = await SCHEMAS.get_all(unit, [draft.world_schema_id, draft.player_schema_id])
    return section_context(materials, draft, schemas[draft.world_schema_id], schemas[draft.player_schema_id])


def _needed(value: str | None, name: str, command: PreviewRuntime) -> str:
    if not value:
        raise InvalidRequest(f"A preview for the {command.agent} needs `{name}`.")
    return value


async def _scene_context(
    house: House, unit: Unit, actor: Actor, session_id: str | None, command: PreviewRuntime
) -> RoleContext:
    if not session_id:
        raise InvalidRequest(f"A preview for the {command.agent} needs a session: put its id into the envelope.")
    play, state = await head_state(unit, actor, session_id)
    session = (await SESSIONS.get(unit, session_id)).model_copy(update={"preset_id": command.preset_id})
    asked = RoleQuestion(
        role=command.agent,
        character_id=command.character_id,
        actor_purpose=command.actor_purpose,
        narrator_purpose=command.narrator_purpose,
        keeper_phase=command.keeper_phase,
        previous_node_id=command.previous_node_id,
        player_input=command.player_input or "",
        reply_limit=checked_limit(command.reply_limit if command.agent == "replyer" else None),
    )
    return (await kind_of_play(state).prompt(house, unit, session, play, state, asked)).context
