"""What shows of a mind, by rule: a flashback told in a sentence or two, a mask that slips, a mood in a gesture."""

from __future__ import annotations

from fabula.language.english import closed
from fabula.story.contexts import CastMember, SceneContext
from fabula.story.minds import Emotion, Mind, SlipGrade
from fabula.understudy.voice import FreshVoice, Voice

DARK: frozenset[Emotion] = frozenset({"fear", "sadness", "disgust", "anger"})
LONGEST_QUOTE = 200

_DARK = (
    "{name} stops in the middle of a breath, and is not here any more. It is then, and not now: {told}",
    "All at once {name} stands quite still. There it is again, as if no day had passed: {told}",
    "Something goes out of {name}'s face. It comes back whole, and it does not ask: {told}",
)
_BRIGHT = (
    "{name} looks up, and for a moment sees something else altogether: {told}",
    "A light comes into {name}'s eyes that does not belong to this room. It is all there again: {told}",
    "{name} smiles at nobody. For one breath it is then, and not now: {told}",
)
_UNTOLD = (
    "{name} stops in the middle of a breath. “{cue}”: the word alone was enough, and it leads away from here.",
    "“{cue}.” {name} has heard nothing after it. It takes a long moment until those eyes see this place again.",
    "At the mention of “{cue}” something closes behind {name}'s eyes, quick as a door.",
)
_BARE = (
    "{name} stops in the middle of a breath, and for a moment is somewhere else altogether.",
    "Something has come back to {name}, all at once. It takes a while until those eyes see this place again.",
)
_YOURS = (
    "You stop. For a moment it is then, and not now: {told}",
    "It comes back all at once, as clear as if it were happening: {told}",
    "You are not prepared for it. There it is again: {told}",
)

SLIPS: dict[SlipGrade, tuple[str, ...]] = {
    "hint": (
        "A muscle moves in {name}'s face, and is still again.",
        "{name} answers a heartbeat too late.",
        "{name}'s smile stays where it is a little too long.",
        "For the length of a blink, {name} looks like somebody else.",
    ),
    "slip": (
        "For a breath nothing about {name} is {presented}. Then it is back, put on again like a coat.",
        "Something else looks out of {name}'s eyes, and is called back at once. {name} is {presented} again.",
        "{name} begins a gesture that does not fit at all, notices it, and ends it as another one.",
    ),
    "break": (
        "{name} is not {presented} any more. What is left, and does not hide, is this: {hidden}.",
        "It is as if a rope had been let go. Nothing {presented} is left about {name}, only this: {hidden}.",
    ),
}
RELIVED = (
    "{name}'s hands look for something to hold on to.",
    "{name} breathes in, and out, and does not trust either.",
    "{name} swallows, and needs two tries to find the thread again.",
)
_GESTURES_DARK = (
    "{name} is {mood}, and one can see it.",
    "{name} looks past you, {mood}.",
    "There is something {mood} in the way {name} stands.",
)
_GESTURES_BRIGHT = (
    "{name} is {mood}, and does not trouble to conceal it.",
    "There is something {mood} in how {name} turns to you.",
)
NOTICEABLE_VALENCE = 0.15


def flashback_text(name: str, *, told: str, cue: str, emotion: Emotion | None, is_player: bool, seed: int) -> str:
    """A flashback as the player is told of it. What of it may not be told is left out, and that it came is told."""
    voice = Voice(seed, "flashback", name)
    quote = closed(" ".join(told.split())[:LONGEST_QUOTE])
    if is_player:
        return voice.pick(_YOURS, {"told": quote})
    if quote:
        return voice.pick(_DARK if emotion in DARK else _BRIGHT, {"name": name, "told": quote})
    return voice.pick(_UNTOLD if cue else _BARE, {"name": name, "cue": cue})


def mind_of(context: SceneContext, actor: CastMember) -> Mind | None:
    """What whoever plays a character was told of its mind."""
    return next((mind for mind in context.minds if mind.id == actor.id), None)


def shown_move(mind: Mind | None, voice: FreshVoice) -> str:
    """What shows of a mind in a gesture: a mask that slips before anything else, then what came back, then the mood."""
    if mind is None:
        return ""
    slots = {"name": mind.name, "mood": mind.mood, "presented": _trait(mind.presented), "hidden": _trait(_out(mind))}
    if mind.slip is not None and (mind.slip != "break" or slots["hidden"]):
        return voice.pick(SLIPS[mind.slip], slots)
    if mind.relived:
        return voice.pick(RELIVED, slots)
    if mind.mood and abs(mind.valence) >= NOTICEABLE_VALENCE and voice.chance(3):
        return voice.pick(_GESTURES_DARK if mind.valence < 0 else _GESTURES_BRIGHT, slots)
    return ""


def _out(mind: Mind) -> list[str]:
    """The trait that came out last."""
    return mind.hidden[max(0, mind.shown - 1) : mind.shown]


def _trait(traits: list[str]) -> str:
    return traits[0].strip().rstrip(".") if traits else ""
