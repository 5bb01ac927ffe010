"""The canon keeper's policy: weighs a change, holds it against canon, and answers a verdict with all its steps.

1. What crosses a line of the world or table is rejected, whoever proposes it.
2. What changes with every scene (`state`) is applied, and not reviewed.
3. A new entity passes a gate first: it must matter, or it stays flavour.
4. Contradictions: a critical one blocks always; any other is rejected, unless who proposes may retcon.
5. The weight, authority times confidence, halved without evidence, decides the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from fabula.canon.contradictions import Contradiction, Standing
from fabula.story.boundaries import Limits
from fabula.story.canon import (
    AxiomContent,
    Change,
    EntityContent,
    Policy,
    Result,
    StateContent,
    Step,
    Verdict,
)
from fabula.story.values import Json


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a change is held against: canon, the other changes of the same review that were accepted, how many turns
    mention an entity, which entities a rule of the game used, and the boundaries that count."""

    canon: Sequence[Change] = ()
    accepted: Sequence[Change] = ()
    mentions: dict[str, int] = field(default_factory=dict)
    used: frozenset[str] = frozenset()
    limits: Limits | None = None


MOST_NAMED = 50
"""So many of those that a change contradicts are named in its verdict."""
MOST_REPLACED = 200
"""So many truths one change may replace."""
MOST_LOOKED_AT = 200_000
"""So many truths the changes of one review are held against, in about half a second, for which whoever writes waits."""


def judge(change: Change, policy: Policy, known: Known) -> Verdict:
    """The verdict on a change."""
    return _judge(change, policy, known, Standing([*known.canon, *known.accepted]))


def _judge(change: Change, policy: Policy, known: Known, standing: Standing) -> Verdict:
    weight, steps = weigh(change, policy)
    line = crossed_line(change, known.limits)
    if line is not None:
        sentence = f"It crosses the line '{line}'."
        return Verdict(result="reject", weight=weight, steps=[*steps, Step(rule="line", found=line, sentence=sentence)])
    if isinstance(change.content, StateContent):
        return _verdict("accept", weight, steps, "volatile", True, "It changes from scene to scene: it is applied.")
    if isinstance(change.content, EntityContent):
        reason = gate(change, change.content, policy, known, standing)
        passes = reason is not None
        steps = [*steps, Step(rule="entity_gate", found=reason, sentence=reason or _FLAVOUR)]
        if not passes:
            return Verdict(result="reject", weight=weight, steps=steps)
    if standing.looked_at > MOST_LOOKED_AT:
        return _verdict("pending", weight, steps, "too_much", True, _TOO_MUCH)
    # One more than may be replaced says that there are too many.
    found = list(islice(standing.contradictions(change), MOST_REPLACED + 1))
    if found:
        return _against(change, policy, weight, steps, found)
    return _by_weight(policy, weight, steps)


_FLAVOUR = "Nothing else needs it: it stays flavour, and is dropped."


def crossed_line(change: Change, limits: Limits | None) -> str | None:
    """The line that a change crosses with its words. An axiom says what can never be: it crosses none."""
    if limits is None or isinstance(change.content, AxiomContent):
        return None
    words = (value for value in change.content.as_json().values() if isinstance(value, str))
    return limits.line_in("\n".join(one.replace("_", " ") for one in words))


def weigh(change: Change, policy: Policy) -> tuple[float, list[Step]]:
    """Authority times confidence, less without evidence; with the steps that make it up."""
    authority = policy.authority.get(change.authority, 0.0)
    weight = authority * change.confidence
    steps = [
        Step(
            rule="weight",
            found=round(weight, 4),
            sentence=f"The word of {change.authority} counts {authority:g}, at a confidence of {change.confidence:g}.",
        )
    ]
    if not change.evidence:
        weight *= policy.without_evidence
        sentence = f"Nothing is quoted for it: it counts {policy.without_evidence:g} of that."
        steps.append(Step(rule="no_evidence", found=round(weight, 4), sentence=sentence))
    return round(weight, 4), steps


def gate(change: Change, entity: EntityContent, policy: Policy, known: Known, standing: Standing) -> str | None:
    """Why a new entity matters; None if nothing says so."""
    if entity.anchor:
        return "Its author wants it there."
    if change.authority in ("source", "gm"):
        return f"The word of {change.authority} brings it in."
    if entity.entity_id in known.used:
        return "A rule of the game used it."
    if standing.is_about(entity.entity_id):
        return "Another accepted change is about it."
    if known.mentions.get(entity.entity_id, 0) > policy.mentions:
        return f"More than {policy.mentions} turns mention it."
    return None


def _against(change: Change, policy: Policy, weight: float, steps: list[Step], found: list[Contradiction]) -> Verdict:
    replaced = [one.change_id for one in found]
    names = replaced[:MOST_NAMED]
    critical = [one for one in found if one.is_critical]
    if critical:
        listed: list[Json] = [one.change_id for one in critical[:MOST_NAMED]]
        step = Step(rule="critical", found=listed, sentence=critical[0].sentence)
        return Verdict(result="reject", weight=weight, steps=[*steps, step], contradicts=names, critical=True)
    if len(replaced) > MOST_REPLACED:
        sentence = (
            f"It contradicts more than {MOST_REPLACED} others, and so many are the most that are replaced at once."
        )
        step = Step(rule="too_many", found=[*names], sentence=sentence)
        return Verdict(result="reject", weight=weight, steps=[*steps, step], contradicts=names)
    if change.authority in policy.retcon and weight >= policy.accept_at:
        sentence = f"{found[0].sentence} The word of {change.authority} replaces it; the old one is kept and marked."
        step = Step(rule="retcon", found=[*names], sentence=sentence)
        return Verdict(result="accept", weight=weight, steps=[*steps, step], contradicts=names, retcons=replaced)
    step = Step(rule="contradiction", found=[*names], sentence=found[0].sentence)
    return Verdict(result="reject", weight=weight, steps=[*steps, step], contradicts=names)


def _by_weight(policy: Policy, weight: float, steps: list[Step]) -> Verdict:
    if weight >= policy.accept_at:
        return _verdict("accept", weight, steps, "accept_at", weight, f"{weight:g} is at least {policy.accept_at:g}.")
    if weight < policy.reject_below:
        sentence = f"{weight:g} is below {policy.reject_below:g}."
        return _verdict("reject", weight, steps, "reject_below", weight, sentence)
    sentence = f"{weight:g} is neither {policy.accept_at:g} nor below {policy.reject_below:g}: somebody has to decide."
    return _verdict("pending", weight, steps, "pending", weight, sentence)


def _verdict(result: Result, weight: float, steps: list[Step], rule: str, found: float | bool, why: str) -> Verdict:
    return Verdict(result=result, weight=weight, steps=[*steps, Step(rule=rule, found=found, sentence=why)])


_TOO_MUCH = (
    "One review looks at so many truths, and this one came no further. Review what is left once more, or decide on it "
    "alone; say less of one entity, or take in fewer truths at once."
)


def recomputed(steps: Sequence[Step], policy: Policy) -> tuple[Result, float]:
    """The result and the weight that the steps of a verdict come to: an explanation that comes to something else is a
    lie."""
    weight = next(float(str(step.found)) for step in reversed(steps) if step.rule in ("weight", "no_evidence"))
    last = steps[-1]
    match last.rule:
        case "volatile" | "retcon":
            return "accept", weight
        case "line" | "entity_gate" | "critical" | "contradiction" | "too_many":
            return "reject", weight
        case "too_much":
            return "pending", weight
        case _:
            within = "accept" if weight >= policy.accept_at else "reject" if weight < policy.reject_below else "pending"
            return _RESULTS[within], weight


_RESULTS: dict[str, Result] = {"accept": "accept", "reject": "reject", "pending": "pending"}


def review(changes: Sequence[Change], policy: Policy, known: Known) -> list[tuple[Change, Verdict]]:
    """Judges changes in their order, each against canon and those before it that were accepted.

    Entities come last among those of one review: what is accepted about them is what lets them in. What an accepted
    change replaced is no part of canon for those after it. What is left when so many truths were looked at that others
    would wait is judged by the next review.
    """
    order = sorted(changes, key=lambda change: isinstance(change.content, EntityContent))
    standing = Standing([*known.canon, *known.accepted])
    verdicts: dict[str, Verdict] = {}
    for change in order:
        verdict = verdicts[change.change_id] = _judge(change, policy, known, standing)
        if verdict.result == "accept":
            standing.add(change)
            standing.replace(verdict.retcons)
    return [(change, verdicts[change.change_id]) for change in changes]
