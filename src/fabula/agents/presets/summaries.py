"""Presets in a list: their build is shown, their texts are not."""

from __future__ import annotations

from fabula.agents.presets.forms import expand
from fabula.story.resources import ROLES, AgentPreset, Preset, PresetModule
from fabula.story.values import JsonObject


def summary(preset: Preset) -> JsonObject:
    """A preset as a list shows it, with counts and with entries that lack text and context key."""
    full = expand(preset)
    agents: JsonObject = {role: _agent_summary(full.agents.of(role)) for role in ROLES}
    return {"preset_id": full.preset_id, "display_name": full.display_name, "agents": agents}


def _agent_summary(agent: AgentPreset) -> JsonObject:
    return {
        **agent.model_dump(mode="json", exclude={"modules"}),
        "module_count": len(agent.modules),
        "entry_count": sum(len(module.entries) for module in agent.modules),
        "modules": [_module_summary(module) for module in agent.modules],
    }


def _module_summary(module: PresetModule) -> JsonObject:
    return {
        **module.model_dump(mode="json", exclude={"entries"}),
        "entry_count": len(module.entries),
        "entries": [entry.model_dump(mode="json", exclude={"text", "context_key"}) for entry in module.entries],
    }
