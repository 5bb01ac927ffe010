"""Why each section of a prompt is in it or not, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabula.agents.context_packer import Outcome, Packed, SectionRule
from fabula.agents.packed_prompts import Prompt, PromptSection


@dataclass(frozen=True, kw_only=True)
class ExplainedSection:
    """A section as it stands in a prompt: its tokens, those it would take in full, and why it is told so."""

    name: str
    text: str
    rule: SectionRule
    outcome: Outcome
    tokens: int
    full_tokens: int
    why: str


def explain_sections(prompt: Prompt) -> Iterator[ExplainedSection]:
    """All sections of a prompt in their order, with those that had nothing to say."""
    for place, one in enumerate(prompt.sections):
        packed = prompt.packed[place] if prompt.packed else None
        yield _explained(one, packed)


def _explained(one: PromptSection, packed: Packed | None) -> ExplainedSection:
    whole: Outcome = "whole" if one.text else "empty"
    outcome = whole if packed is None else packed.outcome
    return ExplainedSection(
        name=one.name,
        text=one.text,
        rule=one.rule,
        outcome=outcome,
        tokens=one.tokens,
        full_tokens=one.tokens if packed is None or outcome in ("whole", "empty") else packed.full_tokens,
        why=_WHY[outcome],
    )


_WHY: dict[Outcome, str] = {
    "whole": "the preset has it",
    "empty": "there was nothing to tell",
    "compact": "shortened: the prompt was over its budget",
    "dropped": "left out: the prompt was over its budget, and nothing that is worth less was left to go",
}
