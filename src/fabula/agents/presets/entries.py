"""Single entries of a preset: added, changed and removed without sending the whole preset.

Every function takes a role's preset in either form and answers the compact form, or why it may not be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabula.agents.presets.forms import compact_agent, expand_agent
from fabula.agents.presets.templates import PromptRole
from fabula.story.resources import AgentPreset, PresetEntry, PresetModule

ORDER_STEP = 10


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why an entry may not be changed like this."""

    kind: Literal["invalid", "missing", "duplicate"]
    reason: str


@dataclass(frozen=True, kw_only=True)
class Changed:
    """The role after the change in compact form, and the entry as clients see it."""

    agent: AgentPreset
    entry: PresetEntry


def create_entry(
    role: PromptRole,
    agent: AgentPreset,
    *,
    module_id: str,
    entry_id: str,
    display_name: str,
    text: str,
    enabled: bool = True,
    order: int | None = None,
) -> Changed | Refusal:
    """Adds the author's own text to a module; without an order it comes after the last entry."""
    full = expand_agent(role, agent)
    module = _module(full, module_id)
    if module is None:
        return _no_module(module_id)
    if any(entry.entry_id == entry_id for one in full.modules for entry in one.entries):
        return Refusal(kind="duplicate", reason=f"The entry '{entry_id}' exists already. Choose another id.")
    if not text.strip():
        return Refusal(kind="invalid", reason=f"The entry '{entry_id}' has no text. Give it one.")
    last = max((entry.order for entry in module.entries), default=0)
    entry = PresetEntry(
        entry_id=entry_id,
        display_name=display_name,
        kind="custom_text",
        enabled=enabled,
        order=last + ORDER_STEP if order is None else order,
        text=text,
    )
    return _changed(role, full, module, [*module.entries, entry], entry_id)


def update_entry(
    role: PromptRole,
    agent: AgentPreset,
    *,
    module_id: str,
    entry_id: str,
    display_name: str | None = None,
    text: str | None = None,
    enabled: bool | None = None,
    order: int | None = None,
) -> Changed | Refusal:
    """Changes an entry; of a built-in one only its place and whether it is used."""
    full = expand_agent(role, agent)
    found = _entry(full, module_id, entry_id)
    if isinstance(found, Refusal):
        return found
    module, entry = found
    if entry.kind != "custom_text" and (text is not None or display_name is not None):
        reason = f"The entry '{entry_id}' is built in: it can be moved or disabled, but not rewritten."
        return Refusal(kind="invalid", reason=reason)
    if text is not None and not text.strip():
        return Refusal(kind="invalid", reason=f"The text of entry '{entry_id}' is empty. Give it one, or delete it.")
    given = {"display_name": display_name, "text": text, "enabled": enabled, "order": order}
    changed = entry.model_copy(update={name: value for name, value in given.items() if value is not None})
    entries = [changed if one.entry_id == entry_id else one for one in module.entries]
    return _changed(role, full, module, entries, entry_id)


def delete_entry(role: PromptRole, agent: AgentPreset, *, module_id: str, entry_id: str) -> AgentPreset | Refusal:
    """Removes one of the author's own entries."""
    full = expand_agent(role, agent)
    found = _entry(full, module_id, entry_id)
    if isinstance(found, Refusal):
        return found
    module, entry = found
    if entry.kind != "custom_text":
        return Refusal(kind="invalid", reason=f"The entry '{entry_id}' is built in. Disable it instead of deleting it.")
    return compact_agent(role, _with_entries(full, module, [one for one in module.entries if one is not entry]))


def _module(full: AgentPreset, module_id: str) -> PresetModule | None:
    return next((module for module in full.modules if module.module_id == module_id), None)


def _no_module(module_id: str) -> Refusal:
    return Refusal(kind="missing", reason=f"There is no module '{module_id}' in this role's prompt.")


def _entry(full: AgentPreset, module_id: str, entry_id: str) -> tuple[PresetModule, PresetEntry] | Refusal:
    module = _module(full, module_id)
    if module is None:
        return _no_module(module_id)
    entry = next((entry for entry in module.entries if entry.entry_id == entry_id), None)
    if entry is None:
        return Refusal(kind="missing", reason=f"There is no entry '{entry_id}' in module '{module_id}'.")
    return module, entry


def _with_entries(full: AgentPreset, module: PresetModule, entries: list[PresetEntry]) -> AgentPreset:
    changed = module.model_copy(update={"entries": entries})
    return full.model_copy(update={"modules": [changed if one is module else one for one in full.modules]})


def _changed(
    role: PromptRole, full: AgentPreset, module: PresetModule, entries: list[PresetEntry], entry_id: str
) -> Changed:
    compact = compact_agent(role, _with_entries(full, module, entries))
    found = _entry(expand_agent(role, compact), module.module_id, entry_id)
    assert not isinstance(found, Refusal)
    return Changed(agent=compact, entry=found[1])
