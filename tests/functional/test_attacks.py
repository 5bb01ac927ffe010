"""What a reviewer tried against a running server with the source at hand, small enough to be tried every time."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.game_client import game
from tests.live import Client, RpcFailed, StandingClock, bodies, gate_session, live_server
from tests.scripted import theatre

from fabula.actions.care.tokens import create_token
from fabula.actions.npcs.address_npc import gather_company
from fabula.actions.plays import find_lines
from fabula.actions.plays.play_states import past_of
from fabula.actions.plays.shown_lines import HEAVIEST, last_lines_told
from fabula.actions.setups.sized_covers import SizedCovers
from fabula.adapters.models.events import MOST_SILENT_LINES, EventReader, NotAnEvent
from fabula.adapters.models.open_ai import LONGEST_PIECE, MOST_SILENT_BYTES, PIECES_AT_ONCE, OpenAiClient
from fabula.adapters.stores import transcript_steps
from fabula.agents.replies.keeper import MOST_OPS
from fabula.formats.images import fit_within
from fabula.loops.npc import company
from fabula.loops.npc.company import MOST_WAITING, Company
from fabula.loops.npc.floor import LONGEST_QUEUE, NPC_WEIGHT, TURN_WEIGHT
from fabula.loops.npc.speech import newest_of
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.models import CallOrigin, ModelRequest, Piece
from fabula.ports.npcs import NpcKey
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import TurnQuestion
from fabula.server.game_socket.pace import (
    ENTRIES_PER_SECOND,
    ENTRY_BYTES,
    FRAMES_PER_SECOND,
    MOST_ENTRIES_AT_ONCE,
    TOKEN_FRAME_BYTES,
    GamePaces,
)
from fabula.server.game_socket.state_budget import HeldStates, StateBudget, WaitingEvents, weight_of
from fabula.server.game_socket.wire import LARGEST_EVENT, MOST_KEPT_VALUES, MOST_VALUES
from fabula.story.changes import LONGEST_HISTORY, MOST_PRESENT, newest_within
from fabula.story.field_bounds import LONGEST_ID, LONGEST_MESSAGE
from fabula.story.guests import guests_problem
from fabula.story.npc import GameEvent, Lived, NpcState
from fabula.story.npc_events import EventCame, NpcEvent, NpcProblem, StateCame
from fabula.story.past_lines import PAST_BYTES, line_bytes
from fabula.story.plays import PlayState, SessionCharacter
from fabula.story.resources import ROLES
from fabula.story.state import MemoryEntry, Snapshot, WorldState


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    async with live_server(tmp_path) as client:
        yield client


async def guest(client: Client, session_id: str, name: str, personality: str = "Kind.") -> dict[str, Any]:
    texts = {"personality": personality, "style": "", "system_prompt": ""}
    return await client.call("session_character.create", session_id, display_name=name, **texts)


def test_guests_count_although_nothing_is_written_about_them() -> None:
    here = Snapshot(story_id="s", player_description="", world_state=WorldState(current_node="n"))
    state = PlayState(snapshot=here, graph="g", player_name="P")
    texts = {"display_name": "", "personality": "", "style": "", "system_prompt": ""}
    crowd = {
        id: SessionCharacter(session_character_id=id, **texts, created_at_ms=1, updated_at_ms=1)
        for id in map(str, range(2_000))
    }
    assert guests_problem(state, state.model_copy(update={"session_characters": crowd})) is not None


async def test_a_guest_without_a_name_stops_no_turn(client: Client) -> None:
    session = await gate_session(client)
    id = (await guest(client, session, "Ada"))["session_character_id"]
    with pytest.raises(RpcFailed, match="Give the character a name"):
        texts = {"personality": "", "style": "", "system_prompt": ""}
        await client.call("session_character.update", session, session_character_id=id, display_name=" \u2003", **texts)
    assert (await client.turn(session, "Hello, Ada."))[-1]["type"] == "completed"


async def test_a_director_cannot_fill_a_scene_with_guests(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session = await house.session()
        beats = [{"type": "Narrator", "purpose": "DescribeResult"}]
        texts = {"personality": "p", "style": "s", "system_prompt": "x"}
        crowd = [
            {"type": "CreateAndEnter", "session_character_id": f"g{n}", "display_name": f"G {n}", **texts}
            for n in range(MOST_PRESENT + 1)
        ]
        house.troupe.misbehave("director", *[json.dumps({"role_actions": crowd, "beats": beats})] * 4)
        assert (await house.client.turn(session, "Hello."))[-1]["type"] == "completed"
        listed = await house.client.call("session_character.list", session)
        assert listed["session_characters"] == []


async def test_a_line_of_the_transcript_is_no_longer_than_what_a_player_may_say(client: Client) -> None:
    session = await gate_session(client)
    line = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator"}
    with pytest.raises(RpcFailed, match=f"at most {LONGEST_MESSAGE} characters"):
        await client.call("session_message.create", session, **line, text="x" * (LONGEST_MESSAGE + 1))
    said = await client.call("session_message.create", session, **line, text="x")
    with pytest.raises(RpcFailed, match=f"at most {LONGEST_MESSAGE} characters"):
        long = "x" * (LONGEST_MESSAGE + 1)
        await client.call("session_message.update", session, message_id=said["message_id"], **line, text=long)


def test_roles_are_told_no_more_of_the_past_than_they_can_read_in_a_moment() -> None:
    lines = [MemoryEntry(speaker_id="m", speaker_name="M", kind="dialogue", text=f"{n:020000}") for n in range(128)]
    kept = newest_within(lines, LONGEST_HISTORY)
    assert kept == lines[-10:]
    assert newest_within(lines[:3], LONGEST_HISTORY) == lines[:3]
    huge = MemoryEntry(speaker_id="m", speaker_name="M", kind="dialogue", text="x" * 2 * LONGEST_HISTORY)
    assert newest_within([*lines, huge], LONGEST_HISTORY) == [huge]


async def test_suggestions_are_not_to_be_had_beyond_the_budget_of_a_play(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        session = await house.session()
        await house.client.turn(session, "Hello, Mara.")
        await house.client.house.models.settle()
        await house.client.call("session.update_config", session, token_budget=1)
        asked = len(house.models.requests)
        with pytest.raises(RpcFailed, match="of its 1 tokens"):
            await house.client.call("session.suggest_replies", session)
        assert len(house.models.requests) == asked


def test_lines_that_are_no_events_do_not_go_on_for_ever() -> None:
    for line in (b"\n", b":\n", b"event: x\n"):
        reader = EventReader()
        assert list(reader.feed(line * (MOST_SILENT_LINES // 2) + b'data: {"a": 1}\n')) == [{"a": 1}]
        assert list(reader.feed(line * MOST_SILENT_LINES)) == []
        with pytest.raises(NotAnEvent):
            list(reader.feed(line))


def test_an_event_may_come_letter_by_letter() -> None:
    reader = EventReader()
    pieces = [b"data: {", *[b" "] * 1000, b'"a": 1}\n\nda', b'ta: {"b"', b": 2}"]
    assert [event for piece in pieces for event in reader.feed(piece)] == [{"a": 1}]
    assert list(reader.close()) == [{"b": 2}]


SILENCE = b'data: {"choices": [{"delta": {"content": ""}}]}\n\n'
PACKED = gzip.compress(b" " * 1_000_000)
HOSTILE_ANSWERS = {
    "packed": (b"Content-Encoding: gzip\r\n", PACKED, 1, "packs its answers"),
    "blank lines": (b"", b"\n" * 65_536, 1_000, "no JSON"),
    "comments": (b"", b":\n" * 32_768, 1_000, "no JSON"),
    "silent events": (b"", SILENCE * 1_000, 2 * MOST_SILENT_BYTES // len(SILENCE) // 1_000, "says nothing"),
}


@asynccontextmanager
async def answering(headers: bytes, part: bytes, times: int) -> AsyncIterator[str]:
    """A model server that answers every question like this; its address."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + headers + b"\r\n")
        try:
            for _ in range(times):
                writer.write(part)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


@pytest.mark.parametrize("name", HOSTILE_ANSWERS)
async def test_a_model_server_that_sends_much_and_says_nothing_is_left(client: Client, name: str) -> None:
    headers, part, times, sentence = HOSTILE_ANSWERS[name]
    async with answering(headers, part, times) as base_url:
        api = {"api_id": "hostile", "display_name": "H", "provider": "open_ai", "api_key": "k", "model": "m"}
        await client.call("api.create", **api, base_url=base_url)
        tested = await client.call("api.test", api_id="hostile")
    assert not tested["ok"]
    assert sentence in json.dumps(tested["checks"])


def address(client: Client) -> str:
    return str(client.http.base_url).rstrip("/")


async def refusal_of(client: Client, type: str, **fields: Any) -> dict[str, Any]:
    async with game(address(client)) as mine:
        await mine.send(type, **fields)
        return await mine.next("error")


@pytest.mark.parametrize("id", ["i" * (LONGEST_ID + 1), "\x1fdecision:1", "a\nb"])
async def test_an_id_that_every_frame_would_repeat_is_short_and_on_one_line(client: Client, id: str) -> None:
    session = await gate_session(client)
    body = {**client.request("session.run_turn", session, player_input="Hello."), "id": id}
    answer = await client.http.post("/rpc", json=body)
    assert answer.status_code == 400 and "`id` must be one line of at most 256" in answer.text
    assert len(answer.content) < 1_000
    long = await client.http.post("/rpc", json=client.request("session.get", "s" * (LONGEST_ID + 1)))
    assert long.status_code == 400 and len(long.content) < 1_000


async def test_frames_of_very_many_small_values_are_not_read(client: Client) -> None:
    told = await refusal_of(client, "agent_state_snapshot", agent_id="a", tags=[{"name": "a"}] * MOST_VALUES)
    assert told["code"] == "too_large" and "10000 JSON values" in told["message"]


async def test_what_npcs_keep_is_shorter_than_their_state(client: Client) -> None:
    long = "x" * (LARGEST_EVENT + 1)
    told = await refusal_of(client, "interaction_event", agent_id="a", text=long)
    assert told["code"] == "too_large" and told["agent_id"] == "a" and "64 KiB" in told["message"]
    told = await refusal_of(client, "interaction_event", agent_id="a", event_id="e" * 2_000)
    assert "event_id" in told["message"]
    async with game(address(client)) as mine:
        mine.state["spec"] = {"name": "Ann", "backstory": long}
        assert (await mine.turn("Hello.", "a"))[-1]["type"] == "agent_turn_finished"


@pytest.mark.parametrize("type", ["interaction_event", "notification_event"])
async def test_what_npcs_keep_has_few_values(client: Client, type: str) -> None:
    values: list[Any] = [{}] * MOST_KEPT_VALUES
    told = await refusal_of(client, type, agent_id="a", event_type="x", text="x", data=values)
    assert told["code"] == "too_large" and told["agent_id"] == "a" and "1000 JSON values" in told["message"]


async def test_what_a_thousand_npcs_notice_is_short(client: Client) -> None:
    crowd = [f"npc{number}" for number in range(1_000)]
    told = await refusal_of(client, "notification_event", agent_ids=crowd, event_type="x", text="x" * 10_000)
    assert told["code"] == "too_large" and "fewer agents" in told["message"]
    async with game(address(client)) as mine:
        for _ in range(60):
            await mine.send("notification_event", agent_ids=crowd[:50], event_type="x", text="x" * 10_000)
        assert (await mine.next("error"))["code"] == "busy"


async def test_what_npcs_of_a_token_keep_has_a_bound_over_all_its_games(tmp_path: Path) -> None:
    async with live_server(tmp_path / "guarded", StandingClock(), require_tokens=True) as client:
        player = (await create_token(client.house, OPERATOR, role="player")).secret
        hers = {"Authorization": f"Bearer {player}"}
        async with game(address(client), additional_headers=hers) as one:
            for first in range(0, 1_000, 100):
                crowd = [f"npc{number}" for number in range(first, first + 100)]
                await one.send("notification_event", agent_ids=crowd, event_type="bell", text="The bell rings.")
            await one.send("notification_event", agent_ids="*", event_type="bell", text="It rings again.")
            async with game(address(client), additional_headers=hers) as other:
                for _ in range(10):
                    await other.send("notification_event", agent_ids=crowd, event_type="bell", text="And again.")
                told = await other.next("error")
                assert told["code"] == "busy" and "All agents of this token" in told["message"]


async def test_a_game_changes_its_boundaries_so_often_and_no_more(tmp_path: Path) -> None:
    async with live_server(tmp_path / "guarded", StandingClock(), require_tokens=True) as client:
        player = (await create_token(client.house, OPERATOR, role="player")).secret
        async with game(address(client), additional_headers={"Authorization": f"Bearer {player}"}) as mine:
            for number in range(58):
                long = [f"w{number}x{word}{'y' * 14}" for word in range(20)]
                words = {f"kind {kind}": [f"{one}{kind}" for one in long] for kind in range(20)}
                await mine.send("hello", boundaries={"lines": [*words], "categories": words})
            told = await mine.next("error")
            assert told["code"] == "busy" and "boundaries of this token's games" in told["message"]
            await mine.send("hello", client="mine")
            assert (await mine.next("welcome"))["protocol"] == 1


async def test_a_game_resumes_so_often_and_no_more(tmp_path: Path) -> None:
    async with live_server(tmp_path / "guarded", StandingClock(), require_tokens=True, max_open_per_token=20) as client:
        player = (await create_token(client.house, OPERATOR, role="player")).secret
        async with game(address(client), additional_headers={"Authorization": f"Bearer {player}"}) as mine:
            for _ in range(client.house.settings.max_open_per_token):
                await mine.send("hello", resume="connection_x")
                assert (await mine.next())["type"] == "welcome"
            await mine.send("hello", resume="connection_x")
            told = await mine.next()
            assert told["code"] == "busy" and "resume too often" in told["message"]
            await mine.send("hello")
            assert (await mine.next())["type"] == "welcome"


async def test_all_games_of_a_token_come_back_at_once_and_one_that_came_too_often_keeps_its_name(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        guarded = live_server(tmp_path / "guarded", StandingClock(), require_tokens=True, max_open_per_token=5)
        client = await stack.enter_async_context(guarded)
        made = await create_token(client.house, OPERATOR, role="player")
        hers = {"Authorization": f"Bearer {made.secret}"}
        games = [await stack.enter_async_context(game(address(client), additional_headers=hers)) for _ in range(5)]
        *early, late = games
        for one in (early[0], *early):
            await one.send("hello", client="mine", resume="connection_x")
            assert (await one.next())["type"] == "welcome"
        await late.send("hello", client="mine", resume="connection_x")
        assert "again in a few seconds" in (await late.next())["message"]
        turn = await late.turn("Who are you?")
        key = NpcKey(game_id=f"token:{made.token.token_id}/mine", agent_id="mara")
        number = await client.house.store.read(lambda unit: unit.npcs.number_of(key, turn[0]["turn_id"]))
        assert number == 1


async def test_all_connections_of_a_token_send_so_many_frames_and_no_more(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        guarded = live_server(tmp_path / "guarded", StandingClock(), require_tokens=True)
        client = await stack.enter_async_context(guarded)
        player = (await create_token(client.house, OPERATOR, role="player")).secret
        hers = {"Authorization": f"Bearer {player}"}
        games = [await stack.enter_async_context(game(address(client), additional_headers=hers)) for _ in range(20)]
        state = {"backstory": "x" * 4 * TOKEN_FRAME_BYTES}
        for _ in range(12):
            for number, one in enumerate(games):
                await one.send("agent_state_snapshot", agent_id=f"npc{number}", spec=state)
        told = await games[-1].next("error")
        assert told["code"] == "busy" and "all connections of this token" in told["message"]


def test_entries_are_counted_for_each_token_and_come_back_with_time() -> None:
    seconds = [0.0]
    entries = GamePaces(lambda: seconds[0], most_open=64).entries
    ann, ben = Actor(role="player", token_id="a"), Actor(role="player", token_id="b")
    admin = Actor(role="admin", token_id="c")
    assert entries.allows(ann, MOST_ENTRIES_AT_ONCE, 10) and not entries.allows(ann, 1, 10)
    assert entries.allows(ben, 1, 10) and all(entries.allows(admin, MOST_ENTRIES_AT_ONCE, 10) for _ in range(5))
    seconds[0] += 1.0
    assert entries.allows(ann, ENTRIES_PER_SECOND // 2, ENTRY_BYTES) and not entries.allows(ann, 1, 10)


def test_the_states_of_all_npcs_of_a_token_have_a_bound_together() -> None:
    budget = StateBudget(heaviest=1_000)
    ann, ben = Actor(role="player", token_id="a"), Actor(role="player", token_id="b")
    one, other, stranger = (HeldStates(budget, actor) for actor in (lambda: ann, lambda: ann, lambda: ben))
    assert one.take("x", 600) and not other.take("y", 600) and stranger.take("y", 600)
    assert one.take("x", 300) and other.take("y", 600) and not one.take("z", 200)
    other.let_go()
    assert one.take("z", 700) and not one.take("y", 1)
    one.let_go()
    assert other.take("x", 1_000)


async def company_of(client: Client, token_id: str, budget: StateBudget, told: list[NpcEvent]) -> Company:
    """The NPCs of a connection of somebody with that token."""
    ann = Actor(role="player", token_id=token_id)
    rest: dict[str, Any] = {"game": "", "connection_id": "c", "saw_prompt": lambda *_: None}
    return await gather_company(client.house, ann, send=told.append, waiting=WaitingEvents(budget, ann), **rest)


async def test_what_waits_for_all_npcs_of_a_token_has_a_bound_together(client: Client) -> None:
    budget, told = StateBudget(heaviest=4 * TURN_WEIGHT), list[NpcEvent]()

    def busy(company: Company, agent_id: str, text: str) -> bool:
        told.clear()
        company.hear(EventCame(agent_id=agent_id, event=GameEvent(text=text, interrupt=False)))
        return any(isinstance(one, NpcProblem) and one.name == "busy" for one in told)

    one, other, stranger = [await company_of(client, id, budget, told) for id in ("a", "a", "b")]
    assert not busy(one, "x", "Hello.") and not busy(one, "x", "\U0001f600" * (TURN_WEIGHT // 4))
    assert busy(other, "y", "Hello.") and not busy(stranger, "y", "Hello.")
    await one.leave()
    assert not busy(other, "y", "Hello.") and not busy(other, "z", "Hello.")
    await other.leave()
    await stranger.leave()


async def test_a_token_has_so_many_npcs_over_all_its_connections(client: Client) -> None:
    budget, told = StateBudget(heaviest=3 * NPC_WEIGHT), list[NpcEvent]()
    one, other = [await company_of(client, "a", budget, told) for _ in range(2)]
    for where, agent_id in ((one, "x"), (one, "y"), (other, "x")):
        where.hear(StateCame(agent_id=agent_id, request_id="", state=NpcState()))
    assert told == []
    other.hear(StateCame(agent_id="y", request_id="", state=NpcState()))
    assert isinstance(told[-1], NpcProblem) and told[-1].name == "busy" and "close a connection" in told[-1].message
    await one.leave()
    other.hear(StateCame(agent_id="y", request_id="", state=NpcState()))
    assert len(told) == 1
    await other.leave()


def test_of_a_long_past_an_npc_keeps_no_more_than_a_prompt_has_room_for() -> None:
    def entry(text: str) -> Lived:
        return Lived(kind="notice", event=GameEvent(text=text))

    past = [entry(f"{number}{'x' * 60_000}") for number in range(32)]
    assert newest_of(past) == past[-2:] and newest_of(few := [entry("Hi."), entry("Ho.")]) == few
    assert newest_of([*past, huge := entry("\u6751" * 60_000)]) == [huge]


def test_small_values_weigh_more_than_their_bytes() -> None:
    tags = json.dumps({"tags": [{"name": "a"}] * 1_000})
    assert weight_of(tags) > 50 * len(tags) > weight_of("x" * 50 * len(tags)) - 1
    assert weight_of("\U0001f600" + "x" * 99) == weight_of("\\u6751" + "x" * 94) == 4 * weight_of("x" * 100)


async def test_events_that_wait_for_all_npcs_of_a_connection_have_a_bound_together(client: Client) -> None:
    async with game(address(client), answers_state=False) as mine:
        for number in range(MOST_WAITING // LONGEST_QUEUE + 2):
            for _ in range(LONGEST_QUEUE):
                await mine.say("Hello.", f"npc{number}", interrupt=False)
            await asyncio.sleep(LONGEST_QUEUE / FRAMES_PER_SECOND)
        told = await mine.next("error")
        assert told["code"] == "busy" and f"{MOST_WAITING} events wait" in told["message"]


async def test_what_waits_to_be_written_for_the_npcs_of_a_token_has_a_bound(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(company, "MOST_UNWRITTEN", 3)
    bell = {"agent_ids": ["mara"], "event_type": "bell", "text": "The bell rings."}
    async with game(address(client)) as mine, game(address(client)) as other:
        # As a database does that is slow, or away.
        async with client.house.store.writing():
            for _ in range(3):
                await mine.send("notification_event", **bell)
            while client.house.ledger_queues.of("default").waiting < 3:
                await asyncio.sleep(0.001)
            await other.send("notification_event", **bell)
            told = await other.next("error")
            assert told["code"] == "busy" and "is still being written" in told["message"]
        while client.house.ledger_queues.of("default").waiting:
            await asyncio.sleep(0.001)
        await other.send("notification_event", **bell)
        assert (await other.turn("Hello."))[-1]["type"] == "agent_turn_finished"


class _Sent:
    """An answer of a model server that has all come already, in two reads."""

    def __init__(self, events: bytes) -> None:
        self._reads = [events, b""]

    async def chat(self, body: dict[str, Any]) -> _Sent:
        return self

    async def read(self) -> bytes:
        return self._reads.pop(0)

    def close(self, *, complete: bool) -> None:
        pass


async def pieces_of(events: bytes) -> tuple[list[str], int]:
    """The pieces of an answer that comes at once, and how many turns others had meanwhile."""
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    wire: Any = _Sent(events)
    client = OpenAiClient(wire=wire, base_url="http://m/v1", model="m", learned={})
    request = ModelRequest(origin=CallOrigin(agent="narrator"), messages=(), context=None, deadline=0.0)
    counting = asyncio.create_task(count_turns())
    await asyncio.sleep(0)
    parts = [part async for part in client.stream(request)]
    counting.cancel()
    return [part.text for part in parts if isinstance(part, Piece)], turns


END_OF_ANSWER = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def said_in_event(text: str) -> bytes:
    return b"data: %b\n\n" % json.dumps({"choices": [{"delta": {"content": text}}]}).encode()


async def test_thousands_of_pieces_that_come_at_once_leave_others_their_turns() -> None:
    pieces, turns = await pieces_of(said_in_event("word ") * 3_200 + END_OF_ANSWER)
    assert "".join(pieces) == "word " * 3_200
    assert turns >= 3_200 // PIECES_AT_ONCE


async def test_a_long_piece_is_told_in_parts() -> None:
    text = "".join(map(str, range(20_000)))
    pieces, turns = await pieces_of(said_in_event(text) + END_OF_ANSWER)
    assert "".join(pieces) == text and max(map(len, pieces)) == LONGEST_PIECE
    assert turns >= len(text) // LONGEST_PIECE // PIECES_AT_ONCE


def test_an_event_of_very_many_values_is_none() -> None:
    line = b'data: {"x": [' + b"{}," * 200_000 + b"{}]}\n"
    with pytest.raises(NotAnEvent, match="too many values"):
        list(EventReader().feed(line))


async def test_the_updates_of_a_swift_turn_are_as_many_as_those_of_a_keeper(tmp_path: Path) -> None:
    """Each of them was told, and held against all that was said in the turn."""
    op = {"type": "SetState", "key": "gate_open", "value": True}
    updates = [json.dumps({"ops": [{**op, "because": f"wibble {n} {m}"} for m in range(20)]}) for n in range(20)]
    answer = "".join(f"<update>{update}</update><update>Nonsense.</update>" for update in updates)
    async with theatre(tmp_path) as house:
        session_id = await house.session("swift")
        house.models.script = lambda _: f"<narration>Rain falls.</narration>{answer}"
        told = bodies(await house.client.turn(session_id, "I wait."))
    assert sum(one["type"] == "state_op_refused" for one in told) == MOST_OPS
    degraded = [one["reason"] for one in told if one["type"] == "agent_degraded"]
    assert len(degraded) == 1 and len(degraded[0]) < 1_000


async def test_a_list_of_very_many_models_is_none(client: Client) -> None:
    listed = b'{"data":[' + b'{"id":"x"},' * 200_000 + b'{"id":"y"}]}'
    async with answering(b"Content-Length: %d\r\n" % len(listed), listed, 1) as base_url:
        with pytest.raises(RpcFailed, match="no JSON"):
            await client.call("api.list_models", provider="open_ai", base_url=base_url, api_key="k")


async def test_a_name_of_a_model_that_is_far_too_long_is_none(client: Client) -> None:
    listed = json.dumps({"data": [{"id": "x" * 400_000}, {"id": "small"}, {"id": "y" * 400_000}]}).encode()
    async with answering(b"Content-Length: %d\r\n" % len(listed), listed, 1) as base_url:
        asked = {"provider": "open_ai", "base_url": base_url, "api_key": "k"}
        assert (await client.call("api.list_models", **asked))["models"] == ["small"]


async def test_the_same_small_cover_is_made_once_however_many_ask_at_once() -> None:
    large = io.BytesIO()
    Image.new("RGB", (2_000, 2_000), "teal").save(large, "PNG")
    covers = SizedCovers()
    made = await asyncio.gather(*(covers.make("blob", large.getvalue(), 96) for _ in range(8)))
    assert made[0] is not None and all(one is made[0] for one in made)


def test_a_picture_that_lies_on_its_side_is_turned_after_it_was_made_small() -> None:
    picture, exif = Image.new("RGB", (400, 200), "teal"), Image.Exif()
    exif[0x0112] = 6
    for kind in ("JPEG", "PNG", "WEBP"):
        written = io.BytesIO()
        picture.save(written, kind, exif=exif)
        with Image.open(io.BytesIO(fit_within(written.getvalue(), 96) or b"")) as small:
            assert small.size == (48, 96), kind


async def long_play(client: Client, lines: int, words: str = "Étude. ") -> str:
    """A session with so many lines, each as long as one may be."""
    session = await gate_session(client)
    said = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator"}
    for number in range(lines):
        text = f"{number} " + words * (LONGEST_MESSAGE // 8)
        await client.call("session_message.create", session, **said, text=text)
    return session


async def test_a_question_for_lines_reads_so_many_letters_and_says_where_to_go_on(client: Client) -> None:
    lines = find_lines.MOST_LETTERS // (LONGEST_MESSAGE * 7 // 8) + find_lines.PORTION // 2
    session = await long_play(client, lines)
    first = await client.call("session.find", session, query="nowhere")
    assert first["messages"] == [] and first["next_cursor"] is not None
    rest = await client.call("session.find", session, query="nowhere", cursor=first["next_cursor"])
    assert rest["messages"] == [] and "next_cursor" not in rest


async def test_of_a_very_long_transcript_an_answer_carries_a_part_and_a_cursor_leads_on(client: Client) -> None:
    written = HEAVIEST // (4 * LONGEST_MESSAGE) + 60
    session = await long_play(client, written, words="𝔈𝔱𝔲𝔡𝔢. ")
    view = await client.call("session.get", session)
    async with client.house.store.reading() as unit:
        assert len(await last_lines_told(unit, view["head_turn_id"], 1000)) < written
    shown = view["history"]
    assert 1 < len(shown) < written and shown[-1]["text"].startswith(f"{written - 1} ")
    for order, limit in (("oldest", None), ("newest", None), ("oldest", 1000), ("newest", 1000)):
        cut = {} if limit is None else {"limit": limit}
        part = await client.call("session_message.list", session, order=order, **cut)
        assert len(part["messages"]) < written
        seen = part["messages"]
        while "next_cursor" in part:
            part = await client.call("session_message.list", session, order=order, cursor=part["next_cursor"], **cut)
            seen += part["messages"]
        told = [int(line["text"].split()[0]) for line in (seen if order == "oldest" else seen[::-1])[-written:]]
        assert told == list(range(written)), order


async def test_a_turn_after_very_long_lines_sets_out_with_the_last_of_them(client: Client) -> None:
    session = await long_play(client, 30, words="𝔈𝔱𝔲𝔡𝔢. ")
    head = (await client.call("session.get", session, history="none"))["head_turn_id"]
    basis = await client.house.store.read_turn_basis(TurnQuestion(session_id=session, lines=144))
    assert basis is not None and 1 < len(basis.past) < 20 and basis.past[-1].text.startswith("29 ")
    async with client.house.store.reading() as unit:
        assert [line.text for line in await past_of(unit, head, 144)] == [line.text for line in basis.past]
        assert len(await last_lines_told(unit, head, 20)) == 20
    await client.turn(session, "I look around.")
    head = (await client.call("session.get", session, history="none"))["head_turn_id"]
    kept = client.house.turn_states.after(head)
    assert kept is not None and sum(map(line_bytes, kept.past)) <= PAST_BYTES


async def test_for_a_turn_no_more_lines_are_read_than_it_sets_out_with(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await long_play(client, 120, words="𝔈𝔱𝔲𝔡𝔢. ")
    said = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator"}
    for number in range(30):
        await client.call("session_message.create", session, **said, text=f"Short {number}.")
    head = (await client.call("session.get", session, history="none"))["head_turn_id"]
    read: list[int] = []
    to_line = transcript_steps._message

    def counted(row: Any) -> SpokenMessage:
        read.append(sys.getsizeof(row.text))
        return to_line(row)

    monkeypatch.setattr(transcript_steps, "_message", counted)
    basis = await client.house.store.read_turn_basis(TurnQuestion(session_id=session, lines=1000))
    assert basis is not None and [line.text for line in basis.past[-30:]] == [f"Short {n}." for n in range(30)]
    assert PAST_BYTES // 2 < sum(read) < 6 * PAST_BYTES
    read.clear()
    async with client.house.store.reading() as unit:
        assert [line.text for line in await past_of(unit, head, 1000)] == [line.text for line in basis.past]
    assert PAST_BYTES // 2 < sum(read) < 6 * PAST_BYTES


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("world.create", {"world_id": "w", "display_name": "x" * 500}),
        ("world.update", {"world_id": "sarn", "genre": "x" * 500}),
        ("world.update", {"world_id": "sarn", "game_system_id": "no id!"}),
        ("game_system.create", {"attributes": {f"a{number}": {"display_name": "A"} for number in range(41)}}),
        ("game_system.create", {"risky": ["climb"] * 201}),
        (
            "game_system.create",
            {"attributes": {f"a{n}": {"display_name": "A", "words": ["x" * 60] * 100} for n in range(2)}},
        ),
    ],
)
async def test_what_is_too_much_for_a_world_or_a_game_system_is_refused_with_a_sentence(
    client: Client, method: str, params: dict[str, Any]
) -> None:
    await client.call("world.create", world_id="sarn", display_name="Sarn")
    if method == "game_system.create":
        core = {"formula": "1d20", "bands": [{"level": "success"}]}
        params = {"system_id": "odd", "display_name": "Odd", "core": core, **params}
    with pytest.raises(RpcFailed, match=r"cannot be used|do not fit") as refused:
        await client.call(method, **params)
    assert refused.value.code == -32600


def growing(number: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """What is added to something again and again, each time as large as a request may be."""
    rule = {"when": {"key": "k", "op": "eq", "value": "x" * 99_000}}
    beats = [{"beat_id": f"b{n}", "title": "B", "outcomes": [{"outcome_id": "o", "when": _when()}]} for n in range(9)]
    template = {"template_id": f"t{number}", "title": "T", "acts": [{"act_id": "a", "title": "A", "beats": beats}]}
    entry = {"entry_id": f"e{number}", "display_name": "E", "text": "x" * 99_000}
    return {
        "clocks": ("clock.create", {"world_id": "sarn", "name": "C", "rules": [rule] * 8}),
        "templates": ("story_template.update", {"world_id": "sarn", "template": template}),
        "a preset": ("preset_entry.create", {"preset_id": "p", "agent": "narrator", "module_id": "task", **entry}),
    }


def _when() -> dict[str, Any]:
    return {"condition": {"key": "k", "op": "eq", "value": "x" * 99_000}}


@pytest.mark.parametrize("what", growing(0))
async def test_what_grows_piece_by_piece_has_a_bound(client: Client, what: str) -> None:
    await client.call("world.create", world_id="sarn", display_name="Sarn")
    agents = {role: {"modules": [{"module_id": "task", "entries": []}]} for role in ROLES}
    await client.call("preset.create", preset_id="p", display_name="P", agents=agents)
    with pytest.raises(RpcFailed, match=r"may have 2000000 bytes, and this one would have \d+\. Leave something out"):
        for number in range(22):
            method, params = growing(number)[what]
            await client.call(method, **params)


async def test_the_clocks_of_a_play_have_a_bound_together(client: Client) -> None:
    session = await gate_session(client)
    rule = {"when": {"key": "k", "op": "eq", "value": "x" * 45_000}}
    for number in range(2):
        await client.call("clock.create", session, clock_id=f"c{number}", name="C", rules=[rule])
    for method, params in (
        ("clock.create", {"clock_id": "c2", "name": "C", "rules": [rule]}),
        ("clock.update", {"clock_id": "c1", "rules": [rule, rule]}),
    ):
        with pytest.raises(RpcFailed, match="the clocks of a play may have 100000 letters together"):
            await client.call(method, session, **params)


async def test_no_refusal_repeats_a_long_name(client: Client) -> None:
    session = await gate_session(client)
    with pytest.raises(RpcFailed) as refused:
        await client.call("session.branches", session, around="x" * 90_000)
    assert len(refused.value.message) < 1_000
