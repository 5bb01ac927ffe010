"""The table of authority: every tool is tried by everybody, and allowed exactly where it is listed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from fabula.actions.audit_notes import VIOLATIONS_A_MINUTE
from fabula.actions.authority import allowed
from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.actions.care.audit import ListAudit, list_audit, prune_audit
from fabula.actions.house import House
from fabula.actions.tools.authority_table import AUTHORITY
from fabula.actions.tools.call_tool import call_tool
from fabula.actions.tools.callers import AGENTS, EVERYBODY, PEOPLE, Agent, Caller, Who
from fabula.actions.tools.registry import all_tools
from fabula.actions.tools.tool import Registry, tool
from fabula.actions.views import Command, Nothing, View
from fabula.adapters.world import SystemClock
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import Denied, FabulaError, InvalidParams, InvalidRequest
from fabula.testing.memory_store import memory_place
from fabula.wiring import open_house

ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_entity": {"entity_id": "orr"},
    "find_path": {"from": "orr", "to": "mara"},
    "who_knows": {"fact_id": "change_1"},
    "propose_changes": {
        "changes": [
            {
                "content": {"kind": "fact", "subject": "orr", "predicate": "likes", "object": "fish"},
                "authority": "system",
            }
        ]
    },
    "read_scene": {"turn_id": "turn_1"},
    "commit_scene": {"turn_id": "turn_1"},
    "decide_change": {"change_id": "change_1", "verdict": "reject", "reason": "no"},
    "undo_change": {"change_id": "change_1"},
    "get_story": {"story_id": "none"},
    "start_session": {"story_id": "none"},
    "run_turn": {"player_input": "Hello."},
    "roll_dice": {"formula": "2d6"},
    "search_memories": {"query": "rain"},
}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    with memory_place() as place:
        async with open_house(place.settings, store=place.store(SystemClock())) as house:
            await create_world(house, OPERATOR, CreateWorld(world_id="sarn", display_name="Sarn"))
            yield house


def caller(who: Who) -> Caller:
    if who in AGENTS:
        return Agent(name=who, world_id="sarn", session_id="session_1")
    return Actor(role=who, token_id=f"token_{who}")  # type: ignore[arg-type]


def arguments(name: str) -> dict[str, Any]:
    found = dict(ARGUMENTS.get(name, {}))
    known = all_tools().find(name)
    assert known is not None
    if known.of_session:
        found["session_id"] = "session_1"
    # A play is begun of a story or in a world, and not of both.
    if "world_id" in known.command.model_fields and "story_id" not in found:
        found["world_id"] = "sarn"
    return found


async def tried(house: House, registry: Registry, who: Caller, name: str, given: dict[str, Any]) -> str:
    """How a call ends: `ok`, `denied`, or the name of another error."""
    try:
        await call_tool(house, registry, who, name, given)
    except FabulaError as error:
        return error.name
    return "ok"


async def test_every_tool_is_tried_by_everybody_and_allowed_exactly_where_it_is_listed(house: House) -> None:
    wrong = []
    for one in all_tools():
        for who in EVERYBODY:
            end = await tried(house, all_tools(), caller(who), one.name, arguments(one.name))
            if (end != "denied") is not (who in AUTHORITY[one.name]) or end in ("invalid_params", "invalid_request"):
                wrong.append((one.name, who, end))
    assert wrong == []
    assert sorted(AUTHORITY) == sorted(one.name for one in all_tools())


async def test_an_agent_reaches_its_own_play_and_world_and_no_other(house: House) -> None:
    for who in AGENTS:
        for name in AUTHORITY:
            if who not in AUTHORITY[name]:
                continue
            for field in ("world_id", "session_id"):
                given = arguments(name)
                if field in given:
                    end = await tried(house, all_tools(), caller(who), name, {**given, field: "another"})
                    assert end == "denied", (who, name, field)


async def test_an_agent_speaks_with_the_authority_of_the_engine_and_never_with_a_game_masters(house: House) -> None:
    fact = {"kind": "fact", "subject": "orr", "predicate": "likes", "object": "fish"}
    for authority, end in (
        ("system", "ok"),
        ("player", "ok"),
        ("gm", "denied"),
        ("source", "denied"),
        (None, "denied"),
    ):
        given = {"world_id": "sarn", "changes": [{"content": fact, "authority": authority}]}
        assert await tried(house, all_tools(), caller("extractor"), "propose_changes", given) == end
        assert await tried(house, all_tools(), caller("author"), "propose_changes", given) == "ok"


async def test_a_tool_whose_check_fails_is_denied_and_nothing_is_done(house: House) -> None:
    done: list[str] = []

    class Done(View):
        ok: bool = True

    @allowed("player")
    async def act(house: House, actor: Actor, command: Nothing) -> Done:
        """Does something."""
        done.append("done")
        return Done()

    async def broken(house: House, caller: Caller, command: Command, session_id: str | None) -> str | None:
        raise ZeroDivisionError("the check is broken")

    registry = Registry([tool("act", Nothing, act, check=broken)], {"act": frozenset(["player", "admin"])})
    with pytest.raises(Denied, match="could not be found out") as refused:
        await call_tool(house, registry, OPERATOR, "act", {})
    assert refused.value.data == {"tool": "act", "why": "check_failed"} and done == []
    (noted,) = (await list_audit(house, OPERATOR, ListAudit())).violations
    assert (noted.caller, noted.what, noted.why) == ("admin", "act", "check_failed")


def test_the_registry_holds_no_tool_without_a_rule_and_no_rule_without_a_tool() -> None:
    @allowed("author")
    async def act(house: House, actor: Actor, command: Nothing) -> View:
        """Does something."""
        return View()

    @allowed("author")
    async def silent(house: House, actor: Actor, command: Nothing) -> View:
        return View()

    one = tool("act", Nothing, act)
    for tools, table, problem in (
        ([one], {}, "has no rule"),
        ([one], {"act": frozenset[Who]()}, "has no rule"),
        ([one], {"act": frozenset[Who](["admin"]), "ghost": frozenset[Who](["admin"])}, "ghost, which is no tool"),
        ([one, one], {"act": frozenset[Who](["admin"])}, "registered twice"),
        ([one], {"act": frozenset[Who](["player"])}, "lists somebody below it"),
        ([one], {"act": frozenset[Who](["admin", "narrator"])}, "no agent can be held"),
    ):
        with pytest.raises(ValueError, match=problem):
            Registry(tools, table)
    with pytest.raises(ValueError, match="needs a docstring"):
        tool("silent", Nothing, silent)


async def test_refusals_stand_in_the_audit_with_who_what_and_why(house: House) -> None:
    player = Actor(role="player", token_id="token_p")
    await tried(house, all_tools(), player, "undo_change", {"change_id": "c"})
    await tried(house, all_tools(), player, "no_such_tool", {})
    await tried(house, all_tools(), player, "get_session", {"session_id": "session_of_others"})
    await tried(house, all_tools(), caller("narrator"), "list_facts", {"world_id": "elsewhere"})
    listed = (await list_audit(house, OPERATOR, ListAudit())).violations
    assert [(one.caller, one.what, one.why, one.about) for one in listed] == [
        ("narrator", "list_facts", "out_of_reach", "elsewhere"),
        ("player", "get_session", "out_of_reach", "session_of_others"),
        ("player", "no_such_tool", "unknown_tool", ""),
        ("player", "undo_change", "not_listed", ""),
    ]
    about = await list_audit(house, OPERATOR, ListAudit(about="session_of_others"))
    assert [one.what for one in about.violations] == ["get_session"]
    first = await list_audit(house, OPERATOR, ListAudit(limit=3))
    rest = await list_audit(house, OPERATOR, ListAudit(cursor=first.next_cursor))
    assert [one.what for one in rest.violations] == ["undo_change"]
    assert (await list_audit(house, OPERATOR, ListAudit(since=house.clock.now_ms() + 60_000))).violations == []
    with pytest.raises(InvalidRequest, match="names nothing"):
        await list_audit(house, OPERATOR, ListAudit(cursor="audit:x"))
    assert await prune_audit(house) == 0


async def test_nobody_fills_the_audit_by_knocking(house: House) -> None:
    player = Actor(role="player", token_id="token_p")
    for _ in range(3 * VIOLATIONS_A_MINUTE):
        assert await tried(house, all_tools(), player, "undo_change", {"change_id": "c"}) == "denied"
    noted = len((await list_audit(house, OPERATOR, ListAudit(limit=1000))).violations)
    assert VIOLATIONS_A_MINUTE <= noted <= 2 * VIOLATIONS_A_MINUTE


async def test_arguments_that_are_too_large_too_deep_or_of_the_wrong_shape_are_refused(house: House) -> None:
    deep: Any = "deep"
    for _ in range(80):
        deep = [deep]
    refused: list[tuple[dict[str, Any], type[FabulaError]]] = [
        ({"world_id": "x" * 300_000}, InvalidRequest),
        ({"world_id": deep}, InvalidRequest),
        ({"world_id": "a\x00b"}, InvalidRequest),
        ({"world_id": 7}, InvalidParams),
        ({"world_id": "sarn", "surprise": True}, InvalidParams),
        ({"world_id": "x" * 1000}, InvalidRequest),
    ]
    for given, problem in refused:
        with pytest.raises(problem):
            await call_tool(house, all_tools(), OPERATOR, "get_world", given)
    with pytest.raises(InvalidRequest, match="give its id as `session_id`"):
        await call_tool(house, all_tools(), OPERATOR, "get_session", {"session_id": 5})


async def test_lists_are_short_unless_more_is_asked_for_and_a_giant_answer_is_refused(house: House) -> None:
    for number in range(14):
        world = CreateWorld(world_id=f"w{number:02}", display_name="W", description="x" * 20_000)
        await create_world(house, OPERATOR, world)
    with pytest.raises(InvalidRequest, match="smaller `limit`"):
        await call_tool(house, all_tools(), OPERATOR, "list_worlds", {})
    page = orjson.loads(await call_tool(house, all_tools(), OPERATOR, "list_worlds", {"limit": 2}))
    assert [one["world_id"] for one in page["worlds"]] == ["sarn", "w00"] and page["next_cursor"]


def test_people_are_listed_upwards() -> None:
    """Whoever may, those above may, too: nobody loses a tool by getting a higher role."""
    for name, who in AUTHORITY.items():
        people = [one in who for one in PEOPLE]
        assert people == sorted(people), name


async def test_an_agent_that_names_its_play_need_not_name_the_world(house: House) -> None:
    agent, mine = caller("keeper"), {"session_id": "session_1"}
    assert await tried(house, all_tools(), agent, "list_facts", mine) == "not_found"
    assert await tried(house, all_tools(), agent, "list_facts", {}) == "denied"
    assert await tried(house, all_tools(), agent, "list_facts", {**mine, "world_id": "other"}) == "denied"
    assert await tried(house, all_tools(), agent, "list_facts", {"session_id": "session_2"}) == "denied"
