"""Who comes back to a play finds its lines by words, is told what happened, and takes it away as a file."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import text
from tests.conftest import Place
from tests.doors import doors
from tests.ink_live import begin, play
from tests.live import Client, RpcFailed, gate_session, live_server
from tests.long_play import lengthen
from tests.mass import seeds
from tests.scripted import theatre

from fabula.actions.plays import export_session
from fabula.actions.plays.export_session import MOST_TURNS
from fabula.adapters.stores.store import SqlStore
from fabula.formats.play_texts.writers import WRITERS
from fabula.ports.actors import OPERATOR, Actor

LONG = 10_000


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as found:
        yield found


async def say(client: Client, session: str, text: str) -> str:
    spoken = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator", "text": text}
    return str((await client.call("session_message.create", session, **spoken))["message_id"])


async def exported(client: Client, session: str, format: str, **params: Any) -> bytes:
    prepared = await client.call("session.export_prepare", session, format=format, **params)
    assert prepared["type"] == "session_export_prepared"
    archive = prepared["archive"]
    answer = await client.http.get(f"/download/{archive['resource_id']}/{archive['file_id']}")
    assert answer.status_code == 200, answer.text
    assert len(answer.content) == prepared["size_bytes"]
    assert answer.headers["content-type"] == prepared["content_type"]
    assert answer.headers["content-disposition"].startswith("attachment")
    return answer.content


async def exported_in_parts(client: Client, session: str) -> tuple[list[Any], int]:
    """The lines of all parts of a play, and how many parts there are."""
    lines, parts, asked = list[Any](), 0, dict[str, Any]()
    while True:
        prepared = await client.call("session.export_prepare", session, format="json", in_parts=True, **asked)
        place = prepared["archive"]
        part = json.loads((await client.http.get(f"/download/{place['resource_id']}/{place['file_id']}")).content)
        assert part["lines"], "a part holds something"
        lines, parts = lines + part["lines"], parts + 1
        assert parts < 100, "it never ends"
        if (after := prepared["goes_on_after"]) is None:
            return lines, parts
        asked = {"after_turn_id": after}


async def test_lines_are_found_by_their_words_newest_first(client: Client) -> None:
    session = await gate_session(client)
    first = await say(
        client, session, "The Étude for the left hand lay on the piano, and nobody had opened it for years."
    )
    await say(client, session, "Nothing to see here.")
    second = await say(client, session, "She hummed the étude again.")
    found = await client.call("session.find", session, query="ETUDE")
    assert [line["message_id"] for line in found["messages"]] == [second, first]
    line = found["messages"][0]
    assert line["excerpt"] == "She hummed the étude again." and line["turn_index"] == 0
    assert [line["excerpt"][place["start"] : place["end"]] for place in line["places"]] == ["étude"]
    assert "next_cursor" not in found
    both = await client.call("session.find", session, query='"left hand" étude')
    assert [line["message_id"] for line in both["messages"]] == [first]
    page = await client.call("session.find", session, query="etude", limit=1)
    rest = await client.call("session.find", session, query="etude", limit=1, cursor=page["next_cursor"])
    assert [line["message_id"] for line in rest["messages"]] == [first]
    await client.call("session_message.delete", session, message_id=second)
    assert len((await client.call("session.find", session, query="etude"))["messages"]) == 1
    for params, code in (
        ({"query": "  "}, -32600),
        ({"query": "x" * 201}, -32600),
        ({"query": "x", "cursor": "m"}, 40404),
    ):
        with pytest.raises(RpcFailed) as refused:
            await client.call("session.find", session, **params)
        assert refused.value.code == code


async def test_only_the_line_that_is_asked_for_is_looked_through(client: Client) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, 4)
    left = await lengthen(client.house, session, 3, below=trunk.turn_ids[1], says=" leftwards")
    await client.call("session.switch_branch", session, turn_id=trunk.end)
    assert (await client.call("session.find", session, query="leftwards"))["messages"] == []
    there = await client.call("session.find", session, query="leftwards", turn_id=left.end)
    assert len(there["messages"]) == 9


@pytest.mark.all
async def test_a_rare_word_is_found_in_ten_thousand_turns_and_a_recap_costs_nothing(client: Client) -> None:
    session = await gate_session(client)
    await say(client, session, "A zither lies in the grass.")
    await lengthen(client.house, session, LONG)
    found = await client.call("session.find", session, query="zither")
    asked = 1
    while "next_cursor" in found and not found["messages"]:
        found = await client.call("session.find", session, query="zither", cursor=found["next_cursor"])
        asked += 1
    assert [line["excerpt"] for line in found["messages"]] == ["A zither lies in the grass."] and asked == 2
    common = await client.call("session.find", session, query="milestone", limit=20)
    assert [line["turn_index"] for line in common["messages"]] == list(range(LONG, LONG - 20, -1))
    told = await client.call("session.recap", session)
    assert told["from"] == "understudy" and f"milestone {LONG}" in told["text"]
    assert told["text"].startswith("A zither lies in the grass.")
    assert len(told["text"].split()) <= 150


async def test_a_recap_tells_what_happened_since_a_turn(client: Client) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, 30)
    since = await client.call("session.recap", session, since_turn_id=line.turn_ids[27])
    assert "milestone 30" in since["text"] and "step 29" in since["text"] and "step 28" not in since["text"]
    assert (await client.call("session.recap", session, since_turn_id=line.end))["text"] == ""
    lines = (await client.call("session.get", session, history=2))["history"]
    names = ("message_id", "kind", "speaker_id", "speaker_name")
    changed = {name: lines[0][name] for name in names}
    await client.call("session_message.update", session, **changed, text="A river bars the road.")
    assert "A river bars the road." in (await client.call("session.recap", session))["text"]


async def test_a_recap_of_a_played_story_opens_with_its_scenes(client: Client) -> None:
    session = await gate_session(client)
    for words in ("I greet Mara.", "Mara, please open the gate.", "I walk into the garden."):
        await client.turn(session, words)
    told = (await client.call("session.recap", session))["text"]
    shown = " ".join(line["text"] for line in (await client.call("session.get", session))["history"])
    spoken = [part for part in told.replace("\n\n", " ").split("“") if part]
    assert 20 <= len(told.split()) <= 150 and len(spoken) > 1
    for quoted in (part.split("”")[0] for part in told.split("“")[1:]):
        assert quoted in " ".join(shown.split())


@pytest.mark.parametrize("format", WRITERS)
async def test_an_export_holds_every_line_of_its_branch_and_none_of_another(client: Client, format: str) -> None:
    session = await gate_session(client)
    trunk = await lengthen(client.house, session, 70)
    left = await lengthen(client.house, session, 3, below=trunk.turn_ids[60], says=" leftwards")
    await client.call("session.switch_branch", session, turn_id=trunk.end, history="none")
    for turn_id in (None, left.end):
        params = {} if turn_id is None else {"turn_id": turn_id}
        data = await exported(client, session, format, **params)
        if format == "epub":
            with zipfile.ZipFile(io.BytesIO(data)) as book:
                data = b"\n".join(book.read(name) for name in book.namelist() if "part" in name)
        text = data.decode()
        lines = (await client.call("session_message.list", session, **params))["messages"]
        assert len(lines) == (210 if turn_id is None else 192)
        assert all(line["text"] in text for line in lines)
        assert ("leftwards" in text) is (turn_id is not None)
        assert ("step 70." in text) is (turn_id is None)


async def test_scenes_are_chapters_and_notes_are_written_where_they_are_wanted(client: Client) -> None:
    session = await gate_session(client)
    frames = await client.turn(session, "I greet Mara.")
    turn_id = frames[-1]["response"]["result"]["turn_id"]
    await client.call("session_turn.update", session, turn_id=turn_id, name="The greeting")
    plain = (await exported(client, session, "markdown")).decode()
    assert "# The Gate\n\n*Rain falls on the old road.*\n\n## The Gate\n\n> I greet Mara." in plain
    assert "The greeting" not in plain
    await client.turn(session, "Mara, please open the gate.")
    chapters = (await exported(client, session, "markdown")).decode().split("## ")
    assert [chapter.split("\n")[0] for chapter in chapters[1:]] == ["The Gate", "The Garden"]
    assert chapters[1].rstrip().endswith("> Mara, please open the gate.")
    noted = (await exported(client, session, "markdown", include={"notes": True})).decode()
    assert "**⚑ The greeting**" in noted


async def test_choices_of_an_ink_story_are_written_where_they_are_wanted(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, "Begin.\n* One\n  First.\n* Two\n  Second.\n- -> END\n")
        await play(client, session, choice=1)
        plain = (await exported(client, session, "text")).decode()
        assert "> Two" in plain and "One" not in plain
        offered = (await exported(client, session, "text", include={"choices": True})).decode()
        assert "  - One\n  - Two\n\n> Two" in offered


async def test_thoughts_are_for_authors_and_files_for_whoever_asked_for_them(tmp_path: Path) -> None:
    async with theatre(tmp_path) as house:
        client = house.client
        session = (await client.raw("story.start_session", story_id=house.story_id, api_group_id="troupe"))[
            "session_id"
        ]
        await client.turn(session, "Hello, Mara.")
        plain = (await exported(client, session, "text")).decode()
        with_thoughts = (await exported(client, session, "text", include={"thoughts": True})).decode()
        assert "thinks: I wonder about" in with_thoughts and "I wonder about" not in plain
        shown = (await client.call("session.get", session))["history"]
        assert all(line["text"] in with_thoughts for line in shown)


async def test_an_export_is_given_to_nobody_else() -> None:
    async with doors() as house:
        owner, other, admin = house["owner"], house["other"], house["admin"]
        session = await owner.play(house.story_id)
        await lengthen(house.house, session, 2)
        refused = await owner.error_code("session.export_prepare", session, format="text", include={"thoughts": True})
        assert refused == 40303
        assert await other.error_code("session.export_prepare", session, format="text") == 40404
        prepared = await owner.client.call("session.export_prepare", session, format="text")
        address = f"/download/{prepared['archive']['resource_id']}/file"
        assert (await owner.client.http.get(address)).status_code == 200
        async with house.house.store.writing() as unit:
            assert other.token_id is not None
            await unit.plays.invite(session, other.token_id)
        for person in (other, admin):
            assert (await person.client.http.get(address)).status_code == 404
        assert (await owner.client.http.get(address.replace("/file", "/archive"))).status_code in (400, 403)
        await owner.client.call("session.delete", session)
        assert (await owner.client.http.get(address)).status_code == 404


async def test_a_recap_and_a_search_do_not_wait_for_the_exports_of_others() -> None:
    async with doors() as house:
        owner = house["owner"]
        session = await owner.play(house.story_id)
        await lengthen(house.house, session, 2)
        exports = house.house.exports
        # As long as two plays are being read from the store, which may take long.
        async with exports.turn_of(OPERATOR), exports.turn_of(Actor(role="player", token_id="another")):
            export = asyncio.create_task(owner.client.call("session.export_prepare", session, format="text"))
            found = await owner.client.call("session.find", session, query="milestone")
            told = await owner.client.call("session.recap", session)
            assert found["messages"] and "milestone" in told["text"] and not export.done()
        assert (await export)["size_bytes"] > 0


async def test_choices_are_looked_for_only_where_a_story_offers_any(client: Client) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, 3)
    store = client.house.store
    assert isinstance(store, SqlStore)
    # Who read the states of all turns would come upon this one.
    async with store.database.transaction("alone") as connection:
        await connection.execute(
            text("UPDATE turn_states SET state = 'none' WHERE turn_id = :turn"), {"turn": line.turn_ids[1]}
        )
    offered = (await exported(client, session, "text", include={"choices": True})).decode()
    assert "step 1." in offered and "step 3." in offered


@pytest.mark.all
async def test_a_play_of_very_many_turns_is_too_long_for_one_file(client: Client) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, MOST_TURNS + 1)
    with pytest.raises(RpcFailed, match=r"too long for one file of 20,000 turns\. Ask for it in parts"):
        await client.call("session.export_prepare", session, format="text")
    assert b"step 100." in await exported(client, session, "text", turn_id=line.turn_ids[100])
    first = await client.call("session.export_prepare", session, format="text", in_parts=True)
    rest = await exported(client, session, "text", after_turn_id=first["goes_on_after"])
    assert f"step {MOST_TURNS}." not in rest.decode() and f"step {MOST_TURNS + 1}." in rest.decode()


@pytest.mark.parametrize("letters", [1, 300, 2_000])
async def test_the_parts_of_a_long_play_hold_every_line_once(
    client: Client, monkeypatch: pytest.MonkeyPatch, letters: int
) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, 40)
    await lengthen(client.house, session, 3, below=line.turn_ids[20], says=" leftwards")
    await client.call("session.switch_branch", session, turn_id=line.end, history="none")
    # What ends a part may be struck out later.
    for message in (await client.call("session_message.list", session))["messages"][5::6]:
        await client.call("session_message.delete", session, message_id=message["message_id"])
    whole = json.loads(await exported(client, session, "json"))
    if letters > 1:
        monkeypatch.setattr(export_session, "MOST_LETTERS", letters)
    else:
        monkeypatch.setattr(export_session, "MOST_TURNS", 3)
    lines, parts = await exported_in_parts(client, session)
    assert parts > 1
    assert lines == whole["lines"]


@seeds(6)
async def test_the_parts_of_a_play_go_forward_wherever_lines_were_added_by_hand(
    client: Client, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = Random(seed)
    session = await gate_session(client)
    for number in range(25):
        match chance.choice(["turns", "add", "add", "strike"]):
            case "turns":
                await lengthen(client.house, session, chance.randint(1, 3))
            case "add":
                await say(client, session, f"By hand {number}." + " More." * chance.choice([0, 0, 30]))
            case _:
                lines = (await client.call("session_message.list", session))["messages"]
                if lines:
                    await client.call("session_message.delete", session, message_id=chance.choice(lines)["message_id"])
    whole = json.loads(await exported(client, session, "json"))["lines"]
    for name, most in (("MOST_LETTERS", 1), ("MOST_LETTERS", 400), ("MOST_LETTERS", 700), ("MOST_TURNS", 1)):
        with monkeypatch.context() as bounds:
            bounds.setattr(export_session, name, most)
            assert (await exported_in_parts(client, session))[0] == whole


async def test_a_turn_that_is_longer_than_a_file_is_a_part_of_its_own(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await gate_session(client)
    await lengthen(client.house, session, 1)
    long = await lengthen(client.house, session, 1, says=" on and on" * 100)
    await lengthen(client.house, session, 1)
    whole = json.loads(await exported(client, session, "json"))["lines"]
    monkeypatch.setattr(export_session, "MOST_LETTERS", 500)
    lines, parts = await exported_in_parts(client, session)
    assert lines == whole and parts == 3
    with pytest.raises(RpcFailed, match="too long for one file of 500 letters"):
        await client.call("session.export_prepare", session, format="text", turn_id=long.end)


async def test_a_part_of_a_play_begins_on_its_own_line(client: Client) -> None:
    session = await gate_session(client)
    line = await lengthen(client.house, session, 5)
    side = await lengthen(client.house, session, 2, below=line.turn_ids[2], says=" leftwards")
    await client.call("session.switch_branch", session, turn_id=line.end, history="none")
    with pytest.raises(RpcFailed, match="is not on the line that is written"):
        await client.call("session.export_prepare", session, format="text", after_turn_id=side.end)
    told = (await exported(client, session, "text", after_turn_id=line.turn_ids[3])).decode()
    assert "step 3." not in told and "step 5." in told
    nothing = (await exported(client, session, "text", after_turn_id=line.end)).decode()
    assert "step" not in nothing


async def test_what_is_exported_again_takes_the_place_of_the_last_and_expires(client: Client) -> None:
    session = await gate_session(client)
    await say(client, session, "First.")
    once = await client.call("session.export_prepare", session, format="json")
    await say(client, session, "Second.")
    twice = await client.call("session.export_prepare", session, format="json")
    assert once["archive"] == twice["archive"]
    body = json.loads((await client.http.get(f"/download/{twice['archive']['resource_id']}/file")).content)
    assert [line["text"] for line in body["lines"]] == ["First.", "Second."]
    assert (await client.http.get("/download/session_export:nothing/file")).status_code == 404


async def test_a_reader_has_one_file_of_each_format_however_many_plays_there_are(client: Client) -> None:
    first = await gate_session(client)
    await say(client, first, "Once.")
    second = (await client.call("session.fork", first, display_name="Another name"))["session_id"]
    once = (await client.call("session.export_prepare", first, format="text"))["archive"]["resource_id"]
    other = (await client.call("session.export_prepare", first, format="html"))["archive"]["resource_id"]
    twice = (await client.call("session.export_prepare", second, format="text"))["archive"]["resource_id"]
    statuses = [(await client.http.get(f"/download/{id}/file")).status_code for id in (once, other, twice)]
    assert statuses == [404, 200, 200]
