"""The canon keeper of plays: commits what turns proposed and what their lines say, whole or not at all.

1. The marked turns up to this one are found that have no record yet; mostly it is the only one.
2. From the oldest on: the lines since the mark before are looked through, what they say is staged, and everything that
   is open on the line is judged by the world's policy against what is true there.
3. Changes, verdicts and the record become true in one transaction. Until then the scene is `finalizing`; who dies in
   between leaves nothing behind, and the work on it is done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.actions.canon.extractor import Extractor, told_lines
from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.seen_canon import canon_to_judge, keep_private_world, world_id_of, world_known
from fabula.canon.extraction import Found, ToldLine, mentions
from fabula.canon.policy import Known, review
from fabula.ports.canon import ChangeRow
from fabula.ports.canon_layers import CanonCommit, Ruling
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.story.canon import Change, ChangeStatus, Decision, EntityContent, Result, Verdict
from fabula.story.checks import PLAYER
from fabula.story.feed_events import CanonCommitted
from fabula.story.plays import CanonMark, PlayState, SessionSettings
from fabula.story.worlds import World

MOST_LINES = 400
MOST_NAMES = 1000
MOST_OPEN = 200
"""So many open changes of a line are judged at once, the newest first."""
KEEPER = "canon keeper"
EXTRACTOR = "extractor"
_TITLES = frozenset(
    ["the", "old", "brother", "sister", "captain", "lady", "lord", "mother", "father", "aunt", "uncle", "saint", "king",
     "queen", "master", "mistress", "sir", "dame", "doctor", "young", "warden", "provost"]
)  # fmt: skip
STATUS: dict[Result, ChangeStatus] = {"accept": "committed", "reject": "rejected", "pending": "pending"}


async def missing_commits(house: House, unit: Unit, turn_id: str) -> list[str]:
    """The marked turns up to this one that have no record yet, oldest first; none where the turn is gone."""
    turn = await unit.plays.turn(turn_id)
    if turn is None or turn.status != "committed":
        return []
    found: list[str] = []
    mark = (await known_state(house, unit, turn_id)).canon_mark
    while mark is not None and await unit.canon_layers.commit_of(mark.turn_id) is None:
        found.append(mark.turn_id)
        mark = None if mark.before is None else (await known_state(house, unit, mark.before)).canon_mark
    return found[::-1]


async def commit_line(house: House, session_id: str, turn_id: str) -> list[CanonCommit]:
    """Commits what is open at the marked turns up to this one, each once in effect however often this runs."""
    async with house.store.reading() as unit:
        missing = await missing_commits(house, unit, turn_id)
    made = []
    for one in missing:
        commit = await _commit(house, session_id, one)
        made += [] if commit is None else [commit]
    return made


@dataclass(frozen=True, kw_only=True)
class _Scene:
    """What the keeper works with for one turn."""

    session: SessionSettings
    turn: Turn
    state: PlayState
    mark: CanonMark
    lines: list[ToldLine]
    names: dict[str, str]
    extractor: Extractor


async def _commit(house: House, session_id: str, turn_id: str) -> CanonCommit | None:
    scene = await house.store.read(lambda unit: _read(house, unit, session_id, turn_id))
    if scene is None:
        return None
    found = await scene.extractor.find(scene.lines, scene.names)
    changes = [_change(house, scene, one) for one in found]

    async def commit(unit: Unit) -> CanonCommit | None:
        # The play may have been deleted meanwhile, with all its turns.
        if await unit.plays.turn(turn_id) is None or await unit.canon_layers.commit_of(turn_id) is not None:
            return None
        story = await ALL_STORIES.get(unit, scene.session.story_id)
        world_id = world_id_of(story)
        staged = [change.model_copy(update={"world_id": world_id}) for change in changes]
        await unit.canon_layers.stage(staged)
        counts = mentions(scene.lines, {**scene.names, **_new_names(staged)})
        decision = Decision(by=KEEPER, at_ms=house.clock.now_ms(), reason="by the world's policy")
        world = await world_known(unit, world_id, story.story_id)
        rulings, tally = await judge_open(unit, world, turn_id, decision, mentions=counts)
        if rulings or staged:
            await keep_private_world(unit, story)
        record = CanonCommit(turn_id=turn_id, world_id=world_id, why=scene.mark.why, **tally)
        return record if await unit.canon_layers.commit(record, rulings) else None

    done = await house.store.write(commit)
    if done is not None:
        told = CanonCommitted(turn_id=turn_id, accepted=done.accepted, rejected=done.rejected, pending=done.pending)
        house.feeds.publish(session_id, told)
    return done


async def _read(house: House, unit: Unit, session_id: str, turn_id: str) -> _Scene | None:
    turn, session = await unit.plays.turn(turn_id), await SESSIONS.find(unit, session_id)
    if turn is None or session is None:
        return None
    state = await known_state(house, unit, turn_id)
    mark = state.canon_mark
    if mark is None or mark.turn_id != turn_id:
        return None
    told = await unit.plays.transcript(turn_id, last=MOST_LINES)
    lines = told_lines([line for line in told if mark.since < line.turn_index <= mark.turn_index], minute=state.minute)
    return _Scene(
        session=session,
        turn=turn,
        state=state,
        mark=mark,
        lines=lines if mark.why != "asked" else [],
        names=await known_names(house, unit, session, state, turn_id),
        extractor=await Extractor.of(house, unit, session, turn),
    )


async def known_names(
    house: House, unit: Unit, session: SessionSettings, state: PlayState, turn_id: str
) -> dict[str, str]:
    """What those are called who may be spoken of: the cast and its guests, places, the player, and who is in canon."""
    story = await ALL_STORIES.get(unit, session.story_id)
    setup = await house.play_setups.played_by(unit, session.session_id, state.graph)
    people = {content.name: id for id, content in setup.characters.items()}
    people |= {guest.display_name: id for id, guest in state.session_characters.items()}
    names = {**{node.title: id for id, node in setup.nodes.items()}, **people, state.player_name: PLAYER}
    rows = await unit.canon.true_now(world_id_of(story), kinds=("entity",), limit=MOST_NAMES)
    rows += [row for row in await unit.canon_layers.at(turn_id) if row.is_true]
    entities = [row.change.content for row in rows if isinstance(row.change.content, EntityContent)]
    for entity in entities:
        for name in (entity.name, *entity.aliases):
            names.setdefault(name, entity.entity_id)
    return {**_short_names(people), **names}


def _short_names(people: dict[str, str]) -> dict[str, str]:
    """The parts of names by which people are called, where no other has the same."""
    parts: dict[str, set[str]] = {}
    for name, id in people.items():
        for part in name.split():
            if len(part) > 2 and part[0].isupper() and part.casefold() not in _TITLES:
                parts.setdefault(part, set()).add(id)
    return {part: next(iter(ids)) for part, ids in parts.items() if len(ids) == 1}


def _new_names(changes: Sequence[Change]) -> dict[str, str]:
    contents = (change.content for change in changes)
    return {one.name: one.entity_id for one in contents if isinstance(one, EntityContent)}


def _change(house: House, scene: _Scene, found: Found) -> Change:
    return Change(
        change_id=house.ids.new("change"),
        world_id="-",
        session_id=scene.session.session_id,
        turn_id=scene.turn.turn_id,
        content=found.content,
        evidence=[found.evidence],
        confidence=found.confidence,
        authority=found.authority,
        proposer=EXTRACTOR if found.authority == "system" else PLAYER,
    )


async def judge_open(
    unit: Unit, world: World, turn_id: str, decision: Decision, *, mentions: dict[str, int] | None = None
) -> tuple[list[Ruling], dict[str, int]]:
    """What the policy of the world makes of all that is open on the line to a turn: rulings, and how many of each.

    A change that waits for a human already, and still does, is not ruled upon again.
    """
    rows = [row for row in await unit.canon_layers.at(turn_id) if row.status == "pending"][-MOST_OPEN:]
    judged = await judge_rows(unit, world, turn_id, rows, mentions=mentions)
    tally = {"accepted": 0, "rejected": 0, "pending": 0}
    rulings = []
    for row, verdict in judged:
        tally[_TALLY[verdict.result]] += 1
        if verdict.result == "pending" and row.verdict is not None:
            continue
        reason = decision.reason if verdict.result == "accept" else verdict.sentence[:2000]
        rulings.append(
            Ruling(
                change_id=row.change.change_id,
                status=STATUS[verdict.result],
                verdict=verdict,
                decision=decision.model_copy(update={"reason": reason}),
            )
        )
    return rulings, tally


_TALLY: dict[Result, str] = {"accept": "accepted", "reject": "rejected", "pending": "pending"}


async def judge_rows(
    unit: Unit, world: World, turn_id: str, rows: Sequence[ChangeRow], *, mentions: dict[str, int] | None = None
) -> list[tuple[ChangeRow, Verdict]]:
    """The verdicts on changes of a play, held against what is true on the line to a turn."""
    changes = [row.change for row in rows]
    used = frozenset(_subject(change) for change in changes if any(one.type == "roll" for one in change.evidence))
    canon = await canon_to_judge(unit, world.world_id, turn_id, changes) if changes else []
    known = Known(canon=canon, mentions=mentions or {}, used=used)
    by_id = {row.change.change_id: row for row in rows}
    return [(by_id[change.change_id], verdict) for change, verdict in review(changes, world.policy, known)]


def _subject(change: Change) -> str:
    return str(getattr(change.content, "subject", ""))
