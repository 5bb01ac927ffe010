"""The packer: decides what of a prompt's sections is told when not all of it fits into the budget.

One packer serves every prompt: the roles of sessions at both paces, conversations, talks of Ink stories, NPCs of games.

1. What fits is told whole, and nothing is decided.
2. Sections that take more than their share of the free room are told in shorter renderings, lowest priority first.
3. Then all sections are, down to what is reserved for them.
4. Only then sections are dropped, lowest priority first. What is reserved for a section is never taken from it.
5. Room that is left over goes back to what was shortened, highest priority first.

The order of sections is the caller's and never changes: what stands before a section that was shortened stays the same
letter by letter, so that a provider that has read the beginning need not read it again.

How a section is added: give it a row in `context_sections.RULES` under its context key, and a text under the same key
in `renderings.py` (what stands in no preset: in `_added` of `prompts.py`). How it is told shorter stands in
`compact_renderings.py`; without that it is told whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from fabula.language.tokens import text_size, tokens_of_size

SectionKind = Literal[
    "instructions", "cast", "memories", "lore", "conflicts", "world", "story", "canon", "boundaries", "moment"
]
Outcome = Literal["whole", "compact", "dropped", "empty"]
BETWEEN: Final = 2
"""Letters between two sections."""
MOST_RENDERINGS: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class SectionRule:
    """What becomes of a section when a prompt is over its budget.

    The lowest `priority` goes first; what is `required` is never dropped. `share` is how much of the free room (the
    budget without what is required) the section may take before it is shortened, `reserved` how much of it nobody takes
    away.
    `canonical` says that the section tells what is true in the story, and not what somebody remembers or feels.
    """

    kind: SectionKind
    priority: int
    share: float = 1.0
    reserved: float = 0.0
    canonical: bool = False
    required: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A part of a prompt in full, of `size` bytes. `shorter` begins its shorter renderings, longest first."""

    name: str
    text: str
    size: int
    rule: SectionRule
    shorter: Callable[[], Iterator[str]] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """What became of a section: the text that is told, its tokens, and how many it would take in full."""

    name: str
    text: str
    rule: SectionRule
    outcome: Outcome
    tokens: int
    full_tokens: int


@dataclass(slots=True)
class _Held:
    """A section while it is decided upon: `renderings` are those seen so far with their tokens, longest first."""

    section: Section
    place: int
    tokens: int
    renderings: list[tuple[str, int]]
    at: int = 0
    dropped: bool = False
    more: Iterator[str] | None = field(default=None)

    def shorten(self) -> bool:
        """Takes the next shorter rendering; false when there is none."""
        if self.more is None:
            self.more = iter(()) if self.section.shorter is None else self.section.shorter()
        if len(self.renderings) >= MOST_RENDERINGS:
            return False
        for text in self.more:
            tokens = section_tokens(text_size(text))
            # A rendering that saves nothing, or leaves nothing, is none.
            if 0 < tokens < self.tokens:
                self.renderings.append((text, tokens))
                self.at, self.tokens = len(self.renderings) - 1, tokens
                return True
        return False


def section_tokens(size: int) -> int:
    """How many tokens a section of some bytes takes in a prompt, with what stands between it and the next."""
    return tokens_of_size(size + BETWEEN) if size else 0


def pack(sections: Sequence[Section], room: int) -> list[Packed]:
    """What is told of each section, in the order in which they came, within `room` tokens.

    Only what is required may take more than that, if it does so by itself.
    """
    held = [_held(section, place) for place, section in enumerate(sections)]
    over = sum(one.tokens for one in held) - room
    if over > 0:
        _decide(held, over, room)
    return [_packed(one) for one in held]


def _held(section: Section, place: int) -> _Held:
    tokens = section_tokens(section.size)
    return _Held(section=section, place=place, tokens=tokens, renderings=[(section.text, tokens)])


def _decide(held: Sequence[_Held], over: int, room: int) -> None:
    # Of two with the same priority the later one goes first: more of the prompt's beginning stays.
    lowest_first = sorted((one for one in held if one.tokens), key=lambda one: (one.section.rule.priority, -one.place))
    free = max(room - sum(one.tokens for one in held if one.section.rule.required), 0)
    for one in lowest_first:
        over = _shorten_to(one, max(_share(one, free), _reserve(one, free)), over)
    for one in lowest_first:
        over = _shorten_to(one, _reserve(one, free), over)
    for one in lowest_first:
        if over > 0 and not one.section.rule.required and one.tokens > _reserve(one, free):
            over -= one.tokens
            one.dropped = True
    highest_gone = max((one.section.rule.priority for one in lowest_first if one.dropped), default=0)
    for one in reversed(lowest_first):
        # What is worth less than something that went gets no more than what is reserved for it.
        most = room if one.section.rule.priority >= highest_gone else _reserve(one, free)
        over = _give_back(one, most, over)


def _share(one: _Held, free: int) -> int:
    return int(one.section.rule.share * free)


def _reserve(one: _Held, free: int) -> int:
    return int(one.section.rule.reserved * free)


def _shorten_to(one: _Held, floor: int, over: int) -> int:
    """Shortens a section until nothing is over or it takes no more than its floor; what is over then."""
    while over > 0 and one.tokens > floor:
        before = one.tokens
        if not one.shorten():
            break
        over -= before - one.tokens
    return over


def _give_back(one: _Held, most: int, over: int) -> int:
    """Takes the longest rendering for which there is room; what is over then, which is at most nothing."""
    if one.dropped:
        return over
    for at, (_, tokens) in enumerate(one.renderings[: one.at]):
        if tokens <= most and over + tokens - one.tokens <= 0:
            over += tokens - one.tokens
            one.at, one.tokens = at, tokens
            break
    return over


def _packed(one: _Held) -> Packed:
    section, full = one.section, one.renderings[0][1]
    text, tokens = ("", 0) if one.dropped else one.renderings[one.at]
    outcome: Outcome = "dropped" if one.dropped else "compact" if one.at else "whole" if full else "empty"
    return Packed(name=section.name, text=text, rule=section.rule, outcome=outcome, tokens=tokens, full_tokens=full)
