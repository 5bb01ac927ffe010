"""Social beats: how what was said moves the way a character stands to whoever said it.

1. *By rule*: what a line does (`language/social_acts`) moves trust, respect, affinity and fear by the stated
   steps below; a line that does nothing is felt by its words alone. In a dark mood kindness counts half, in a bright
   one unkindness.
2. *By a model*: whoever writes the reply may say how it feels, too. What it says is held to the same limits. A strong
   act counts only if it is quoted from the player's own words.
3. *Limits*: an axis moves at most 0.15 in a turn, with a strong act at most 0.5. Nothing is mirrored: a beat changes
   how its speaker stands, and nobody else.
4. *Canon*: an axis that moved 0.3 in sum, or three times in a row the same way, is worth proposing; then its tally
   begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from fabula.language.social_acts import STRONG, SocialAct, acts_in, is_asked
from fabula.recall.feelings import feeling_in
from fabula.story.conversations import FeltBeat, StrongAct
from fabula.story.minds import Emotion
from fabula.story.relations import AXES, Axis, Deltas, Relation, Tally

MOST_IN_A_TURN: Final = 0.15
MOST_BY_A_STRONG_ACT: Final = 0.5
FIRM_SUM: Final = 0.3
FIRM_ROW: Final = 3
HARDLY: Final = 0.005
"""A change that is smaller than this is none."""
MOOD_COUNTS_FROM: Final = 0.15

Steps = tuple[float, float, float, float]
"""By how much the axes move, in the order of `AXES`."""
NO_STEPS: Final[Steps] = (0.0, 0.0, 0.0, 0.0)
STEPS: Final[Mapping[SocialAct, Steps]] = {
    # trust, respect, affinity, fear
    "confession": (0.25, 0.03, 0.1, -0.05),
    "betrayal": (-0.5, -0.4, -0.4, 0.1),
    "threat": (-0.3, -0.1, -0.25, 0.35),
    "rescue": (0.4, 0.35, 0.35, -0.2),
    "favour": (0.25, 0.15, 0.3, -0.05),
    "comfort": (0.05, 0.02, 0.06, -0.1),
    "apology": (0.05, 0.03, 0.05, -0.03),
    "thanks": (0.03, 0.0, 0.06, 0.0),
    "promise": (0.08, 0.02, 0.03, -0.02),
    "gift": (0.04, 0.0, 0.1, 0.0),
    "praise": (0.02, 0.02, 0.08, 0.0),
    "insult": (-0.06, -0.06, -0.13, 0.02),
    "accusation": (-0.08, -0.02, -0.06, 0.03),
    "mockery": (-0.04, -0.08, -0.1, 0.0),
    "order": (-0.04, -0.02, -0.06, 0.05),
    "courtesy": (0.01, 0.02, 0.02, 0.0),
}
_FELT: Final[Mapping[SocialAct, Emotion]] = {
    "confession": "surprise",
    "betrayal": "anger",
    "threat": "fear",
    "rescue": "joy",
    "favour": "joy",
    "comfort": "trust",
    "apology": "trust",
    "thanks": "joy",
    "promise": "trust",
    "gift": "joy",
    "praise": "joy",
    "insult": "anger",
    "accusation": "anger",
    "mockery": "disgust",
    "order": "anger",
    "courtesy": "trust",
}
REASONS: Final[Mapping[SocialAct, str]] = {
    "confession": "{who} confessed something to {whom}",
    "betrayal": "{who} betrayed {whom}",
    "threat": "{who} threatened {whom}",
    "rescue": "{who} came to the rescue of {whom}",
    "favour": "{who} did {whom} a favour that cost something",
    "comfort": "{who} comforted {whom}",
    "apology": "{who} apologised to {whom}",
    "thanks": "{who} thanked {whom}",
    "promise": "{who} made {whom} a promise",
    "gift": "{who} gave {whom} something",
    "praise": "{who} praised {whom}",
    "insult": "{who} insulted {whom}",
    "accusation": "{who} accused {whom}",
    "mockery": "{who} mocked {whom}",
    "order": "{who} ordered {whom} about",
    "courtesy": "{who} was courteous to {whom}",
}
_BY_FEELING: Final[Mapping[Emotion, Steps]] = {
    "joy": (0.0, 0.0, 0.03, 0.0),
    "trust": (0.03, 0.0, 0.02, 0.0),
    "fear": (0.0, 0.0, 0.0, 0.03),
    "surprise": (0.0, 0.0, 0.0, 0.0),
    "sadness": (0.01, 0.0, 0.02, 0.0),
    "disgust": (0.0, 0.0, -0.03, 0.0),
    "anger": (-0.02, 0.0, -0.03, 0.02),
    "anticipation": (0.01, 0.0, 0.01, 0.0),
}
_SURE: Final = {"strong": 0.9, "plain": 0.6, "felt": 0.4}


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Who hears a line, as far as a beat depends on it. `composed`: a mask is worn, and does not slip just now."""

    id: str
    name: str
    valence: float = 0.0
    composed: bool = False


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """The line that was said: by whom, by id and name, and its words."""

    by: str
    name: str
    words: str


def beat_by_rule(line: Spoken, listener: Listener, relation: Relation) -> FeltBeat:
    """What a line does to how its listener stands to who said it."""
    acts = acts_in(line.words)
    strong = next((act for act in acts if act in STRONG), None)
    inner: Emotion | None
    if acts:
        steps, inner, sure = _summed(acts), _FELT[acts[0]], "plain" if strong is None else "strong"
        reason = REASONS[acts[0]].format(who=line.name, whom=listener.name)
    else:
        # Who asks what somebody is afraid of frightens nobody.
        inner, sure = None if is_asked(line.words) else feeling_in(line.words).emotion, "felt"
        steps = NO_STEPS if inner is None else _BY_FEELING[inner]
        reason = "" if inner is None else f"{line.name} spoke of what moves {listener.name}"
    moved = in_mood(steps, listener.valence)
    beat = FeltBeat(
        character_id=listener.id,
        towards=line.by,
        surface=None if listener.composed else inner,
        inner=inner,
        deltas=_deltas(moved),
        reason=reason[:200],
        confidence=_SURE[sure],
        act=None if strong is None else _as_strong(strong),
    )
    return held(beat, relation)


def _as_strong(act: SocialAct) -> StrongAct:
    found: StrongAct = next(one for one in get_args(StrongAct) if one == act)
    return found


def _summed(acts: Sequence[SocialAct]) -> Steps:
    return as_steps(sum(axis) for axis in zip(*(STEPS[act] for act in acts), strict=True))


def as_steps(numbers: Iterable[float]) -> Steps:
    """Numbers as steps of the axes."""
    trust, respect, affinity, fear = numbers
    return trust, respect, affinity, fear


def in_mood(steps: Steps, valence: float) -> Steps:
    """In a dark mood kindness counts half, in a bright one unkindness; fear is the other way round."""
    *kind, fear = steps
    if valence <= -MOOD_COUNTS_FROM:
        return as_steps([*(_halved(one, above=True) for one in kind), _halved(fear, above=False)])
    if valence >= MOOD_COUNTS_FROM:
        return as_steps([*(_halved(one, above=False) for one in kind), _halved(fear, above=True)])
    return steps


def _halved(step: float, *, above: bool) -> float:
    return step / 2 if (step > 0) == above else step


def _deltas(moved: Steps) -> Deltas:
    return Deltas(**{axis: max(-1.0, min(1.0, one)) for axis, one in zip(AXES, moved, strict=True)})


def held(beat: FeltBeat, relation: Relation) -> FeltBeat:
    """A beat within its limits, and no larger than what is left of each axis: what it says is what happens."""
    most = MOST_IN_A_TURN if beat.act is None else MOST_BY_A_STRONG_ACT
    kept = {axis: step_within(relation.of(axis), beat.deltas.of(axis), axis, most) for axis in AXES}
    return beat.model_copy(update={"deltas": Deltas(**kept)})


def step_within(now: float, wanted: float, axis: Axis, most: float) -> float:
    """A step of an axis within its limits; none where it would be hardly one."""
    lowest = 0.0 if axis == "fear" else -1.0
    step = max(-most, min(most, wanted))
    step = round(max(lowest, min(1.0, now + step)) - now, 3)
    return step if abs(step) >= HARDLY else 0.0


def after_beat(relation: Relation, beat: FeltBeat) -> Relation:
    """How one stands to another after a beat; what moved is counted."""
    kept = held(beat, relation)
    moved: dict[str, float] = {axis: round(relation.of(axis) + kept.deltas.of(axis), 3) for axis in AXES}
    tallies = {**relation.tallies}
    for axis in AXES:
        if kept.deltas.of(axis):
            tallies[axis] = counted(tallies.get(axis, Tally()), kept.deltas.of(axis))
    if tallies == relation.tallies:
        return relation
    return relation.model_copy(update={**moved, "tallies": tallies, "reason": beat.reason or relation.reason})


def counted(tally: Tally, step: float) -> Tally:
    """The tally of an axis after one more step."""
    way: Literal[-1, 1] = 1 if step > 0 else -1
    row = max(-FIRM_ROW, min(FIRM_ROW, tally.row + way if tally.row * way > 0 else way))
    firm = way if abs(row) >= FIRM_ROW else tally.firm
    return Tally(moved=round(tally.moved + step, 3), row=row, firm=firm)


@dataclass(frozen=True, kw_only=True)
class Shift:
    """An axis that moved so far that it is worth proposing: which way, and where it stands now."""

    axis: Axis
    way: Literal[-1, 1]
    value: float
    reason: str


def shifts_in(relation: Relation) -> Iterator[Shift]:
    """What is worth proposing as canon of a relation."""
    for axis in AXES:
        tally = relation.tallies.get(axis)
        if tally is None:
            continue
        if abs(tally.moved) >= FIRM_SUM - HARDLY / 10:
            way: Literal[-1, 1] = 1 if tally.moved > 0 else -1
        elif tally.firm:
            way = tally.firm
        else:
            continue
        yield Shift(axis=axis, way=way, value=relation.of(axis), reason=relation.reason)


def proposed(relation: Relation) -> Relation:
    """The relation after what was worth proposing was proposed: those tallies begin anew."""
    told = {shift.axis for shift in shifts_in(relation)}
    left = {axis: tally for axis, tally in relation.tallies.items() if axis not in told}
    return relation.model_copy(update={"tallies": left})


_DEGREES: Final[Mapping[Axis, tuple[tuple[float, str], ...]]] = {
    "trust": ((0.5, "trust {whom} deeply"), (0.15, "trust {whom} a little")),
    "respect": ((0.5, "look up to {whom}"), (0.15, "respect {whom}")),
    "affinity": ((0.5, "are very fond of {whom}"), (0.15, "like {whom}")),
    "fear": ((0.5, "are afraid of {whom}"), (0.15, "are uneasy around {whom}")),
}
_BELOW: Final[Mapping[Axis, tuple[tuple[float, str], ...]]] = {
    "trust": ((0.5, "do not trust {whom} at all"), (0.15, "are wary of {whom}")),
    "respect": ((0.5, "despise {whom}"), (0.15, "think little of {whom}")),
    "affinity": ((0.5, "cannot stand {whom}"), (0.15, "dislike {whom}")),
    "fear": (),
}


def in_words(relation: Relation, whom: str) -> str:
    """How one stands to another, as one would tell oneself; nothing where there is nothing to tell."""
    found = [words for axis in AXES if (words := _degree(axis, relation.of(axis)))]
    return f"You {' and '.join(found).format(whom=whom)}." if found else ""


def stands_in_words(relation: Relation, whom: str) -> list[str]:
    """The same as others would tell it of somebody: `trusts Jonas a little`."""
    return [_told_of(words).format(whom=whom) for axis in AXES if (words := _degree(axis, relation.of(axis)))]


_OTHERS_SAY: Final = {"are": "is", "do": "does", "think": "thinks", "look": "looks", "cannot": "cannot"}


def _told_of(words: str) -> str:
    verb, rest = words.split(" ", 1)
    return f"{_OTHERS_SAY.get(verb, f'{verb}s')} {rest}"


def _degree(axis: Axis, value: float) -> str:
    steps = _DEGREES[axis] if value > 0 else _BELOW[axis]
    return next((words for least, words in steps if abs(value) >= least), "")
