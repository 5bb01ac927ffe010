"""What a turn of a play proposes as canon: lasting effects of dice, and variables that speak of the world.

Everything follows from the state before the turn, the state after it and the resolution between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fabula.canon.contradictions import DEAD
from fabula.story.agendas import AgendaClock, FiredAgenda, Outcome
from fabula.story.canon import CanonRule, Change, Content, EntityContent, EventContent, Evidence, FactContent
from fabula.story.checks import PLAYER, Effect, Resolution
from fabula.story.conflicts import Conflict, ConflictNow
from fabula.story.plays import CanonMark, CanonReason, PlayState
from fabula.story.schemas import Schema
from fabula.story.values import Json, JsonObject, same_json

SCENE_TURNS: Final = 50
"""A scene that goes on for so many turns is looked through as if it had ended."""
MOST_STAGED: Final = 40
"""So many changes a turn stages at most."""
BY_RULE: Final = 1.0
BY_MODEL: Final = 0.8
"""How sure a change of a variable is that a model proposed and the gate let pass."""
AGENDAS: Final = "agendas"
"""Who proposes what comes to pass off-screen."""
DISCOVERIES: Final = frozenset(["discovered", "knows", "revealed"])
LONGEST_QUOTE: Final = 400


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """The variables that speak of the world: those of the story, the player and each character, by key."""

    world: Mapping[str, CanonRule]
    player: Mapping[str, CanonRule]
    characters: Mapping[str, Mapping[str, CanonRule]]

    @property
    def is_empty(self) -> bool:
        return not (self.world or self.player or any(self.characters.values()))


def spoken_by(world: Schema, player: Schema, characters: Mapping[str, Schema | None]) -> Spoken:
    """The rules in a play's schemas."""
    return Spoken(
        world=_rules(world),
        player=_rules(player),
        characters={id: rules for id, schema in characters.items() if schema is not None and (rules := _rules(schema))},
    )


def _rules(schema: Schema) -> dict[str, CanonRule]:
    return {key: field.canon for key, field in schema.fields.items() if field.canon is not None}


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """What a turn proposes, before it has an id."""

    content: Content
    evidence: Sequence[Evidence]
    confidence: float = BY_RULE


def proposals_of(
    before: PlayState,
    after: PlayState,
    *,
    spoken: Spoken,
    story_id: str,
    turn_id: str,
    resolutions: Sequence[Resolution] = (),
    told: Sequence[str] = (),
    from_model: frozenset[tuple[str, str]] = frozenset(),
) -> list[Proposed]:
    """What a turn proposes: first what the dice did, then what variables say now. `told` are the lines of the turn;
    `from_model` names the variables (whose, key) that a model changed."""
    everyone = frozenset([PLAYER, *before.world.active_characters, *after.world.active_characters])
    # In the order of their ids, so that what is known of two equal plays has equal bytes.
    known_to = sorted(everyone)
    made = [
        Proposed(content=_of_effect(effect, after.minute, known_to), evidence=[_roll(resolution)])
        for resolution in resolutions
        for effect in resolution.effects
        if effect.lasting
    ]
    quote = [Evidence(type="turn", ref=turn_id, quote=_quote(told))]
    for whose, key, rule, value in _changed(before, after, spoken):
        subject = rule.subject or (story_id if whose == WORLD else whose)
        content = FactContent(
            subject=subject,
            predicate=rule.predicate,
            object=(rule.object or _in_words(value))[:200],
            since=after.minute,
            known_to=known_to,
        )
        sure = BY_MODEL if (whose, key) in from_model else BY_RULE
        made.append(Proposed(content=content, evidence=quote, confidence=sure))
    return made[:MOST_STAGED]


WORLD: Final = ""
"""Whose variables those of the story itself are."""


def agenda_proposals(fired: Iterable[FiredAgenda], clocks: Iterable[AgendaClock]) -> list[Proposed]:
    """What is proposed when clocks have fired: the event, then what the author says is true from then on."""
    written, made = {clock.clock_id: clock for clock in clocks}, []
    for one in fired:
        clock = written.get(one.clock_id)
        if clock is None:
            continue
        full = f"{clock.name}: {clock.segments} of {clock.segments} segments."
        evidence = [Evidence(type="clock", ref=clock.clock_id, quote=full)]
        outcomes = [] if clock.fires is None else clock.fires.changes
        contents = [one.content, *(_from_then_on(content, one) for content in outcomes)]
        made += [Proposed(content=content, evidence=evidence) for content in contents]
    return made[:MOST_STAGED]


OVER: Final = ("resolution", "aftermath")
"""The phases of a conflict that has come to pass."""


def conflict_proposals(
    conflicts: Iterable[Conflict], before: Mapping[str, ConflictNow], after: PlayState
) -> list[Proposed]:
    """What is proposed when conflicts were resolved since they stood as `before`: how each ended, and what is true from
    then on. A conflict is resolved once on a line, so it lands in canon once."""
    off_screen, made = after.off_screen, []
    for conflict in conflicts if off_screen is not None else ():
        assert off_screen is not None
        now, was = off_screen.conflicts.get(conflict.conflict_id), before.get(conflict.conflict_id)
        outcome = None if now is None else conflict.outcome(now.outcome_id)
        # Time that passes all at once may leave its aftermath already.
        is_new = now is not None and now.phase in OVER and (was is None or was.phase not in OVER)
        if outcome is None or not is_new:
            continue
        known_to = outcome.known_to or conflict.known_to
        event = EventContent(
            what=outcome.event, who=conflict.people, where=outcome.where, at=after.minute, known_to=known_to
        )
        evidence = [Evidence(type="conflict", ref=conflict.conflict_id, quote=f"{conflict.title}: {outcome.event}")]
        contents = [event, *(_true_since(one, after.minute, known_to) for one in outcome.changes)]
        made += [Proposed(content=content, evidence=evidence) for content in contents]
    return made[:MOST_STAGED]


def _from_then_on(content: Outcome, fired: FiredAgenda) -> Outcome:
    """What an author wrote as the outcome of an agenda, true from when it came to pass, for those who know of that."""
    return _true_since(content, fired.minute, fired.known_to)


def _true_since(content: Outcome, minute: int, known_to: list[str]) -> Outcome:
    if isinstance(content, EntityContent):
        return content
    since = minute if content.since is None else content.since
    return content.model_copy(update={"since": since, "known_to": content.known_to or known_to})


def _changed(before: PlayState, after: PlayState, spoken: Spoken) -> Iterator[tuple[str, str, CanonRule, Json]]:
    here, there = before.world, after.world
    scopes: list[tuple[str, Mapping[str, CanonRule], JsonObject, JsonObject]] = [
        (WORLD, spoken.world, here.custom, there.custom),
        (PLAYER, spoken.player, here.player_state, there.player_state),
        *(
            (id, rules, here.character_state.get(id, {}), there.character_state.get(id, {}))
            for id, rules in spoken.characters.items()
        ),
    ]
    for whose, rules, was, now in scopes:
        for key, rule in rules.items():
            value = now.get(key)
            if not same_json(was.get(key), value) and value not in (None, False, "", [], {}):
                yield whose, key, rule, value


def _in_words(value: Json) -> str:
    if value is True:
        return "yes"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return str(value).strip() or "nothing"


def _of_effect(effect: Effect, minute: int, known_to: list[str]) -> FactContent:
    """A lasting effect as a fact: `mara is wounded`, `mara hp 4`."""
    if effect.kind == "track":
        predicate, object = effect.name, str(effect.after)
    elif effect.name in DEAD and effect.kind == "condition_added":
        predicate, object = "dead", "yes"
    else:
        predicate = "is" if effect.kind == "condition_added" else "is_no_longer"
        object = effect.name.replace("_", " ")
    return FactContent(subject=effect.who, predicate=predicate, object=object, since=minute, known_to=known_to)


def _roll(resolution: Resolution) -> Evidence:
    level = resolution.level.replace("_", " ")
    quote = f"{resolution.check.deed}: {resolution.roll.total}, {level}."
    return Evidence(type="roll", ref=resolution.check.check_id, quote=quote[:LONGEST_QUOTE])


def _quote(told: Sequence[str]) -> str:
    text = next((" ".join(line.split()) for line in told if line.strip()), "")
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1].rstrip()}…"


def mark_canon(before: PlayState, after: PlayState, turn_id: str, staged: Iterable[Content]) -> PlayState:
    """The state after a turn, which counts it among those at which the canon keeper commits, if it is one."""
    why = _why(before, after, staged)
    return after if why is None else marked(after, turn_id, why)


def marked(after: PlayState, turn_id: str, why: CanonReason) -> PlayState:
    """The same for a reason that is known."""
    earlier = after.canon_mark
    mark = CanonMark(
        turn_id=turn_id,
        turn_index=after.snapshot.turn_index,
        since=0 if earlier is None else earlier.turn_index,
        before=None if earlier is None else earlier.turn_id,
        why=why,
    )
    return after.model_copy(update={"canon_mark": mark})


def _why(before: PlayState, after: PlayState, staged: Iterable[Content]) -> CanonReason | None:
    contents = list(staged)
    if after.ended and not before.ended:
        return "ended"
    if before.world.current_node != after.world.current_node:
        return "scene"
    predicates = {content.predicate for content in contents if isinstance(content, FactContent)}
    if predicates & DEAD:
        return "death"
    if predicates & DISCOVERIES or any(isinstance(content, EntityContent) for content in contents):
        return "discovery"
    if after.off_screen is not None and _fired(after) != _fired(before):
        return "world"
    return "turns" if after.turns_in_scene and after.turns_in_scene % SCENE_TURNS == 0 else None


def _fired(play: PlayState) -> list[tuple[str, int]]:
    return [] if play.off_screen is None else [(one.clock_id, one.minute) for one in play.off_screen.fired]


def staged_change(
    proposed: Proposed, *, change_id: str, world_id: str, session_id: str, turn_id: str, proposer: str
) -> Change:
    """A change of a play's own layer, on the word of the story as it is written and of the rules of its game."""
    return Change(
        change_id=change_id,
        world_id=world_id,
        session_id=session_id,
        turn_id=turn_id,
        content=proposed.content,
        evidence=list(proposed.evidence),
        confidence=proposed.confidence,
        authority="source",
        proposer=proposer,
    )
