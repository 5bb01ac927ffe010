"""Weights of the ranking, chosen with one conversation left out at a time; see `bench.recall`.

1. Every candidate of every question gets what each weight would be multiplied with: the sum is linear, so that a choice
   of weights is tried by one product.
2. For each conversation, weights are chosen on the other ones: from the same beginning, one weight after the other
   takes the round number that does best, twice around. The texts of the questions have no say.
3. What these weights find in the conversation that was left out is its figure.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from fabula.recall.questions import RecallQuestion
from fabula.recall.ranking import WEIGHTS, Basis, Weights, rank, scores_of

MOMENT = {"recent", "important", "mood", "here", "people"}
NAMES = [one.name for one in fields(Weights) if one.name not in MOMENT]
BEGINNING: Mapping[str, float] = dict.fromkeys(NAMES, 0.5)
"""Nobody knows better yet: a tenth of what a rare word counts."""
ROUND = (0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 1.0, 2.0, 3.0, 4.0, 6.0)
ROUNDS = 2
FIRST = 10


@dataclass(frozen=True, kw_only=True)
class Sums:
    """A question, ready to be summed up with any weights. `parts` has a row for each candidate that something speaks
    for: what is said outright, then a column for each weight. `is_evidence` and `is_session` stand beside the rows."""

    parts: Any
    is_evidence: Any
    is_session: Any
    evidence: int


def sums_of(
    question: RecallQuestion, basis: Basis, ids: Sequence[str], evidence: frozenset[str], session_of: Any
) -> Sums:
    """`ids` are those of the candidates, `session_of` tells the session of an id."""
    import numpy

    nothing = Weights(**dict.fromkeys([one.name for one in fields(Weights)], 0.0))
    relevant = sorted(one.number for one in rank(question, basis, most=len(ids)))
    said = numpy.array(scores_of(question, basis, weights=nothing), dtype=numpy.float32)[relevant]
    columns = [said]
    for name in NAMES:
        scores = scores_of(question, basis, weights=replace(nothing, **{name: 1.0}))
        columns.append(numpy.array(scores, dtype=numpy.float32)[relevant] - said)
    parts = numpy.stack(columns, axis=1)
    sessions = {session_of(id) for id in evidence}
    return Sums(
        parts=parts,
        is_evidence=numpy.array([ids[at] in evidence for at in relevant], dtype=bool),
        is_session=numpy.array([session_of(ids[at]) in sessions for at in relevant], dtype=bool),
        evidence=len(evidence),
    )


def figures(questions: Sequence[Sums], weights: Mapping[str, float]) -> tuple[float, float]:
    """Recall of the evidence among the first ten, and how often the first one is of the right session."""
    import numpy

    vector = numpy.array([1.0, *(weights[name] for name in NAMES)], dtype=numpy.float32)
    recalled, hits = [], []
    for one in questions:
        order = numpy.argsort(-(one.parts @ vector), kind="stable")[:FIRST]
        recalled.append(float(one.is_evidence[order].sum()) / one.evidence)
        hits.append(bool(len(order)) and bool(one.is_session[order[0]]))
    return statistics.fmean(recalled), statistics.fmean(hits)


def choose(questions: Sequence[Sums]) -> dict[str, float]:
    """The weights that do best, one after the other; of equals the one nearest to what there was."""
    chosen = dict(BEGINNING)
    best = sum(figures(questions, chosen))
    for _ in range(ROUNDS):
        for name in NAMES:
            for value in sorted(ROUND, key=lambda value: (abs(value - chosen[name]), value)):
                reached = sum(figures(questions, {**chosen, name: value}))
                if reached > best + 1e-9:
                    best, chosen = reached, {**chosen, name: value}
    return chosen


def shipped() -> dict[str, float]:
    return {name: float(getattr(WEIGHTS, name)) for name in NAMES}


def tell_leave_one_out(talks: Sequence[Sequence[Sums]]) -> None:
    """Prints the figure of each conversation with weights that were chosen on the others."""
    found = []
    for left_out, own in enumerate(talks):
        others = [one for number, talk in enumerate(talks) if number != left_out for one in talk]
        chosen = choose(others)
        found.append((len(own), *figures(own, chosen)))
        recall, hit = (100 * value for value in found[-1][1:])
        ours = tuple(100 * value for value in figures(own, shipped()))
        print(
            f"without conversation {left_out + 1}: recall@10 {recall:5.1f}  session hit@1 {hit:5.1f}"
            f"   as shipped {ours[0]:5.1f} {ours[1]:5.1f}   {_told(chosen)}",
            flush=True,
        )
    count = sum(size for size, _, _ in found)
    recall, hit = (100 * sum(one[0] * one[at] for one in found) / count for at in (1, 2))
    ours = tuple(100 * value for value in figures([one for talk in talks for one in talk], shipped()))
    print(f"all {count} questions: recall@10 {recall:.1f}  session hit@1 {hit:.1f}", end="")
    print(f", as shipped {ours[0]:.1f} {ours[1]:.1f}")


def _told(weights: Mapping[str, float]) -> str:
    return " ".join(f"{name} {value:g}" for name, value in weights.items())
