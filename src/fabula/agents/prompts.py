"""Prompts: a role's preset and a typed context become the messages that are sent.

1. The preset is expanded; entries that are switched off or belong to another mode are left out.
2. Texts stand as they are; references to context are filled in (or shown as placeholders).
3. All system modules make one message, all user modules the next, each in its order.
4. What is over the budget is shortened or left out by the packer, which never changes the order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fabula.agents.compact_renderings import compact_renderings
from fabula.agents.conflicts import conflicts_text
from fabula.agents.conversations import conversation_text
from fabula.agents.directives import directives_text
from fabula.agents.due_beats import due_text
from fabula.agents.feasibility import feasibility_text
from fabula.agents.minds import minds_text
from fabula.agents.outcomes import outcome_text
from fabula.agents.packed_prompts import Prompt, PromptSection, fit_prompt
from fabula.agents.presets.forms import expand_agent
from fabula.agents.presets.templates import MessageRole, PromptRole, built_in_entries, used_in
from fabula.agents.renderings import character_card, rendered
from fabula.agents.session_zero import crossed_text, session_zero_text
from fabula.agents.windows import budget_of, windows_of, within_windows
from fabula.agents.wishes import wish_text
from fabula.language.tokens import text_size
from fabula.story.caches import IdentityCache
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    DirectorContext,
    KeeperContext,
    LoreNote,
    NarratorContext,
    RoleContext,
    SceneContext,
    SwiftContext,
)
from fabula.story.resources import AgentPreset, ArchitectMode, EntryKind, PresetEntry, PresetModule

CARD_MODULE = "character_card"
WISH_MODULE = "wish"
OUTCOME_MODULE = "outcome"
FEASIBILITY_MODULE = "feasibility"
MINDS_MODULE = "minds"
CONFLICTS_MODULE = "conflicts"
CONVERSATION_MODULE = "conversation"
SESSION_ZERO_MODULE = "session_zero"
DIRECTIVES_MODULE = "directives"
DUE_MODULE = "due"
CROSSED_MODULE = "crossed"
WISHED = (DirectorContext, NarratorContext, ActorContext, SwiftContext)
"""Who is told how the player wants a turn to be told, and what shows of minds: whoever plans and tells it."""
SCENE_PARTS = frozenset({"earlier_history", "current_node", "shared_history"})
"""What tells of the present scene where it began in the history."""
CAST_PARTS = SCENE_PARTS | {"current_cast", "present"}
"""What tells who the people in the scene are, where they came in the history."""
STATE_PARTS = frozenset({"state_at_first", "world_state"})
TOLD_OUTCOMES = (*WISHED, KeeperContext)
"""Who is told what the dice decided."""

_expanded: IdentityCache[AgentPreset, Sequence[PresetModule]] = IdentityCache(128)


@dataclass(frozen=True, kw_only=True)
class Part:
    """One entry of a prompt with its text; `unresolved` names a context key for which there is no value."""

    entry_id: str
    display_name: str
    kind: EntryKind
    order: int
    source: Literal["preset", "synthetic"]
    text: str
    unresolved: str | None = None


@dataclass(frozen=True, kw_only=True)
class Block:
    """One module of a prompt with its parts."""

    module_id: str
    display_name: str
    message_role: MessageRole
    order: int
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return _joined(part.text for part in self.parts)


def write_prompt(agent: AgentPreset, context: RoleContext) -> Prompt:
    """The prompt of a role. For the swift role, `agent` is the director's preset."""
    return _fitting(agent, seen_context(agent, context))


def fitting_blocks(agent: AgentPreset, context: RoleContext) -> tuple[list[Block], bool]:
    """The modules of a prompt that keeps to its windows and budget, and whether it had to be shortened for that."""
    told = seen_context(agent, context)
    prompt = _fitting(agent, told)
    found = blocks(told.role, agent, values=rendered(told), mode=_mode(told))
    # Both go through the same modules in the same order; what the modules do not have was added at the end.
    texts = iter(prompt.sections)
    found = [
        replace(block, parts=tuple(replace(part, text=next(texts).text) for part in block.parts)) for block in found
    ]
    return [*found, *(_added_block(told, section) for section in texts)], prompt.shortened


def seen_context(agent: AgentPreset, context: RoleContext) -> RoleContext:
    """The context as far as the role's windows and its preset let it see it."""
    return _told(agent, within_windows(context, windows_of(context.role, agent)))


def _fitting(agent: AgentPreset, context: RoleContext) -> Prompt:
    """The prompt that tells a context, or as much of it as fits the budget."""
    budget = budget_of(context.role, agent)
    if isinstance(context, KeeperContext) and _ends_with_beats(context):
        context = context.model_copy(update={"beats_above": True})
    apart = _told_apart(context)
    if apart is not context:
        prompt = fit_prompt(_sections(agent, context), budget, shorter=lambda key: None)
        if not prompt.shortened:
            return prompt
    return fit_prompt(_sections(agent, apart), budget, shorter=lambda key: compact_renderings(apart, key))


def _told_apart(context: RoleContext) -> RoleContext:
    """The context with each piece in a section of its own, as it is told where something has to be cut.

    A shortened history may lose what the prompt points at, and the cards that stand in it.
    """
    if not isinstance(context, SceneContext):
        return context
    changes: dict[str, object] = {"met": []} if context.met else {}
    changes |= {} if context.at_first is None else {"at_first": None}
    if isinstance(context, KeeperContext) and context.beats_above:
        changes["beats_above"] = False
    return context.model_copy(update=changes) if changes else context


def _ends_with_beats(context: KeeperContext) -> bool:
    beats = context.completed_beats
    return bool(beats) and context.shared_history[-len(beats) :] == beats


def _sections(agent: AgentPreset, context: RoleContext) -> list[PromptSection]:
    """All texts of a prompt in full: those of the preset's modules, then what stands in no preset."""
    values = rendered(context)
    found: list[PromptSection] = []
    for role, slots in _outline(context.role, agent, _mode(context)):
        for name, text, size, key in slots:
            if key is not None:
                text = values.get(key, "")
                size = text_size(text)
            found.append(PromptSection(name, text, size, key, role))
    found += [PromptSection(name, text, text_size(text), name, role) for name, role, text in _added(context)]
    return found


def _added(context: RoleContext) -> Iterator[tuple[str, MessageRole, str]]:
    """What stands at the end of a prompt, and in no preset."""
    if isinstance(context, ActorContext):
        yield CARD_MODULE, "system", character_card(context.actor)
    if isinstance(context, WISHED) and context.minds:
        yield MINDS_MODULE, "user", minds_text(context)
    if isinstance(context, WISHED) and context.conflicts:
        yield CONFLICTS_MODULE, "user", conflicts_text(context)
    if isinstance(context, ActorContext) and context.conversation is not None:
        yield CONVERSATION_MODULE, "user", conversation_text(context, context.conversation)
    if isinstance(context, TOLD_OUTCOMES) and context.resolutions:
        yield OUTCOME_MODULE, "user", outcome_text(context.resolutions, None if context.crossed else context.again)
    if isinstance(context, WISHED) and context.verdicts:
        yield FEASIBILITY_MODULE, "user", feasibility_text(context.verdicts)
    if isinstance(context, WISHED) and context.session_zero is not None:
        yield SESSION_ZERO_MODULE, "user", session_zero_text(context.session_zero)
    if isinstance(context, WISHED) and context.due:
        yield DUE_MODULE, "user", due_text(context.due)
    if isinstance(context, WISHED) and context.directives:
        names = {one.id: one.name for one in context.current_cast}
        yield DIRECTIVES_MODULE, "user", directives_text(context.directives, names)
    if isinstance(context, WISHED) and context.crossed is not None:
        yield CROSSED_MODULE, "user", crossed_text(context.crossed, context.again)
    if isinstance(context, WISHED) and context.wish:
        yield WISH_MODULE, "user", wish_text(context.wish)


Slot = tuple[str, str, int, str | None]
"""An entry by its id: a text as it stands with its bytes, or the key of the context that stands there."""
Outline = Sequence[tuple[MessageRole, Sequence[Slot]]]

_outlines: IdentityCache[AgentPreset, Outline] = IdentityCache(128)


def _outline(role: PromptRole, agent: AgentPreset, mode: ArchitectMode | None) -> Outline:
    """The modules of a preset as far as they do not change from turn to turn."""

    def slots(module: PresetModule) -> Sequence[Slot]:
        texts = ((entry, _text(entry, None)) for entry in _used_entries(role, module, mode))
        return [(entry.entry_id, text, text_size(text), entry.context_key) for entry, text in texts]

    def make() -> Outline:
        return [(module.message_role or "user", slots(module)) for module in _modules(role, agent)]

    return _outlines.of(agent, make, use=(role, mode))


def _mode(context: RoleContext) -> ArchitectMode | None:
    return context.mode if isinstance(context, ArchitectContext) else None


def _told(agent: AgentPreset, context: RoleContext) -> RoleContext:
    """The context as far as the preset uses it: lore stands in the history only where both are wanted.

    So does the scene: where one of the three parts is not wanted, the history is told in one piece.
    """
    switched_off = _switched_off(agent)
    if isinstance(context, SceneContext) and not switched_off.isdisjoint(CAST_PARTS):
        context = context.model_copy(update={"met": []})
    if isinstance(context, SceneContext) and not switched_off.isdisjoint(STATE_PARTS):
        context = context.model_copy(update={"at_first": None})
    if isinstance(context, SceneContext) and "scene_lore" in switched_off:
        past = [one.model_copy(update={"lore": []}) for one in context.past_scenes]
        context = context.model_copy(update={"past_scenes": past})
    if isinstance(context, SceneContext) and not switched_off.isdisjoint(SCENE_PARTS):
        context = context.model_copy(update={"scene_began": None, "past_scenes": []})
    if "lorebook_matched" in switched_off:
        matched = list[LoreNote]()
    elif "shared_history" in switched_off:
        matched = [note.model_copy(update={"heard_at": None}) for note in context.lore.matched]
    else:
        return context
    return context.model_copy(update={"lore": context.lore.model_copy(update={"matched": matched})})


_unwanted: IdentityCache[AgentPreset, frozenset[str]] = IdentityCache(128)


def _switched_off(agent: AgentPreset) -> frozenset[str]:
    def make() -> frozenset[str]:
        entries = (entry for module in agent.modules for entry in module.entries)
        return frozenset(one.entry_id for one in entries if one.kind == "built_in_context_ref" and not one.enabled)

    return _unwanted.of(agent, make)


def blocks(
    role: PromptRole, agent: AgentPreset, *, values: Mapping[str, str] | None, mode: ArchitectMode | None
) -> list[Block]:
    """The modules of a prompt in order; without values, context is shown as placeholders."""
    return [
        Block(
            module_id=module.module_id,
            display_name=module.display_name or module.module_id,
            message_role=module.message_role or "user",
            order=module.order or 0,
            parts=tuple(_part(entry, values) for entry in _used_entries(role, module, mode)),
        )
        for module in _modules(role, agent)
    ]


def _modules(role: PromptRole, agent: AgentPreset) -> Sequence[PresetModule]:
    """The modules of a preset in full; a session plays with one preset for long, so the last ones are known."""

    def expanded() -> Sequence[PresetModule]:
        return expand_agent(role, _swift_preset(agent) if role == "swift" else agent).modules

    return _expanded.of(agent, expanded, use=role)


def _used_entries(role: PromptRole, module: PresetModule, mode: ArchitectMode | None) -> Iterator[PresetEntry]:
    return (entry for entry in module.entries if entry.enabled and used_in(role, entry.entry_id, mode))


def _part(entry: PresetEntry, values: Mapping[str, str] | None) -> Part:
    key = entry.context_key
    known = key is None or (values is not None and key in values)
    return Part(
        entry_id=entry.entry_id,
        display_name=entry.display_name,
        kind=entry.kind,
        order=entry.order,
        source="preset",
        text=_text(entry, values),
        unresolved=None if known else key,
    )


def _text(entry: PresetEntry, values: Mapping[str, str] | None) -> str:
    if entry.context_key is None:
        return (entry.text or "").strip()
    placeholder = f"<context:{entry.context_key}>"
    return placeholder if values is None else values.get(entry.context_key, "")


_ADDED: dict[str, tuple[str, int]] = {
    CARD_MODULE: ("Character card", 60),
    MINDS_MODULE: ("Minds", 1800),
    CONFLICTS_MODULE: ("Conflicts", 1820),
    CONVERSATION_MODULE: ("The conversation", 1850),
    OUTCOME_MODULE: ("What the dice decided", 1900),
    FEASIBILITY_MODULE: ("What the world says to it", 1920),
    SESSION_ZERO_MODULE: ("Session zero", 1950),
    DIRECTIVES_MODULE: ("Directives", 1970),
    DUE_MODULE: ("What the story needs next", 1960),
    CROSSED_MODULE: ("What was told before", 1980),
    WISH_MODULE: ("The player's wish", 2000),
}
"""What stands in no preset: how a preview calls it, and its place."""


def _added_block(context: RoleContext, section: PromptSection) -> Block:
    name, order = _ADDED[section.name]
    part = Part(
        entry_id=section.name,
        display_name=_card_name(context) if section.name == CARD_MODULE else name,
        kind="built_in_context_ref",
        order=0,
        source="synthetic",
        text=section.text,
    )
    return Block(
        module_id=section.name, display_name=name, message_role=section.message_role, order=order, parts=(part,)
    )


def _card_name(context: RoleContext) -> str:
    return f"Character card of {context.actor.name}" if isinstance(context, ActorContext) else "Character card"


def _swift_preset(director: AgentPreset) -> AgentPreset:
    """What an author added to the director's prompt holds for the swift pace, too."""
    taken = built_in_entries("swift")
    modules = []
    for module in director.modules:
        own = [entry for entry in module.entries if entry.kind == "custom_text"]
        entries = [
            entry.model_copy(update={"entry_id": f"own.{entry.entry_id}"}) if entry.entry_id in taken else entry
            for entry in own
        ]
        modules.append(module.model_copy(update={"entries": entries}))
    return director.model_copy(update={"modules": modules})


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text)
