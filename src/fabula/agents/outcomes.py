"""What the dice decided, as the roles that plan and tell a turn are told of it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from fabula.story.checks import Resolution
from fabula.story.game_systems import Level

_TEXT: Final = (files("fabula.agents") / "texts" / "outcome.txt").read_text("utf-8").strip()
_MEANING: Final[dict[Level, str]] = {
    "critical_success": "It succeeds, better than could be hoped for.",
    "success": "It succeeds.",
    "partial": "It succeeds, but at a price, or only in part.",
    "failure": "It fails.",
    "critical_failure": "It fails badly, and makes things worse.",
}


def outcome_text(resolutions: Sequence[Resolution]) -> str:
    """The outcomes in words for a prompt; empty when nothing was rolled."""
    if not resolutions:
        return ""
    return _TEXT.replace("{outcomes}", "\n".join(map(_outcome, resolutions)))


def _outcome(resolution: Resolution) -> str:
    deed = " ".join(resolution.check.deed.split()).replace("<<<", "<").replace(">>>", ">")
    effects = "".join(f" {effect.sentence}" for effect in resolution.effects)
    return f"- <<<{deed}>>> {_MEANING[resolution.level]}{effects}"
