"""What the extractor and the canon keeper may do with a scene: read what was told in it, and commit it whole.

They are tools of the table of authority, and the only way by which these two reach the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import orjson
from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.canon.changes import MOST_AT_ONCE, Proposal
from fabula.actions.canon.judgement import judge_open
from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state, play_of
from fabula.actions.plays.shown_lines import last_lines_told
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.seen_canon import keep_private_world, merged_in, rows_as_read, world_id_of, world_known
from fabula.actions.views import Command, View
from fabula.canon.extraction import LineKind, ToldLine, mentions
from fabula.ports.actors import Actor
from fabula.ports.canon_layers import CanonCommit
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.canon import Change, Decision, EntityContent
from fabula.story.checks import PLAYER
from fabula.story.feed_events import CanonCommitted
from fabula.story.plays import CanonMark, CanonReason, PlayState, SessionSettings

MOST_LINES = 400
MOST_NAMES = 1000
LARGEST_LINES = 160 * 1024
LARGEST_NAMES = 60 * 1024
"""So many bytes of lines and of names are answered at once, the newest lines first."""
KEEPER = "canon keeper"
EXTRACTOR = "extractor"
_KINDS: Mapping[str, LineKind] = {
    "narration": "narration",
    "dialogue": "dialogue",
    "action": "action",
    "player_input": "player_input",
}
_TITLES = frozenset(
    ["the", "old", "brother", "sister", "captain", "lady", "lord", "mother", "father", "aunt", "uncle", "saint", "king",
     "queen", "master", "mistress", "sir", "dame", "doctor", "young", "warden", "provost"]
)  # fmt: skip


class ReadScene(Command):
    """The scene that ended at a turn. With `message_ids` those of its lines alone, each with its time and witnesses."""

    turn_id: str
    message_ids: list[str] = Field(default=[], max_length=MOST_LINES)


class CommitScene(Command):
    """Commits the scene that ended at a turn: what is proposed here, and all that is open on its line."""

    turn_id: str
    changes: list[Proposal] = Field(default=[], max_length=MOST_AT_ONCE)


class SceneLine(View):
    type: Literal["scene_line"] = "scene_line"
    ref: str
    turn_id: str
    kind: LineKind
    speaker_id: str
    text: str
    minute: int
    present: list[str] = []

    def told(self) -> ToldLine:
        """The line as it is looked through."""
        return ToldLine(**{**{name: getattr(self, name) for name in _LINE}, "present": tuple(self.present)})


_LINE = ("ref", "turn_id", "kind", "speaker_id", "text", "minute")


class SceneRead(View):
    """What was told since the scene before, and by which names those are called who may be meant; `names` leads from a
    name to an id. Nothing is left to do where there is no `why`."""

    optional = frozenset({"why"})
    type: Literal["scene_read"] = "scene_read"
    turn_id: str
    why: CanonReason | None = None
    lines: list[SceneLine] = []
    names: dict[str, str] = {}


class SceneCommitted(View):
    """How many changes were accepted, rejected, and left open; `is_new` is false where it was done before."""

    type: Literal["scene_committed"] = "scene_committed"
    turn_id: str
    is_new: bool
    accepted: int = 0
    rejected: int = 0
    pending: int = 0


@allowed("author")
async def read_scene(house: House, actor: Actor, session_id: str, command: ReadScene) -> SceneRead:
    """Reads what was told in a scene of a play that ended, and who is known there."""
    async with house.store.reading() as unit:
        await play_of(unit, actor, session_id)
        found = await _mark(house, unit, session_id, command.turn_id)
        if found is None:
            return SceneRead(turn_id=command.turn_id)
        session, state, mark = found
        lines = await _lines(unit, mark, state)
        if command.message_ids:
            wanted = frozenset(command.message_ids)
            lines = [await _placed(house, unit, line) for line in lines if line.ref in wanted]
            return SceneRead(turn_id=command.turn_id, why=mark.why, lines=_views(lines))
        names = await known_names(house, unit, session, state, command.turn_id)
    return SceneRead(turn_id=command.turn_id, why=mark.why, lines=_views(lines), names=_fitting_names(names))


@allowed("author")
async def commit_scene(house: House, actor: Actor, session_id: str, command: CommitScene) -> SceneCommitted:
    """Commits a scene of a play that ended, whole or not at all; of one that was committed nothing changes."""
    decision = Decision(by=KEEPER, at_ms=house.clock.now_ms(), reason="by the world's policy")
    counts = await _mentioned(house, actor, session_id, command)

    async def commit(unit: Unit) -> CanonCommit | None:
        await play_of(unit, actor, session_id)
        found = await _mark(house, unit, session_id, command.turn_id)
        if found is None or await unit.canon_layers.commit_of(command.turn_id) is not None:
            return None
        session, _, mark = found
        story = await ALL_STORIES.get(unit, session.story_id)
        world_id = world_id_of(story)
        staged = [_change(house, session_id, world_id, command.turn_id, one) for one in command.changes]
        await unit.canon_layers.stage(staged)
        world = await world_known(unit, world_id, story.story_id)
        rulings, tally = await judge_open(unit, world, command.turn_id, decision, mentions=counts)
        if rulings or staged:
            await keep_private_world(unit, story)
        record = CanonCommit(turn_id=command.turn_id, world_id=world_id, why=mark.why, **tally)
        return record if await unit.canon_layers.commit(record, rulings) else None

    done = await house.store.write(commit)
    if done is None:
        return SceneCommitted(turn_id=command.turn_id, is_new=False)
    accepted, rejected, pending = done.accepted, done.rejected, done.pending
    told = CanonCommitted(turn_id=command.turn_id, accepted=accepted, rejected=rejected, pending=pending)
    house.feeds.publish(session_id, told)
    return SceneCommitted(turn_id=command.turn_id, is_new=True, accepted=accepted, rejected=rejected, pending=pending)


async def _mentioned(house: House, actor: Actor, session_id: str, command: CommitScene) -> dict[str, int]:
    """In how many turns of the scene each of those is named who are known, or would be. What was told is no longer
    changed, so nobody else has to wait with what they write until it is counted."""
    async with house.store.reading() as unit:
        await play_of(unit, actor, session_id)
        found = await _mark(house, unit, session_id, command.turn_id)
        if found is None:
            return {}
        session, state, mark = found
        names = await known_names(house, unit, session, state, command.turn_id)
        lines = await _lines(unit, mark, state)
    contents = (one.content for one in command.changes)
    new = {one.name: one.entity_id for one in contents if isinstance(one, EntityContent)}
    return await run_in_thread(lambda: mentions(lines, {**names, **new}))


async def _mark(
    house: House, unit: Unit, session_id: str, turn_id: str
) -> tuple[SessionSettings, PlayState, CanonMark] | None:
    """The play at the end of a scene; None where no scene ended at this turn, or the turn is gone with its play."""
    turn, session = await unit.plays.turn(turn_id), await SESSIONS.find(unit, session_id)
    if turn is None or session is None:
        return None
    state = await known_state(house, unit, turn_id)
    mark = state.canon_mark
    return None if mark is None or mark.turn_id != turn_id else (session, state, mark)


async def _lines(unit: Unit, mark: CanonMark, state: PlayState) -> list[ToldLine]:
    """Lines of the scene, all at one time: when each was told is found out for those that say something."""
    if mark.why == "asked":
        return []
    told = await last_lines_told(unit, mark.turn_id, MOST_LINES)
    return [_line(one, state.minute) for one in told if mark.since < one.turn_index <= mark.turn_index]


def _line(line: SpokenMessage, minute: int) -> ToldLine:
    return ToldLine(
        ref=line.message_id,
        turn_id=line.turn_id,
        kind=_KINDS[line.kind],
        speaker_id=line.speaker_id,
        text=line.text,
        minute=minute,
    )


async def _placed(house: House, unit: Unit, line: ToldLine) -> ToldLine:
    state = await known_state(house, unit, line.turn_id)
    return replace(line, minute=state.minute, present=tuple(state.world.active_characters))


def _views(lines: Sequence[ToldLine]) -> list[SceneLine]:
    """The newest lines that fit into an answer, in their order."""
    kept: list[SceneLine] = []
    left = LARGEST_LINES
    for line in reversed(lines):
        view = SceneLine(**{name: getattr(line, name) for name in _LINE}, present=list(line.present))
        left -= _size(view.as_json())
        if left < 0:
            break
        kept.append(view)
    return kept[::-1]


def _fitting_names(names: Mapping[str, str]) -> dict[str, str]:
    kept: dict[str, str] = {}
    left = LARGEST_NAMES
    for name, id in names.items():
        left -= _size([name, id])
        if left < 0:
            break
        kept[name] = id
    return kept


def _size(value: Any) -> int:
    return len(orjson.dumps(value))


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
    own = [row for row in await unit.canon_layers.at(turn_id, kind="entity") if row.is_true]
    rows += await rows_as_read(unit, world_id_of(story), own, await merged_in(unit, world_id_of(story)))
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


def _change(house: House, session_id: str, world_id: str, turn_id: str, one: Proposal) -> Change:
    authority = one.authority or "system"
    return Change(
        change_id=house.ids.new("change"),
        world_id=world_id,
        session_id=session_id,
        turn_id=turn_id,
        content=one.content,
        evidence=one.evidence,
        confidence=one.confidence,
        authority=authority,
        proposer=EXTRACTOR if authority == "system" else PLAYER,
    )
