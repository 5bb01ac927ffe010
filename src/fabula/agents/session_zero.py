"""Session zero, as the roles are told of it that plan, tell and play."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from fabula.story.boundaries import lines_of_rating
from fabula.story.session_zero import SessionZero

_TEXT: Final = (files("fabula.agents") / "texts" / "session_zero.txt").read_text("utf-8").strip()
_AGAIN: Final = (
    "You have begun to tell this, and then wrote of what must not happen here: {crossed}. This is what was told:\n"
    "<<<{told}>>>\n"
    "Go on after it without that. Do not begin anew, and do not speak of what was left out."
)


def session_zero_text(agreed: SessionZero) -> str:
    """What was agreed upon, in words for a prompt."""
    return _TEXT.replace("{agreed}", _agreed(agreed))


def crossed_text(crossed: str, told: str | None) -> str:
    """What a telling crossed, and what was told of it before."""
    plain = _plain(told or "").replace("<<<", "<").replace(">>>", ">")
    return _AGAIN.replace("{crossed}", _plain(crossed)).replace("{told}", plain or "nothing yet")


def _agreed(agreed: SessionZero) -> str:
    banned = lines_of_rating(agreed.rating)
    parts = [
        ("The story is about", agreed.premise),
        ("Themes and tone", "; ".join(agreed.themes)),
        ("This must not happen", "; ".join(dict.fromkeys([*agreed.lines, *banned]))),
        ("This may happen, and is not shown", "; ".join(agreed.veils)),
    ]
    return "\n".join(f"- {title}: {_plain(text)}" for title, text in parts if text)


def _plain(text: str) -> str:
    return " ".join(text.split())
