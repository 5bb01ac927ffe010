"""A small world to play in freely: three places, two people, and two things that they keep to themselves."""

from __future__ import annotations

import json
from typing import Any

from tests.live import Client

MILL, FORD = "The Mill", "The Ford"
WHEEL, BELL = "The mill wheel was stopped by Orr.", "The chapel bell rings under the water."


def entity(id: str, kind: str, name: str, text: str) -> dict[str, Any]:
    return {"kind": "entity", "entity_id": id, "entity_kind": kind, "name": name, "description": text, "anchor": True}


def fact(subject: str, predicate: str, object: str, **more: Any) -> dict[str, Any]:
    return {"kind": "fact", "subject": subject, "predicate": predicate, "object": object, **more}


CONTENTS = [
    entity("mill", "place", "the Mill", "The mill stands still, and its wheel drips. Flour lies on everything."),
    entity("ford", "place", "the Ford", "The ford is a row of stones under brown water. A rope hangs across it."),
    entity("chapel", "place", "the Chapel", "The chapel has lost its roof. Candles burn in it all the same."),
    entity("orr", "character", "Orr", "The miller, a slow man with white hands."),
    entity("ilse", "character", "Ilse", "The ferrywoman, who laughs at weather."),
    entity("wheel", "object", "the mill wheel", "It does not turn."),
    entity("bell", "object", "the chapel bell", "Nobody has seen it for years."),
    fact("orr", "keeps_to", "the Mill"),
    fact("ilse", "keeps_to", "the Ford"),
    fact("wheel", "stopped_by", "Orr", known_to=["orr"], since=-100),
    fact("bell", "rings_under", "the water", known_to=["ilse"]),
]


async def free_world(client: Client, *, world_id: str = "vale", flood: str = "brown", **world: Any) -> str:
    """Makes the world; answers its id. `flood` is what its water looks like, by which one world is known from another
    of the same places and people."""
    named = {"display_name": "The Vale", "description": "A wet valley.", **world}
    await client.call("world.create", world_id=world_id, **named)
    evidence = [{"type": "source", "ref": "the book"}]
    contents = json.loads(json.dumps(CONTENTS).replace("brown", flood))
    changes = [{"content": one, "evidence": evidence} for one in contents]
    await client.call("canon.propose", world_id=world_id, changes=changes)
    await client.call("canon.review", world_id=world_id)
    return world_id


async def free_session(client: Client, **more: Any) -> str:
    """A free play in the small world; answers its session."""
    await free_world(client)
    return str((await client.raw("story.start_session", world_id="vale", seed=5, **more))["session_id"])
