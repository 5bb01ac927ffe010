"""The built-in prompts: which modules and entries a role's prompt has before an author changes any.

What never changes stands first and what changes each turn stands last, so that each prompt extends the one before. The
scene stands where it began in the history.
The words themselves are the text files beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Final, Literal

from fabula.story.resources import ArchitectMode, PresetEntry, PresetModule

PromptRole = Literal["planner", "architect", "director", "actor", "narrator", "keeper", "replyer", "swift"]
MessageRole = Literal["system", "user"]

PROMPT_ROLES: Final[tuple[PromptRole, ...]] = (
    "planner",
    "architect",
    "director",
    "actor",
    "narrator",
    "keeper",
    "replyer",
    "swift",
)

_MODULES: Final[tuple[tuple[str, str, MessageRole, int], ...]] = (
    ("role", "Role", "system", 10),
    ("task", "Task", "system", 20),
    ("static_context", "Static context", "user", 30),
    ("dynamic_context", "Dynamic context", "user", 40),
    ("output", "Output", "system", 50),
)

CUSTOM_MODULE_ORDER: Final = 1000
CUSTOM_MODULE_ROLE: Final[MessageRole] = "user"

_TEXTS: Final[dict[PromptRole, dict[str, tuple[str, ...]]]] = {
    "planner": {"role": ("role",), "task": ("task",), "output": ("output",)},
    "architect": {
        "role": ("role",),
        "task": ("rules", "task_graph", "task_draft_init", "task_draft_continue"),
        "output": ("output_graph", "output_draft_init", "output_draft_continue"),
    },
    "director": {"role": ("role",), "task": ("task",), "output": ("output",)},
    "actor": {"role": ("role",), "task": ("task",), "output": ("output",)},
    "narrator": {"role": ("role",), "task": ("task", "craft"), "output": ("output",)},
    "keeper": {"role": ("role",), "task": ("task",), "output": ("output",)},
    "replyer": {"role": ("role",), "task": ("task",), "output": ("output",)},
    "swift": {"role": ("role",), "task": ("task",), "output": ("output",)},
}

_STATIC: Final[dict[PromptRole, tuple[str, ...]]] = {
    "planner": ("lorebook_base", "available_characters"),
    "architect": (
        "story_concept",
        "planned_story",
        "lorebook_base",
        "available_characters",
        "world_state_schema_seed",
        "player_state_schema_seed",
        "world_state_schema",
        "player_state_schema",
    ),
    "director": ("lorebook_base", "player", "player_state_schema", "state_at_first", "current_cast"),
    "actor": ("lorebook_base", "player", "state_at_first", "current_cast"),
    "narrator": ("lorebook_base", "player", "player_state_schema", "state_at_first", "current_cast"),
    "keeper": ("lorebook_base", "player", "world_state_schema", "player_state_schema", "current_cast"),
    "replyer": ("lorebook_base", "player", "player_state_schema", "current_cast"),
    "swift": (
        "lorebook_base",
        "player",
        "world_state_schema",
        "player_state_schema",
        "state_at_first",
        "current_cast",
    ),
}

_DYNAMIC: Final[dict[PromptRole, tuple[str, ...]]] = {
    "planner": ("story_concept", "lorebook_matched"),
    "architect": (
        "total_sections",
        "section_summaries",
        "graph_summary",
        "lorebook_matched",
        "recent_section_detail",
        "section_index",
        "target_node_count",
        "current_section",
        "problems",
    ),
    "director": (
        "story_so_far",
        "earlier_history",
        "canon",
        "current_node",
        "scene_lore",
        "shared_history",
        "memories",
        "lorebook_matched",
        "news",
        "story_time",
        "world_state",
        "present",
        "transitioned_this_turn",
    ),
    "actor": (
        "story_so_far",
        "earlier_history",
        "canon",
        "current_node",
        "scene_lore",
        "shared_history",
        "private_memory",
        "memories",
        "lorebook_matched",
        "news",
        "story_time",
        "world_state",
        "present",
        "transitioned_this_turn",
        "actor_purpose",
    ),
    "narrator": (
        "story_so_far",
        "earlier_history",
        "canon",
        "current_node",
        "scene_lore",
        "shared_history",
        "memories",
        "lorebook_matched",
        "previous_node",
        "previous_cast",
        "news",
        "story_time",
        "world_state",
        "present",
        "transitioned_this_turn",
        "narrator_purpose",
    ),
    "keeper": (
        "earlier_history",
        "current_node",
        "shared_history",
        "lorebook_matched",
        "previous_node",
        "previous_cast",
        "story_time",
        "node_change",
        "progression_hints",
        "present",
        "transitioned_this_turn",
        "world_state",
        "keeper_phase",
        "player_input",
        "completed_beats",
    ),
    "replyer": (
        "story_so_far",
        "session_history",
        "shared_history",
        "lorebook_matched",
        "current_node",
        "story_time",
        "world_state",
        "transitioned_this_turn",
        "reply_limit",
    ),
    "swift": (
        "story_so_far",
        "earlier_history",
        "canon",
        "current_node",
        "scene_lore",
        "shared_history",
        "memories",
        "lorebook_matched",
        "previous_node",
        "news",
        "story_time",
        "progression_hints",
        "world_state",
        "present",
        "transitioned_this_turn",
        "player_input",
    ),
}

_ONLY_IN: Final[dict[str, frozenset[ArchitectMode]]] = {
    "task_graph": frozenset({"graph"}),
    "output_graph": frozenset({"graph"}),
    "task_draft_init": frozenset({"draft_init"}),
    "output_draft_init": frozenset({"draft_init"}),
    "task_draft_continue": frozenset({"draft_continue"}),
    "output_draft_continue": frozenset({"draft_continue"}),
    "world_state_schema_seed": frozenset({"graph", "draft_init"}),
    "player_state_schema_seed": frozenset({"graph", "draft_init"}),
    "world_state_schema": frozenset({"draft_continue"}),
    "player_state_schema": frozenset({"draft_continue"}),
    "section_summaries": frozenset({"draft_continue"}),
    "graph_summary": frozenset({"draft_continue"}),
    "recent_section_detail": frozenset({"draft_continue"}),
    "total_sections": frozenset({"draft_init", "draft_continue"}),
    "section_index": frozenset({"draft_init", "draft_continue"}),
    "target_node_count": frozenset({"draft_init", "draft_continue"}),
    "current_section": frozenset({"draft_init", "draft_continue"}),
}


def template_of(role: PromptRole) -> tuple[PresetModule, ...]:
    """The built-in modules of a role in full, in order."""
    return _TEMPLATES[role]


def built_in_entries(role: PromptRole) -> dict[str, PresetEntry]:
    """The built-in entries of a role by id."""
    return {entry.entry_id: entry for module in template_of(role) for entry in module.entries}


def context_keys(role: PromptRole) -> tuple[str, ...]:
    """The context keys that a role's built-in prompt names, in order."""
    return _STATIC[role] + _DYNAMIC[role]


def used_in(role: PromptRole, entry_id: str, mode: ArchitectMode | None) -> bool:
    """Whether an entry is part of the prompt; some of the architect's belong to certain modes only."""
    return role != "architect" or mode is None or mode in _ONLY_IN.get(entry_id, {mode})


def _build(role: PromptRole) -> tuple[PresetModule, ...]:
    return tuple(
        PresetModule(
            module_id=module_id,
            display_name=name,
            message_role=message_role,
            order=order,
            entries=list(_entries(role, module_id)),
        )
        for module_id, name, message_role, order in _MODULES
    )


def _entries(role: PromptRole, module_id: str) -> Iterator[PresetEntry]:
    contexts = {"static_context": _STATIC, "dynamic_context": _DYNAMIC}
    if module_id in contexts:
        for place, key in enumerate(contexts[module_id][role], start=1):
            yield PresetEntry(
                entry_id=key,
                display_name=_title(key),
                kind="built_in_context_ref",
                order=place * 10,
                required=True,
                context_key=key,
            )
        return
    for place, name in enumerate(_TEXTS[role][module_id], start=1):
        yield PresetEntry(
            entry_id=name,
            display_name=_title(name),
            kind="built_in_text",
            order=place * 10,
            required=True,
            text=_text(role, name),
        )


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _text(role: PromptRole, name: str) -> str:
    return files("fabula.agents.presets").joinpath("texts", role, f"{name}.txt").read_text("utf-8").strip()


# Read once while the module is imported: a running server must not touch files on its event loop.
_TEMPLATES: Final = {role: _build(role) for role in PROMPT_ROLES}
