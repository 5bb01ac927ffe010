"""The planner: makes a plan of a concept, a cast and lore, in the headings from which sections are cut.

Which plot points it is made of, in which order and where they are set follows from the seed: another seed brings
another plan.
"""

from __future__ import annotations

from fabula.language.english import sentences
from fabula.story.contexts import CastMember, PlannerContext
from fabula.understudy.genres import Genre, genre_of
from fabula.understudy.places import first_place, lore_places, lore_things
from fabula.understudy.plot_points import LAST, MIDDLE, OPENING, PRICES, PlotPoint, filled
from fabula.understudy.voice import Voice

MIDDLE_POINTS = 3


def plan(context: PlannerContext, seed: int | None) -> str:
    """A plan in plain text."""
    voice = Voice(seed, "planner", context.story_concept)
    cast = context.available_characters
    genre = genre_of(context.story_concept, *(member.personality for member in cast))
    points = [OPENING, *voice.order(MIDDLE)[:MIDDLE_POINTS], LAST]
    lines = _lines(points, genre, context, voice)
    return "\n".join(
        [
            f"Premise: {_premise(context)}",
            *(f"{member.name}: {(sentences(member.personality) or ['Nobody knows much.'])[0]}" for member in cast),
            "",
            "Opening Situation:",
            lines[0],
            "",
            "Suggested Beats:",
            *(f"- {line}" for line in lines[1:]),
        ]
    )


def _lines(points: list[PlotPoint], genre: Genre, context: PlannerContext, voice: Voice) -> list[str]:
    """One note for each point: places, things and people come in turn, none of them twice while there are others."""
    own = first_place(context.story_concept)
    places = [*([own] if own else []), *lore_places(context.lore), *voice.order(genre.places)]
    things = [*lore_things(context.lore), *voice.order(genre.things)]
    dangers = voice.order(genre.dangers)
    lines = []
    for number, point in enumerate(points):
        thing, danger = things[number % len(things)], dangers[number % len(dangers)]
        slots = {
            "who": _nth(context.available_characters, number),
            "place": places[number % len(places)].name,
            "thing": thing.name,
            "danger": danger.title,
            "price": voice.pick(PRICES),
        }
        lines.append(filled(voice.pick(point.notes), slots))
    return lines


def _premise(context: PlannerContext) -> str:
    return " ".join(sentences(context.story_concept)[:3]) or "A story that is about to begin."


def _nth(cast: list[CastMember], number: int) -> str:
    return cast[number % len(cast)].name if cast else "somebody"
