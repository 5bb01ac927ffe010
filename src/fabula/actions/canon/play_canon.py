"""Canon of a play, by hand: see what is true on the line of its head, propose, judge, decide and undo.

What is written is a turn of its own, so that going back undoes it like any other change. Each method is about the
session named in its envelope, or else about a world; then the action of that world does it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon import changes, questions
from fabula.actions.canon.changes import (
    PAGE,
    ChangesListed,
    ChangesProposed,
    ChangeView,
    Decide,
    Judged,
    ListChanges,
    NameChange,
    Propose,
    Review,
    Reviewed,
    Undo,
    change_view,
    reviewed,
)
from fabula.actions.canon.judgement import MOST_OPEN, judge_open, judge_rows
from fabula.actions.canon.keeper import commit_line
from fabula.actions.canon.layers import layer_of
from fabula.actions.canon.questions import EntitiesListed, EntityView, FactsAsked, InWorld, NameEntity, entity_view
from fabula.actions.canon.scene_commits import KEEPER
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.play_states import known_state, play_of
from fabula.actions.repositories import ALL_STORIES, SESSIONS, AnyStory
from fabula.actions.setups.seen_canon import (
    as_read,
    canon_at,
    canon_to_judge,
    keep_private_world,
    merged_in,
    named_in,
    world_id_of,
    world_known,
)
from fabula.actions.views import Command, ListView, View, cursor_after, place_of
from fabula.canon.contradictions import undo_problem
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_layers import CanonCommit, Ruling
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.story.canon import Change, ChangeKind, Decision, Evidence
from fabula.story.feed_events import CanonCommitted
from fabula.story.plays import CanonReason

MOST_COMMITS = 200


class ListCommits(Command):
    """The last so many."""

    limit: int = Field(default=50, ge=1, le=MOST_COMMITS)


class CommitView(View):
    """A turn at which canon is committed, and why. While it is `finalizing`, nothing of it is canon yet."""

    type: Literal["canon_commit"] = "canon_commit"
    turn_id: str
    turn_index: int
    why: CanonReason
    status: Literal["finalizing", "committed"]
    accepted: int
    rejected: int
    pending: int


class CommitsListed(ListView):
    """The turns on the line of the head at which canon was committed, newest first."""

    type: Literal["canon_commits_listed"] = "canon_commits_listed"
    commits: list[CommitView]


@allowed("author")
async def propose_changes(house: House, actor: Actor, session_id: str | None, command: Propose) -> ChangesProposed:
    """Proposes changes of a world's canon, or of a play's own; they wait for a review or a decision."""
    if session_id is None:
        return await changes.propose(house, actor, command)

    async def change(at: AtHead) -> tuple[Amendment, list[Change]]:
        story = await _story(at.looking, session_id)
        await keep_private_world(at.unit, story)
        staged = [
            Change(
                change_id=house.ids.new("change"),
                world_id=world_id_of(story),
                session_id=session_id,
                turn_id=at.turn_id,
                content=one.content,
                evidence=one.evidence,
                confidence=one.confidence,
                authority=one.authority or "gm",
                proposer=actor.token_id or "operator",
                base_version=await at.unit.canon.version(world_id_of(story)),
            )
            for one in command.changes
        ]
        return Amendment(state=at.state, staged=staged), staged

    _, staged = await amend(house, actor, session_id, change)
    now = house.clock.now_ms()
    rows = [ChangeRow(change=one, status="pending", created_at_ms=now, updated_at_ms=now) for one in staged]
    return ChangesProposed(changes=[change_view(row) for row in rows])


@allowed("author")
async def list_canon_changes(house: House, actor: Actor, session_id: str | None, command: ListChanges) -> ChangesListed:
    """Lists changes of a world, or of a play as far as they hang on the line of its head, in their order."""
    if session_id is None:
        return await changes.list_changes(house, actor, command)
    async with house.store.reading() as unit:
        layer = await layer_of(unit, actor, session_id)
        about = [command.about] if command.about else ()
        rows = await unit.canon_layers.at(layer.turn_id, about=about, kind=command.kind)
    return _page([row for row in rows if command.status in (None, row.status)], command.limit, command.cursor)


@allowed("author")
async def show_change(house: House, actor: Actor, session_id: str | None, command: NameChange) -> ChangeView:
    """Shows a change with its verdict, step by step."""
    async with house.store.reading() as unit:
        row = await _play_row(unit, actor, session_id, command.change_id)
    return await changes.get_change(house, actor, command) if row is None else change_view(row)


@allowed("author")
async def review_canon(house: House, actor: Actor, session_id: str | None, command: Review) -> Reviewed:
    """Judges what is pending in a world, or in a play at its head, and commits what the world's policy accepts."""
    if session_id is None:
        return await changes.review_changes(house, actor, command)
    decision = Decision(by=KEEPER, at_ms=house.clock.now_ms(), reason="by the world's policy, on request")
    if command.dry_run:
        async with house.store.reading() as unit:
            layer = await layer_of(unit, actor, session_id)
            story = await _story(unit, session_id)
            world = await world_known(unit, layer.world_id, story.story_id)
            rows = await unit.canon_layers.at(layer.turn_id, only_open=True, limit=MOST_OPEN)
            judged = await judge_rows(unit, world, layer.turn_id, rows)
            version = await unit.canon.version(layer.world_id)
        verdicts = [Judged(change_id=row.change.change_id, verdict=verdict) for row, verdict in judged]
        return reviewed(layer.world_id, verdicts, version=version, dry_run=True)
    async with house.store.reading() as unit:
        head = (await play_of(unit, actor, session_id)).head_turn_id
    # What a scene that ended left to do comes first, so that nothing is judged out of its order.
    await commit_line(house, session_id, head)

    async def change(at: AtHead) -> tuple[Amendment, tuple[str, list[Judged], int, CanonCommit]]:
        story = await _story(at.looking, session_id)
        await keep_private_world(at.unit, story)
        world = await world_known(at.looking, world_id_of(story), story.story_id)
        rulings, tally = await judge_open(at.looking, world, at.play.head_turn_id, decision)
        record = CanonCommit(turn_id=at.turn_id, world_id=world.world_id, why="asked", **tally)
        judged = [Judged(change_id=one.change_id, verdict=one.verdict) for one in rulings if one.verdict is not None]
        version = await at.unit.canon.version(world.world_id)
        return Amendment(state=at.state, record=record, rulings=rulings), (world.world_id, judged, version, record)

    _, (world_id, verdicts, version, record) = await amend(house, actor, session_id, change)
    _tell(house, session_id, record)
    return reviewed(world_id, verdicts, version=version, dry_run=False)


@allowed("author")
async def decide_canon(house: House, actor: Actor, session_id: str | None, command: Decide) -> ChangeView:
    """Decides upon a change that is pending. What is impossible stays impossible: a critical contradiction blocks."""
    async with house.store.reading() as unit:
        row = await _play_row(unit, actor, session_id, command.change_id)
    if row is None:
        return await changes.decide_change(house, actor, command)
    session = session_id or row.change.session_id or ""
    decision = Decision(by=actor.token_id or "operator", at_ms=house.clock.now_ms(), reason=command.reason)

    async def change(at: AtHead) -> tuple[Amendment, None]:
        found = await _at_head(at.unit, at.play.head_turn_id, command.change_id)
        if found.status != "pending":
            raise Conflict(f"The change '{command.change_id}' is {found.status}: only what is pending can be decided.")
        world_id = found.change.world_id
        if command.verdict == "reject":
            ruling = Ruling(
                change_id=found.change.change_id, status="rejected", verdict=found.verdict, decision=decision
            )
            record = CanonCommit(turn_id=at.turn_id, world_id=world_id, why="asked", rejected=1)
            return Amendment(state=at.state, record=record, rulings=[ruling]), None
        weighed = _on_the_word_of(found.change, command, decision)
        world = await world_known(at.looking, world_id, (await _story(at.looking, session)).story_id)
        ((_, verdict),) = await judge_rows(
            at.unit, world, at.play.head_turn_id, [ChangeRow(**{**vars(found), "change": weighed})]
        )
        if verdict.critical or verdict.result != "accept":
            raise InvalidRequest(f"This cannot become canon: {verdict.sentence}")
        record = CanonCommit(turn_id=at.turn_id, world_id=world_id, why="asked", accepted=1)
        if command.content is None:
            ruling = Ruling(change_id=found.change.change_id, status="committed", verdict=verdict, decision=decision)
            return Amendment(state=at.state, record=record, rulings=[ruling]), None
        new = weighed.model_copy(
            update={"change_id": house.ids.new("change"), "proposer": decision.by, "turn_id": at.turn_id}
        )
        instead = decision.model_copy(update={"reason": f"accepted in other words as {new.change_id}"})
        rulings = [
            Ruling(change_id=found.change.change_id, status="rejected", verdict=found.verdict, decision=instead),
            Ruling(change_id=new.change_id, status="committed", verdict=verdict, decision=decision),
        ]
        return Amendment(state=at.state, staged=[new], record=record, rulings=rulings), None

    return await _ruled(house, actor, session, command.change_id, change)


@allowed("author")
async def undo_canon(house: House, actor: Actor, session_id: str | None, command: Undo) -> ChangeView:
    """Takes a change out of canon; it is kept and marked, and what it had replaced is true again."""
    async with house.store.reading() as unit:
        row = await _play_row(unit, actor, session_id, command.change_id)
    if row is None:
        return await changes.undo_change(house, actor, command)
    session = session_id or row.change.session_id or ""
    decision = Decision(by=actor.token_id or "operator", at_ms=house.clock.now_ms(), reason=command.reason or "undone")

    async def change(at: AtHead) -> tuple[Amendment, None]:
        found = await _at_head(at.unit, at.play.head_turn_id, command.change_id)
        if not found.is_true:
            raise Conflict(f"The change '{command.change_id}' is {found.status}: only what is true now can be undone.")
        world_id = found.change.world_id
        restored = await _restored(at.unit, at.play.head_turn_id, found)
        restored = await as_read(at.unit, world_id, restored, await merged_in(at.unit, world_id))
        if restored:
            canon = await canon_to_judge(at.unit, world_id, at.play.head_turn_id, restored)
            if (problem := undo_problem(command.change_id, restored, canon)) is not None:
                raise Conflict(f"This cannot be undone now: {problem}")
        ruling = Ruling(change_id=found.change.change_id, status="undone", verdict=found.verdict, decision=decision)
        record = CanonCommit(turn_id=at.turn_id, world_id=world_id, why="asked")
        return Amendment(state=at.state, record=record, rulings=[ruling]), None

    return await _ruled(house, actor, session, command.change_id, change)


@allowed("author")
async def list_commits(house: House, actor: Actor, session_id: str, command: ListCommits) -> CommitsListed:
    """Lists the turns of a play at which canon is committed, newest first, and which are still finalizing."""
    found: list[CommitView] = []
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        mark = (await known_state(house, unit, play.head_turn_id)).canon_mark
        while mark is not None and len(found) < command.limit:
            record = await unit.canon_layers.commit_of(mark.turn_id)
            found.append(
                CommitView(
                    turn_id=mark.turn_id,
                    turn_index=mark.turn_index,
                    why=mark.why,
                    status="finalizing" if record is None else "committed",
                    accepted=0 if record is None else record.accepted,
                    rejected=0 if record is None else record.rejected,
                    pending=0 if record is None else record.pending,
                )
            )
            mark = None if mark.before is None else (await known_state(house, unit, mark.before)).canon_mark
    return CommitsListed(commits=found)


@allowed("author")
async def list_known_entities(house: House, actor: Actor, session_id: str | None, command: InWorld) -> EntitiesListed:
    """Lists the entities of a world's canon, or of what a play sees of it."""
    if session_id is None:
        return await questions.list_entities(house, actor, command)
    rows = await _seen(house, actor, session_id, "entity", command.about)
    part = _page(rows, command.limit, command.cursor)
    wanted = {one.change_id for one in part.changes}
    entities = [entity_view(row) for row in rows if row.change.change_id in wanted]
    return EntitiesListed(entities=entities, next_cursor=part.next_cursor)


@allowed("author")
async def show_entity(house: House, actor: Actor, session_id: str | None, command: NameEntity) -> EntityView:
    """Shows an entity of a world's canon, or of what a play sees of it."""
    if session_id is None:
        return await questions.get_entity(house, actor, command)
    rows = await _seen(house, actor, session_id, "entity", command.entity_id)
    if not rows:
        raise NotFound(f"Canon knows no '{command.entity_id}'.", id=command.entity_id)
    return entity_view(rows[-1])


@allowed("author")
async def list_known_facts(house: House, actor: Actor, session_id: str | None, command: FactsAsked) -> ChangesListed:
    """Lists facts: all, or those about an entity or at a moment; of a world, or of what a play sees of it."""
    if session_id is None:
        return await questions.list_facts(house, actor, command)
    rows = await _seen(house, actor, session_id, "fact", command.about)
    return _page([row for row in rows if _held(row, command.at)], command.limit, command.cursor)


@allowed("author")
async def list_known_relationships(
    house: House, actor: Actor, session_id: str | None, command: InWorld
) -> ChangesListed:
    """Lists who stands how to whom, in a world or in what a play sees of it."""
    if session_id is None:
        return await questions.list_relationships(house, actor, command)
    rows = await _seen(house, actor, session_id, "relationship", command.about)
    return _page(rows, command.limit, command.cursor)


async def _seen(house: House, actor: Actor, session_id: str, kind: ChangeKind, about: str | None) -> list[ChangeRow]:
    async with house.store.reading() as unit:
        layer = await layer_of(unit, actor, session_id)
        rows = await canon_at(unit, layer.world_id, layer.turn_id, about=[about] if about else ())
    return [row for row in rows if row.change.kind == kind and (about is None or about in named_in(row.change))]


def _held(row: ChangeRow, at: int | None) -> bool:
    since, until = getattr(row.change.content, "since", None), getattr(row.change.content, "until", None)
    return at is None or ((since is None or since <= at) and (until is None or at < until))


def _page(rows: Sequence[ChangeRow], limit: int | None, cursor: str | None) -> ChangesListed:
    """A part of what a play sees. It is cut here, because no index knows which line counts."""
    most, after = limit or PAGE, place_of("play", cursor)
    names = [row.change.change_id for row in rows]
    start = names.index(after) + 1 if after in names else 0
    part = rows[start : start + most]
    more = cursor_after("play", part[-1].change.change_id) if start + most < len(rows) else None
    return ChangesListed(changes=[change_view(row) for row in part], next_cursor=more)


async def _play_row(unit: Unit, actor: Actor, session_id: str | None, change_id: str) -> ChangeRow | None:
    """A change of a play as it stands at the head; None for one that is not a play's."""
    change = await unit.canon_layers.get(change_id)
    if change is None:
        return None
    play = await play_of(unit, actor, session_id or change.session_id or "")
    return await _at_head(unit, play.head_turn_id, change_id)


async def _restored(unit: Unit, turn_id: str, undone: ChangeRow) -> list[Change]:
    """What would be true again on a line without a change, of the play's own canon and of its world's."""
    replaced = await unit.canon_layers.replaced(turn_id)
    ids = [
        id for id in (undone.verdict.retcons if undone.verdict else ()) if replaced.get(id) == undone.change.change_id
    ]
    own = [await unit.canon_layers.find(turn_id, id) for id in ids]
    world = [await unit.canon.get(id) for id in ids]
    return [row.change for row in (*own, *world) if row is not None and row.status == "committed"]


async def _at_head(unit: Unit, turn_id: str, change_id: str) -> ChangeRow:
    found = await unit.canon_layers.find(turn_id, change_id)
    if found is None:
        raise NotFound(f"On the line of this play there is no change named '{change_id}'.", id=change_id)
    return found


async def _ruled(
    house: House,
    actor: Actor,
    session_id: str,
    change_id: str,
    change: Callable[[AtHead], Awaitable[tuple[Amendment, None]]],
) -> ChangeView:
    await amend(house, actor, session_id, change)
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        row = await _at_head(unit, play.head_turn_id, change_id)
        reason = "" if row.decision is None else row.decision.reason
        # In other words: who decided is shown what became canon.
        said = reason.rpartition("accepted in other words as ")[2] if row.status == "rejected" else ""
        return change_view((said and await unit.canon_layers.find(play.head_turn_id, said)) or row)


def _on_the_word_of(change: Change, command: Decide, decision: Decision) -> Change:
    """Whoever decides speaks with the authority of a game master, and may replace what canon says."""
    word = Evidence(type="user", ref=decision.by, quote=decision.reason[:1000])
    evidence = [*change.evidence[-19:], word]
    content = change.content if command.content is None else command.content
    return change.model_copy(update={"authority": "gm", "confidence": 1.0, "evidence": evidence, "content": content})


async def _story(unit: Unit, session_id: str) -> AnyStory:
    return await ALL_STORIES.get(unit, (await SESSIONS.get(unit, session_id)).story_id)


def _tell(house: House, session_id: str, record: CanonCommit) -> None:
    told = CanonCommitted(
        turn_id=record.turn_id, accepted=record.accepted, rejected=record.rejected, pending=record.pending
    )
    house.feeds.publish(session_id, told)
