"""A world as a map: which places there are, who is met where, and what can be found out."""

from __future__ import annotations

from pydantic import TypeAdapter
from tests.free_world import CONTENTS, WHEEL

from fabula.canon.world_maps import MOST_PLACES, MOST_WAYS, map_of
from fabula.story.canon import Content, EntityContent
from fabula.story.free_plays import FreePlay, next_aim, node_now
from fabula.story.state import WorldState

VALE: list[Content] = [TypeAdapter(Content).validate_python(one) for one in CONTENTS]


def mapped(*more: Content, library: tuple[str, ...] = ()) -> tuple[dict[str, list[str]], list[str]]:
    """Who is met where, and who was made of canon."""
    found = map_of([*VALE, *more], library, "anybody")
    assert found is not None
    return {node.id: node.characters for node in found.graph.nodes}, [one.id for one in found.made]


def entity(id: str, kind: str) -> EntityContent:
    return EntityContent.model_validate({"entity_id": id, "entity_kind": kind, "name": f"the {id}"})


def test_people_are_met_where_canon_places_them_and_others_where_plays_begin() -> None:
    where, made = mapped(entity("cat", "character"), library=("orr",))
    assert where == {"mill": ["orr", "cat"], "ford": ["ilse"], "chapel": []} and made == ["ilse", "cat"]


def test_the_dead_are_not_met() -> None:
    dead: Content = TypeAdapter(Content).validate_python(
        {"kind": "fact", "subject": "orr", "predicate": "dead", "object": "yes"}
    )
    where, _ = mapped(dead)
    assert "orr" not in [id for people in where.values() for id in people]


def test_a_land_that_is_only_the_sum_of_others_is_no_place() -> None:
    parts = [
        {"kind": "fact", "subject": place, "predicate": "part_of", "object": "the land"} for place in ("mill", "ford")
    ]
    where, _ = mapped(entity("land", "place"), *(TypeAdapter(Content).validate_python(one) for one in parts))
    assert "land" not in where and len(where) == 3


def test_a_world_of_very_many_places_stays_small() -> None:
    found = map_of([*VALE, *(entity(f"p{n}", "place") for n in range(500))], (), "anybody")
    assert found is not None and len(found.graph.nodes) == MOST_PLACES
    assert max(len(node.transitions) for node in found.graph.nodes) == MOST_WAYS


def test_what_is_found_out_is_no_way_any_more_and_the_next_scene_is_elsewhere() -> None:
    found = map_of(VALE, (), "anybody")
    assert found is not None
    first, second = found.free.discoveries
    assert first.truth == WHEEL and (first.place, second.place) == ("mill", "ford")
    mill = found.graph.nodes[0]
    before, after = WorldState(current_node="mill"), WorldState(current_node="mill", custom={first.key: True})
    assert len(node_now(found.free, FreePlay(), mill, before).transitions) == len(mill.transitions) + 1
    assert node_now(found.free, FreePlay(), mill, after).transitions == mill.transitions
    assert next_aim(found.free, before, here="mill", outcome="left") == first
    assert next_aim(found.free, after, here="mill", outcome="left") is None
    assert next_aim(found.free, after, here="mill", outcome="met") == second
    assert next_aim(found.free, before, here="mill", outcome="asked") == second


def test_weight_decides_where_the_story_goes() -> None:
    more: Content = TypeAdapter(Content).validate_python(
        {"kind": "fact", "subject": "bell", "predicate": "sold_by", "object": "Ilse", "known_to": ["ilse"]}
    )
    found = map_of([*VALE, more], (), "anybody")
    assert found is not None
    third = found.free.discoveries[2]
    state, wanted = WorldState(current_node="chapel"), {third.discovery_id: 2.0}
    assert next_aim(found.free, state, here="chapel", outcome="met", weights=wanted) == third
