"""Prompts: a role's preset and a typed context become the messages that are sent.

1. The preset is expanded; entries that are switched off or belong to another mode are left out.
2. Texts stand as they are; references to context are filled in (or shown as placeholders).
3. All system modules make one message, all user modules the next, each in its order.
4. Over budget, the oldest history goes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fabula.agents.minds import minds_text
from fabula.agents.outcomes import outcome_text
from fabula.agents.presets.forms import expand_agent
from fabula.agents.presets.templates import MessageRole, PromptRole, built_in_entries, used_in
from fabula.agents.renderings import character_card, rendered
from fabula.agents.windows import budget_of, estimated_tokens, shortened, windows_of, within_windows
from fabula.agents.wishes import wish_text
from fabula.ports.models import Message
from fabula.story.caches import IdentityCache
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    DirectorContext,
    KeeperContext,
    LoreNote,
    NarratorContext,
    RoleContext,
    SwiftContext,
)
from fabula.story.resources import AgentPreset, ArchitectMode, EntryKind, PresetEntry, PresetModule

CARD_MODULE = "character_card"
WISH_MODULE = "wish"
OUTCOME_MODULE = "outcome"
MINDS_MODULE = "minds"
WISHED = (DirectorContext, NarratorContext, ActorContext, SwiftContext)
"""Who is told how the player wants a turn to be told, and what shows of minds: whoever plans and tells it."""
TOLD_OUTCOMES = (*WISHED, KeeperContext)
"""Who is told what the dice decided."""
MESSAGE_ROLES: tuple[MessageRole, ...] = ("system", "user")

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


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is sent to a model, about how long it is, and whether it had to be shortened to fit.

    `sections` are the texts it is made of by the ids of their entries, also those that are empty.
    """

    messages: tuple[Message, ...]
    tokens: int
    shortened: bool = False
    sections: tuple[tuple[str, str], ...] = ()


def write_prompt(agent: AgentPreset, context: RoleContext) -> Prompt:
    """The prompt of a role. For the swift role, `agent` is the director's preset."""
    return _fitting(agent, context)[1]


def fitting_blocks(agent: AgentPreset, context: RoleContext) -> tuple[list[Block], bool]:
    """The modules of a prompt that keeps to its windows and budget, and whether it had to be shortened for that."""
    seen, prompt = _fitting(agent, context)
    told = _told(agent, seen)
    found = blocks(told.role, agent, values=rendered(told), mode=_mode(told))
    if isinstance(told, ActorContext):
        found.append(_card_block(told))
    if isinstance(told, WISHED) and told.minds:
        found.append(_last_block(MINDS_MODULE, "Minds", minds_text(told), order=1800))
    if isinstance(told, TOLD_OUTCOMES) and told.resolutions:
        text = outcome_text(told.resolutions, told.again)
        found.append(_last_block(OUTCOME_MODULE, "What the dice decided", text, order=1900))
    if isinstance(told, WISHED) and told.wish:
        found.append(_last_block(WISH_MODULE, "The player's wish", wish_text(told.wish), order=2000))
    return found, prompt.shortened


def _fitting(agent: AgentPreset, context: RoleContext) -> tuple[RoleContext, Prompt]:
    """What of the context is told, and the prompt that tells it."""
    budget = budget_of(context.role, agent)
    seen = within_windows(context, windows_of(context.role, agent))
    cut = False
    while True:
        messages, sections = _messages(agent, _told(agent, seen))
        tokens = estimated_tokens(messages)
        if tokens <= budget or (less := shortened(seen)) is None:
            return seen, Prompt(messages=messages, tokens=tokens, shortened=cut, sections=sections)
        seen, cut = less, True


def _messages(agent: AgentPreset, context: RoleContext) -> tuple[tuple[Message, ...], tuple[tuple[str, str], ...]]:
    """One system message and one user message: the texts of the blocks, without making the blocks; and the sections."""
    values = rendered(context)
    modules: dict[MessageRole, list[str]] = {role: [] for role in MESSAGE_ROLES}
    sections: list[tuple[str, str]] = []
    for role, slots in _outline(context.role, agent, _mode(context)):
        told = [(name, text if key is None else values.get(key, "")) for name, text, key in slots]
        modules[role].append(_joined(text for _, text in told))
        sections += told
    if isinstance(context, ActorContext):
        sections.append((CARD_MODULE, character_card(context.actor)))
        modules["system"].append(sections[-1][1])
    if isinstance(context, WISHED) and context.minds:
        sections.append((MINDS_MODULE, minds_text(context)))
        modules["user"].append(sections[-1][1])
    if isinstance(context, TOLD_OUTCOMES) and context.resolutions:
        sections.append((OUTCOME_MODULE, outcome_text(context.resolutions, context.again)))
        modules["user"].append(sections[-1][1])
    if isinstance(context, WISHED) and context.wish:
        sections.append((WISH_MODULE, wish_text(context.wish)))
        modules["user"].append(sections[-1][1])
    return _as_messages({role: _joined(texts) for role, texts in modules.items()}), tuple(sections)


Slot = tuple[str, str, str | None]
"""An entry by its id: a text as it stands, or the key of the context that stands there."""
Outline = Sequence[tuple[MessageRole, Sequence[Slot]]]

_outlines: IdentityCache[AgentPreset, Outline] = IdentityCache(128)


def _outline(role: PromptRole, agent: AgentPreset, mode: ArchitectMode | None) -> Outline:
    """The modules of a preset as far as they do not change from turn to turn."""

    def slots(module: PresetModule) -> Sequence[Slot]:
        used = _used_entries(role, module, mode)
        return [(entry.entry_id, _text(entry, None), entry.context_key) for entry in used]

    def make() -> Outline:
        return [(module.message_role or "user", slots(module)) for module in _modules(role, agent)]

    return _outlines.of(agent, make, use=(role, mode))


def _mode(context: RoleContext) -> ArchitectMode | None:
    return context.mode if isinstance(context, ArchitectContext) else None


def _told(agent: AgentPreset, context: RoleContext) -> RoleContext:
    """The context as far as the preset uses it: lore stands in the history only where both are wanted."""
    switched_off = _switched_off(agent)
    if "lorebook_matched" in switched_off:
        matched = list[LoreNote]()
    elif "shared_history" in switched_off:
        matched = [note.model_copy(update={"heard_at": None}) for note in context.lore.matched]
    else:
        return context
    return context.model_copy(update={"lore": context.lore.model_copy(update={"matched": matched})})


def _switched_off(agent: AgentPreset) -> frozenset[str]:
    entries = (entry for module in agent.modules for entry in module.entries)
    return frozenset(one.entry_id for one in entries if one.kind == "built_in_context_ref" and not one.enabled)


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


def _card_block(context: ActorContext) -> Block:
    part = Part(
        entry_id=CARD_MODULE,
        display_name=f"Character card of {context.actor.name}",
        kind="built_in_context_ref",
        order=0,
        source="synthetic",
        text=character_card(context.actor),
    )
    return Block(module_id=CARD_MODULE, display_name="Character card", message_role="system", order=60, parts=(part,))


def _last_block(module_id: str, display_name: str, text: str, *, order: int) -> Block:
    """What stands at the end of a prompt, and in no preset."""
    part = Part(
        entry_id=module_id,
        display_name=display_name,
        kind="built_in_context_ref",
        order=0,
        source="synthetic",
        text=text,
    )
    return Block(module_id=module_id, display_name=display_name, message_role="user", order=order, parts=(part,))


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


def _as_messages(texts: Mapping[MessageRole, str]) -> tuple[Message, ...]:
    return tuple(Message(role=role, content=text) for role, text in texts.items() if text)
