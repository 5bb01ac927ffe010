"""Directives, as the roles are told of them that plan, tell and play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

from fabula.story.directives import AGENTS, EVERYONE, Directive

_TEXT: Final = (files("fabula.agents") / "texts" / "directives.txt").read_text("utf-8").strip()
_SAID: Final = {"do": "Do", "avoid": "Avoid", "override": "Above all else", "prohibit": "Never"}


def directives_text(directives: Sequence[Directive], names: Mapping[str, str]) -> str:
    """What is to be done and left, in words for a prompt. `names` are those of the characters, by id."""
    return _TEXT.replace("{directives}", "\n".join(f"- {_line(one, names)}" for one in directives))


def _line(one: Directive, names: Mapping[str, str]) -> str:
    whom = "" if one.target in (EVERYONE, *AGENTS) else f" ({names.get(one.target, one.target)})"
    said = " ".join(one.text.split())
    phrases = "; ".join(f'"{" ".join(phrase.split())}"' for phrase in one.phrases)
    told = " ".join(part for part in (said, f"Do not say or tell: {phrases}." if phrases else "") if part)
    return f"{_SAID[one.kind]}{whom}: {told}"
