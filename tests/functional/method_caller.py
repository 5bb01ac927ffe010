"""A process that answers one request itself, and dies at one step of what that writes."""

from __future__ import annotations

import asyncio
import json
import sys

from tests.live import app_client
from tests.mortal_house import mortal_house


async def main(settings: str, lives_for: int, request: str) -> None:
    async with mortal_house(settings, lives_for) as house, app_client(house) as client:
        answer = await client.http.post("/rpc", json=json.loads(request))
        assert '"error"' not in answer.text, answer.text


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
