"""What came of a deed that was rolled for, in a sentence: one that fits the act and how well it went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fabula.story.checks import Resolution
from fabula.story.contexts import SceneContext
from fabula.understudy.voice import FreshVoice

_PHRASES: Final[dict[tuple[str, str], Sequence[str]]] = {
    ("attack", "critical_success"): (
        "The blow lands so well that nobody needs to ask who struck it.",
        "You are faster than any answer to it, and it strikes home.",
        "Everything you ever learned is in that one movement, and it finds its mark.",
    ),
    ("attack", "success"): ("The blow lands.", "It strikes home.", "You find the gap, and you hit."),
    ("attack", "partial"): (
        "You hit, but not without paying for it.",
        "The blow lands, and so does the answer.",
        "It grazes more than it strikes, and leaves you open.",
    ),
    ("attack", "failure"): (
        "The blow goes wide.",
        "You strike, and meet only air.",
        "It is seen coming, and turned aside.",
    ),
    ("attack", "critical_failure"): (
        "You overreach, and what comes back at you is worse than what you sent.",
        "Your own weight carries you past, and you pay for it.",
    ),
    ("social", "critical_success"): (
        "It is exactly the right thing to say, at exactly the right moment.",
        "You can see the last doubt go.",
        "It is as if the answer had only waited for you.",
        "Whatever was held shut gives way.",
        "There is nothing to be said against it, and nobody tries.",
    ),
    ("social", "success"): (
        "It finds its way in.",
        "Your words do their work.",
        "You are believed.",
        "You are heard out, and it helps.",
        "That is reason enough.",
    ),
    ("social", "partial"): (
        "You are believed, more or less, and it will be remembered.",
        "It works, though something in the face before you stays shut.",
        "You get what you want, though it is not given gladly.",
        "It is enough, and only just.",
        "You have your way, and spend some goodwill on it.",
    ),
    ("social", "failure"): (
        "Your words fall short.",
        "Nothing of it gets through.",
        "You are heard, and not believed.",
    ),
    ("social", "critical_failure"): (
        "It is the worst thing you could have said.",
        "You hear it yourself, too late, how that sounded.",
    ),
    ("risk", "critical_success"): (
        "It goes better than you had any right to expect.",
        "You make it look as if anyone could do it.",
    ),
    ("risk", "success"): ("It goes well.", "You bring it off.", "It takes all your care, and it is done."),
    ("risk", "partial"): (
        "It is done, but it costs you something.",
        "You get there, later and less whole than you meant to.",
    ),
    ("risk", "failure"): (
        "You try, and it comes to nothing.",
        "It does not hold; you have to let go of it.",
        "Halfway through you know that it will not do.",
    ),
    ("risk", "critical_failure"): (
        "It goes wrong, and then it goes worse.",
        "You try it, and wish at once that you had not.",
    ),
}


def outcome(resolutions: Sequence[Resolution], voice: FreshVoice) -> str:
    """The outcome of this turn's check in a sentence; empty when nothing was rolled."""
    if not resolutions:
        return ""
    found = resolutions[-1]
    act = found.check.act if found.check.act in ("attack", "social") else "risk"
    phrases = _PHRASES[act, found.level]
    return voice.greet(phrases)


_REFUSALS: Final = (
    "No. Not for that.",
    "You will have to do better than this.",
    "I heard you. The answer is no.",
    "Save your breath.",
    "That is not how you get anything out of me.",
    "No, and I will not say it twice.",
)


def refusal(resolutions: Sequence[Resolution], actor: str, voice: FreshVoice) -> str:
    """What somebody says whom the player failed to win over; empty for anybody else."""
    failed = (one for one in resolutions if not one.succeeded and one.check.act == "social")
    if not any(one.check.opponent == actor for one in failed):
        return ""
    return voice.greet(_REFUSALS)


SEEN_BY_RULE = ("absent_person", "absent_thing", "place")
"""Verdicts that need no words of their own: who tells by rule sees by itself who and what is not there."""


def said_by_the_world(context: SceneContext) -> str:
    """What the world says to a deed that cannot be done, where the narrator has no other words for it."""
    return next((one.sentence for one in context.verdicts if one.rule not in SEEN_BY_RULE), "")
