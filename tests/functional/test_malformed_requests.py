"""Ten thousand malformed requests: each is refused with a documented code, and none changes anything."""

from __future__ import annotations

import json
import random
import string
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.mass import Mass

from fabula.server.app import create_app
from fabula.server.rpc.catalogue import build_catalogue
from fabula.server.rpc.method import Method
from fabula.settings import Settings
from fabula.wiring import open_house

PER_TEST = 2_500
CODES = {-32700, -32600, -32601, -32602, 40404, 40909}
METHODS = [method for method in build_catalogue() if "run_turn" not in method.name]


class Mischief:
    """Makes requests that cannot be right."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def request(self) -> tuple[str, str, bytes]:
        """HTTP method, path, body."""
        kinds: list[Callable[[], tuple[str, str, bytes]]] = [
            self.broken_json,
            self.no_envelope,
            self.unknown_method,
            self.unknown_field,
            self.wrong_type,
            self.missing_field,
            self.monster,
            self.stray_upload,
            self.stray_download,
        ]
        return self.dice.choice(kinds)()

    def broken_json(self) -> tuple[str, str, bytes]:
        body = json.dumps(self.envelope("schema.list", {})).encode()
        cut = body[: self.dice.randrange(len(body))]
        noise = bytes(self.dice.randrange(256) for _ in range(self.dice.randrange(1, 20)))
        return "POST", "/rpc", self.dice.choice([cut, noise, cut + noise + b'"'])

    def no_envelope(self) -> tuple[str, str, bytes]:
        body = self.envelope("schema.list", {})
        name = self.dice.choice(["jsonrpc", "id", "method", "params", "session_id"])
        body[name] = self.odd_value(str) if name != "params" else self.dice.choice([1, "x", [], None, True])
        whole: Any = self.dice.choice([body, [body], [], 1, None, "text", True])
        return "POST", "/rpc", json.dumps(whole).encode()

    def unknown_method(self) -> tuple[str, str, bytes]:
        name = "".join(self.dice.choices(string.printable, k=self.dice.randrange(0, 40)))
        return self.rpc(name, {})

    def unknown_field(self) -> tuple[str, str, bytes]:
        method = self.dice.choice(METHODS)
        return self.rpc(method.name, {self.word() + "_x": 1}, session=method.session_bound)

    def wrong_type(self) -> tuple[str, str, bytes]:
        method = self.dice.choice([one for one in METHODS if one.command.model_fields])
        name = self.dice.choice(list(method.command.model_fields))
        return self.rpc(method.name, {name: {"no": [None, {"such": "thing"}]}}, session=method.session_bound)

    def missing_field(self) -> tuple[str, str, bytes]:
        needy = [one for one in METHODS if self.required(one)]
        method = self.dice.choice(needy)
        return self.rpc(method.name, {}, session=method.session_bound)

    def monster(self) -> tuple[str, str, bytes]:
        value = self.dice.choice(
            [
                '"\\ud800"',
                '"\\u0000"',
                "[" * 300 + "]" * 300,
                "1e999",
                "9" * 400,
                "NaN",
                '{"a":' * 100 + "1" + "}" * 100,
                '""',
                '"' + "x" * 5000 + '"',
            ]
        )
        body = '{"jsonrpc":"2.0","id":"1","method":"schema.get","params":{"schema_id":' + value + "}}"
        return "POST", "/rpc", body.encode()

    def stray_upload(self) -> tuple[str, str, bytes]:
        return "POST", f"/upload/{self.segment()}/{self.segment()}", bytes(self.dice.choices(range(256), k=50))

    def stray_download(self) -> tuple[str, str, bytes]:
        return "GET", f"/download/{self.segment()}/{self.segment()}", b""

    def rpc(self, method: str, params: object, *, session: bool = False) -> tuple[str, str, bytes]:
        body = self.envelope(method, params)
        if session:
            body["session_id"] = self.dice.choice(["nobody", "", "session_1"])
        return "POST", "/rpc", json.dumps(body).encode()

    def envelope(self, method: str, params: object) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}

    def required(self, method: Method) -> list[str]:
        return [name for name, field in method.command.model_fields.items() if field.is_required()]

    def odd_value(self, avoid: type) -> object:
        values = [1, 1.5, [], {}, True]
        return self.dice.choice([value for value in values if not isinstance(value, avoid)])

    def word(self) -> str:
        return "".join(self.dice.choices(string.ascii_lowercase, k=5))

    def segment(self) -> str:
        return self.dice.choice(
            [
                "character%3Anobody",
                "character:nobody",
                "package_import:x",
                "package_export%3Ay",
                "..%2F..%2Fetc",
                "%00",
                "cover",
                "archive",
                "%ff%fe",
                self.word(),
                "a" * 400,
                "%2e%2e",
                "character:",
            ]
        )


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, Callable[[], Any]]]:
    async with open_house(Settings(data_dir=tmp_path, samples=False)) as house:

        async def everything() -> list[object]:
            async with house.store.reading() as unit:
                kinds = ("api", "api_group", "preset", "schema", "lorebook", "character", "story", "session")
                return [await unit.resources.page(kind) for kind in kinds]  # type: ignore[arg-type]

        transport = httpx.ASGITransport(create_app(house))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            yield client, everything


@pytest.mark.parametrize("seed", range(4))
async def test_malformed_requests_are_refused_and_change_nothing(
    http: tuple[httpx.AsyncClient, Callable[[], Any]], seed: int, mass: Mass
) -> None:
    client, everything = http
    before, mischief = await everything(), Mischief(seed)
    for _ in range(mass(PER_TEST)):
        method, path, body = mischief.request()
        answer = await client.request(method, path, content=body)
        assert answer.status_code < 500, (method, path, body, answer.text)
        assert "Traceback" not in answer.text
        if answer.status_code == 404 and path != "/rpc" and "code" not in answer.text:
            continue
        payload = answer.json()
        error = payload.get("error", payload)
        assert error["code"] in CODES and error["message"], (method, path, body, answer.text)
    assert await everything() == before
