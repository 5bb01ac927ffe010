"""Minds, as roles are told of them: its own to an actor, and to whoever plans and tells a turn what shows of all."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from fabula.story.contexts import ActorContext, SceneContext
from fabula.story.minds import Mind, SlipGrade

_TEXTS: Final = files("fabula.agents") / "texts"
_OWN: Final = (_TEXTS / "own_mind.txt").read_text("utf-8").strip()
_OTHERS: Final = (_TEXTS / "minds.txt").read_text("utf-8").strip()
_OWN_SLIPS: Final[dict[SlipGrade, str]] = {
    "hint": "Just now something of it shows: a look, a pause, a word too many. Nobody could say what it was.",
    "slip": "Just now you let it slip: for a moment you act as what you hide, and catch yourself.",
    "break": "Just now you cannot keep it up. What you hide comes out, for everybody to see: {shown}.",
}
_SLIPS: Final[dict[SlipGrade, str]] = {
    "hint": "shows, for a blink, that there is something behind it",
    "slip": "is not so for a moment, and catches it",
    "break": "cannot keep that up any more, and shows what it hid: {shown}",
}


def minds_text(context: SceneContext) -> str:
    """What a role is told of minds."""
    if isinstance(context, ActorContext):
        return _OWN.replace("{mind}", "\n".join(line for mind in context.minds for line in _own_lines(mind)))
    return _OTHERS.replace("{minds}", "\n".join(map(_line, context.minds)))


def _own_lines(mind: Mind) -> list[str]:
    lines = [f"You are {mind.mood}."] if mind.mood else []
    lines += [f"You show yourself as: {_listed(mind.presented)}."] if mind.presented else []
    kept = mind.hidden[mind.shown :]
    lines += [f"You hide, and neither tell nor hint at it: {_listed(kept)}."] if kept else []
    out = mind.hidden[: mind.shown]
    lines += [f"Of what you hid, this has come out: {_listed(out)}."] if out and mind.slip != "break" else []
    lines += [_OWN_SLIPS[mind.slip].replace("{shown}", _listed(out[-1:]))] if mind.slip is not None else []
    lines += mind.stands
    lines += [f"Just now you want: {_listed(mind.wants)}."] if mind.wants else []
    if mind.relived:
        lines.append(f"Something has just come back to you, as if it happened now: <<<{_plain(mind.relived)}>>>")
    return lines


def _line(mind: Mind) -> str:
    shows = [mind.mood] if mind.mood else []
    shows += [f"presents as {_listed(mind.presented)}"] if mind.presented else []
    shows += [_SLIPS[mind.slip].replace("{shown}", _listed(mind.hidden[-1:]))] if mind.slip is not None else []
    shows += mind.stands
    shows += [f"has just been reminded of something: <<<{_plain(mind.relived)}>>>"] if mind.relived else []
    return f"- {mind.name}: {'; '.join(shows)}."


def _listed(traits: list[str]) -> str:
    return "; ".join(trait.strip().rstrip(".") for trait in traits)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<<<", "<").replace(">>>", ">")
