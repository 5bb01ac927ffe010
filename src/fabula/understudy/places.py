"""Where a scene takes place: what the section names, the concept's own place, one of the lore, or of the genre."""

from __future__ import annotations

from fabula.language.english import sentences
from fabula.language.titles import in_title_case, noun_phrases
from fabula.language.words import singular, word_set
from fabula.story.contexts import Lore, LoreNote
from fabula.understudy.genres import Genre, Place, Thing
from fabula.understudy.voice import Voice

_PLACE_WORDS = word_set(
    """station ship starship spaceship boat lighthouse inn castle tower mansion house hotel casino bank museum school
    academy office village town city island harbour harbor forest mill church chapel monastery kitchen restaurant bakery
    saloon ranch mine oasis desert hospital ward camp train carriage library theatre theater circus market palace temple
    prison farm garden cabin hut cave bridge tavern shop workshop studio cottage estate colony base bunker submarine
    valley orchard cemetery graveyard laboratory observatory archive court arena club bar cafe mountain lake river"""
)
MOST_FROM_LORE = 2
_OWN = (
    "It is smaller than its name, and shabbier. Somebody has taken care of it for years, and has lately stopped.",
    "You had pictured it otherwise. It keeps quiet, as a place does in which people have just been talking.",
    "From outside it looked like any other. Inside, things stand a little too straight, as after a search.",
    "You have heard of it all your life. Nobody told you about the draught, or about the silence.",
)


def first_place(concept: str) -> Place | None:
    """The place that a concept is about, if it names one."""
    for phrase in noun_phrases(concept):
        if _is_place(phrase):
            picked = Voice("place", concept).pick(_OWN)
            return Place(title=in_title_case(phrase), seen=picked)
    return None


def lore_places(lore: Lore) -> list[Place]:
    """Places that the lore describes, as everybody may know them."""
    return [
        Place(title=in_title_case(note.title), seen=" ".join(sentences(note.content)[:2]), is_proper=True)
        for note in _open_notes(lore)
        if _is_place(note.title)
    ][:MOST_FROM_LORE]


def lore_things(lore: Lore) -> list[Thing]:
    """Things that the lore describes: what it says of them comes to light when they are looked at."""
    return [
        Thing(name=note.title[:1].lower() + note.title[1:], verb="examine", tells=sentences(note.content)[0])
        for note in _open_notes(lore)
        if note.title.startswith("The ") and not _is_place(note.title)
    ][:MOST_FROM_LORE]


def _open_notes(lore: Lore) -> list[LoreNote]:
    return [note for note in (*lore.matched, *lore.base) if note.content.strip() and not (note.secret or note.known_to)]


def _is_place(title: str) -> bool:
    last = (title.lower().split() or [""])[-1]
    return last in _PLACE_WORDS or singular(last) in _PLACE_WORDS


def place_for(concept: str, genre: Genre, lore: Lore, text: str, voice: Voice) -> Place:
    """The place that a text names, else the concept's own for a first scene, else one that no scene has shown yet."""
    own, told = first_place(concept), lore_places(lore)
    known = [*([own] if own else []), *told, *genre.places]
    named = [place for place in known if place.name.lower() in text.lower()]
    if named:
        return max(named, key=lambda place: len(place.name))
    fresh = [place for place in known if not voice.was_said(place.seen)]
    first = next((place for place in fresh if place is own or place in told), None)
    return first if first is not None else voice.order(fresh or known)[0]
