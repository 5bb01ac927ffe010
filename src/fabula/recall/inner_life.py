"""The inner life of a turn: moods, what comes back, and how masks sit, decided purely from the state before it.

All of it follows from that state, the player's words and the seed of the play. A turn that is resumed, told again or
played from the same place therefore finds the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabula.language.words import words_of
from fabula.recall.feelings import feeling_in
from fabula.recall.flashbacks import Reminder, by_trauma, choose, may_come
from fabula.recall.masks import ACCUSING, MaskTurn, Pressure, wear
from fabula.recall.moods import mood_after, mood_of
from fabula.recall.touch import stems_in
from fabula.story.minds import InnerLife, Mask, Mind, MoodState, Trauma
from fabula.story.seeds import derived_seed

DRAWS = 2**31
"""A derived seed is a number of 31 bits."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody in the scene, and what the author wrote of its inner life. `hears` says that it heard the player."""

    id: str
    name: str
    mask: Mask | None = None
    traumas: Sequence[Trauma] = ()
    hears: bool = True


@dataclass(frozen=True, kw_only=True)
class TurnMoment:
    """The moment at which a turn is lived through. `around` is what was told last, and the scene; `seed` is that of the
    play, `scene_began` the turn with which the scene began."""

    minute: int
    turn_index: int
    scene_began: int
    said: str
    around: str
    seed: str

    def draw(self, name: str) -> float:
        """A number from 0 to 1 for one thing that is left to chance in this turn."""
        return derived_seed(self.seed, f"{name}:{self.turn_index}:{self.said}") / DRAWS


@dataclass(frozen=True, kw_only=True)
class InnerTurn:
    """The minds of those in the scene, what came back to one of them, how their masks sit, and what the play keeps."""

    after: InnerLife
    minds: Mapping[str, Mind] = field(default_factory=dict)
    flashback: Reminder | None = None
    masks: Mapping[str, MaskTurn] = field(default_factory=dict)


def moods_now(before: InnerLife | None, heard: Mapping[str, Sequence[str]], minute: int) -> dict[str, MoodState]:
    """The moods of all whose mood is kept, after some heard these lines, by id."""
    known = {} if before is None else before.moods
    felt = {line: feeling_in(line) for lines in heard.values() for line in lines}
    moved = {id: mood_after(known.get(id), [felt[line] for line in lines], minute) for id, lines in heard.items()}
    return {id: mood for id, mood in {**known, **moved}.items() if mood.felt}


def live_through(
    people: Sequence[Person],
    before: InnerLife | None,
    moods: Mapping[str, MoodState],
    moment: TurnMoment,
    reminders: Sequence[Reminder] = (),
) -> InnerTurn:
    """The turn as those in the scene live through it; `reminders` are strong memories that its words brought back."""
    kept = before or InnerLife()
    said = stems_in(moment.said)
    came = _flashback(people, kept, moods, moment, said, reminders)
    accused = accused_in(moment.said, [one for one in people if one.hears])
    masks: dict[str, MaskTurn] = {}
    for one in people:
        if one.mask is not None:
            mood = mood_of(moods.get(one.id))
            pressure = Pressure(
                said=said if one.hears else frozenset(),
                accused=one.id in accused,
                valence=mood.valence,
                arousal=mood.arousal,
                relived=came is not None and came.owner == one.id,
            )
            worn, draw = kept.masks.get(one.id), moment.draw(f"slip:{one.id}")
            masks[one.id] = wear(one.mask, worn, pressure, minute=moment.minute, draw=draw)
    after = InnerLife(
        moods=dict(moods),
        masks={**kept.masks, **{id: turn.worn for id, turn in masks.items()}},
        flashback_turn=kept.flashback_turn if came is None else moment.turn_index,
    )
    minds = {one.id: _mind(one, moods, masks.get(one.id), came) for one in people}
    return InnerTurn(after=after, minds=minds, flashback=came, masks=masks)


def accused_in(text: str, people: Sequence[Person]) -> frozenset[str]:
    """Whom a line accuses of hiding something: those it names, or else everybody there."""
    if ACCUSING.search(text.replace("’", "'")) is None:
        return frozenset()
    said = set(words_of(text.replace("'s", "").replace("’s", "")))
    named = {one.id for one in people if any(word in said for word in words_of(one.name) if len(word) > 2)}
    return frozenset(named or (one.id for one in people))


def _flashback(
    people: Sequence[Person],
    kept: InnerLife,
    moods: Mapping[str, MoodState],
    moment: TurnMoment,
    said: frozenset[str],
    reminders: Sequence[Reminder],
) -> Reminder | None:
    if not may_come(kept.flashback_turn, moment.scene_began):
        return None
    found: list[Reminder] = []
    around = stems_in(moment.around) if any(one.traumas for one in people) else frozenset[str]()
    for one in people:
        valence = mood_of(moods.get(one.id)).valence
        heard = said if one.hears else frozenset[str]()
        found += by_trauma(one.id, one.traumas, said=heard, around=around, valence=valence)
    return choose([*found, *reminders], draw=moment.draw("flashback"))


def _mind(one: Person, moods: Mapping[str, MoodState], worn: MaskTurn | None, came: Reminder | None) -> Mind:
    mood = mood_of(moods.get(one.id))
    return Mind(
        id=one.id,
        name=one.name,
        mood=mood.words,
        valence=mood.valence,
        presented=[] if one.mask is None else one.mask.presented,
        hidden=[] if one.mask is None else one.mask.hidden,
        shown=0 if worn is None else worn.worn.shown,
        slip=None if worn is None else worn.slip,
        relived=came.text if came is not None and came.owner == one.id else "",
    )


def outward(mind: Mind, told: str = "") -> Mind:
    """A mind as others see it: its mood, what it presents, how far its mask slips and what came out of it already.

    `told` is what everybody was told of something that came back to it.
    """
    relived = told if mind.relived else ""
    seen: dict[str, object] = {"hidden": mind.hidden[: mind.shown], "relived": relived, "wants": []}
    if mind.presented and mind.slip is None:
        # Whose mask sits shows nobody how they stand to them.
        seen |= {"stands": [], "relation": None}
    return mind.model_copy(update=seen)
