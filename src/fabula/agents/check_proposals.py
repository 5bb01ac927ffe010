"""The resolver's prompt and its answer: what the dice of a risky deed are held against, from lists and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from fabula.agents.phrases import titled
from fabula.ports.models import Message
from fabula.story.checks import CIRCUMSTANCES, MOST_CIRCUMSTANCES, CheckProposal

MOST_TOKENS: Final = 120
_LONGEST: Final = 600
LONGEST_REPLY: Final = 4000

# Read once while the module is imported: a running server must not touch files on its event loop.
_ROLE = files("fabula.agents").joinpath("texts", "check_resolver.txt").read_text("utf-8").strip()


def write_check_prompt(
    stats: Mapping[str, str], difficulties: Mapping[str, int], *, scene: str, deed: str
) -> tuple[Message, ...]:
    """What the resolver is told: the lists to choose from, the scene, and last what the player does."""
    parts = [
        titled("Stats", "\n".join(f"{id}: {name}" for id, name in stats.items())),
        titled("Difficulties, the easiest first", ", ".join(sorted(difficulties, key=lambda name: difficulties[name]))),
        titled("Circumstances", ", ".join(CIRCUMSTANCES)),
        titled("The scene", _short(scene)),
        titled("The deed", _short(deed)),
    ]
    return (
        Message(role="system", content=_ROLE.replace("{most}", str(MOST_CIRCUMSTANCES))),
        Message(role="user", content="\n\n".join(part for part in parts if part)),
    )


def read_check_proposal(reply: str) -> CheckProposal | None:
    """The proposal in a reply; None for anything else. Nothing that a model writes makes this fail."""
    text = reply[:LONGEST_REPLY]
    try:
        found = json.loads(text[text.find("{") : text.rfind("}") + 1])
        # Reasons and remarks that a model adds are left out; what it was asked for has to be right.
        return CheckProposal.model_validate({name: found[name] for name in CheckProposal.model_fields if name in found})
    except (ValueError, TypeError, RecursionError):
        return None


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."
