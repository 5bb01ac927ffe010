"""The planner's reply: a plan in plain text, and how a plan falls into sections."""

from __future__ import annotations

import re

SHORTEST_PLAN = 20
LONGEST_PLAN = 40_000
MOST_SECTIONS = 64

_FENCE = re.compile(r"^```[A-Za-z]*\s*$", re.MULTILINE)
_HEADING = re.compile(r"^[#*_\s]*([A-Za-z][A-Za-z ]{2,40}?)[*_]*:[*_]*[ \t]*(.*)$")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_OPENING = "opening situation"
_BEATS = "suggested beats"
_HEADINGS = frozenset({"title", _OPENING, _BEATS, "possible endings", "endings", "themes", "notes", "core conflict"})


def read_plan(text: str) -> tuple[str, list[str]]:
    """The plan without fences, and why it cannot be used."""
    plan = _FENCE.sub("", text).strip()
    if len(plan) < SHORTEST_PLAN:
        return "", ["the plan is empty or too short"]
    if len(plan) > LONGEST_PLAN:
        return "", [f"the plan is longer than {LONGEST_PLAN} letters"]
    problems = outline_problems(outline_sections(plan))
    return ("", problems) if problems else (plan, [])


def outline_problems(sections: list[str]) -> list[str]:
    """Why a story of these sections is not built: each of them is drawn by itself, and several times if need be."""
    if len(sections) <= MOST_SECTIONS:
        return []
    return [f"the plan falls into {len(sections)} sections, and {MOST_SECTIONS} are the most"]


def outline_sections(plan: str) -> list[str]:
    """The sections of a plan: the opening and each suggested beat, else its paragraphs."""
    parts = _under_headings(plan)
    opening, beats = " ".join(parts.get(_OPENING, [])), parts.get(_BEATS, [])
    if opening and beats:
        return [opening, *beats]
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", plan) if paragraph.strip()]


def _under_headings(plan: str) -> dict[str, list[str]]:
    """The lines under each known heading; a line that merely holds a colon is no heading."""
    parts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in plan.splitlines():
        heading = _HEADING.match(line)
        if heading and (heading.group(1).strip().lower() in _HEADINGS):
            current = parts.setdefault(heading.group(1).strip().lower(), [])
            line = heading.group(2)
        words = _BULLET.sub("", line).strip().strip("*_").strip()
        if words:
            current.append(words)
    return parts
