"""Promote what became canon in a play to canon of its world: each change is judged once more, against the world."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.authority import allowed
from fabula.actions.canon.changes import Reviewed, judge_changes, judged_views, reviewed, write_verdicts
from fabula.actions.canon.layers import layer_of
from fabula.actions.house import House
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.seen_canon import keep_private_world, world_known
from fabula.actions.views import Command
from fabula.ports.actors import Actor
from fabula.ports.canon import ChangeRow
from fabula.ports.store import Unit
from fabula.story.canon import Change, Content, Decision, EntityContent, Evidence
from fabula.story.checks import PLAYER
from fabula.story.plays import PlayState
from fabula.story.values import JsonObject

PROMOTED = ".world"
"""The end of the ids of promoted changes: what was promoted once is not promoted again."""


MOST_PROMOTED = 1000


class Promote(Command):
    """With `dry_run` nothing is written: the answer says what would become of each change.

    The oldest so many at once; promote again for the rest of a very long play.
    """

    dry_run: bool = False


@allowed("author")
async def promote_canon(house: House, actor: Actor, session_id: str, command: Promote) -> Reviewed:
    """Judges what became canon in a play once more, and commits to its world what the policy accepts."""
    decision = Decision(by=actor.token_id or "operator", at_ms=house.clock.now_ms(), reason="promoted from a play")
    async with house.store.reading() if command.dry_run else house.store.writing() as unit:
        layer = await layer_of(unit, actor, session_id)
        _, state = await head_state(unit, actor, session_id)
        story = await ALL_STORIES.get(unit.looking, (await SESSIONS.get(unit.looking, session_id)).story_id)
        world = await world_known(unit, layer.world_id, story.story_id)
        rows = [row for row in await unit.canon_layers.at(layer.turn_id) if row.is_true]
        new = await _not_yet(unit, promoted(rows, state, session_id, proposer=decision.by))
        judged = await judge_changes(unit, new, world.policy)
        if not command.dry_run and new:
            await keep_private_world(unit, story)
            for change in new:
                await unit.canon.propose(change)
            await write_verdicts(unit, judged, decision)
        version = await unit.canon.version(layer.world_id)
    return reviewed(layer.world_id, judged_views(judged), version=version, dry_run=command.dry_run)


async def _not_yet(unit: Unit, changes: Sequence[Change]) -> list[Change]:
    found: list[Change] = []
    for change in changes:
        if len(found) < MOST_PROMOTED and await unit.canon.get(change.change_id) is None:
            found.append(change)
    return found


def promoted(rows: Sequence[ChangeRow], state: PlayState, session_id: str, *, proposer: str) -> list[Change]:
    """The changes of a play as they are proposed to its world. The player gets a name there, and becomes an entity."""
    hero = state.player_profile_id or f"hero.{session_id}"
    changes = [_promoted(row.change, hero, proposer) for row in rows]
    if rows and any(PLAYER in str(row.change.content.as_json()) for row in rows):
        content = EntityContent(entity_id=hero, entity_kind="character", name=state.player_name[:200], anchor=True)
        first = rows[0].change.model_copy(update={"content": content, "change_id": f"{hero}.player"[:120]})
        changes = [_promoted(first, hero, proposer), *changes]
    return changes


def _promoted(change: Change, hero: str, proposer: str) -> Change:
    source = Evidence(type="turn", ref=change.turn_id or "", quote="It became canon in a play.")
    return change.model_copy(
        update={
            "change_id": f"{change.change_id}{PROMOTED}",
            "session_id": None,
            "turn_id": None,
            "content": _with_hero(change.content, hero),
            "evidence": [*change.evidence[:19], source],
            "proposer": proposer,
        }
    )


def _with_hero(content: Content, hero: str) -> Content:
    """The same about the player by the name that they have in the world."""
    plain: JsonObject = content.as_json()
    for name in ("subject", "object", "where", "entity_id"):
        if plain.get(name) == PLAYER:
            plain[name] = hero
    for name in ("who", "known_to"):
        listed = plain.get(name)
        if isinstance(listed, list):
            plain[name] = [hero if one == PLAYER else one for one in listed]
    return type(content).model_validate(plain)
