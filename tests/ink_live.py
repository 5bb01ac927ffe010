"""Ink plays over the wire, for tests: publish, start, choose, say, and look at what was told."""

from __future__ import annotations

from typing import Any

from tests.live import Client, RpcFailed, bodies, sse

GATE = """
VAR asked = 0
-> gate

=== gate
Rain falls on the old road. A guard leans on his spear before the gate. # rain
The guard has orders that the reader does not know. # context
* [Turn back] -> END
* [Talk to the guard] -> agent(-> guard, -> gate_opens)

=== guard
I have stood at this gate for eleven winters.
{~I lost a brother to the river.|My knees ache when it rains.}
Nobody passes without a word about the lantern.
* [Ask about the lantern] The lantern is lit when a friend comes home.
* [Ask about the winters] Eleven of them, each longer than the last.
- -> DONE

=== gate_opens
The guard lifts the lantern, and the gate opens with a groan.
* [Go in] -> courtyard

=== courtyard
Mordred waits beside the well with a knife in his sleeve.
The king was never here at all.
-> END
"""


async def publish(client: Client, source: str = GATE, **files: str) -> str:
    story = await client.call("story.create_ink", display_name="The Gate", source=source, files=files)
    return str(story["story_id"])


async def begin(client: Client, source: str = GATE, **settings: Any) -> tuple[str, dict[str, Any]]:
    """A new play; answers its id and the result of its start."""
    answer = await client.raw("story.start_session", story_id=await publish(client, source), **settings)
    if "error" in answer:
        raise RpcFailed(answer["error"])
    return str(answer["session_id"]), answer["result"]


async def play(client: Client, session_id: str, **params: Any) -> list[dict[str, Any]]:
    """Plays a turn with `choice` or `player_input`; answers the frames of its stream."""
    response = await client.http.post("/rpc", json=client.request("session.run_turn", session_id, **params))
    if response.headers["content-type"] == "application/json":
        raise RpcFailed(response.json()["error"])
    return [event["data"]["frame"] for event in sse(response.text) if event["event"] == "message"]


def told(frames: list[dict[str, Any]]) -> list[str]:
    """The lines of a turn."""
    return [body["text"] for body in bodies(frames) if body["type"] == "ink_text"]


def of_type(frames: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [body for body in bodies(frames) if body["type"] == type]


def outcome(frames: list[dict[str, Any]]) -> dict[str, Any]:
    """What came of a message to a character."""
    return of_type(frames, "agent_outcome")[0]
