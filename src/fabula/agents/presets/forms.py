"""A preset's two forms: the full one that clients see, and the compact one that is stored (only what deviates).

`compact(expand(x)) == compact(x)` and `expand(compact(x)) == expand(x)`; what the server emits is accepted back.
"""

from __future__ import annotations

from collections import Counter

from fabula.agents.presets.templates import (
    CUSTOM_MODULE_ORDER,
    CUSTOM_MODULE_ROLE,
    PromptRole,
    built_in_entries,
    template_of,
)
from fabula.story.resources import ROLES, AgentPreset, Preset, PresetAgents, PresetEntry, PresetModule

BUILT_IN_PRESET_ID = "builtin"


def normalise(agents: PresetAgents) -> tuple[PresetAgents, list[str]]:
    """The compact form of what a client submitted, and what is wrong with it, in sentences."""
    problems = [f"{role}: {problem}" for role in ROLES for problem in agent_problems(role, agents.of(role))]
    if problems:
        return agents, problems
    return PresetAgents(**{role: compact_agent(role, agents.of(role)) for role in ROLES}), []


def expand(preset: Preset) -> Preset:
    """The preset in full: every built-in module and entry is filled in."""
    agents = PresetAgents(**{role: expand_agent(role, preset.agents.of(role)) for role in ROLES})
    return preset.model_copy(update={"agents": agents})


def builtin_preset() -> Preset:
    """The preset that comes with Fabula, in compact form.

    Its roles are told up to 152 lines of the transcript, so that the story remembers more and prompts keep their
    beginning; the snapshot that every turn writes keeps the contract's short windows.
    """
    windows = {"replyer_session_history_limit": 32, "extra": {"history": 152}}
    with_windows = AgentPreset.model_validate(windows)
    plain = AgentPreset()
    return Preset(
        preset_id=BUILT_IN_PRESET_ID,
        display_name="Built-in",
        agents=PresetAgents(
            planner=plain,
            architect=AgentPreset(temperature=0.0),
            director=with_windows,
            actor=with_windows,
            narrator=with_windows,
            keeper=with_windows.model_copy(update={"temperature": 0.0}),
            replyer=with_windows,
        ),
    )


def agent_problems(role: PromptRole, agent: AgentPreset) -> list[str]:
    """Why one role's modules cannot be kept as submitted, in sentences; empty when they can."""
    modules = Counter(module.module_id for module in agent.modules)
    entries = Counter(entry.entry_id for module in agent.modules for entry in module.entries)
    problems = [f"the module id '{name}' is used twice" for name, times in modules.items() if times > 1]
    problems += [f"the entry id '{name}' is used twice" for name, times in entries.items() if times > 1]
    built_in = built_in_entries(role)
    for module in agent.modules:
        for entry in module.entries:
            problems += _entry_problems(entry, built_in)
    return problems


def _entry_problems(entry: PresetEntry, built_in: dict[str, PresetEntry]) -> list[str]:
    if entry.kind != "custom_text":
        return [] if entry.entry_id in built_in else [f"there is no built-in entry '{entry.entry_id}'"]
    if entry.entry_id in built_in:
        return [f"the entry id '{entry.entry_id}' belongs to a built-in entry; choose another"]
    return [] if (entry.text or "").strip() else [f"the custom entry '{entry.entry_id}' has no text"]


def expand_agent(role: PromptRole, agent: AgentPreset) -> AgentPreset:
    """One role in full: built-ins from the template, the author's changes on top, sorted by order."""
    submitted = {module.module_id: module for module in agent.modules}
    placed = {entry.entry_id for module in agent.modules for entry in module.entries}
    built_in = built_in_entries(role)
    templates = {module.module_id: module for module in template_of(role)}
    modules = []
    for module_id in [*templates, *(name for name in submitted if name not in templates)]:
        base = templates.get(module_id) or _custom_module(module_id)
        kept = [entry for entry in base.entries if entry.entry_id not in placed]
        chosen = submitted.get(module_id)
        own = [_filled(entry, built_in) for entry in chosen.entries] if chosen else []
        modules.append(_overlaid(base, chosen, _sorted(role, kept + own)))
    modules.sort(key=lambda module: (module.order or 0, module.module_id))
    return agent.model_copy(update={"modules": modules})


def _custom_module(module_id: str) -> PresetModule:
    return PresetModule(
        module_id=module_id,
        display_name=module_id,
        message_role=CUSTOM_MODULE_ROLE,
        order=CUSTOM_MODULE_ORDER,
    )


def _overlaid(base: PresetModule, chosen: PresetModule | None, entries: list[PresetEntry]) -> PresetModule:
    changes: dict[str, object] = {"entries": entries}
    if chosen is not None:
        changes |= {
            name: value
            for name in ("display_name", "message_role", "order")
            if (value := getattr(chosen, name)) is not None
        }
    return base.model_copy(update=changes)


def _filled(entry: PresetEntry, built_in: dict[str, PresetEntry]) -> PresetEntry:
    """The entry in full: of a built-in one, only place and switch are the author's."""
    template = built_in.get(entry.entry_id)
    if template is None:
        return entry.model_copy(update={"context_key": None, "display_name": entry.display_name or entry.entry_id})
    order = entry.order if "order" in entry.model_fields_set else template.order
    return template.model_copy(update={"enabled": entry.enabled, "order": order})


def _sorted(role: PromptRole, entries: list[PresetEntry]) -> list[PresetEntry]:
    place = {entry_id: index for index, entry_id in enumerate(built_in_entries(role))}
    return sorted(entries, key=lambda entry: (entry.order, place.get(entry.entry_id, len(place))))


def compact_agent(role: PromptRole, agent: AgentPreset) -> AgentPreset:
    """One role with only what deviates from the template."""
    templates = {module.module_id: module for module in template_of(role)}
    full = expand_agent(role, agent)
    compact = [
        module
        for module in (_compact_module(module, templates.get(module.module_id)) for module in full.modules)
        if module is not None
    ]
    return agent.model_copy(update={"modules": compact})


def _compact_module(module: PresetModule, template: PresetModule | None) -> PresetModule | None:
    base = template or _custom_module(module.module_id)
    at_home = {entry.entry_id: entry for entry in base.entries}
    deviations: dict[str, object] = {
        name: value
        for name in ("display_name", "message_role", "order")
        if (value := getattr(module, name)) != getattr(base, name)
    }
    entries = [_compact_entry(entry) for entry in module.entries if entry != at_home.get(entry.entry_id)]
    if template is not None and not deviations and not entries:
        return None
    return PresetModule(module_id=module.module_id, entries=entries).model_copy(update=deviations)


def _compact_entry(entry: PresetEntry) -> PresetEntry:
    if entry.kind == "custom_text":
        return entry
    return PresetEntry(entry_id=entry.entry_id, kind=entry.kind, enabled=entry.enabled, order=entry.order)
