"""Scene bundles: what may be said at the places that a scene leads to, prepared before the player goes there.

A bundle is made of what is written for the story and of what its world holds true, seen from a turn of the play. It is
kept under the version of exactly that, by the follower `lore.precompute_scene_bundle` and by nobody else. A turn looks
for it when it knows nothing of these places yet; if none fits, the same is worked out from canon, so that the result
never differs. After going back, another turn is looked from, and the bundle of that one is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabula.actions.setups.prompt_canon import MOST_KEPT, canon_around, seen_from
from fabula.actions.setups.seen_canon import canon_at
from fabula.canon.sentences import sentence_of
from fabula.language.words import word_set
from fabula.loops.scene.play_setup import PLACE_LORE_FORMAT, PlaySetup
from fabula.loops.scene.scene_lore import places_ahead, prepare_places
from fabula.ports.canon import ChangeRow
from fabula.ports.store import Store, Unit
from fabula.ports.threads import run_in_thread
from fabula.rules.scene_lore import Truth
from fabula.story.canon import EventContent, FactContent, RelationshipContent
from fabula.story.contexts import CanonNote
from fabula.story.plays import PlayState
from fabula.story.scene_lore import PlaceLore
from fabula.story.state_hash import json_hash
from fabula.story.values import JsonObject

MOST_TRUTHS = 200
MOST_PEOPLE = 60
STRUCTURE = word_set(
    """keeps_to lives_in lives_at works_at works_in found_at located_in part_of kept_in kept_at next_to near leads_to
    connected_to borders above below"""
)
"""What makes up the map of a world is seen there, and nobody tells it."""


async def world_around(
    store: Store, setup: PlaySetup, before: PlayState, *, began_at_ms: int
) -> tuple[tuple[CanonNote, ...], dict[str, PlaceLore]]:
    """What is true around those in the scene, and what may be said at the places that it leads to, for a turn that
    began at this moment."""
    if setup.world_id is None:
        places = places_ahead(setup, before.world.current_node)
        return (), await _without_world(setup, places)
    return await store.read(lambda unit: _around(unit, setup, before, began_at_ms))


async def _around(
    unit: Unit, setup: PlaySetup, before: PlayState, began_at_ms: int
) -> tuple[tuple[CanonNote, ...], dict[str, PlaceLore]]:
    at = await seen_from(unit, setup, before, began_at_ms=began_at_ms)
    notes = await canon_around(unit, setup, before, at=at)
    return notes, await _place_lore(unit, setup, before, places_ahead(setup, before.world.current_node), at)


async def place_lore(unit: Unit, setup: PlaySetup, state: PlayState, places: Sequence[str]) -> dict[str, PlaceLore]:
    """What may be said at some places, seen from where a play stands."""
    if setup.world_id is None:
        return await _without_world(setup, places)
    return await _place_lore(unit, setup, state, places, await seen_from(unit, setup, state))


async def _place_lore(
    unit: Unit, setup: PlaySetup, state: PlayState, places: Sequence[str], at: str
) -> dict[str, PlaceLore]:
    version = await unit.canon.version(setup.world_id or "")
    known = {one: found for one in places if (found := setup.place_lore.get((version, at, one))) is not None}
    if len(known) == len(places):
        return known
    bundle = await unit.lore_bundles.get(bundle_version(setup, version, at, places))
    lore = _unpacked(bundle) if bundle is not None else await _worked_out(unit, setup, state, at, places)
    if len(setup.place_lore) >= MOST_KEPT:
        setup.place_lore.clear()
    setup.place_lore.update({(version, at, place): one for place, one in lore.items()})
    return lore


async def missing_bundle(unit: Unit, setup: PlaySetup, state: PlayState) -> tuple[str, JsonObject] | None:
    """A bundle of the places that a scene leads to, under its version; None where there is one, or none is needed."""
    places = places_ahead(setup, state.world.current_node)
    if setup.world_id is None or not places:
        return None
    version, at = await unit.canon.version(setup.world_id), await seen_from(unit, setup, state)
    name = bundle_version(setup, version, at, places)
    if await unit.lore_bundles.has(name):
        return None
    found = await _worked_out(unit, setup, state, at, places)
    return name, {place: lore.as_json() for place, lore in found.items()}


async def has_bundle(unit: Unit, setup: PlaySetup, state: PlayState, places: Sequence[str]) -> bool:
    """Whether some process has prepared what may be said at these places."""
    if setup.world_id is None:
        return False
    version = await unit.canon.version(setup.world_id)
    at = await seen_from(unit, setup, state)
    return await unit.lore_bundles.has(bundle_version(setup, version, at, places))


def bundle_version(setup: PlaySetup, canon_version: int, at: str, places: Sequence[str]) -> str:
    """Names exactly what a bundle is made of."""
    return json_hash([PLACE_LORE_FORMAT, setup.written_version, setup.world_id, canon_version, at, *places])


def _unpacked(bundle: JsonObject) -> dict[str, PlaceLore]:
    return {place: PlaceLore.model_validate(lore) for place, lore in bundle.items()}


async def _without_world(setup: PlaySetup, places: Sequence[str]) -> dict[str, PlaceLore]:
    """The same for a story without a world: nothing but what is written changes it."""
    missing = [one for one in places if (0, "", one) not in setup.place_lore]
    if missing:
        found = (
            await run_in_thread(prepare_places, setup, missing) if setup.is_large else prepare_places(setup, missing)
        )
        setup.place_lore.update({(0, "", place): lore for place, lore in found.items()})
    return {one: lore for one in places if (lore := setup.place_lore.get((0, "", one))) is not None}


async def _worked_out(
    unit: Unit, setup: PlaySetup, state: PlayState, at: str, places: Sequence[str]
) -> dict[str, PlaceLore]:
    truths = await _common_truths(unit, setup, state, at, places)
    return await _prepared(setup, places, truths)


async def _prepared(setup: PlaySetup, places: Sequence[str], truths: Sequence[Truth]) -> dict[str, PlaceLore]:
    if setup.is_large:
        return await run_in_thread(prepare_places, setup, places, truths)
    return prepare_places(setup, places, truths)


async def _common_truths(unit: Unit, setup: PlaySetup, state: PlayState, at: str, places: Sequence[str]) -> list[Truth]:
    """What everybody may know about these places and the people of the story, the newest first."""
    world_id = setup.world_id or ""
    about = (*places, *list(setup.characters)[:MOST_PEOPLE])
    if at:
        rows = await canon_at(unit, world_id, at, about=about, newest=MOST_TRUTHS)
    else:
        rows = await unit.canon.touching(world_id, about, limit=MOST_TRUTHS)
    # What entities are called was read with the truths about the scene.
    await canon_around(unit, setup, state, at=at)
    names = {**setup.entity_names, **{id: node.title for id, node in setup.nodes.items()}, **setup.written.names}
    found = (_truth(row, names) for row in reversed(rows))
    return [one for one in found if one is not None][:MOST_TRUTHS]


def _named(words: str, names: Mapping[str, str]) -> Iterator[str]:
    """Whom or what the other end of a fact names; mostly it is plain words."""
    yield from (id for id, name in names.items() if words == id or words.casefold() == name.casefold())


def _truth(row: ChangeRow, names: Mapping[str, str]) -> Truth | None:
    content = row.change.content
    match content:
        case FactContent() | RelationshipContent():
            if content.known_to or content.predicate in STRUCTURE:
                return None
            return Truth(
                change_id=row.change.change_id,
                text=sentence_of(content, names),
                about=(content.subject, *_named(content.object, names)),
                predicate=content.predicate,
                since=content.since,
                until=content.until,
                is_news=row.change.session_id is not None or (content.since is not None and content.since > 0),
                is_told=content.predicate == "lore",
            )
        case EventContent():
            about = tuple(one for one in (*content.who, content.where) if one)
            if content.known_to or not about:
                return None
            text = sentence_of(content, names)
            return Truth(change_id=row.change.change_id, text=text, about=about, since=content.at)
        case _:
            return None
