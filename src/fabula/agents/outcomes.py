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


_AGAIN: Final = (
    "You have begun to tell this, and then claimed the opposite of what the dice decided. This is what was told:\n"
    "<<<{told}>>>\n"
    "Go on after it, and tell what the dice decided. Do not begin anew."
)


def outcome_text(resolutions: Sequence[Resolution], again: str | None = None) -> str:
    """The outcomes in words for a prompt; empty when nothing was rolled. `again` is what was told before a claim of the
    opposite."""
    if not resolutions:
        return ""
    text = _TEXT.replace("{outcomes}", "\n".join(map(_outcome, resolutions)))
    return text if again is None else f"{text}\n\n{_AGAIN.replace('{told}', _plain(again) or 'nothing yet')}"


def _outcome(resolution: Resolution) -> str:
    deed = _plain(resolution.check.deed)
    effects = "".join(f" {effect.sentence}" for effect in resolution.effects)
    return f"- <<<{deed}>>> {_MEANING[resolution.level]}{effects}"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<<<", "<").replace(">>>", ">")
