"""Where a scene takes place: a place that the section names, the concept's own, or one that suits the genre."""

from __future__ import annotations

from fabula.language.titles import in_title_case, noun_phrases
from fabula.language.words import singular, word_set
from fabula.understudy.genres import Genre, Place
from fabula.understudy.voice import Voice

_PLACE_WORDS = word_set(
    """station ship starship spaceship boat lighthouse inn castle tower mansion house hotel casino bank museum school
    academy office village town city island harbour harbor forest mill church chapel monastery kitchen restaurant bakery
    saloon ranch mine oasis desert hospital ward camp train carriage library theatre theater circus market palace temple
    prison farm garden cabin hut cave bridge tavern shop workshop studio cottage estate colony base bunker submarine
    valley orchard cemetery graveyard laboratory observatory archive court arena club bar cafe mountain lake river"""
)
_OWN = (
    "It is smaller than its name, and more worn at the edges. Somebody has taken care of it for years, "
    "and has lately stopped.",
    "You had pictured it otherwise. It keeps quiet, as a place does in which people have just been talking.",
    "From outside it looked like any other. Inside, things stand a little too straight, as after a search.",
    "You have heard of it all your life. Nobody told you about the draught, or about the silence.",
)


def first_place(concept: str) -> Place | None:
    """The place that a concept is about, if it names one."""
    for phrase in noun_phrases(concept):
        last = phrase.split()[-1].lower()
        if last in _PLACE_WORDS or singular(last) in _PLACE_WORDS:
            picked = Voice("place", concept).pick(_OWN)
            return Place(title=in_title_case(phrase), seen=picked)
    return None


def place_for(concept: str, genre: Genre, text: str, voice: Voice) -> Place:
    """The place that a text names, else the concept's own for a first scene, else one that no scene has shown yet."""
    own = first_place(concept)
    known = [*([own] if own else []), *genre.places]
    named = [place for place in known if place.name in text.lower()]
    if named:
        return max(named, key=lambda place: len(place.name))
    fresh = [place for place in known if not voice.was_said(place.seen)]
    return own if own is not None and own in fresh else voice.order(fresh or known)[0]
