"""Cuts a plan into sections, as the contract has it: the lines under its headings, or else its paragraphs."""

from __future__ import annotations

import re

HEADINGS = ("opening situation:", "suggested beats:")
MOST = 12


def outline(plan: str) -> list[str]:
    """The sections of a plan; at least one."""
    lines = [line.strip() for line in plan.splitlines()]
    low = [line.lower() for line in lines]
    if all(any(line.startswith(heading) for line in low) for heading in HEADINGS):
        found = _under_headings(lines)
    else:
        found = [" ".join(part.split()) for part in re.split(r"\n\s*\n", plan)]
    return [part for part in found if part][:MOST] or ["Something is about to happen."]


def _under_headings(lines: list[str]) -> list[str]:
    found: list[str] = []
    inside = False
    for line in lines:
        heading = next((name for name in HEADINGS if line.lower().startswith(name)), None)
        if heading is not None:
            inside = True
            found.append(line[len(heading) :].strip())
        elif inside:
            found.append(re.sub(r"^([-*•]|\d+[.)])\s*", "", line))
    return found
