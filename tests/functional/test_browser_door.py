"""The door for browsers: a token becomes a cookie that only the server's own pages can use."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image
from tests.doors import Doors, Person, doors
from tests.live import live_server

from fabula.actions.care.tokens import create_token, revoke_token
from fabula.ports.actors import OPERATOR

OWN = {"origin": "http://127.0.0.1"}


@pytest.fixture
async def house() -> AsyncIterator[Doors]:
    async with doors() as found:
        yield found


async def seated(house: Doors, name: str) -> str:
    """Enters with somebody's token; answers the cookie as a browser would send it."""
    token = house[name].headers["authorization"].removeprefix("Bearer ")
    answer = await house["nobody"].client.http.post("/enter", json={"token": token})
    assert answer.status_code == 204
    return answer.headers["set-cookie"].partition(";")[0]


def whoami(person: Person) -> dict[str, object]:
    return person.client.request("access.whoami")


async def test_a_token_becomes_a_cookie_that_no_script_can_read_and_no_other_site_can_send(house: Doors) -> None:
    token = house["owner"].headers["authorization"].removeprefix("Bearer ")
    answer = await house["nobody"].client.http.post("/enter", json={"token": token})
    parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= parts
    assert "secure" not in parts  # this server is reached without TLS


async def test_with_the_cookie_the_own_page_is_let_in_as_who_entered(house: Doors) -> None:
    cookie, http = await seated(house, "owner"), house["nobody"].client.http
    answer = await http.post("/rpc", json=whoami(house["nobody"]), headers={**OWN, "cookie": cookie})
    caller = answer.json()["result"]
    assert (caller["role"], caller["token_id"]) == ("player", house["owner"].token_id)
    assert caller["tokens_required"] is True and caller["label"] == "owner"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "null"},
        {"origin": "http://evil.example"},
        {"sec-fetch-site": "same-site"},
    ],
)
async def test_a_cookie_changes_nothing_without_the_origin_of_the_own_page(
    house: Doors, headers: dict[str, str]
) -> None:
    cookie, http = await seated(house, "owner"), house["nobody"].client.http
    answer = await http.post("/rpc", json=whoami(house["nobody"]), headers={**headers, "cookie": cookie})
    assert answer.status_code in (401, 403)


async def test_pictures_are_asked_for_with_the_cookie_alone_but_not_by_pages_of_another_origin(house: Doors) -> None:
    cookie, http = await seated(house, "owner"), house["nobody"].client.http
    for near in ({}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}):
        answer = await http.get("/openrpc.json", headers={"cookie": f"other=1; {cookie}", **near})
        assert answer.status_code == 200
    for far in ("same-site", "cross-site"):
        answer = await http.get("/openrpc.json", headers={"cookie": cookie, "sec-fetch-site": far})
        assert answer.status_code in (401, 403)


async def test_who_leaves_is_a_stranger_again(house: Doors) -> None:
    answer = await house["nobody"].client.http.post("/leave", headers=OWN)
    assert answer.status_code == 204
    assert 'fabula_seat=""' in answer.headers["set-cookie"] and "Max-Age=0" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b'{"token": 3}', b'{"token": ""}', b'{"token": "nonsense"}', b'{"token": "a;b\\r\\nc"}']
)
async def test_a_token_that_is_none_is_told_and_gets_no_cookie(house: Doors, body: bytes) -> None:
    answer = await house["nobody"].client.http.post("/enter", content=body)
    assert answer.status_code in (400, 401) and "set-cookie" not in answer.headers
    assert "token" in answer.json()["message"]


async def test_a_revoked_token_no_longer_enters(house: Doors) -> None:
    token = house["owner"].headers["authorization"].removeprefix("Bearer ")
    token_id = house["owner"].token_id
    assert token_id is not None
    await revoke_token(house.house, OPERATOR, token_id)
    assert (await house["nobody"].client.http.post("/enter", json={"token": token})).status_code == 401


async def test_a_small_cover_is_a_small_picture_and_is_not_sent_twice(house: Doors) -> None:
    author, player = house["author"].client.http, house["owner"].client.http
    large = io.BytesIO()
    Image.new("RGB", (640, 1280), "teal").save(large, "PNG")
    await author.post("/upload/character:mara/cover", content=large.getvalue())
    answer = await player.get("/download/character:mara/cover?side=320")
    with Image.open(io.BytesIO(answer.content)) as small:
        assert small.size == (160, 320)
    assert answer.headers["content-type"] == "image/webp" and answer.headers["content-disposition"] == "inline"
    etag = {"if-none-match": answer.headers["etag"]}
    assert (await player.get("/download/character:mara/cover?side=320", headers=etag)).status_code == 304
    behind_a_proxy = {"if-none-match": f'"other", W/{etag["if-none-match"]}'}
    again = await player.get("/download/character:mara/cover?side=320", headers=behind_a_proxy)
    assert (again.status_code, again.content) == (304, b"")
    Image.new("RGB", (640, 640), "black").save(large := io.BytesIO(), "PNG")
    await author.post("/upload/character:mara/cover", content=large.getvalue())
    assert (await player.get("/download/character:mara/cover?side=320", headers=etag)).status_code == 200


@pytest.mark.parametrize("side", ["97", "0", "-96", "99999999999", "x", "٩٦"])
async def test_a_cover_comes_only_in_the_sizes_that_are_shown(house: Doors, side: str) -> None:
    answer = await house["owner"].client.http.get("/download/character:mara/cover", params={"side": side})
    assert answer.status_code == 400 and "96, 320, 960" in answer.json()["message"]


async def test_a_player_is_shown_scene_and_cast_without_the_goal(house: Doors) -> None:
    session = await house["owner"].play(house.story_id)
    shown = await house["owner"].client.call("session.get", session)
    assert shown["scene"]["number"] == 1 and shown["scene"]["title"] and "goal" not in shown["scene"]
    names = {(one["kind"], one["in_scene"]) for one in shown["cast"]}
    assert ("player", True) in names and ("character", True) in names


async def test_no_other_page_gives_or_takes_a_seat_not_even_one_that_may_call(tmp_path: Path) -> None:
    async with live_server(tmp_path, allowed_origins=("http://friend.example",)) as client:
        made = await create_token(client.house, OPERATOR, role="player")
        friend = {"origin": "http://friend.example"}
        assert (await client.http.get("/healthz", headers=friend)).status_code == 200
        for path, body in (("/enter", {"token": made.secret}), ("/leave", {})):
            answer = await client.http.post(path, json=body, headers=friend)
            assert answer.status_code == 403 and "set-cookie" not in answer.headers
