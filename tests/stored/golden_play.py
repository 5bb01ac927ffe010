"""Plays everything that Fabula stores over its public doors, so that a data folder holds one of each.

It speaks HTTP and WebSocket only and imports nothing of Fabula: it plays with any version that keeps to the contract.
What is to stand in the folder as interrupted (turns, a draft, an NPC's answer) waits for a model that never answers;
whoever plays kills the server afterwards.
"""

from __future__ import annotations

import base64
import io
import json
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from websockets.sync.client import ClientConnection, connect

Answer = dict[str, Any]

API_KEY = "sk-golden-0123456789"
GAME = "golden-game"
UNCONFIRMED_AFTER_S = 3
STEADY_LINE = "The wind turns, and the lantern answers it with a long, low hum."
NPC_IS_TOLD = "My name is Ann and I seek the silver whistle."
ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
GATE_GRAPH: Answer = {
    "start_node": "gate",
    "nodes": [
        {
            "id": "gate",
            "title": "The Gate",
            "scene": "A tall iron gate in the rain. Mara leans on it.",
            "goal": "Persuade Mara to open the gate.",
            "characters": ["mara"],
            "transitions": [{"to": "garden", "condition": {"key": "gate_open", "op": "eq", "value": True}}],
        },
        {
            "id": "garden",
            "title": "The Garden",
            "scene": "A quiet garden behind the gate, full of roses.",
            "goal": "Rest a while.",
            "characters": ["mara"],
            "transitions": [],
        },
    ],
}
INK = """
VAR name = ""
LIST mood = calm, (wary), angry
The mill is dark. # night
~ name = input("Your name?")
"{name}," says a voice. The sign on the door is hard to read. # context
~ generate("a line about the dark mill")
-> door

=== door
+ [Knock] {!Nobody answers.|A shutter moves.} -> door
* [Talk to the miller] -> agent(-> miller, -> inside)
* [Leave] -> END

=== miller
I grind rye for the village and nothing for strangers.
My daughter Lise keeps the key of the loft.
-> DONE

=== inside
The miller opens the door, and flour hangs in the air.
-> continue(-> loft)

=== loft
In the loft there is a cradle full of letters.
-> END
"""


class Door:
    """The protocol of a running server: calls, turns and files."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = httpx.Client(base_url=address, timeout=120)

    def call(self, method: str, session_id: str | None = None, /, **params: Any) -> Answer:
        answer: Answer = self.http.post("/rpc", json=_request(method, session_id, params)).json()
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: Answer = answer["result"]
        return {**result, "session_id": answer["session_id"]} if method == "story.start_session" else result

    def turn(self, session_id: str, words: str | int | None = None, *, method: str = "session.run_turn") -> Answer:
        """Plays a turn by words or a choice to its end; answers its last frame."""
        body = _request(method, session_id, _move(words))
        response = self.http.post("/rpc", json=body)
        frames = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]
        frame: Answer = frames[-1].get("frame", frames[-1])
        return frame

    def begin_turn(self, session_id: str, words: str, *, until: str) -> None:
        """Plays a turn until its stream shows the mark, and leaves: the server goes on without us."""
        body = _request("session.run_turn", session_id, _move(words))
        with self.http.stream("POST", "/rpc", json=body) as response:
            for line in response.iter_lines():
                if until in line:
                    return
        raise RuntimeError(f"The turn ended before '{until}'.")

    def upload(self, place: str, data: bytes) -> None:
        self.http.post(f"/upload/{place}", content=data).raise_for_status()


def _request(method: str, session_id: str | None, params: Answer) -> Answer:
    body = {"jsonrpc": "2.0", "id": "golden", "method": method, "params": params}
    return body if session_id is None else {**body, "session_id": session_id}


def _move(words: str | int | None) -> Answer:
    if words is None:
        return {}
    return {"choice": words} if isinstance(words, int) else {"player_input": words}


class _Model(BaseHTTPRequestHandler):
    """A model server: its `steady` model says a line, its `broken` one refuses, its `silent` one says nothing."""

    asked = threading.Semaphore(0)
    ended = threading.Event()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if body["model"] == "steady":
            self._send(200, "text/event-stream", _steady_stream())
            return
        if body["model"] == "silent":
            self.asked.release()
            self.ended.wait()
        refusal = {"error": {"message": "This model is broken.", "type": "golden"}}
        with suppress(ConnectionError):  # whoever asked the silent model may be gone by now
            self._send(400, "application/json", json.dumps(refusal).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


def _steady_stream() -> bytes:
    pieces = [{"delta": {"content": f"{word} "}, "index": 0, "finish_reason": None} for word in STEADY_LINE.split()]
    end = {"delta": {}, "index": 0, "finish_reason": "stop"}
    usage = {"prompt_tokens": 100, "completion_tokens": len(pieces), "total_tokens": 100 + len(pieces)}
    frames: list[Answer] = [{"choices": [one], "model": "steady"} for one in (*pieces, end)]
    frames.append({"choices": [], "model": "steady", "usage": usage})
    return b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"


@contextmanager
def scripted_models(port: int = 0) -> Iterator[str]:
    """The address of a server with the three models; when it ends, the silent one refuses what it was asked."""
    _Model.ended.clear()
    server = ThreadingHTTPServer(("127.0.0.1", port), _Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        _Model.ended.set()
        server.shutdown()
        server.server_close()


def play_everything(door: Door, models: str) -> Answer:
    """Fills the server's store and leaves work of every kind under way; answers the names of what was made."""
    _make_models(door, models)
    _make_presets(door)
    gate = _make_gate_story(door)
    sessions = {**_play_worlds(door), **_play_the_gate(door, gate), **_play_ink(door)}
    drafts = _build_drafts(door)
    files = _leave_files(door)
    npc = {**_meet_npcs(door), "unconfirmed": _leave_unconfirmed(door, "Is the ferry safe tonight?")}
    sessions |= _interrupt_turns(door, gate)
    drafts |= _interrupt_drafts(door)
    return {"sessions": sessions, "drafts": drafts, "files": files, "npc": npc}


def play_and_look(door: Door, models: str) -> Answer:
    """The same, with what the server answers about everything while the interrupted work still waits."""
    names = play_everything(door, models)
    answers = _look(door)
    time.sleep(UNCONFIRMED_AFTER_S)
    names["npc"]["open"] = _leave_unconfirmed(door, "Who rings the bell?")
    return {"names": names, "answers": answers}


def _make_models(door: Door, models: str) -> None:
    for model in ("broken", "silent", "steady"):
        api = {"api_id": model, "display_name": model.title(), "provider": "open_ai", "base_url": f"{models}/v1"}
        door.call("api.create", **api, api_key=API_KEY, model=model)
    named = {"api_id": "by-name", "display_name": "Key by name", "provider": "open_ai", "model": "any"}
    door.call("api.create", **named, base_url="https://models.example.org/v1", api_key="env:GOLDEN_KEY")
    _make_group(door, "a-understudy")
    _make_group(door, "broken", director="broken")
    _make_group(door, "steady", narrator="steady")
    _make_group(door, "silent-actor", narrator="steady", actor="silent")
    _make_group(door, "silent-director", director="silent")
    _make_group(door, "silent-architect", architect="silent")
    _make_group(door, "silent-soon")


def _make_group(door: Door, name: str, **others: str) -> None:
    door.call("api_group.create", api_group_id=name, display_name=name.replace("-", " "), bindings=_bindings(**others))


def _bindings(**others: str) -> dict[str, str]:
    """The understudy for all roles but those that are named."""
    return {f"{role}_api_id": others.get(role, "understudy") for role in ROLES}


def _make_presets(door: Door) -> None:
    for pace in ("ensemble", "swift"):
        agents: Answer = {role: {"modules": []} for role in ROLES}
        agents["director"]["extra"] = {"pace": pace}
        agents["narrator"] |= {"temperature": 0.4, "max_tokens": 400}
        door.call("preset.create", preset_id=pace, display_name=pace.title(), agents=agents)
    place = {"preset_id": "ensemble", "agent": "narrator", "module_id": "task"}
    door.call("preset_entry.create", **place, entry_id="short", display_name="Short", text="Keep it short.")


def _make_gate_story(door: Door) -> str:
    gate = {"gate_open": {"value_type": "bool", "default": False, "description": "Is the gate open?"}}
    tone = {"tone": {"value_type": "string", "default": "plain", "description": None, "enum_values": ["plain", "grim"]}}
    door.call("schema.create", schema_id="gate-world", display_name="World", tags=["world"], fields={**gate, **tone})
    coins = {"coins": {"value_type": "int", "default": 3, "description": "Coins in the purse."}}
    door.call("schema.create", schema_id="gate-player", display_name="Player", fields=coins)
    trust = {"trust": {"value_type": "int", "default": 0, "description": None}}
    door.call("schema.create", schema_id="gate-keeper", display_name="Keeper", fields=trust)
    _make_mara(door)
    entry = {"entry_id": "roses", "title": "Roses", "content": "The roses bloom in winter.", "keywords": ["rose"]}
    door.call("lorebook.create", lorebook_id="gate-lore", display_name="Lore", entries=[entry])
    profile = {"display_name": "Ann", "description": "A pedlar with wet boots."}
    door.call("player_profile.create", player_profile_id="pedlar", **profile)
    resource = door.call(
        "story_resources.create",
        display_name="The gate",
        story_concept="A gate that must be opened.",
        character_ids=["mara"],
        lorebook_ids=["gate-lore"],
        world_schema_id_seed="gate-world",
    )
    story = door.call(
        "story.create",
        resource_id=resource["resource_id"],
        display_name="The Gate",
        graph=GATE_GRAPH,
        world_schema_id="gate-world",
        player_schema_id="gate-player",
        introduction="Rain falls on the old road.",
        common_variables=[{"scope": "world", "key": "gate_open", "display_name": "Gate"}],
    )
    return str(story["story_id"])


def _make_mara(door: Door) -> None:
    mara = {
        "id": "mara",
        "name": "Mara",
        "personality": "A wary gatekeeper who likes riddles.",
        "style": "dry and short",
        "schema_id": "gate-keeper",
        "system_prompt": "You are {{char}}; {{user}} stands before you.",
        "tags": ["keeper"],
        "folder": "golden/gate",
    }
    door.call("character.create", content=mara)
    door.upload("character:mara/cover", PIXEL)


def _start(door: Door, story_id: str, **settings: Any) -> str:
    return str(door.call("story.start_session", story_id=story_id, **settings)["session_id"])


def _play(door: Door, session_id: str, *moves: str | int) -> None:
    for move in moves:
        frame = door.turn(session_id, move)
        if frame["type"] != "completed":
            raise RuntimeError(f"{move!r}: {frame}")


def _play_worlds(door: Door) -> Answer:
    """The two sample worlds, one in each pace, with branches and forks."""
    understudy = {"api_group_id": "a-understudy"}
    profile = {"player_profile_id": "lighthouse-inspector"}
    slow = _start(door, "lighthouse-the-unlit-hour", preset_id="ensemble", **profile, **understudy)
    _play(door, slow, "Good morning. Are you Tobias?", "What happened on the night of the wreck?")
    _play(door, slow, "Take me up to the lighthouse, please.")
    door.call("session.backtrack", slow, turns=1)
    _play(door, slow, "I would rather have breakfast. Which way to the inn?")
    door.turn(slow, method="session.regenerate")
    swift = _start(door, "caravan-the-walking-court", preset_id="swift", **understudy)
    _play(door, swift, "Good morning. Who are you?", "What are your camels called?", "I stay for breakfast.")
    door.call("session.update_config", swift, token_budget=1_000_000)
    tree = door.call("session.branches", swift)
    second = next(turn["turn_id"] for turn in tree["turns"] if turn["turn_index"] == 2)
    fork = str(door.call("session.fork", swift, turn_id=second, display_name="Another morning")["session_id"])
    _play(door, fork, "I follow the bells of the camels.")
    return {"ensemble": slow, "swift": swift, "fork": fork}


def _play_the_gate(door: Door, story_id: str) -> Answer:
    """One play changed by hand, one that ended, one whose last turn failed, one whose turn was cancelled."""
    changed = _start(door, story_id, player_profile_id="pedlar", preset_id="ensemble", api_group_id="steady")
    _play(door, changed, "Hello, Mara.", "I look at the roses.")
    _change_by_hand(door, changed)
    ended = _start(door, story_id, preset_id="swift", api_group_id="a-understudy")
    _open_gate(door, ended)
    _play(door, ended, "I walk through the gate.")
    failed = _start(door, story_id, preset_id="swift", api_group_id="a-understudy")
    _play(door, failed, "Good evening.")
    door.call("session.update_config", failed, api_group_id="broken")
    if door.turn(failed, "I knock three times.")["type"] != "failed":
        raise RuntimeError("The broken model answered.")
    cancelled = _start(door, story_id, preset_id="swift", api_group_id="silent-director")
    door.begin_turn(cancelled, "I wait.", until="player_input_recorded")
    _wait_until_asked()
    door.call("session.cancel_turn", cancelled)
    return {"changed": changed, "ended": ended, "failed": failed, "cancelled": cancelled}


def _open_gate(door: Door, session_id: str) -> None:
    door.call("session.update_variables", session_id, update={"ops": [_set("gate_open", True)]})


def _set(key: str, value: Any) -> Answer:
    return {"type": "SetState", "key": key, "value": value}


def _change_by_hand(door: Door, session_id: str) -> None:
    history = door.call("session_message.list", session_id)["messages"]
    said = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator"}
    door.call("session_message.update", session_id, message_id=history[-1]["message_id"], **said, text="It is late.")
    door.call("session_message.delete", session_id, message_id=history[0]["message_id"])
    door.call("session_message.create", session_id, **said, text="A bell rings far away.")
    guest = {"personality": "Curious.", "style": "chatty", "system_prompt": "You are a child of the village."}
    stays = door.call("session_character.create", session_id, display_name="Pip", **guest)
    leaves = door.call("session_character.create", session_id, display_name="Old Tam", **guest)
    door.call("session_character.leave_scene", session_id, session_character_id=leaves["session_character_id"])
    child = f"{stays['session_character_id']}"
    ops = [
        _set("tone", "grim"),
        _set("bells", 1.5),
        {"type": "SetPlayerState", "key": "coins", "value": 2},
        {"type": "SetCharacterState", "character": "mara", "key": "trust", "value": 4},
        {"type": "SetCharacterState", "character": child, "key": "age", "value": 9},
    ]
    door.call("session.update_variables", session_id, update={"ops": ops})
    door.call("session.update_player_description", session_id, player_description="A pedlar with dry boots.")


def _play_ink(door: Door) -> Answer:
    """Ink plays: in a talk, at choices, at a text input, in a free moment, ended, and of an edited story."""
    group = {"api_group_id": "a-understudy", "preset_id": "ensemble"}
    talk = _start(door, "the-ferry-inn", **group)
    _play(door, talk, "Wren", 0, "Good evening.", "I saw the lantern: three swings.")
    choices = str(door.call("session.fork", talk, display_name="At the choices")["session_id"])
    _play(door, choices, "Give me the key of the cellar, from under the salt.")
    ended = _start(door, "the-lamplighter", **group)
    _play(door, ended, 0, "Hello, old man.", "Why is the lamp dark?")
    door.call("session.backtrack", ended, turns=1)
    _play(door, ended, "I will hold the ladder. Light the lamp for Ilse.", "I call out across the water to the boat.")
    mill = str(door.call("story.create_ink", display_name="The Mill", source=INK)["story_id"])
    text = _start(door, mill, **group)
    free = _start(door, mill, preset_id="ensemble", api_group_id="steady")
    _play(door, free, "Ann", 0, 1, "Lise sent me for the key of the loft. Open the door.")
    edited = str(door.call("story.create_ink", display_name="The Edited Mill", source=INK)["story_id"])
    older = _start(door, edited, **group)
    _play(door, older, "Bo", 0)
    door.call("story.update_ink", story_id=edited, source=INK.replace("The mill is dark.", "The mill burns."))
    return {
        "ink-talk": talk,
        "ink-choices": choices,
        "ink-ended": ended,
        "ink-text": text,
        "ink-free": free,
        "ink-edited": older,
    }


def _build_drafts(door: Door) -> Answer:
    concept = {"story_concept": "A lighthouse keeper finds a door under the sea.", "character_ids": ["mara"]}
    sea = door.call("story_resources.create", display_name="The sea", **concept)["resource_id"]
    settings = {"resource_id": sea, "api_group_id": "a-understudy", "preset_id": "ensemble"}
    half = door.call("story_draft.start", display_name="Half a story", **settings)
    done = door.call("story_draft.start", display_name="A whole story", **settings)
    while done["status"] == "building":
        done = door.call("story_draft.continue", draft_id=done["draft_id"])
    ready = door.call("story_draft.start", display_name="Ready", **settings)
    while ready["status"] == "building":
        ready = door.call("story_draft.continue", draft_id=ready["draft_id"])
    story = door.call("story_draft.finalize", draft_id=done["draft_id"])
    named = {"half": half["draft_id"], "finalized": done["draft_id"], "ready": ready["draft_id"]}
    return {**named, "story_id": story["story_id"], "resource_id": sea}


def _leave_files(door: Door) -> Answer:
    """An archive that waits to be imported, and one that waits to be fetched."""
    export = door.call("data_package.export_prepare", schema_ids=["gate-world"], include_dependencies=False)
    archive = door.http.get(f"/download/{export['archive']['resource_id']}/archive").content
    waiting = door.call("data_package.import_prepare")
    door.upload(f"{waiting['archive']['resource_id']}/archive", _renamed(archive, "gate-world", "gate-imported"))
    return {"export_id": export["export_id"], "import_id": waiting["import_id"], "imports": "gate-imported"}


def _renamed(archive: bytes, old: str, new: str) -> bytes:
    """The same package with another id in it, so that it can be imported where the first one is."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        for name in source.namelist():
            copy.writestr(name.replace(old, new), source.read(name).replace(old.encode(), new.encode()))
    return target.getvalue()


class _Game:
    """A game with one NPC, which answers what the server asks and confirms what was played."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.send("hello", protocol=1, client=GAME)
        self.connection_id = str(self.next("welcome")["connection_id"])

    def send(self, type: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"type": type, **fields}))

    def next(self, *types: str) -> Answer:
        while True:
            frame: Answer = json.loads(self.socket.recv(timeout=30))
            if frame["type"] == "get_agent_state":
                spec = {"name": "Orla", "role": "a ferrywoman", "personality": "Patient.", "knowledge": ["The river."]}
                known = {"agent_id": frame["agent_id"], "request_id": frame["request_id"]}
                self.send("agent_state_snapshot", **known, spec=spec, world={"location": "The landing"})
            if frame["type"] in types:
                return frame

    def say(self, text: str, *, confirm: bool = True) -> str:
        """Says something to the NPC; answers the id of its turn, once that is finished."""
        source = {"id": "p1", "name": "Ann", "kind": "player"}
        self.send("interaction_event", agent_id="orla", event_type="player_speech", text=text, source=source)
        turn_id = str(self.next("agent_turn_started")["turn_id"])
        tags = []
        while (frame := self.next("agent_tag_close", "agent_turn_finished"))["type"] == "agent_tag_close":
            tags.append({"tag": frame["tag"], "text": frame["text"], "status": "played"})
        if confirm:
            self.send("agent_turn_result", agent_id="orla", turn_id=turn_id, status="completed", tags=tags)
            self.send("ping", id=turn_id)
            self.next("pong")
        return turn_id


def _meet_npcs(door: Door) -> Answer:
    with connect(door.address.replace("http", "ws") + "/ws") as socket:
        game = _Game(socket)
        game.say("Hello. Who are you?")
        game.say(NPC_IS_TOLD)
        game.send("notification_event", agent_id="orla", event_type="weather", text="A storm comes up the river.")
        return {"game": GAME, "agent_id": "orla", "confirmed_by": game.connection_id}


_LEFT_OPEN = ExitStack()
"""Connections that must outlive this module's functions: a game that leaves settles its turns."""


def _leave_unconfirmed(door: Door, text: str) -> Answer:
    """A turn that was played and is not confirmed; until the server gives up waiting for that, it is open."""
    game = _Game(_LEFT_OPEN.enter_context(connect(door.address.replace("http", "ws") + "/ws")))
    return {"turn_id": game.say(text, confirm=False), "connection_id": game.connection_id, "text": text}


def _interrupt_turns(door: Door, story_id: str) -> Answer:
    """Turns in each pace and in a talk that wait for a model when the server dies."""
    found = {}
    paces = (("ensemble", "silent-actor", "director_completed"), ("swift", "silent-director", "player_input_recorded"))
    for pace, group, mark in paces:
        session = found[f"interrupted-{pace}"] = _start(door, story_id, preset_id=pace, api_group_id="a-understudy")
        _play(door, session, "Good evening, Mara.")
        _fall_silent(door, session, group, "What do you guard here?", until=mark)
    talk = found["interrupted-talk"] = _start(door, "the-lamplighter", api_group_id="a-understudy", preset_id="swift")
    _play(door, talk, 0)
    _fall_silent(door, talk, "silent-actor", "Why is the lamp dark?", until="turn_started")
    return found


def _fall_silent(door: Door, session_id: str, group: str, words: str, *, until: str) -> None:
    door.call("session.update_config", session_id, api_group_id=group)
    door.begin_turn(session_id, words, until=until)
    _wait_until_asked()


def _wait_until_asked() -> None:
    if not _Model.asked.acquire(timeout=30):
        raise RuntimeError("The silent model was not asked.")


def _interrupt_drafts(door: Door) -> Answer:
    """A draft whose next section, and one whose opening, is being built when the server dies."""
    concept = {"story_concept": "A clockmaker hears a clock that nobody wound.", "character_ids": ["mara"]}
    resource = door.call("story_resources.create", display_name="The clock", **concept)["resource_id"]
    settings = {"resource_id": resource, "preset_id": "ensemble"}
    begun = door.call("story_draft.start", **settings, api_group_id="silent-soon")
    door.call("api_group.update", api_group_id="silent-soon", bindings=_bindings(architect="silent"))
    _send(door, "story_draft.continue", draft_id=begun["draft_id"])
    _send(door, "story_draft.start", **settings, api_group_id="silent-architect")
    return {"continued": begun["draft_id"], "opening_resource_id": resource}


def _send(door: Door, method: str, **params: Any) -> None:
    """Sends a call that will not be answered, and waits until the silent model was asked."""

    def call() -> None:
        with suppress(httpx.HTTPError):  # the server is killed while we wait
            httpx.post(f"{door.address}/rpc", json=_request(method, None, params), timeout=None)

    threading.Thread(target=call, daemon=True).start()
    _wait_until_asked()


LISTS = {
    "api.list": "apis",
    "api_group.list": "api_groups",
    "schema.list": "schemas",
    "lorebook.list": "lorebooks",
    "player_profile.list": "player_profiles",
    "character.list": "characters",
    "story_resources.list": "resources",
    "story.list": "stories",
    "story_draft.list": "drafts",
    "session.list": "sessions",
}
OF_EACH = {
    "character.get": ("character.list", "character_id"),
    "story.get": ("story.list", "story_id"),
    "story_draft.get": ("story_draft.list", "draft_id"),
}
OF_EACH_SESSION = (
    "session.get",
    "session.get_variables",
    "session.get_config",
    "session.branches",
    "session_character.list",
)


def _look(door: Door) -> Answer:
    """What the server answers about everything: lists as they are, and one answer for each thing by its id."""
    answers: Answer = {method: door.call(method) for method in LISTS}
    for method, (list_method, key) in OF_EACH.items():
        ids = [one[key] for one in answers[list_method][LISTS[list_method]]]
        answers[method] = {id: door.call(method, **{key: id}) for id in ids}
    sessions = [one["session_id"] for one in answers["session.list"]["sessions"]]
    for method in OF_EACH_SESSION:
        answers[method] = {id: door.call(method, id) for id in sessions}
    answers["usage.list"] = {id: door.call("usage.list", session_id=id) for id in sessions}
    # The texts of presets belong to each version; what they are called belongs to who made them.
    presets = door.call("preset.list")["presets"]
    answers["preset.list"] = [{key: one[key] for key in ("preset_id", "display_name")} for one in presets]
    return answers
