"""Between two scenes of a free play: how the next one begins, and how the story ends; by rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from fabula.language.english import closed, joined, to_second_person
from fabula.story.free_plays import Discovery
from fabula.story.graph import Node
from fabula.understudy import phrases
from fabula.understudy.scene_view import scene_sentences
from fabula.understudy.voice import FreshVoice

MOST_SENTENCES: Final = 4
MOST_TRUTHS: Final = 6

LATER: Final = (
    "Later, at {place}.",
    "An hour on, {place}.",
    "The next that you see is {place}.",
    "Your way leads to {place}.",
    "It takes a while, and then you stand at {place}.",
    "There is somebody to ask at {place}, so you go there.",
    "From there it is not far to {place}.",
)
NOT_ALL: Final = (
    "That is not all there is to hear at {place}.",
    "You are not done at {place}.",
    "You do not leave {place} yet.",
    "You stay at {place} a while longer.",
    "There is more to ask at {place}.",
)
KNOWN: Final = (
    "So there it is, piece by piece, until nothing more is kept from you.",
    "Nobody has anything left to keep from you.",
    "You have what you came for, and some that you did not.",
)
STILL_KEPT: Final = (
    "{who} has still not told you about {about}.",
    "There is still {about}, and what {who} leaves unsaid.",
    "About {about} {who} owes you an answer.",
)
STILL_SILENT: Final = (
    "{who} has still not told you everything.",
    "{who} still looks like somebody with something in a pocket.",
    "Whatever it is, {who} has it still.",
)
BACK_THEN: Final = (
    "It comes back to you: {place}, as it was then.",
    "You are at {place} again, and it is before all this.",
    "Before all this there was {place}.",
)
NOW_AGAIN: Final = (
    "Then it is now again, at {place}.",
    "That was then. Now you stand at {place}.",
    "It lets go of you, and it is today: {place}.",
)
ANSWERED: Final = (
    "{question} You know that now.",
    "{question} That is answered.",
    "{question} There is your answer, whether you like it or not.",
)
LAST: Final = (
    "What is to be done with it is another story.",
    "What you do with it is yours to say.",
    "The rest is what people will make of it.",
)


def tell_opening(
    node: Node, people: Sequence[str], aim: Discovery | None, *, seed: object, told: Iterable[str] = ()
) -> str:
    """How a play begins: the place, who is there, and what is in the air."""
    voice = FreshVoice(seed, "opening", node.id, said=told)
    return " ".join(one for one in [*_place(node, voice), _presence(people, voice), _hook(aim, voice)] if one)


def tell_transition(
    node: Node,
    people: Sequence[str],
    aim: Discovery | None,
    *,
    moved: bool,
    arrived: bool,
    seed: object,
    told: Iterable[str],
) -> str:
    """How the next scene begins. `moved` says that the play goes to another place with it; `arrived` that the player
    just went there, and was told of it. Empty where there is nothing to say."""
    told = list(told)
    voice = FreshVoice(seed, "transition", node.id, said=told)
    place = {"place": _named(node)}
    lines: list[str] = []
    if moved:
        lines = [voice.pick(_least_told(LATER, told), place), *_place(node, voice), _presence(people, voice)]
    elif not arrived:
        lines = [voice.pick(_least_told(NOT_ALL, told), place)] if aim is not None else []
    return " ".join(one for one in [*lines, _hook(aim, voice)] if one)


def tell_flashback(node: Node, people: Sequence[str], text: str, *, seed: object, told: Iterable[str]) -> str:
    """How a scene of the past begins: in the words in which it was asked for, then the place and who was there."""
    voice = FreshVoice(seed, "flashback", node.id, said=told)
    place = _named(node)
    asked = closed(to_second_person(text, "them"))
    lines = [voice.pick(BACK_THEN, {"place": place}), asked, *_place(node, voice), _presence(people, voice)]
    return " ".join(one for one in lines if one)


def tell_return(node: Node, people: Sequence[str], *, seed: object) -> str:
    """How the present goes on after a scene of the past."""
    voice = FreshVoice(seed, "return", node.id)
    place = _named(node)
    return " ".join(one for one in (voice.pick(NOW_AGAIN, {"place": place}), _presence(people, voice)) if one)


def tell_answers(questions: Sequence[str], *, seed: object, told: Iterable[str]) -> str:
    """That threads of the plot were paid off: each by the question that it was."""
    voice = FreshVoice(seed, "answers", said=told)
    return " ".join(voice.pick(ANSWERED, {"question": one}) for one in questions if one.endswith("?"))


def tell_news(text: str, teller: str) -> str:
    """What came to pass out of sight: everybody notices it, or somebody there tells it."""
    return f"{teller} tells you: “{closed(text)}”" if teller else closed(text)


def tell_ending(answers: Mapping[str, Sequence[str]], rest: Sequence[str], *, seed: object) -> str:
    """How the story ends: by question what answered it, then what else came to light, as it was said."""
    voice = FreshVoice(seed, "ending", said=())
    answered = [" ".join([question, *map(closed, truths)]) for question, truths in answers.items()]
    known = [closed(one) for one in rest[-MOST_TRUTHS:]]
    return "\n\n".join([voice.pick(KNOWN), *answered, " ".join([*known, voice.pick(LAST)])])


def _least_told(patterns: Sequence[str], told: Sequence[str]) -> list[str]:
    """Those patterns that were told least often, of whichever place: a voice knows only whole sentences again."""
    lasting = {pattern: max(pattern.split("{place}"), key=len) for pattern in patterns}
    counts = {pattern: sum(part in text for text in told) for pattern, part in lasting.items()}
    return [pattern for pattern in patterns if counts[pattern] == min(counts.values())]


def _named(node: Node) -> str:
    """What a place is called in a sentence: `the Mill`, and `Saltmere`."""
    article, _, rest = node.title.partition(" ")
    return f"{article.lower()} {rest}" if article in ("The", "A", "An") and rest else node.title


def _place(node: Node, voice: FreshVoice) -> list[str]:
    return [voice.say(one) for one in scene_sentences(node, "") if not voice.was_said(one)][:MOST_SENTENCES]


def _presence(people: Sequence[str], voice: FreshVoice) -> str:
    if not people:
        return ""
    return voice.pick(phrases.HERE_ONE if len(people) == 1 else phrases.HERE_MANY, {"who": joined(list(people))})


def _hook(aim: Discovery | None, voice: FreshVoice) -> str:
    if aim is None:
        return ""
    if not voice.was_said(aim.hook):
        return voice.say(aim.hook)
    slots = {"who": aim.knower_name, "about": aim.about}
    return voice.pick(STILL_KEPT, slots) if aim.about else voice.pick(STILL_SILENT, slots)
