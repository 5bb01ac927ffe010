"""Adaptation: how what happens in a scene moves the way those who notice it stand to each other, by stated rules.

1. *Done to somebody.* What the player's line does (`language/social_acts`, and the deeds that the reading of the line
   names) moves whom it is done to by the steps of `social_beats`, an attack by those below. A line to nobody in
   particular, said to several, counts half for each. What one of the cast says to another by name counts the same way.
2. *Seen.* Who only watches is moved by a third; by half, if they like whom it is done to; and the other way round, if
   they dislike them. What frightens does so whoever it is done to.
3. *Dared.* A deed that the dice decided in their sight moves the respect of those who watch.
4. *Collected.* What moves an axis by less than 0.05 is collected, and applied when it has come to so much together.
5. *Limits* are those of social beats: 0.15 a turn, and 0.5 with a strong act.

Nothing is mirrored, and nobody feels anything about what they did not notice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fabula.language.social_acts import STRONG, SocialAct, acts_in
from fabula.language.words import words_of
from fabula.recall.perception import PLAYER_OWNER
from fabula.recall.social_beats import (
    MOST_BY_A_STRONG_ACT,
    MOST_IN_A_TURN,
    NO_STEPS,
    REASONS,
    STEPS,
    Steps,
    as_steps,
    counted,
    in_mood,
    step_within,
)
from fabula.story.game_systems import Level
from fabula.story.readings import IntentKind, Understood
from fabula.story.relations import (
    AXES,
    Axis,
    Deltas,
    Relation,
    Relations,
    RelationStep,
    Tally,
    kept_step,
    within_bounds,
)
from fabula.story.state import MemoryEntry

THRESHOLD: Final = 0.05
"""A change that is smaller than this is collected."""
FOND_FROM: Final = 0.15
"""Who likes somebody so much takes what is done to them to heart; who dislikes them so much is glad of it."""
SEEN, SEEN_BY_A_FRIEND, SEEN_BY_AN_ENEMY = 0.34, 0.5, -0.34
TO_SEVERAL: Final = 0.5
MOST_HEARD_LINES: Final = 12
"""So many lines of a turn, as they are said among the cast, are looked at."""

Deed = SocialAct | Literal["attack"]
_ATTACK: Final[Steps] = (-0.4, -0.1, -0.4, 0.4)
_BY_INTENT: Final[Mapping[IntentKind, Deed]] = {
    "attack": "attack",
    "give": "gift",
    "thank": "thanks",
    "apologise": "apology",
    "promise": "promise",
    "greet": "courtesy",
}
_BY_VERB: Final[Mapping[str, Deed]] = {
    "threaten": "threat",
    "insult": "insult",
    "mock": "mockery",
    "praise": "praise",
    "compliment": "praise",
    "comfort": "comfort",
    "console": "comfort",
    "reassure": "comfort",
    "accuse": "accusation",
    "betray": "betrayal",
    "rescue": "rescue",
    "save": "rescue",
    "order": "order",
}
_DARED: Final[Mapping[Level, tuple[float, str]]] = {
    "critical_success": (0.1, "did what nobody thought possible"),
    "success": (0.05, "dared something, and did it"),
    "critical_failure": (-0.05, "dared something, and made a mess of it"),
}


@dataclass(frozen=True, kw_only=True)
class Dared:
    """A deed of the player that the dice decided: how it went, against whom, if against somebody."""

    level: Level
    opponent: str | None = None


@dataclass(frozen=True, kw_only=True)
class Witnessed:
    """A turn as those in the scene noticed it. `names` are they, by id; `said` its lines with who noticed each, the
    player's first; `valences` is how bright their moods are, `absent` what those of the cast are called who are not
    there: what is said to one of them is said to nobody."""

    player_name: str
    names: Mapping[str, str]
    absent: Sequence[str] = ()
    said: Sequence[MemoryEntry]
    understood: Understood | None = None
    dared: Dared | None = None
    valences: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Feeling:
    """By how much somebody's way to stand to another would move, and why. `strong` says that it may move far."""

    who: str
    towards: str
    steps: Steps
    reason: str
    strong: bool = False


@dataclass(frozen=True, kw_only=True)
class Moved:
    """A relation that changed: whose, towards whom, and the change."""

    who: str
    towards: str
    step: RelationStep


def feelings_in(turn: Witnessed, relations: Relations) -> list[Feeling]:
    """What a turn makes those who noticed it feel, before limits and the threshold."""
    return [*_about_the_player(turn, relations), *_among_the_cast(turn)]


def _about_the_player(turn: Witnessed, relations: Relations) -> Iterator[Feeling]:
    line = next((one for one in turn.said if one.kind == "player_input"), None)
    if line is None:
        return
    hearing = [id for id in turn.names if line.heard_by is None or id in line.heard_by]
    done = _deeds(line.text, turn.understood)
    targets = _targets(turn.understood, hearing)
    if not _is_meant(turn.understood, targets) and _names_one(line.text, turn.absent):
        return
    dared = turn.dared
    if dared is not None and dared.opponent is not None and dared.opponent in turn.names and "attack" in done:
        targets = [dared.opponent]
    factor = 1.0 if len(targets) == 1 or _is_meant(turn.understood, targets) else TO_SEVERAL
    for deed in done:
        for id in hearing:
            if id in targets:
                yield _felt(turn, id, deed, factor, turn.names[id])
            elif len(targets) == 1:
                share = _share(relations.get(id, {}).get(targets[0]))
                yield _felt(turn, id, deed, share, turn.names[targets[0]])
    if dared is not None and dared.level in _DARED:
        respect, told = _DARED[dared.level]
        for id in hearing:
            steps = as_steps([0.0, respect, 0.0, 0.0])
            yield Feeling(who=id, towards=PLAYER_OWNER, steps=steps, reason=f"{turn.player_name} {told}")


def _felt(turn: Witnessed, id: str, deed: Deed, factor: float, whom: str) -> Feeling:
    steps = _ATTACK if deed == "attack" else STEPS[deed]
    *kind, fear = (one * factor for one in steps)
    # Who sees an enemy threatened is glad, and warned all the same.
    moved = as_steps([*kind, abs(fear) if steps[3] > 0 else max(fear, steps[3])])
    worded = "{who} attacked {whom}" if deed == "attack" else REASONS[deed]
    return Feeling(
        who=id,
        towards=PLAYER_OWNER,
        steps=in_mood(moved, turn.valences.get(id, 0.0)),
        reason=worded.format(who=turn.player_name, whom=whom),
        strong=deed == "attack" or deed in STRONG,
    )


def _deeds(words: str, read: Understood | None) -> list[Deed]:
    """What a line does to whoever it is said or done to; each once."""
    found: list[Deed] = [*acts_in(words)]
    for intent in () if read is None else read.intents:
        if intent.negated or intent.mood not in ("act", "statement"):
            continue
        deed = _BY_INTENT.get(intent.kind) or _BY_VERB.get(intent.verb)
        if deed is not None and (intent.whom or deed != "gift"):
            found.append(deed)
    # What is only threatened with is not done yet.
    return [deed for deed in dict.fromkeys(found) if not (deed == "attack" and "threat" in found)]


def _targets(read: Understood | None, hearing: Sequence[str]) -> list[str]:
    """To whom a line is said or done: whom it names, else everybody who hears it."""
    if read is not None:
        named = [read.addressed, *(intent.whom for intent in read.intents)]
        meant = list(dict.fromkeys(id for id in named if id in hearing))
        if meant:
            return meant
    return list(hearing)


def _is_meant(read: Understood | None, targets: Sequence[str]) -> bool:
    if read is None:
        return False
    return {read.addressed, *(intent.whom for intent in read.intents)}.issuperset(targets)


def _share(relation: Relation | None) -> float:
    affinity = 0.0 if relation is None else relation.affinity
    if affinity <= -FOND_FROM:
        return SEEN_BY_AN_ENEMY
    return SEEN_BY_A_FRIEND if affinity >= FOND_FROM else SEEN


def _among_the_cast(turn: Witnessed) -> Iterator[Feeling]:
    """What one of the cast says to another by name."""
    spoken = [one for one in turn.said if one.kind == "dialogue" and one.speaker_id in turn.names]
    for line in spoken[:MOST_HEARD_LINES]:
        others = [id for id in turn.names if id != line.speaker_id and (line.heard_by is None or id in line.heard_by)]
        named = _named_in(line.text, others, turn.names)
        if len(named) != 1:
            continue
        for deed in acts_in(line.text):
            yield Feeling(
                who=named[0],
                towards=line.speaker_id,
                steps=in_mood(STEPS[deed], turn.valences.get(named[0], 0.0)),
                reason=REASONS[deed].format(who=turn.names[line.speaker_id], whom=turn.names[named[0]]),
                strong=deed in STRONG,
            )


def _named_in(text: str, ids: Iterable[str], names: Mapping[str, str]) -> list[str]:
    said = set(words_of(text))
    return [id for id in ids if any(word in said for word in words_of(names[id]) if len(word) > 2)]


def _names_one(text: str, names: Iterable[str]) -> bool:
    said = set(words_of(text))
    return any(words[0] in said for name in names if (words := words_of(name)))


def adapt(relations: Relations, feelings: Collection[Feeling], *, turn_index: int) -> tuple[Relations, list[Moved]]:
    """How everybody stands after a turn, and which relations it changed; the others collected what was too little."""
    found = {who: dict(towards) for who, towards in relations.items()}
    moved: list[Moved] = []
    for who, towards in dict.fromkeys((one.who, one.towards) for one in feelings):
        mine = [one for one in feelings if (one.who, one.towards) == (who, towards)]
        before = found.get(who, {}).get(towards, Relation())
        after, step = _after(before, mine, turn_index=turn_index)
        if after != before:
            found.setdefault(who, {})[towards] = after
        if step is not None:
            moved.append(Moved(who=who, towards=towards, step=step))
    return within_bounds(found), moved


def _after(relation: Relation, feelings: Sequence[Feeling], *, turn_index: int) -> tuple[Relation, RelationStep | None]:
    most = MOST_BY_A_STRONG_ACT if any(one.strong for one in feelings) else MOST_IN_A_TURN
    wanted = [sum(axis) for axis in zip(NO_STEPS, *(one.steps for one in feelings), strict=True)]
    collected: dict[Axis, float] = {}
    applied: dict[Axis, float] = {}
    gathered = False
    for axis, now in zip(AXES, wanted, strict=True):
        earlier = relation.collected.get(axis, 0.0)
        total = round(max(-most, min(most, now)) + earlier, 3)
        if not now or abs(total) < THRESHOLD:
            if total and relation.of(axis) != (1.0 if total > 0 else _lowest(axis)):
                collected[axis] = total
            continue
        step = step_within(relation.of(axis), total, axis, most)
        if step:
            applied[axis] = step
            gathered = gathered or abs(now) < THRESHOLD
    kept = relation.model_copy(update={"collected": collected})
    if not applied:
        return kept, None
    weightiest = max(feelings, key=lambda one: sum(map(abs, one.steps)))
    reason = f"{weightiest.reason}{', and it was not the first time' if gathered else ''}"[:200]
    made = RelationStep(turn_index=turn_index, deltas=Deltas(**applied), reason=reason)
    counts = {axis: counted(relation.tallies.get(axis, Tally()), step) for axis, step in applied.items()}
    values: dict[str, object] = {axis: round(relation.of(axis) + step, 3) for axis, step in applied.items()}
    update = {**values, "tallies": {**relation.tallies, **counts}, "reason": reason}
    return kept_step(kept.model_copy(update=update), made), made


def _lowest(axis: Axis) -> float:
    return 0.0 if axis == "fear" else -1.0
