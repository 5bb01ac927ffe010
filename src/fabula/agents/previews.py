"""Previews: what a role would be told, module by module, with placeholders or with the context of a real play."""

from __future__ import annotations

from typing import Literal

from fabula.agents.packed_prompts import MESSAGE_ROLES
from fabula.agents.presets.templates import MessageRole, PromptRole
from fabula.agents.prompts import Block, Part, blocks, fitting_blocks
from fabula.story.contexts import ArchitectContext, RoleContext
from fabula.story.resources import AgentPreset, ArchitectMode
from fabula.story.values import JsonObject


def mode_problem(role: PromptRole, mode: ArchitectMode | None) -> str | None:
    """Why a preview cannot be made with this architect mode, or None."""
    if role == "architect" and mode is None:
        return "architect_mode is required for the architect: graph, draft_init or draft_continue."
    if role != "architect" and mode is not None:
        return f"architect_mode is for the architect only, not for the {role}."
    return None


def preview_template(
    preset_id: str,
    role: PromptRole,
    agent: AgentPreset,
    *,
    module_id: str | None = None,
    mode: ArchitectMode | None = None,
) -> tuple[JsonObject, list[str]]:
    """The preview of a template (without `type`), or why there is none."""
    problem = mode_problem(role, mode)
    if problem:
        return {}, [problem]
    found = blocks(role, agent, values=None, mode=mode)
    return _preview(preset_id, role, found, kind="template", module_id=module_id, mode=mode)


def preview_runtime(
    preset_id: str, agent: AgentPreset, context: RoleContext, *, module_id: str | None = None
) -> tuple[JsonObject, list[str]]:
    """The preview of a prompt at run time (without `type`): exactly what would be sent."""
    mode = context.mode if isinstance(context, ArchitectContext) else None
    found, _ = fitting_blocks(agent, context)
    return _preview(preset_id, context.role, found, kind="runtime", module_id=module_id, mode=mode)


def _preview(
    preset_id: str,
    role: PromptRole,
    found: list[Block],
    *,
    kind: Literal["template", "runtime"],
    module_id: str | None,
    mode: ArchitectMode | None,
) -> tuple[JsonObject, list[str]]:
    shown = [block for block in found if module_id is None or block.module_id == module_id]
    if not shown:
        return {}, [f"There is no module '{module_id}' in this role's prompt."]
    unresolved = [part.unresolved for block in shown for part in block.parts if part.unresolved]
    preview: JsonObject = {
        "preset_id": preset_id,
        "agent": role,
        "preview_kind": kind,
        "message_role": "full" if module_id is None else shown[0].message_role,
        "messages": [message for message in (_message_json(one, shown) for one in MESSAGE_ROLES) if message],
        "unresolved_context_keys": list(dict.fromkeys(unresolved)),
    }
    if module_id is not None:
        preview["module_id"] = module_id
    if mode is not None:
        preview["architect_mode"] = mode
    return preview, []


def _message_json(role: MessageRole, shown: list[Block]) -> JsonObject:
    modules = [block for block in shown if block.message_role == role]
    return {"role": role, "modules": [_block_json(block) for block in modules]} if modules else {}


def _block_json(block: Block) -> JsonObject:
    return {
        "module_id": block.module_id,
        "display_name": block.display_name,
        "order": block.order,
        "entries": [_part_json(part) for part in block.parts],
    }


def _part_json(part: Part) -> JsonObject:
    return {
        "entry_id": part.entry_id,
        "display_name": part.display_name,
        "kind": part.kind,
        "order": part.order,
        "source": part.source,
        "compiled_text": part.text,
    }
