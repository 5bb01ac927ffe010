"""Packed prompts: sections become the messages that are sent, as much of them as the budget allows.

All prompts of plays, talks and NPCs are made here. What fits is told whole, at the cost of adding up some numbers; what
does not goes through the packer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from fabula.agents.context_packer import BETWEEN, Packed, Section, SectionRule, pack
from fabula.agents.context_sections import rule_of
from fabula.agents.presets.templates import MessageRole
from fabula.language.tokens import text_size, tokens_of_size
from fabula.ports.models import Message

MESSAGE_ROLES: Final[tuple[MessageRole, ...]] = ("system", "user")
MESSAGE_TOKENS: Final = 4
"""Tokens that each message takes beside its text."""

Shorter = Callable[[str], Callable[[], Iterator[str]] | None]
"""What begins the shorter renderings of a piece of context, by its key."""


class PromptSection(NamedTuple):
    """A text of a prompt by its name, with its bytes; `key` names the piece of context that it tells.

    A plain tuple, because every prompt makes some twenty of them while a player waits.
    """

    name: str
    text: str
    size: int
    key: str | None
    message_role: MessageRole

    @property
    def tokens(self) -> int:
        return tokens_of_size(self.size)

    @property
    def rule(self) -> SectionRule:
        return rule_of(self.key)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """What is sent to a model, about how long it is, and how long it may be.

    `sections` are the texts it is made of, also those that are empty. `packed` says what became of each where not all
    of it fitted; it is empty where everything is told whole.
    """

    messages: tuple[Message, ...]
    tokens: int
    budget: int
    sections: tuple[PromptSection, ...] = ()
    packed: tuple[Packed, ...] = ()

    @property
    def shortened(self) -> bool:
        """Whether something had to be shortened or left out."""
        return bool(self.packed)


def fit_prompt(sections: Sequence[PromptSection], budget: int, *, shorter: Shorter) -> Prompt:
    """The prompt of these sections: one system message and one user message, each in the order of its sections."""
    tokens = _tokens(sections)
    if tokens <= budget:
        return Prompt(messages=_messages(sections), tokens=tokens, budget=budget, sections=tuple(sections))
    packed = pack([_section(one, shorter) for one in sections], budget - len(MESSAGE_ROLES) * MESSAGE_TOKENS)
    told = [
        one if kept.outcome in ("whole", "empty") else one._replace(text=kept.text, size=text_size(kept.text))
        for one, kept in zip(sections, packed, strict=True)
    ]
    return Prompt(
        messages=_messages(told), tokens=_tokens(told), budget=budget, sections=tuple(told), packed=tuple(packed)
    )


def section(name: str, text: str, *, system: bool = False) -> PromptSection:
    """A section of a prompt that no preset writes: its name is the key of its rule."""
    return PromptSection(name, text, text_size(text), name, "system" if system else "user")


def _section(one: PromptSection, shorter: Shorter) -> Section:
    begin = None if one.key is None else shorter(one.key)
    return Section(name=one.name, text=one.text, size=one.size, rule=one.rule, shorter=begin)


def _tokens(sections: Iterable[PromptSection]) -> int:
    """About how many tokens these sections take as messages; no text is measured again for it."""
    sizes = dict.fromkeys(MESSAGE_ROLES, 0)
    for one in sections:
        if one.size:
            sizes[one.message_role] += one.size + BETWEEN
    return sum(MESSAGE_TOKENS + tokens_of_size(size - BETWEEN) for size in sizes.values() if size)


def _messages(sections: Iterable[PromptSection]) -> tuple[Message, ...]:
    texts: dict[MessageRole, list[str]] = {role: [] for role in MESSAGE_ROLES}
    for one in sections:
        if one.text:
            texts[one.message_role].append(one.text)
    return tuple(Message(role=role, content="\n\n".join(some)) for role, some in texts.items() if some)
