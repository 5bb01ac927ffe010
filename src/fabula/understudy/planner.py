"""The planner: makes a plan of a concept, a cast and lore, in the headings from which sections are cut."""

from __future__ import annotations

from fabula.language.english import inner, joined, sentences
from fabula.story.contexts import CastMember, PlannerContext
from fabula.understudy.voice import Voice

TRUST = (
    "{who} knows more than anyone says, and will only speak to someone who has earned it.",
    "To go on, the player needs {who}, and {who} needs a reason.",
    "{who} holds back one thing, and it is the thing that matters.",
)
TURN = (
    "What was taken for granted turns out to be wrong, and {who} is at the heart of it.",
    "A discovery changes what everyone wants, {who} most of all.",
    "Something that was hidden comes to light, and {who} can no longer look away.",
)
PRICE = (
    "There is a price, and it has to be paid before the night is over: {who} says what it is.",
    "The way on is open, but only at a cost that {who} and the player must agree on.",
)
END = (
    "Everything comes together; the player decides how it ends, and with whom.",
    "The last choice is the player's: to see it through together, or to walk on alone.",
)


def plan(context: PlannerContext, seed: int | None) -> str:
    """A plan in plain text."""
    voice = Voice(seed, "planner", context.story_concept)
    cast = context.available_characters
    first, second, third = (_nth(cast, number) for number in range(3))
    beats = [
        voice.pick(TRUST, {"who": first}),
        _from_lore(context) or voice.pick(PRICE, {"who": third}),
        voice.pick(TURN, {"who": second}),
        voice.pick(END),
    ]
    return "\n".join(
        [
            f"Premise: {_premise(context)}",
            *(f"{member.name}: {(sentences(member.personality) or ['Nobody knows much.'])[0]}" for member in cast),
            "",
            "Opening Situation:",
            _opening(context),
            "",
            "Suggested Beats:",
            *(f"- {beat}" for beat in beats if beat),
        ]
    )


def _premise(context: PlannerContext) -> str:
    return " ".join(sentences(context.story_concept)[:3]) or "A story that is about to begin."


def _opening(context: PlannerContext) -> str:
    start = sentences(context.story_concept)
    names = joined([member.name for member in context.available_characters[:2]])
    meeting = f"It falls to {names} to say what is wrong." if names else "Somebody has to find out what is wrong."
    return f"{start[0] if start else 'Something has happened, and nobody speaks of it.'} {meeting}"


def _from_lore(context: PlannerContext) -> str:
    """One beat that uses the world's lore, when there is any; else nothing."""
    notes = [*context.lore.matched, *context.lore.base]
    if not notes:
        return ""
    return f"The trail leads to {inner(notes[0].title)}, where nobody likes to go."


def _nth(cast: list[CastMember], number: int) -> str:
    return cast[number % len(cast)].name if cast else "someone"
