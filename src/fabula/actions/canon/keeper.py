"""The canon keeper of plays: has what turns proposed and what their lines say committed, whole or not at all.

1. The marked turns up to this one are found that have no record yet; mostly it is the only one.
2. From the oldest on: the lines since the mark before are read, the extractor finds what they say, and the scene is
   committed with that: everything that is open on the line is judged by the world's policy against what is true there.
3. Changes, verdicts and the record become true in one transaction. Until then the scene is `finalizing`; who dies in
   between leaves nothing behind, and the work on it is done again.

Keeper and extractor reach the store through the tools of a scene alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import orjson

from fabula.actions.canon.changes import MOST_AT_ONCE, Proposal
from fabula.actions.canon.extractor import Extractor
from fabula.actions.canon.scene_commits import (
    CommitScene,
    ReadScene,
    SceneCommitted,
    SceneRead,
    commit_scene,
    read_scene,
)
from fabula.actions.house import House
from fabula.actions.plays.play_states import known_state
from fabula.canon.extraction import Found, ToldLine
from fabula.ports.actors import OPERATOR
from fabula.ports.store import Unit

LARGEST_PROPOSALS = 200 * 1024
"""So many bytes are proposed at once."""


class SceneTools(Protocol):
    """How a keeper reaches scenes of one play: with the authority of whoever it works for."""

    async def read(self, command: ReadScene) -> SceneRead: ...

    async def commit(self, command: CommitScene) -> SceneCommitted: ...


class OwnHands:
    """For an author who wants it done now: the author's own actions."""

    def __init__(self, house: House, session_id: str) -> None:
        self._house, self._session_id = house, session_id

    async def read(self, command: ReadScene) -> SceneRead:
        return await read_scene(self._house, OPERATOR, self._session_id, command)

    async def commit(self, command: CommitScene) -> SceneCommitted:
        return await commit_scene(self._house, OPERATOR, self._session_id, command)


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


async def commit_line(
    house: House, session_id: str, turn_id: str, tools: SceneTools | None = None
) -> list[SceneCommitted]:
    """Commits what is open at the marked turns up to this one, each once in effect however often this runs."""
    tools = tools or OwnHands(house, session_id)
    async with house.store.reading() as unit:
        missing = await missing_commits(house, unit, turn_id)
    return [made for one in missing if (made := await _commit(house, tools, session_id, one)) is not None]


async def _commit(house: House, tools: SceneTools, session_id: str, turn_id: str) -> SceneCommitted | None:
    scene = await tools.read(ReadScene(turn_id=turn_id))
    if scene.why is None:
        return None

    async def placed(refs: Sequence[str]) -> list[ToldLine]:
        again = await tools.read(ReadScene(turn_id=turn_id, message_ids=list(refs)))
        return [line.told() for line in again.lines]

    extractor = await Extractor.of(house, session_id, turn_id, placed)
    found = [] if extractor is None else await extractor.find([line.told() for line in scene.lines], scene.names)
    done = await tools.commit(CommitScene(turn_id=turn_id, changes=_fitting(found)))
    return done if done.is_new else None


def _fitting(found: Sequence[Found]) -> list[Proposal]:
    """What was found, as far as it may be proposed at once."""
    kept: list[Proposal] = []
    left = LARGEST_PROPOSALS
    for one in found[:MOST_AT_ONCE]:
        proposal = Proposal(
            content=one.content, evidence=[one.evidence], confidence=one.confidence, authority=one.authority
        )
        left -= len(orjson.dumps(proposal.model_dump(mode="json")))
        if left < 0:
            break
        kept.append(proposal)
    return kept
