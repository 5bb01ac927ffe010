"""How a play follows its story template; pure.

After each turn, in this order:

1. Each sentence that was told is looked through for phrases that do not belong into the story.
2. Each beat that was not reached yet is: by one of its outcomes, or, where it has none, while it is due and its people
   are together at one of its places.
3. What was reached without somebody it needs, at another place, or before something that has to come first, is against
   the template. How grave that is follows from its flexibility.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from fabula.language.terms import exact_phrases
from fabula.story.plays import PlayState
from fabula.story.story_templates import (
    MOST_VIOLATIONS,
    Against,
    BeatReached,
    Flexibility,
    Severity,
    StoryTemplate,
    TemplateAct,
    TemplateBeat,
    TemplateNow,
    TemplateViolation,
)

_SEVERITY: Final[dict[Flexibility, Severity]] = {"strict": "error", "guided": "warning", "loose": "note"}


def act_now(template: StoryTemplate, now: TemplateNow) -> TemplateAct | None:
    """The act that is being played: the first one in which something is still required; None after the last."""
    return next((act for act in template.acts if any(_is_required(beat, now) for beat in act.beats)), None)


def due_beats(template: StoryTemplate, now: TemplateNow, play: PlayState) -> list[TemplateBeat]:
    """What the story needs next, in the order of the template."""
    act = act_now(template, now)
    return [] if act is None else [beat for beat in act.beats if _is_due(act, beat, now, play)]


def follow_template(template: StoryTemplate, now: TemplateNow, play: PlayState, told: Iterable[str]) -> TemplateNow:
    """How far a play has come in its template after a turn that told these texts."""
    violations = [*_forbidden(template, play, told)]
    due = {beat.beat_id for beat in due_beats(template, now, play)}
    reached = dict(now.reached)
    for beat in template.beats:
        if beat.beat_id in reached:
            continue
        outcome = next((one for one in beat.outcomes if one.when.applies(play.visited, play.world)), None)
        if outcome is None and (beat.outcomes or beat.beat_id not in due or not _have_met(beat, play)):
            continue
        violations += _against(template, beat, now.model_copy(update={"reached": reached}), play)
        reached[beat.beat_id] = BeatReached(
            turn_index=play.snapshot.turn_index,
            minute=play.minute,
            outcome_id=None if outcome is None else outcome.outcome_id,
        )
    if not violations and len(reached) == len(now.reached):
        return now
    kept = [*now.violations, *violations][-MOST_VIOLATIONS:]
    return now.model_copy(update={"reached": reached, "violations": kept})


def _is_required(beat: TemplateBeat, now: TemplateNow) -> bool:
    return not beat.may_be_skipped and beat.beat_id not in now.reached


def _is_due(act: TemplateAct, beat: TemplateBeat, now: TemplateNow, play: PlayState) -> bool:
    if beat.beat_id in now.reached:
        return False
    if beat.trigger is not None:
        return beat.trigger.applies(play.visited, play.world)
    before = act.beats[: act.beats.index(beat)]
    return not any(_is_required(one, now) for one in before)


def _have_met(beat: TemplateBeat, play: PlayState) -> bool:
    return not _absent(beat, play) and _is_at_its_place(beat, play)


def _absent(beat: TemplateBeat, play: PlayState) -> list[str]:
    return [id for id in beat.people if id not in play.world.active_characters]


def _is_at_its_place(beat: TemplateBeat, play: PlayState) -> bool:
    return not beat.places or play.world.current_node in beat.places


def _forbidden(template: StoryTemplate, play: PlayState, told: Iterable[str]) -> Iterator[TemplateViolation]:
    if not template.forbidden:
        return
    phrases = exact_phrases(tuple(template.forbidden))
    for text in told:
        found = phrases.find(text)
        if found is not None:
            yield _violation(template, play, "forbidden_phrase", f"'{found}' was told, which does not belong here.")


def _against(
    template: StoryTemplate, beat: TemplateBeat, now: TemplateNow, play: PlayState
) -> Iterator[TemplateViolation]:
    absent = _absent(beat, play)
    if absent:
        sentence = f"'{beat.title}' was reached without {', '.join(absent)}."
        yield _violation(template, play, "missing_person", sentence, beat)
    if not _is_at_its_place(beat, play):
        sentence = (
            f"'{beat.title}' was reached at '{play.world.current_node}', and belongs to {', '.join(beat.places)}."
        )
        yield _violation(template, play, "wrong_place", sentence, beat)
    skipped = None if template.flexibility == "loose" else _skipped(template, beat, now)
    if skipped is not None:
        sentence = f"'{beat.title}' was reached before '{skipped.title}', which has to come first."
        yield _violation(template, play, "out_of_order", sentence, beat)


def _skipped(template: StoryTemplate, beat: TemplateBeat, now: TemplateNow) -> TemplateBeat | None:
    """The first required beat before this one that was not reached. Beats with a trigger wait for it, not for each
    other; only those of earlier acts have to come first."""
    for act in template.acts:
        is_own = beat in act.beats
        for other in act.beats:
            if other == beat or (is_own and beat.trigger is not None):
                break
            if _is_required(other, now):
                return other
        if is_own:
            return None
    return None


def _violation(
    template: StoryTemplate, play: PlayState, against: Against, sentence: str, beat: TemplateBeat | None = None
) -> TemplateViolation:
    return TemplateViolation(
        against=against,
        severity=_SEVERITY[template.flexibility],
        turn_index=play.snapshot.turn_index,
        sentence=sentence,
        beat_id=None if beat is None else beat.beat_id,
    )
