"""Nobody stalls the house: a server is sent the largest of everything while others ask whether it lives.

No request, story or lorebook may make `/healthz` wait longer than a quarter of a second for work of this server, or the
process grow by more than 200 MB. The server, who attacks and who asks are three processes; the watchdog tells what of a
stall was the server's own work, so that a busy machine is not mistaken for a slow server.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import Any

import httpx
import pytest
from PIL import Image
from tests.fork_server import server_process
from tests.game_client import game
from tests.live import GATE_GRAPH, sse
from tests.stalls import LONGEST_WORK_S, longest_work, stall_lines
from websockets.exceptions import ConnectionClosed

from fabula.story.resources import ROLES

pytestmark = pytest.mark.torture

MOST_GROWTH_MB = 200
MIB = 1024 * 1024
RPC = {"jsonrpc": "2.0", "id": "1"}
log = logging.getLogger(__name__)
WATCHER = Path(__file__).with_name("health_watcher.py")


@dataclass(kw_only=True)
class Victim:
    """The server that is attacked, and what was seen of it meanwhile."""

    http: httpx.AsyncClient
    log: Path

    async def call(self, method: str, session: str | None = None, /, **params: Any) -> dict[str, Any]:
        envelope = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        body = json.dumps(envelope if session is None else {**envelope, "session_id": session})
        return await self.send(body.encode())

    async def send(self, body: bytes) -> dict[str, Any]:
        answer = await self.http.post("/rpc", content=body, headers={"content-type": "application/json"})
        found: dict[str, Any] = {"events": sse(answer.text)} if "event-stream" in answer.headers["content-type"] else {}
        return found or dict(answer.json())


@asynccontextmanager
async def attacked(data_dir: Path) -> AsyncIterator[Victim]:
    """A server that is asked all the time whether it lives; judged when the block ends."""
    with server_process(data_dir, settings={"FABULA_SAMPLES": "false"}) as (process, address):
        async with httpx.AsyncClient(base_url=address, timeout=300) as http:
            it = Victim(http=http, log=data_dir / "server.log")
            await it.call("dashboard.get")
            await asyncio.sleep(2)
            ends, url = data_dir / "ends", httpx.URL(address)
            watcher = await asyncio.create_subprocess_exec(
                *(sys.executable, str(WATCHER), url.host, str(url.port), str(process.pid), str(ends)),
                stdout=asyncio.subprocess.PIPE,
            )
            assert watcher.stdout is not None
            assert await watcher.stdout.readline() == b"watching\n"
            try:
                yield it
            finally:
                await asyncio.sleep(0.3)
                ends.touch()
                longest_s, growth_mb = map(float, (await watcher.communicate())[0].split())
            work_s, lines = longest_work(it.log), "\n".join(stall_lines(it.log))
            told = "longest wait %.3f s, longest work %.3f s, growth %.0f MB\n%s"
            log.warning(told, longest_s, work_s, growth_mb, lines)
            assert work_s < LONGEST_WORK_S, lines
            assert growth_mb < MOST_GROWTH_MB


async def story(it: Victim, graph: dict[str, Any] = GATE_GRAPH, lorebooks: list[str] = []) -> str:  # noqa: B006
    """A session of a story with this graph and these books; answers its id."""
    await it.call("schema.create", schema_id="s", display_name="S", fields={})
    mara = {"id": "mara", "name": "M", "personality": "x", "style": "x", "schema_id": "s", "system_prompt": "x"}
    await it.call("character.create", content=mara)
    made = await it.call("story_resources.create", story_concept="x", character_ids=["mara"], lorebook_ids=lorebooks)
    told = await it.call(
        "story.create",
        resource_id=made["result"]["resource_id"],
        graph=graph,
        world_schema_id="s",
        player_schema_id="s",
        introduction="x",
    )
    return str((await it.call("story.start_session", story_id=told["result"]["story_id"]))["session_id"])


async def bodies(it: Victim) -> None:
    """JSON of every evil shape, as large as the door lets in and larger."""
    head = b'{"jsonrpc":"2.0","id":"1","method":"session.update_variables","session_id":"x","params":{"update":'
    for size in (MIB - 200, 8 * MIB - 200, 16 * MIB):
        for body in (
            b"[" + b"0," * (size // 2) + b"0]",
            b"[" + b'"",' * (size // 3) + b'""]',
            b"[" * (size // 2) + b"]" * (size // 2),
            b"{" + b'"a":{' * (size // 5),
            b'"' + b"\\u0041" * (size // 6) + b'"',
            b'"' + b"x" * size + b'"',
            b"[" + b"1e400," * 99_000 + b"1]",
            b"[" + b'{"a":1},' * 45_000 + b"1]",
        ):
            await it.send(head + body + b"}}")


async def many_bodies_at_once(it: Victim) -> None:
    body = b'{"jsonrpc":"2.0","id":"1","method":"api.list","params":{"x":"' + b"x" * (MIB - 200) + b'"}}'
    await asyncio.gather(*(it.send(body) for _ in range(40)))


async def variables(it: Victim) -> None:
    """As much state as a play may have, then many small changes."""
    session = await story(it)
    for key in ("a", "b"):
        ops = [{"type": "SetState", "key": key, "value": "x" * 90_000}]
        await it.call("session.update_variables", session, update={"ops": ops})
    for _ in range(3):
        ops = [{"type": "SetState", "key": f"k{n}", "value": str(n)} for n in range(500)]
        await it.call("session.update_variables", session, update={"ops": ops})
    await it.call("session.run_turn", session, player_input="I wait.")


async def many_plays(it: Victim) -> None:
    """As many plays of the largest variables as one may have open, all at once."""
    await story(it)
    story_id = (await it.call("story.list"))["result"]["stories"][0]["story_id"]

    async def play(value: Any) -> None:
        session = (await it.call("story.start_session", story_id=story_id))["session_id"]
        ops = [{"type": "SetState", "key": key, "value": value} for key in ("a", "b")]
        changed = await it.call("session.update_variables", session, update={"ops": ops})
        assert "result" in changed, changed
        frames = (await it.call("session.run_turn", session, player_input="I wait."))["events"]
        assert frames[-1]["data"]["frame"]["type"] == "completed"

    values: list[Any] = [[[] for _ in range(2_400)], [n + 0.5 for n in range(5_800)], "x" * 99_000]
    for value in values:
        await asyncio.gather(*(play(value) for _ in range(64)))


async def messages(it: Victim) -> None:
    """The longest messages that may be said, and a turn after them."""
    session = await story(it)
    for _ in range(20):
        await it.call(
            "session_message.create",
            session,
            kind="narration",
            speaker_id="n",
            speaker_name="N",
            text="word, " * 3_300,
        )
    for _ in range(3):
        await it.call("session.run_turn", session, player_input="and then " * 2_200)
    await it.call("session.get", session)


async def reading_again(it: Victim) -> None:
    """A play of long lines is told again, looked through and written down, by many at once."""
    session = await story(it)
    for n in range(220):
        said = {"kind": "narration", "speaker_id": "n", "speaker_name": "N", "text": f"{n} " + "Étude. " * 2_800}
        await it.call("session_message.create", session, **said)
    await asyncio.gather(*(it.call("session.recap", session) for _ in range(4)))
    await asyncio.gather(*(it.call("session.find", session, query="etude", limit=200) for _ in range(4)))
    kinds = ("markdown", "html", "text", "epub", "sillytavern_jsonl")
    await asyncio.gather(*(it.call("session.export_prepare", session, format=kind) for kind in kinds))


async def lore(it: Victim) -> None:
    """Two thousand entries, each of which calls up the next, in every way of matching."""
    for name, keyword, match in (("w", "word{}", "word"), ("p", "the {} way", "word"), ("s", "aaa{}aa", "substring")):
        entries: list[dict[str, Any]] = [
            {
                "entry_id": f"e{n}",
                "title": f"t{n}",
                # No two words are alike: who tells it word for word must not seem to go round in circles.
                "content": f"It leads to {keyword.format(n + 1)}. " + " ".join(f"aaa{word}" for word in range(80)),
                "keywords": [keyword.format(n)],
                "recursive": True,
                "match": match,
            }
            for n in range(2000)
        ]
        await it.call("lorebook.create", lorebook_id=name, display_name=name, entries=entries)
    session = await story(it, lorebooks=["w", "p", "s"])
    for words in ("I take word0 now", "It is the 0 way.", "aaa0aa"):
        frames = (await it.call("session.run_turn", session, player_input=words))["events"]
        assert frames[-1]["data"]["frame"]["type"] == "completed"


async def large_lorebook(it: Victim) -> None:
    """Ten thousand entries, of which one after the other is changed; and whoever asks for all methods is told them."""
    content = "Old roads lead to the sea. " * 20
    entries = [
        {"entry_id": f"e{n}", "title": f"Title {n}", "content": content, "keywords": [f"k{n}"]} for n in range(10_000)
    ]
    await it.call("lorebook.create", lorebook_id="w", display_name="w", entries=entries)
    for n in range(5):
        await it.call("lorebook_entry.update", lorebook_id="w", entry_id=f"e{n}", title="New")
        await it.call("lorebook_entry.create", lorebook_id="w", entry_id=f"n{n}", title="New", content="x")
        await it.call("lorebook_entry.list", lorebook_id="w", limit=10)
        await it.call("lorebook.list")
        await it.call("rpc.discover")


async def nonsense(it: Victim) -> None:
    """Lines of words that nobody knows, in a long scene and with many titles of lore."""
    lots = Random(1)

    def words(count: int) -> str:
        return " ".join("".join(lots.choices(ascii_lowercase, k=7)) for _ in range(count))

    entries = [{"entry_id": f"e{n}", "title": words(1), "content": "x", "keywords": [words(1)]} for n in range(2000)]
    await it.call("lorebook.create", lorebook_id="w", display_name="w", entries=entries)
    node = {"id": "n", "title": "T", "scene": words(12_000), "goal": words(1_000), "characters": ["mara"]}
    session = await story(it, graph={"start_node": "n", "nodes": [{**node, "transitions": []}]}, lorebooks=["w"])
    for line in (words(2_000), "Mara " * 3_000, "a, " * 6_000, words(20)):
        frames = (await it.call("session.run_turn", session, player_input=line))["events"]
        assert frames[-1]["data"]["frame"]["type"] == "completed"


async def frames_of_a_game(it: Victim) -> None:
    """States of very many values, for very many NPCs, and notices that all of them keep; nothing is read meanwhile."""
    tags = [{"name": "a"}] * 4_990
    crowd = [f"npc{n}" for n in range(1_000)]
    async with game(str(it.http.base_url), answers_state=False) as mine:
        for n in range(150):
            await mine.send("agent_state_snapshot", agent_id=f"npc{n}", tags=tags)
            await mine.send("notification_event", agent_ids=crowd, event_type="x", text="old roads " * 90)
            await mine.send("notification_event", agent_ids=crowd, event_type="x", text="old roads " * 6_000)
            await mine.send("ping", id="x" * 60_000)
            await asyncio.sleep(0.05)
        with suppress(ConnectionClosed):
            while (await mine.next(seconds=60))["type"] != "pong":
                pass
    await asyncio.sleep(5)


async def graph(it: Victim) -> None:
    """A story of two thousand scenes, each with ways to many others."""
    nodes: list[dict[str, Any]] = [
        {
            "id": f"n{n}",
            "title": f"Scene {n}",
            "scene": f"In room {n} a lamp burns. Nobody has come here since the year {n}. " * 12,
            "goal": "g",
            "characters": ["mara"],
            "transitions": [{"to": f"n{(n * 7 + way) % 2000}"} for way in range(10)],
        }
        for n in range(2000)
    ]
    session = await story(it, graph={"start_node": "n0", "nodes": nodes})
    await it.call("session.run_turn", session, player_input="I go on.")
    await it.call("session.follow_story", session)


def ink(source: str) -> Callable[[Victim], Awaitable[None]]:
    async def attack(it: Victim) -> None:
        made = await it.call("story.create_ink", display_name="x", source=source)
        if "result" in made:
            started = await it.call("story.start_session", story_id=made["result"]["story_id"])
            if "result" in started:
                await it.call("session.run_turn", started["session_id"], choice=0)
                await it.call("session.get", started["session_id"])
        else:
            assert made["error"]["code"] in (-32600, 50001), made

    return attack


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def picture(side: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGBA", (side, side), (20, 30, 40, 255)).save(buffer, "PNG")
    return buffer.getvalue()


async def archives(it: Victim) -> None:
    """Packages that unpack to far more than they are."""
    zeros = b'{"a":[' + b"0," * (20 * MIB) + b"0]}"
    many = b'{"a":[' + b"0," * 99_000 + b"0]}"
    for files in (
        {"manifest.json": zeros},
        {"manifest.json": b"{}", **{f"stories/{n}.json": many for n in range(150)}},
        {"manifest.json": b"[" * (30 * MIB)},
    ):
        slot = (await it.call("data_package.import_prepare"))["result"]["import_id"]
        answer = await it.http.post(f"/upload/package_import:{slot}/archive", content=zipped(files))
        told = answer.json() if answer.is_error else await it.call("data_package.import_commit", import_id=slot)
        assert told.get("error", told)["code"] == -32600, told


async def misfits(it: Victim) -> None:
    """Requests and cards that do not fit in as many places as they have values."""
    fields = {f"x{n}": n for n in range(98_000)}
    for method in ("session.run_turn", "session.update_variables", "lorebook.create", "schema.create"):
        answer = await it.send(json.dumps({**RPC, "method": method, "session_id": "x", "params": fields}).encode())
        assert "error" in answer
    wrong: list[list[dict[str, Any]]] = [[{}] * 9_990, [{"keywords": [{}] * 9} for _ in range(3_000)]]
    for entries in wrong:
        params = {"lorebook_id": "a", "display_name": "x", "entries": entries}
        answer = await it.send(json.dumps({**RPC, "method": "lorebook.create", "params": params}).encode())
        assert "error" in answer
    closing = b"[" * 30 + b"0," * 70 + b"]" * (8 * MIB - 200)
    await asyncio.gather(*(it.send(closing) for _ in range(4)))
    card = {"id": "a", "name": "a", "personality": "a", "style": "a", "schema_id": "s", "system_prompt": "a"}
    manifest = {
        "format": "sillystage_character_card",
        "version": 1,
        "character_id": "a",
        "content_path": "content.json",
        "cover_path": "cover.png",
        "cover_mime_type": "image/png",
    }
    fact = {"text": "x", **{f"x{n}": n for n in range(95_000)}}
    archive = zipped(
        {
            "manifest.json": json.dumps(manifest).encode(),
            "content.json": json.dumps({**card, "facts": [fact]}).encode(),
            "cover.png": picture(8),
        }
    )
    answers = await asyncio.gather(*(it.http.post("/upload/characters:new/archive", content=archive) for _ in range(4)))
    assert [answer.status_code for answer in answers] == [400] * 4


async def pictures(it: Victim) -> None:
    """Packages of covers that are small as files and large as pictures, several at once."""
    names = [f"c{n}" for n in range(12)]
    manifest = {
        "format": "sillystage_data_package",
        "version": 1,
        "created_at_ms": 0,
        "contents": {"characters": {"ids": names, "count": len(names)}},
        "characters": [
            {
                "character_id": name,
                "content_path": f"characters/{name}/content.json",
                "cover_path": f"characters/{name}/cover.bin",
                "cover_content_type": "image/png",
            }
            for name in names
        ],
    }
    card = {"name": "a", "personality": "a", "style": "a", "schema_id": "s", "system_prompt": "a"}
    files = {"manifest.json": json.dumps(manifest).encode()}
    cover = picture(4096)
    for name in names:
        files[f"characters/{name}/content.json"] = json.dumps({**card, "id": name}).encode()
        files[f"characters/{name}/cover.bin"] = cover
    archive = zipped(files)

    async def upload() -> None:
        slot = (await it.call("data_package.import_prepare"))["result"]["import_id"]
        answer = await it.http.post(f"/upload/package_import:{slot}/archive", content=archive)
        assert not answer.is_error, answer.text

    await asyncio.gather(*(upload() for _ in range(6)))


async def many_resources(it: Victim) -> None:
    """Long lists of long things."""
    for n in range(150):
        await it.call("player_profile.create", player_profile_id=f"p{n}", display_name="x", description="x" * 100_000)
    await it.call("player_profile.list")
    await it.call("dashboard.get")


async def presets(it: Victim) -> None:
    """Prompts as long as a request, asked for in every way."""
    entries = [
        {"entry_id": f"e{n}", "display_name": "x", "kind": "custom_text", "text": "{{word}} and so on. " * 4_000}
        for n in range(10)
    ]
    agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
    agents["narrator"] = {"modules": [{"module_id": "task", "entries": entries}]}
    await it.call("preset.create", preset_id="a", display_name="A", agents=agents)
    await it.call("preset_preview.template", preset_id="a", agent="narrator")
    session = await story(it)
    await it.call("session.update_config", session, preset_id="a")
    await it.call("session.run_turn", session, player_input="I wait.")
    await it.call("preset.list")


async def schemas(it: Victim) -> None:
    """Thousands of variables in the world, and a play of them."""
    fields = {f"field_{n}": {"value_type": "int", "default": n, "description": "x" * 20} for n in range(450)}
    await it.call("schema.create", schema_id="s", display_name="S", fields=fields)
    session = await story(it)
    for _ in range(3):
        await it.call("session.run_turn", session, player_input="I wait.")
    await it.call("session.get_variables", session)
    await it.call("schema.list")


async def exports(it: Victim) -> None:
    """Everything large in one package, out and in again."""
    await graph(it)
    stories = (await it.call("story.list"))["result"]["stories"]
    made = await it.call("data_package.export_prepare", story_ids=[one["story_id"] for one in stories])
    slot = made["result"]["export_id"]
    archive = await it.http.get(f"/download/package_export:{slot}/archive")
    again = (await it.call("data_package.import_prepare"))["result"]["import_id"]
    await it.http.post(f"/upload/package_import:{again}/archive", content=archive.content)
    await it.call("data_package.import_commit", import_id=again, on_conflict="rename")


async def memories(it: Victim) -> None:
    """Hundreds of memories of words that nobody has, then questions about them, several at once."""
    session, dice = await story(it), Random(14)
    await it.call("session.run_turn", session, player_input="Hello.")

    def words(number: int) -> str:
        return " ".join("".join(dice.choices(ascii_lowercase, k=dice.randint(3, 6))) for _ in range(number))

    for _ in range(100):
        texts = [words(800)[:3_990] for _ in range(8)]
        await asyncio.gather(*(it.call("memory.add", session, text=text) for text in texts))
    for _ in range(2):
        query = words(350)[:1_990]
        found = await it.call("memory.search", session, query=query)
        assert "result" in found, found
    await it.call("memory.list", session, about="zzzz", limit=1000)
    await it.call("session.run_turn", session, player_input=words(300))


ATTACKS: dict[str, Callable[[Victim], Awaitable[None]]] = {
    "bodies": bodies,
    "many bodies at once": many_bodies_at_once,
    "variables": variables,
    "many plays": many_plays,
    "messages": messages,
    "memories": memories,
    "reading again": reading_again,
    "lore": lore,
    "large lorebook": large_lorebook,
    "nonsense": nonsense,
    "frames of a game": frames_of_a_game,
    "graph": graph,
    "presets": presets,
    "schemas": schemas,
    "exports": exports,
    "archives": archives,
    "misfits": misfits,
    "pictures": pictures,
    "many resources": many_resources,
    "a shuffle": ink("{shuffle:\n" + "".join(f"- one of {n}\n" for n in range(8000)) + "}\n* [Go] -> END\n"),
    "alternatives": ink("{~" + "|".join(f"a{n}" for n in range(8000)) + "}\n* [Go] -> END\n"),
    "variables of ink": ink("".join(f"VAR v{n} = 1\n" for n in range(150_000)) + "-> END\n"),
    "choices": ink("".join(f"* [choice {n}]\n text\n" for n in range(3000)) + "- -> END\n"),
    "braces": ink("VAR x = 1\n" + "{x}" * 20_000 + "\n* [Go] -> END\n"),
    "prose": ink("The old road goes on and on, and rain falls.\n" * 900 + "-> next\n=== next\n" + "On.\n" * 30_000),
    "doubling": ink('VAR s = "xxxxxxxx"\n-> on\n=== on\n~ s = s + s\n-> on\n'),
    "blanks": ink("VAR x = 3\n* [Go] -> on\n=== on\n~ x = x * x\n{x > 0: -> on}\n-> on\n"),
    "one line": ink("The old road goes on. " * 150_000),
    "long lines": ink(("The old road goes on. " * 2_200 + "\n") * 75 + "* [Go] -> END\n"),
    "endless": ink("-> on\n=== on\nOn and on.\n-> on\n"),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_nothing_that_is_sent_stalls_the_house(tmp_path: Path, attack: str) -> None:
    async with attacked(tmp_path / "data") as it:
        await ATTACKS[attack](it)
