"""The canon keeper: changes are proposed, judged by the world's policy, decided upon, and undone; nothing is deleted.

It is the only writer of canon. Each verdict is kept with the steps that led to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, field_validator

from fabula.actions.authority import allowed
from fabula.actions.canon.mergers import depending_on, made_by_merger
from fabula.actions.house import House
from fabula.actions.repositories import WORLDS
from fabula.actions.setups.seen_canon import as_read, merged_in, world_to_judge
from fabula.actions.views import Command, ListView, Paging, View, cursor_after, place_of
from fabula.canon.contradictions import undo_problem
from fabula.canon.merge import explained, is_read_otherwise
from fabula.canon.policy import Known, review
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeQuestion, ChangeRow
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.boundaries import limits_of
from fabula.story.canon import (
    Authority,
    Change,
    ChangeKind,
    ChangeStatus,
    Content,
    Decision,
    Evidence,
    Policy,
    Verdict,
    entities_in,
)

PAGE = 100
MOST_AT_ONCE = 200
SMALL_CANON = 200


class Proposal(Command):
    """`authority` is on whose word it rests; nobody claims more than their own."""

    content: Content
    evidence: list[Evidence] = Field(default=[], max_length=20)
    confidence: float = Field(default=1.0, ge=0, le=1)
    authority: Authority | None = None

    @field_validator("content")
    @classmethod
    def _ends_after_it_began(cls, content: Content) -> Content:
        # A tie that ended before it began would stand beside every other one.
        since, until = getattr(content, "since", None), getattr(content, "until", None)
        if since is not None and until is not None and until <= since:
            raise ValueError("what is true ends after it began")
        return content


class Propose(Command):
    """`world_id` is left out where the envelope names a session: then the changes are the play's own."""

    world_id: str = ""
    changes: list[Proposal] = Field(min_length=1, max_length=MOST_AT_ONCE)


class ListChanges(Paging):
    """`about` keeps what is about an entity, from either side. A session in the envelope stands for its own layer."""

    world_id: str = ""
    status: ChangeStatus | None = None
    kind: ChangeKind | None = None
    about: str | None = None


class NameChange(Command):
    change_id: str


class Decide(Command):
    """`content` takes the place of what was proposed, where somebody accepts it in other words."""

    change_id: str
    verdict: Literal["accept", "reject"]
    reason: str = Field(max_length=2000)
    content: Content | None = None


class Review(Command):
    """Judges what is pending; with `dry_run` nothing is written. A session in the envelope stands for its own layer."""

    world_id: str = ""
    dry_run: bool = False


class Undo(NameChange):
    reason: str = Field(default="", max_length=2000)


class Since(Command):
    world_id: str
    version: int = Field(default=0, ge=0)
    limit: int = Field(default=PAGE, ge=1, le=1000)


class ChangeView(View):
    """A change with its verdict, the decision upon it, and what took its place."""

    optional = frozenset({"verdict", "decision", "replaced_by", "session_id", "turn_id"})
    type: Literal["canon_change"] = "canon_change"
    change_id: str
    world_id: str
    session_id: str | None = None
    turn_id: str | None = None
    kind: ChangeKind
    content: Content
    evidence: list[Evidence]
    confidence: float
    authority: Authority
    proposer: str
    base_version: int
    status: ChangeStatus
    version: int
    verdict: Verdict | None = None
    decision: Decision | None = None
    replaced_by: str | None = None
    created_at_ms: int
    updated_at_ms: int


class ChangesListed(ListView):
    type: Literal["canon_changes_listed"] = "canon_changes_listed"
    changes: list[ChangeView]


class ChangesProposed(View):
    type: Literal["canon_changes_proposed"] = "canon_changes_proposed"
    changes: list[ChangeView]


class Judged(View):
    """A change and what becomes of it."""

    type: Literal["canon_judged"] = "canon_judged"
    change_id: str
    verdict: Verdict


class Reviewed(View):
    """What a review found; in a dry run nothing of it was written."""

    type: Literal["canon_reviewed"] = "canon_reviewed"
    world_id: str
    dry_run: bool
    version: int
    accepted: int
    rejected: int
    pending: int
    judged: list[Judged]


class CanonSince(View):
    """What was committed or undone after a version, oldest first; `version` is the last of them."""

    type: Literal["canon_since"] = "canon_since"
    world_id: str
    version: int
    changes: list[ChangeView]


@allowed("author")
async def propose(house: House, actor: Actor, command: Propose) -> ChangesProposed:
    """Proposes changes of a world's canon; they wait for a review or a decision."""
    proposer = actor.token_id or "operator"
    async with house.store.writing() as unit:
        await WORLDS.get(unit, command.world_id)
        base = await unit.canon.version(command.world_id)
        rows = [
            await unit.canon.propose(
                Change(
                    change_id=house.ids.new("change"),
                    world_id=command.world_id,
                    content=one.content,
                    evidence=one.evidence,
                    confidence=one.confidence,
                    authority=one.authority or "gm",
                    proposer=proposer,
                    base_version=base,
                )
            )
            for one in command.changes
        ]
    return ChangesProposed(changes=[change_view(row) for row in rows])


@allowed("author")
async def list_changes(house: House, actor: Actor, command: ListChanges) -> ChangesListed:
    """Lists changes of a world in the order in which they were proposed."""
    limit = command.limit or PAGE
    asked = ChangeQuestion(world_id=command.world_id, status=command.status, kind=command.kind, about=command.about)
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        after = place_of("canon", command.cursor)
        found = await unit.canon.find(asked, after=after, limit=limit + 1)
    cursor = cursor_after("canon", found[limit - 1].change.change_id) if len(found) > limit else None
    return ChangesListed(changes=[change_view(row) for row in found[:limit]], next_cursor=cursor)


@allowed("author")
async def get_change(house: House, actor: Actor, command: NameChange) -> ChangeView:
    """Shows a change with its verdict, step by step."""
    async with house.store.reading() as unit:
        return change_view(await _change(unit, command.change_id))


@allowed("author")
async def decide_change(house: House, actor: Actor, command: Decide) -> ChangeView:
    """Decides upon a change that is pending. What is impossible stays impossible: a critical contradiction blocks."""
    decision = Decision(by=actor.token_id or "operator", at_ms=house.clock.now_ms(), reason=command.reason)

    async def write(unit: Unit) -> ChangeView:
        row = await _change(unit, command.change_id)
        if command.verdict == "reject":
            return change_view(await unit.canon.reject(command.change_id, row.verdict, decision))
        if row.status != "pending":
            raise Conflict(f"The change '{command.change_id}' is {row.status}: only what is pending can be decided.")
        # Whoever decides speaks with the authority of a game master, and may replace what canon says.
        update = {"authority": "gm", "confidence": 1.0, "evidence": [*row.change.evidence, _word_of(decision)]}
        if command.content is not None:
            update["content"] = command.content
        weighed = row.change.model_copy(update=update)
        policy = (await WORLDS.get(unit, row.change.world_id)).policy
        ((weighed, verdict),) = await judge_changes(unit, [weighed], policy)
        if verdict.critical or verdict.result != "accept":
            raise InvalidRequest(f"This cannot become canon: {verdict.sentence}")
        if command.content is not None:
            (row,) = [await _reworded(unit, house, row, weighed, decision)]
        elif is_read_otherwise(verdict):
            await unit.canon.reword(row.change.change_id, weighed.content)
        (committed,) = await unit.canon.commit([(row.change.change_id, verdict)], decision)
        return change_view(committed)

    return await house.store.write(write)


@allowed("author")
async def review_changes(house: House, actor: Actor, command: Review) -> Reviewed:
    """Judges all changes of a world that are pending, oldest first, and commits what its policy accepts."""
    decision = Decision(by="canon keeper", at_ms=house.clock.now_ms(), reason="by the world's policy")
    asked = ChangeQuestion(world_id=command.world_id, status="pending")
    # Who only wants to know what would come of it keeps nobody from writing.
    async with house.store.reading() if command.dry_run else house.store.writing() as unit:
        policy = (await WORLDS.get(unit, command.world_id)).policy
        rows = await unit.canon.find(asked, limit=MOST_AT_ONCE)
        judged = await judge_changes(unit, [row.change for row in rows], policy)
        if not command.dry_run:
            await write_verdicts(unit, judged, decision)
        version = await unit.canon.version(command.world_id)
    return reviewed(command.world_id, judged_views(judged), version=version, dry_run=command.dry_run)


def reviewed(world_id: str, judged: Sequence[Judged], *, version: int, dry_run: bool) -> Reviewed:
    """What a review tells: each verdict, and how many there are of each kind."""
    results = [one.verdict.result for one in judged]
    return Reviewed(
        world_id=world_id,
        dry_run=dry_run,
        version=version,
        accepted=results.count("accept"),
        rejected=results.count("reject"),
        pending=results.count("pending"),
        judged=[*judged],
    )


def judged_views(judged: Sequence[tuple[Change, Verdict]]) -> list[Judged]:
    return [Judged(change_id=change.change_id, verdict=verdict) for change, verdict in judged]


@allowed("author")
async def undo_change(house: House, actor: Actor, command: Undo) -> ChangeView:
    """Takes a change out of canon; it is kept and marked, and what it had replaced is true again."""
    reason = command.reason or "undone"
    decision = Decision(by=actor.token_id or "operator", at_ms=house.clock.now_ms(), reason=reason)
    async with house.store.writing() as unit:
        row = await _change(unit, command.change_id)
        together = await made_by_merger(unit, row)
        if together and (problem := await depending_on(unit, together)) is not None:
            raise Conflict(f"This cannot be undone now: {problem}")
        undone = {one.change.change_id: one for one in together or [row]}
        restored = [old.change for one in undone.values() for old in await _replaced_by(unit, one)]
        if not together and row.is_true:
            await _check_ids(unit, row.change.world_id, restored)
        if row.is_true and restored:
            rows = await world_to_judge(unit, row.change.world_id, restored)
            canon = [one.change for one in rows if one.change.change_id not in undone]
            if (problem := undo_problem(command.change_id, restored, canon)) is not None:
                raise Conflict(f"This cannot be undone now: {problem}")
        for change_id, one in undone.items():
            if not await unit.canon.undo(change_id, decision):
                raise Conflict(f"The change '{change_id}' is {one.status}: only what is true now can be undone.")
        return change_view(await _change(unit, command.change_id))


async def _check_ids(unit: Unit, world_id: str, restored: Sequence[Change]) -> None:
    """Refuses to bring back a part of what a merger moved."""
    left_of = await merged_in(unit, world_id) if restored else {}
    for gone in (id for change in restored for id in entities_in(change.content) if id in left_of):
        raise Conflict(
            f"This cannot be undone now: what would be true again is about '{gone}', who is '{left_of[gone]}' since a "
            "merger. Undo the merger first."
        )


async def _replaced_by(unit: Unit, row: ChangeRow) -> list[ChangeRow]:
    """What would be true again without a change."""
    olds = [await unit.canon.get(id) for id in (() if row.verdict is None else row.verdict.retcons)]
    return [old for old in olds if old is not None and old.replaced_by == row.change.change_id]


@allowed("author")
async def changes_since(house: House, actor: Actor, command: Since) -> CanonSince:
    """Tells what became true, or ceased to be, after a version of a world's canon."""
    async with house.store.reading() as unit:
        await WORLDS.get(unit, command.world_id)
        rows = await unit.canon.since(command.world_id, command.version, limit=command.limit)
    version = rows[-1].version if rows else command.version
    return CanonSince(world_id=command.world_id, version=version, changes=[change_view(row) for row in rows])


async def judge_changes(unit: Unit, changes: Sequence[Change], policy: Policy) -> list[tuple[Change, Verdict]]:
    """What the policy of a world makes of changes, held against its canon; each as it is read after mergers."""
    if not changes:
        return []
    world_id = changes[0].world_id
    left_of = await merged_in(unit, world_id)
    read = await as_read(unit, world_id, changes, left_of)
    rows = await world_to_judge(unit, world_id, read, left_of)
    canon = await as_read(unit, world_id, [row.change for row in rows], left_of)
    world = await WORLDS.find(unit, world_id)
    limits = None if world is None else limits_of(world.session_zero)
    judged = await _reviewed(read, policy, Known(canon=canon, limits=limits))
    return [
        (change, explained(verdict, proposed, change, left_of))
        for proposed, (change, verdict) in zip(changes, judged, strict=True)
    ]


async def _reviewed(changes: Sequence[Change], policy: Policy, known: Known) -> list[tuple[Change, Verdict]]:
    if len(known.canon) + len(changes) <= SMALL_CANON:
        return review(changes, policy, known)
    return await run_in_thread(review, changes, policy, known)


async def write_verdicts(unit: Unit, judged: Sequence[tuple[Change, Verdict]], decision: Decision) -> None:
    """Commits what was accepted, and writes down why the rest was not."""
    accepted = [(change.change_id, verdict) for change, verdict in judged if verdict.result == "accept"]
    for change, verdict in judged:
        if verdict.result == "accept" and is_read_otherwise(verdict):
            await unit.canon.reword(change.change_id, change.content)
    if accepted:
        await unit.canon.commit(accepted, decision)
    for change, verdict in judged:
        if verdict.result == "reject":
            reason = decision.model_copy(update={"reason": verdict.sentence})
            await unit.canon.reject(change.change_id, verdict, reason)
        elif verdict.result == "pending":
            await unit.canon.note(change.change_id, verdict)


async def _reworded(unit: Unit, house: House, row: ChangeRow, change: Change, decision: Decision) -> ChangeRow:
    """A change in the words of who decides: a new one, and the one that was proposed is rejected in its favour."""
    new = change.model_copy(update={"change_id": house.ids.new("change"), "proposer": decision.by})
    reason = decision.model_copy(update={"reason": f"accepted in other words as {new.change_id}"})
    await unit.canon.reject(row.change.change_id, row.verdict, reason)
    return await unit.canon.propose(new)


def _word_of(decision: Decision) -> Evidence:
    return Evidence(type="user", ref=decision.by, quote=decision.reason[:1000])


async def _change(unit: Unit, change_id: str) -> ChangeRow:
    row = await unit.canon.get(change_id)
    if row is None:
        raise NotFound(f"There is no change named '{change_id}'.", id=change_id)
    return row


def change_view(row: ChangeRow) -> ChangeView:
    """A change as clients see it."""
    return ChangeView(
        **{name: getattr(row.change, name) for name in Change.model_fields},
        kind=row.change.kind,
        status=row.status,
        version=row.version,
        verdict=row.verdict,
        decision=row.decision,
        replaced_by=row.replaced_by,
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.updated_at_ms,
    )
