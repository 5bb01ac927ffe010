"""Records turn streams of a real server for the browser app's unit tests: `python -m tests.browser.record_streams`.

Each file of `web/src/play/recorded` is one turn: its id-ed frames in order, as `GET /sessions/{id}/events` tells them.
They are kept in the repository, so that the reducer is tested without a server; record them anew when events change.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from tests.ink_live import begin
from tests.knot_theatre import says
from tests.knot_theatre import theatre as knot_theatre
from tests.live import Client, sse
from tests.scripted import theatre

from fabula.story.values import JsonObject
from fabula.testing.model_script import CutMidStream, Fail, say_json

FOLDER = Path(__file__).parents[2] / "web" / "src" / "play" / "recorded"
GUEST: JsonObject = {
    "type": "create_and_enter",
    "session_character_id": "ferryman",
    "display_name": "A ferryman",
    "personality": "calm",
    "style": "slow",
    "system_prompt": "",
}
WAYS = {
    "needs-input": says("NEEDS_INPUT", "Eleven winters, and no end of rain."),
    "invalid-input": says("INVALID_INPUT", "Talk sense, stranger.", guidance="Ask about the gate."),
    "bridge": says("BRIDGE_AND_CONTINUE", "Very well.", bridge_text="He looks up at the rain, and nods."),
}


async def record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        await _record_scenes(Path(folder) / "scenes")
        await _record_ink(Path(folder) / "ink")


async def _record_scenes(folder: Path) -> None:
    async with theatre(folder) as stage:
        session = await stage.session()
        await _keep("scene", stage.client, session, player_input="Good evening, Mara.")
        stage.troupe.misbehave("keeper", say_json({"ops": [{"type": "SetState", "key": "gate_open", "value": "wide"}]}))
        await _keep("scene-refused", stage.client, session, player_input="I push the gate wide.")
        beat: JsonObject = {"type": "Actor", "speaker_id": "ferryman", "purpose": "ReactToPlayer"}
        plan: JsonObject = {"role_actions": [GUEST], "beats": [beat]}
        stage.troupe.misbehave("director", say_json(plan))
        await _keep("scene-guest", stage.client, session, player_input="Is anybody else here?")
        stage.troupe.misbehave("director", "no plan at all", "none again", "and none")
        await _keep("scene-degraded", stage.client, session, player_input="I wait.")
        cut = CutMidStream(text="The tale breaks off here and there", tokens=4)
        stage.troupe.misbehave("narrator", cut, *[Fail(status=500)] * 3)
        await _keep("scene-failed", stage.client, session, player_input="I listen.")
        stage.troupe.forgive()
        await _keep("scene-moves-on", stage.client, session, player_input="go on")
        swift = await stage.session("swift")
        await _keep("scene-swift", stage.client, swift, player_input="go on")


async def _record_ink(folder: Path) -> None:
    waiting = list(WAYS.values())
    async with knot_theatre(folder, lambda _: waiting.pop(0)) as (client, _):
        session, _ = await begin(client, api_group_id="scripted")
        await _keep("ink-choice", client, session, choice=1)
        for name in WAYS:
            await _keep(f"ink-{name}", client, session, player_input=f"I say {name}.")
        await _keep("ink-end", client, session, choice=0)
        waiting.append(says("DIRECT_CONTINUE", ""))
        session, _ = await begin(client, api_group_id="scripted")
        await _keep("ink-talk-begins", client, session, choice=1)
        await _keep("ink-direct", client, session, player_input="The lantern is lit for a friend.")


async def _keep(name: str, client: Client, session: str, **params: Any) -> None:
    answer = await client.http.post("/rpc", json=client.request("session.run_turn", session, **params))
    told = [{"id": one["id"], **one["data"]} for one in sse(answer.text) if one["event"] == "message"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = ",\n".join(json.dumps(one, ensure_ascii=False) for one in told)
    (FOLDER / f"{name}.json").write_text(f"[\n{text}\n]\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(record())
