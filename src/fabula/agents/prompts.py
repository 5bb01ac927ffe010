"""Prompts: a role's preset and a typed context become the messages that are sent.

1. The preset is expanded; entries that are switched off or belong to another mode are left out.
2. Texts stand as they are; references to context are filled in (or shown as placeholders).
3. All system modules make one message, all user modules the next, each in its order.
4. Over budget, the oldest history goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fabula.agents.presets.forms import expand_agent
from fabula.agents.presets.templates import MessageRole, PromptRole, built_in_entries, used_in
from fabula.agents.renderings import character_card, rendered
from fabula.agents.windows import budget_of, estimated_tokens, shortened, windows_of, within_windows
from fabula.ports.models import Message
from fabula.story.caches import IdentityCache
from fabula.story.contexts import ActorContext, ArchitectContext, RoleContext
from fabula.story.resources import AgentPreset, ArchitectMode, EntryKind, PresetEntry, PresetModule

CARD_MODULE = "character_card"
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
        return "\n\n".join(part.text for part in self.parts if part.text)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is sent to a model, about how long it is, and whether it had to be shortened to fit."""

    messages: tuple[Message, ...]
    tokens: int
    shortened: bool = False


def write_prompt(agent: AgentPreset, context: RoleContext) -> Prompt:
    """The prompt of a role. For the swift role, `agent` is the director's preset."""
    found, cut = fitting_blocks(agent, context)
    messages = messages_of(found)
    return Prompt(messages=messages, tokens=estimated_tokens(messages), shortened=cut)


def fitting_blocks(agent: AgentPreset, context: RoleContext) -> tuple[list[Block], bool]:
    """The modules of a prompt that keeps to its windows and budget, and whether it had to be shortened for that."""
    budget = budget_of(context.role, agent)
    seen = within_windows(context, windows_of(context.role, agent))
    found, cut = _blocks_for(agent, seen), False
    while estimated_tokens(messages_of(found)) > budget and (less := shortened(seen)) is not None:
        seen, cut = less, True
        found = _blocks_for(agent, seen)
    return found, cut


def _blocks_for(agent: AgentPreset, context: RoleContext) -> list[Block]:
    context = _told(agent, context)
    mode = context.mode if isinstance(context, ArchitectContext) else None
    found = blocks(context.role, agent, values=rendered(context), mode=mode)
    if isinstance(context, ActorContext):
        found.append(_card_block(context))
    return found


def _told(agent: AgentPreset, context: RoleContext) -> RoleContext:
    """The context as far as the preset uses it: lore stands in the history only where both are wanted."""
    entries = [entry for module in agent.modules for entry in module.entries]
    switched_off = {entry.entry_id for entry in entries if entry.kind == "built_in_context_ref" and not entry.enabled}
    matched = context.lore.matched
    if "lorebook_matched" in switched_off:
        matched = []
    elif "shared_history" in switched_off:
        matched = [note.model_copy(update={"heard_at": None}) for note in matched]
    return context.model_copy(update={"lore": context.lore.model_copy(update={"matched": matched})})


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


def messages_of(found: list[Block]) -> tuple[Message, ...]:
    """One system message and one user message, each without its empty modules."""
    texts = {
        role: "\n\n".join(block.text for block in found if block.message_role == role and block.text)
        for role in MESSAGE_ROLES
    }
    return tuple(Message(role=role, content=text) for role, text in texts.items() if text)
