"""While the store is away: callers are told to come back, at every door, and learn nothing of where it is."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from tests.game_client import game
from tests.live import live_server
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from fabula.actions.care.tokens import create_token
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import StoreAway

WHERE = "no answer from db.internal:5432"


def away() -> NoReturn:
    raise StoreAway(WHERE)


async def test_who_cannot_be_looked_up_learns_nothing_of_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with live_server(tmp_path, require_tokens=True) as client:
        token = (await create_token(client.house, OPERATOR, role="player")).secret
        address = str(client.http.base_url).rstrip("/")
        monkeypatch.setattr(client.house.store, "reading", away)
        told = []
        for path, body in (("/rpc", client.request("session.list")), ("/enter", {"token": token})):
            headers = {"authorization": f"Bearer {token}"} if path == "/rpc" else {"origin": address}
            answer = await client.http.post(path, json=body, headers=headers)
            assert answer.status_code == 503, path
            told.append(answer.text)
        async with game(address) as mine:
            await mine.send("hello", token=token, protocol=1, client="mine")
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    told.append(str(await mine.next()))
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1013
        async with connect(f"{address.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket") as socket:
            await socket.recv()
            await socket.send('40{"token": "' + token + '"}')
            told.append(str(await socket.recv()))
        assert len(told) > 3
        for answer_text in told:
            assert "the store does not answer" in answer_text and "db.internal" not in answer_text
        monkeypatch.undo()
        again = {"authorization": f"Bearer {token}"}
        assert (await client.http.post("/rpc", json=client.request("session.list"), headers=again)).status_code == 200


async def test_who_plays_learns_nothing_of_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with live_server(tmp_path) as client:
        monkeypatch.setattr(client.house.store, "reading", away)
        answer = await client.http.post("/rpc", json=client.request("session.get", "none"))
        monkeypatch.undo()
    assert answer.json()["error"]["data"] == {"retry_after_s": 1}
    assert "the store does not answer" in answer.text and "db.internal" not in answer.text
