"""The understudy as an architect of worlds: it says what it has taken down, and asks the next good question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fabula.story.worldbuilding import Aspect, WorldContext
from fabula.understudy.voice import Voice

_FIRST: Final = (
    "Tell me of one place in this world, and give it a name. Who would you meet there first?",
    "Let us begin small. Where does a story in this world begin, and what is that place called?",
    "What does somebody see who comes to this world for the first time? Name the place where they stand.",
)
_ASKED: Final[Mapping[Aspect, tuple[str, ...]]] = {
    "places": (
        "Where do people go when they are in trouble? Name that place, and say what it costs to be let in.",
        "What lies a day's walk from {place}, and why does nobody like to go there?",
        "Which place does everybody know of, and few have seen?",
    ),
    "people": (
        "Who has the last word in {place}, and who would like to have it?",
        "Whom would you miss, if they were gone tomorrow? Give them a name, and something that they want.",
        "Who knows more than they say? What are they called, and whom are they hiding it from?",
        "Who is paid to look the other way?",
    ),
    "factions": (
        "Which group of people wants something badly enough to hurt others for it? What is it called?",
        "Who meets behind closed doors here, and what do they call themselves?",
        "Who stands in the way of {faction}? Give them a name, too.",
    ),
    "ties": (
        "Whom does {person} trust, and who would {person} rather not meet?",
        "What does {person} owe to somebody, and to whom?",
        "Who serves whom in {place}, and would rather not?",
        "Who is related to {person}, and do they speak?",
    ),
    "laws": (
        "What can nobody do in this world, however powerful they are? Say it as a law: nobody can ...",
        "What never happens here, that happens elsewhere every day?",
        "What is the price of magic, or of its like? What can it never do?",
    ),
    "past": (
        "What happened here that old people still lower their voices for?",
        "What was in {place} before, and how did it end?",
        "Which promise was broken, by whom, and who still pays for it?",
    ),
    "things": (
        "Which single thing would people in {place} kill for? What is it called, and who has it now?",
        "What is carried from hand to hand here, and should not be?",
        "What does {person} never let out of sight?",
    ),
}
_BARE: Final = (
    "You have named {name}, and nothing more. What should one know about {name}?",
    "What does {name} want, or what is wanted of {name}?",
    "When one hears the name {name}, what does one think of first?",
)
_ENOUGH: Final = (
    "There is enough here to begin a play. What would you change about it, if it were not yours?",
    "What is about to happen in {place} that nobody can stop?",
    "Who will be disappointed first when the story begins, and by whom?",
)
_TAKEN: Final = ("I have that.", "Good. It is written down.", "That is in.", "Noted, as you said it.")
_NOTHING: Final = (
    "I have taken nothing down from that: say it as it is, in a plain sentence, and give it a name.",
    "That is not a fact yet. Who, or what, is it about?",
)
_REFUSED: Final = "One thing does not go together with what you said before: {why}"
MOST_QUESTIONS: Final = 3


def questions_for(context: WorldContext) -> list[str]:
    """The next good questions, the best one first; none that was asked lately."""
    voice = Voice(context.world_id, context.said_so_far, said=context.asked)
    slots = {
        "place": context.a_place or "this place",
        "person": context.a_person or "the first of them",
        "faction": context.a_faction or "them",
    }
    if not any(context.coverage.counts.values()):
        return [voice.pick(_FIRST)]
    asked = [voice.pick(_BARE, {"name": name}) for name in context.coverage.bare[:1]]
    for aspect in context.coverage.gaps:
        fitting = [one for one in _ASKED[aspect] if _can_ask(one, context)]
        asked += [voice.pick([one.format_map(slots) for one in fitting])] if fitting else []
    if not asked:
        asked = [voice.pick([one.format_map(slots) for one in _ENOUGH if _can_ask(one, context)])]
    fresh = [one for one in asked if not voice_said(one, context.asked)] or asked
    return fresh[:MOST_QUESTIONS]


def _can_ask(question: str, context: WorldContext) -> bool:
    """Whether a question speaks only of what there is."""
    known = {"{place}": context.a_place, "{person}": context.a_person, "{faction}": context.a_faction}
    return all(name for slot, name in known.items() if slot in question)


def voice_said(question: str, asked: Sequence[str]) -> bool:
    return any(question in one for one in asked)


def architect_reply(context: WorldContext, *, added: int, refused: Sequence[str]) -> str:
    """What the architect says: what became of the author's words, and the next question."""
    voice = Voice(context.world_id, context.said_so_far, "reply", said=context.asked[-1:])
    parts = [] if not context.text else [voice.pick(_TAKEN) if added else "" if refused else voice.pick(_NOTHING)]
    parts += [_REFUSED.format(why=why) for why in refused[:1]]
    return " ".join([*(part for part in parts if part), *questions_for(context)[:1]])
