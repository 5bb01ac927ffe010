"""Story templates: a preset story in acts and beats that plays in a world follow more or less closely; pure values.

An author writes a template into a world. A play that follows it keeps which beats were reached, by which outcome, and
what was against the template (`TemplateNow`), with each turn, so that going back finds it as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from fabula.story.canon import Moment, Name
from fabula.story.conditions import tests_of
from fabula.story.directives import Phrase
from fabula.story.quests import QuestRule
from fabula.story.values import Id, Sparse, Value

Flexibility = Literal["strict", "guided", "loose"]
"""What is against a template is an error in a strict one, a warning in a guided one and a note in a loose one, which
does not mind the order of beats either."""
Severity = Literal["error", "warning", "note"]
Against = Literal["forbidden_phrase", "missing_person", "wrong_place", "out_of_order"]

MOST_TEMPLATES: Final = 8
MOST_ACTS: Final = 12
MOST_BEATS: Final = 60
MOST_TESTS: Final = 300
MOST_MISSING: Final = 50
"""So much that a world lacks for a template is named; a template may name thousands of places."""
MOST_VIOLATIONS: Final = 40
"""So many of what was against its template a play remembers, the newest."""

BeatText = Annotated[str, StringConstraints(max_length=1000, strip_whitespace=True)]


class TemplateOutcome(Value):
    """One of the ways in which a beat can end: when the rule applies, it has."""

    outcome_id: Id
    text: BeatText = ""
    when: QuestRule


class TemplateBeat(Sparse):
    """Something that has to happen. It is due once its `trigger` applies, and without one as soon as the required beats
    before it were reached.

    It is reached with one of its `outcomes`; a beat without any is reached when its people meet at one of its places.
    """

    optional = frozenset({"trigger", "people", "places", "outcomes", "may_be_skipped"})
    beat_id: Id
    title: Name
    text: BeatText = ""
    trigger: QuestRule | None = None
    people: list[Id] = Field(default=[], max_length=20)
    places: list[Id] = Field(default=[], max_length=20)
    outcomes: list[TemplateOutcome] = Field(default=[], max_length=8)
    may_be_skipped: bool = False


class TemplateAct(Value):
    """A part of the story. The next one begins when its required beats were reached."""

    act_id: Id
    title: Name
    beats: list[TemplateBeat] = Field(min_length=1, max_length=MOST_BEATS)


class StoryTemplate(Sparse):
    """A preset story. `forbidden` are phrases that do not belong into it."""

    optional = frozenset({"forbidden", "premise"})
    template_id: Id
    title: Name
    premise: BeatText = ""
    flexibility: Flexibility = "guided"
    acts: list[TemplateAct] = Field(min_length=1, max_length=MOST_ACTS)
    forbidden: list[Phrase] = Field(default=[], max_length=20)

    @property
    def beats(self) -> Iterator[TemplateBeat]:
        """All beats, in their order."""
        return (beat for act in self.acts for beat in act.beats)


class BeatReached(Value):
    """When a beat was reached, and with which outcome."""

    turn_index: int
    minute: Moment
    outcome_id: Id | None = None


class TemplateViolation(Sparse):
    """Something that was against the template, in a sentence for its author."""

    optional = frozenset({"beat_id"})
    against: Against
    severity: Severity
    turn_index: int
    sentence: str
    beat_id: Id | None = None


class TemplateNow(Value):
    """How far a play has come in its template, and what was against it lately."""

    template_id: Id
    reached: dict[str, BeatReached] = {}
    violations: list[TemplateViolation] = []


def template_problems(templates: Sequence[StoryTemplate]) -> list[str]:
    """What is wrong with the templates of a world in themselves, in sentences; empty when all is well."""
    problems = [f"the template '{id}' is there twice" for id in _twice(one.template_id for one in templates)]
    for template in templates:
        problems += [f"the template '{template.template_id}': {one}" for one in _problems(template)]
    return problems


def missing_names(template: StoryTemplate, people: Collection[str], places: Collection[str]) -> list[str]:
    """Whom and what a template needs and a world or play does not have, in sentences; of very many the first."""
    found = list(islice(_missing(template, frozenset(people), frozenset(places)), MOST_MISSING + 1))
    if len(found) <= MOST_MISSING:
        return found
    return [*found[:MOST_MISSING], f"More than {MOST_MISSING} are missing; these are the first."]


def _missing(template: StoryTemplate, people: Collection[str], places: Collection[str]) -> Iterator[str]:
    for beat in template.beats:
        named = dict.fromkeys([*beat.places, *(node for rule in _rules(beat) for node in rule.nodes)])
        yield from (
            f"The beat '{beat.beat_id}' needs '{id}', who is not there." for id in beat.people if id not in people
        )
        yield from (
            f"The beat '{beat.beat_id}' names the place '{id}', which is not there." for id in named if id not in places
        )


def _problems(template: StoryTemplate) -> Iterator[str]:
    beats = list(template.beats)
    yield from (f"the beat '{id}' is there twice" for id in _twice(beat.beat_id for beat in beats))
    yield from (f"the act '{id}' is there twice" for id in _twice(act.act_id for act in template.acts))
    if len(beats) > MOST_BEATS:
        yield f"it has {len(beats)} beats, and {MOST_BEATS} are the most"
    tests = sum(1 for beat in beats for rule in _rules(beat) if rule.condition for _ in tests_of(rule.condition))
    if tests > MOST_TESTS:
        yield f"its rules have {tests} comparisons, and {MOST_TESTS} are the most"
    for beat in beats:
        if not (beat.outcomes or beat.people or beat.places):
            yield f"the beat '{beat.beat_id}' can never be reached: it names neither outcomes nor people nor places"
        if any(not rule.nodes and rule.condition is None for rule in _rules(beat)):
            yield f"a rule of the beat '{beat.beat_id}' names neither a place nor a condition"


def _rules(beat: TemplateBeat) -> list[QuestRule]:
    return [rule for rule in (beat.trigger, *(one.when for one in beat.outcomes)) if rule is not None]


def _twice(ids: Iterator[str]) -> list[str]:
    return sorted(id for id, times in Counter(ids).items() if times > 1)
