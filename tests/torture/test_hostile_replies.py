"""Nobody stalls the house by answering it: every road that asks a model is answered with the worst that fits a reply.

Turns of a scene, talks, suggested replies, drafts of stories, the architect of worlds and free play are all asked for
while others ask whether the server lives.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.torture.test_hostile_sizes import Victim, attacked, story

from fabula.story.resources import ROLES
from fabula.testing.model_server import ModelServer

pytestmark = pytest.mark.torture

LONGEST = 199_000
_NODE = {"id": "a", "title": "a", "scene": "b", "goal": ""}
_STANDS_ON = {
    "section_summary": "x",
    "start_node": "a",
    "world_state_schema": {"fields": {}},
    "player_state_schema": {"fields": {}},
    "introduction": "x",
}


def _section(ways: list[dict[str, Any]]) -> str:
    patch = {"node_id": "a", "add_transitions": ways}
    return json.dumps({"nodes": [_NODE], "transition_patches": [patch], **_STANDS_ON})


def many(text: str) -> str:
    """The same again and again, with a number: whoever only repeats is cut off early."""
    return "".join(text.format(number, number) for number in range(LONGEST // len(text) + 1))[:LONGEST]


REPLIES: dict[str, str] = {
    "empty objects in lists": json.dumps({name: [{}] * 15_000 for name in ("nodes", "beats", "ops", "replies")}),
    "unknown fields": json.dumps({f"x{n}": n for n in range(14_000)}),
    "brackets that never close": '{"a":[' * 60 + "1," * 95_000,
    "brackets that break off": '{"a":[' * 60 + "1," * 90_000 + 'x"]',
    "ways on": _section([{"to": "a", "condition": {"key": f"k{n}", "op": "eq", "value": n}} for n in range(1_600)]),
    "phrases": _section([{"to": "a", "means": [f"w{n}"]} for n in range(2_400)]),
    "operations": json.dumps(
        {"ops": [{"type": "SetState", "key": f"k{n}", "value": [[]] * 9, "because": "x"} for n in range(600)]}
    ),
    "facts": json.dumps(
        [{"kind": "fact", "subject": "mara", "predicate": "p", "object": str(n), "quote": "word"} for n in range(900)]
    ),
    "paragraphs": many("One of {}.\n\n"),
    "sentences": many("So it is, {}. And on? "),
    "tags": many("<thought>a{}</thought><action>b{}</action>"),
    "voices": many('<dialogue who="mara">a{}</dialogue><narration>b{}</narration>'),
    "reasons": many("So it was, {}. ")[: LONGEST // 2]
    + many(
        '<update>[{{"type":"SetState","key":"k0","value":{},"because":"wibble {}"}}]</update>',
    )[: LONGEST // 2],
    "open tags": many("<thought>{}<dialogue><action>"),
    "quotes": many('"a{}" '),
    "names": many("Mara {} "),
    "blanks": many("{} \n\t  \n"),
    "fences": many("```json{}\n"),
    "marks": many("*_{}_*#-: "),
    "half numbers": json.dumps({"beats": []})[:-1] + ', "x": ' + "9" * 4_000 + "}",
}


async def ask_on_every_road(it: Victim, base_url: str, session: str, world: str, number: int) -> None:
    """One question on each; what comes of it does not matter."""
    resource = (await it.call("story_resources.list"))["result"]["resources"][0]["resource_id"]
    await it.call("story_draft.start", resource_id=resource, api_group_id="hostile", display_name=f"D{number}")
    await it.call("story.generate_plan", resource_id=resource, api_group_id="hostile")
    await it.call("session.run_turn", session, player_input=f"I wait for Mara, {number}.")
    await it.call("session.suggest_replies", session)
    await it.call("conversation.open", session, character_ids=["mara"])
    await it.call("session.run_turn", session, player_input=f"Tell me, Mara, {number}?")
    await it.call("conversation.close", session)
    built = await it.call("building.open", world_id=world)
    building = built["result"]["building_id"]
    await it.call("building.say", building_id=building, text=f"Mara is a smith {number}. The Keep is a place.")
    free = await it.call("story.start_session", world_id=world, api_group_id="hostile")
    if "session_id" in free:
        await it.call("session.run_turn", free["session_id"], player_input="I look around.")
        await it.call("session.end_scene", free["session_id"])


async def swift_table(it: Victim) -> str:
    """A play at the swift pace, at a table that has boundaries: one answer is the whole turn."""
    agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
    agents["director"]["extra"] = {"pace": "swift"}
    await it.call("preset.create", preset_id="quick", display_name="Quick", agents=agents)
    session = await story(it)
    await it.call("session.update_config", session, api_group_id="hostile", preset_id="quick")
    limits = await it.call("boundary.update", session, lines=["spiders"], veils=["torture"], rating="teen")
    assert "result" in limits
    return session


@pytest.mark.parametrize("reply", REPLIES)
async def test_nothing_that_a_model_answers_stalls_the_house(tmp_path: Path, reply: str) -> None:
    async with ModelServer(lambda _: REPLIES[reply][:LONGEST]) as model, attacked(tmp_path / "data") as it:
        api = {"api_id": "hostile", "display_name": "H", "provider": "open_ai", "base_url": model.base_url}
        await it.call("api.create", **api, api_key="sk-none", model="scripted-small")
        bindings = {f"{role}_api_id": "hostile" for role in ROLES}
        await it.call("api_group.create", api_group_id="hostile", display_name="H", bindings=bindings)
        session = await story(it)
        await it.call("session.update_config", session, api_group_id="hostile")
        swift = await swift_table(it)
        world = (await it.call("world.create", world_id="w", display_name="W"))["result"]["world_id"]
        await it.call("model.use", base_url=model.base_url, model="scripted-small", anyway=True)
        for number in range(2):
            await ask_on_every_road(it, model.base_url, session, world, number)
            await it.call("session.run_turn", swift, player_input=f"I knock, {number}.")
