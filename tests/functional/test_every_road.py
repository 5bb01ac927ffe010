"""Every road on which words go to a model or a player keeps the lines of its table, and the audit says that it did.

`ROADS_IN` are the ways on which somebody brings words, `ROADS_OUT` those on which words are told. A new way gets a row.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.free_world import free_session
from tests.functional.test_followers import all_done
from tests.game_client import Game, game
from tests.ink_live import play
from tests.knot_theatre import decision
from tests.live import Client, RpcFailed, gate_story, live_server, sse, until_audited
from tests.scripted import ROLES, bind_troupe

from fabula.actions.followers.summariser import Summariser
from fabula.actions.plays.play_states import head_state, play_of
from fabula.actions.repositories import SESSIONS
from fabula.agents.closed_question import NONE
from fabula.ports.actors import OPERATOR
from fabula.rules.guardrails import LINE_MARK
from fabula.story.state import MemoryEntry
from fabula.testing.model_script import Say, say_json
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import is_closed_question, respond, role_of, words_of_role

LINE = "spiders"
CROSSING = "Rain falls. A spider drops down. Night comes."
BAD = "I follow the spider."

INK = """
-> gate

=== gate
Rain falls. A spider sits on the gate. # rain
* [Feed the spider] -> spinning
* [Talk to the guard] -> agent(-> guard, -> opens)

=== guard
I have stood at this gate for eleven winters.
* [Ask] Nobody passes.
- -> DONE

=== opens
The gate opens.
-> END

=== spinning
~ temp text = generate("Describe the rain.")
{text}
* [Go on] -> END
"""


class Crossing:
    """A model that plays every role, and speaks of what nobody wants to hear wherever it can."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, request: Any) -> Say | str:
        system = words_of_role(request, "system")
        self.prompts.append(words_of_role(request, "user"))
        if is_closed_question(request):
            return NONE
        if system.startswith("You play one character"):
            return say_json(decision("NEEDS_INPUT", CROSSING, guidance=CROSSING, reason=CROSSING))
        if system.startswith("You are a character in a running game"):
            return Say(text=f'<say>{CROSSING}</say><action name="wave" target="the spider"/><emote>waits</emote>')
        if system.startswith(("You write a short text", "You help an author", "You sum up")):
            return Say(text=CROSSING)
        if system.startswith("You read lines"):
            return Say(text="[]")
        return self._in_a_turn(request)

    def _in_a_turn(self, request: Any) -> Say:
        match role_of(request):
            case "narrator":
                return Say(text=CROSSING)
            case "actor":
                return Say(text=f"<thought>{CROSSING}</thought><dialogue>{CROSSING}</dialogue>")
            case "swift":
                return Say(text=f'<narration>{CROSSING}</narration><dialogue who="mara">{CROSSING}</dialogue>')
            case "replyer":
                texts = [BAD, "I wait.", "I pet the spider.", "I knock."]
                return say_json({"replies": [{"id": str(n), "text": text} for n, text in enumerate(texts)]})
            case "keeper":
                return say_json({"ops": [{"type": "SetState", "key": "note", "value": CROSSING}]})
            case "director":
                guest: Any = {"type": "create_and_enter", "session_character_id": "webb", "display_name": "Webb"}
                guest |= {"personality": "A spider.", "style": "soft", "system_prompt": ""}
                beats: Any = [{"type": "Narrator", "purpose": "DescribeResult"}]
                beats += [{"type": "Actor", "speaker_id": who, "purpose": "ReactToPlayer"} for who in ("mara", "webb")]
                return say_json({"role_actions": [guest], "beats": beats})
            case _:
                return respond(request)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A server with a story, an Ink story and a game, at all of which nobody wants to hear of spiders."""

    client: Client
    game: Game
    model: Crossing
    sessions: dict[str, str]

    async def call(self, method: str, session: str = "ensemble", /, **params: Any) -> Any:
        return await self.client.call(method, self.sessions[session], **params)

    async def turn(self, words: str, session: str = "ensemble", method: str = "session.run_turn") -> str:
        params = {"text": words} if method == "conversation.say" else {"player_input": words}
        answer = await self.client.http.post("/rpc", json=self.client.request(method, self.sessions[session], **params))
        if answer.headers["content-type"] == "application/json":
            raise RpcFailed(answer.json()["error"])
        return json.dumps([one["data"] for one in sse(answer.text)])

    async def game_refuses(self, type: str, **fields: Any) -> None:
        await self.game.send(type, agent_id="mara", **fields)
        problem = await self.game.next("error")
        assert problem["code"] == "line_crossed", problem
        raise RpcFailed({"message": problem["message"], "code": -32600})


@asynccontextmanager
async def open_table(folder: Path) -> AsyncIterator[Table]:
    model = Crossing()
    async with ModelServer(model) as models:
        settings = {"openai_api_base": models.base_url, "llm_model": "scripted-small", "openai_api_key": "sk-secret"}
        async with (
            live_server(folder, model_attempts=1, **settings) as client,
            game(str(client.http.base_url).rstrip("/")) as connected,
        ):
            await bind_troupe(client, models.base_url)
            bindings = {f"{role}_api_id": "troupe" for role in ROLES}
            await client.call("api_group.create", api_group_id="default", display_name="Default", bindings=bindings)
            story = await gate_story(client)
            note = {"value_type": "string", "default": "", "description": "A note"}
            gate = {"gate_open": {"value_type": "bool", "default": False, "description": "Open?"}, "note": note}
            await client.call("schema.update", schema_id="gate-world", display_name="World", fields=gate)
            ink = await client.call("story.create_ink", display_name="Gate", source=INK, files={})
            sessions = {pace: await begun(client, story, preset_id=pace) for pace in ("ensemble", "swift")}
            sessions |= {"talk": await begun(client, story, preset_id="ensemble")}
            sessions |= {name: await begun(client, ink["story_id"]) for name in ("ink", "guard")}
            await play(client, sessions["guard"], choice=1)
            for id in sessions.values():
                await client.call("boundary.update", id, lines=[LINE])
            await client.call("conversation.open", sessions["talk"], character_ids=["mara"])
            await connected.send("hello", protocol=1, client="smithy", boundaries={"lines": [LINE]})
            await connected.next("welcome")
            model.prompts.clear()
            yield Table(client=client, game=connected, model=model, sessions=sessions)


async def begun(client: Client, story: str, **more: Any) -> str:
    answer = await client.raw("story.start_session", story_id=story, api_group_id="troupe", **more)
    return str(answer["session_id"])


GUEST: Any = {"display_name": "Webb", "personality": "A spider.", "style": "soft", "system_prompt": ""}
SAID: Any = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator"}
NOTE: Any = {"type": "SetState", "key": "note", "value": BAD}
TOOLS: Any = [{"call_id": "c1", "name": "look", "result": {"seen": ["a stone", "a spider"]}}]

ROADS_IN: dict[str, Callable[[Table], Awaitable[Any]]] = {
    "a line of the player": lambda at: at.turn(BAD),
    "a line in the swift pace": lambda at: at.turn(BAD, "swift"),
    "a wish out of character": lambda at: at.turn("I wait. ((More spiders, please.))"),
    "a line in a conversation": lambda at: at.turn(BAD, "talk", "conversation.say"),
    "words to a character of an Ink story": lambda at: at.turn(BAD, "guard"),
    "who the player is": lambda at: at.call("session.update_player_description", player_description="A spider."),
    "a line by hand": lambda at: at.call("session_message.create", text=BAD, **SAID),
    "a guest": lambda at: at.call("session_character.create", **GUEST),
    "a variable": lambda at: at.call("session.update_variables", update={"ops": [NOTE]}),
    "a game's event": lambda at: at.game_refuses("interaction_event", text=BAD),
    "the data of a game's event": lambda at: at.game_refuses("interaction_event", text="Look!", data={"a": ["spider"]}),
    "what an NPC notices": lambda at: at.game_refuses("notification_event", event_type="news", text=BAD),
    "what a tool of a game answers": lambda at: at.game_refuses("tool_results", turn_id="t", results=TOOLS),
    "what a game says was played": lambda at: at.game_refuses("agent_turn_result", turn_id="t", tags=[{"text": BAD}]),
}


async def test_whatever_way_words_come_those_that_cross_a_line_reach_nobody(tmp_path: Path) -> None:
    async with open_table(tmp_path) as at:
        before = {id: (await at.client.call("session.get", id))["snapshot"] for id in at.sessions.values()}
        for name, go in ROADS_IN.items():
            with pytest.raises(RpcFailed, match="does not want 'spiders'"):
                await go(at)
                pytest.fail(f"not refused: {name}")
        assert at.model.prompts == []
        for id in at.sessions.values():
            assert (await at.client.call("session.get", id))["snapshot"] == before[id]
        noted = await until_audited(at.client)
        assert {(one["caller"], one["why"], one["what"]) for one in noted} == {("player", "boundary", "input: lines")}
        assert {one["about"] for one in noted} & set(at.sessions.values())


async def _npc(at: Table) -> str:
    return json.dumps(await at.game.turn("Hello."))


async def _recap(at: Table) -> str:
    """What was told before a line was drawn is not told again."""
    await at.call("boundary.update", "swift", lines=[])
    told = await at.turn("I look at the gate.", "swift")
    assert "spider drops" in told
    await at.call("boundary.update", "swift", lines=[LINE])
    return str(await at.call("session.recap", "swift"))


async def _architect(at: Table) -> str:
    await at.client.call("world.create", world_id="salt", display_name="Salt")
    await at.client.call("boundary.update", world_id="salt", lines=[LINE])
    return str(await at.client.call("building.open", world_id="salt"))


async def _ink_story(at: Table) -> str:
    told = await at.client.raw("session.get", at.sessions["ink"])
    assert "Feed the spider" in str(told), "offered before the line was drawn"
    frames = await play(at.client, at.sessions["ink"], choice=0)
    return json.dumps(frames)


ROADS_OUT: dict[str, tuple[Callable[[Table], Awaitable[str]], set[str]]] = {
    "narrator, actors, director and keeper": (
        lambda at: at.turn("I look around."),
        {"narrator", "actor", "director", "keeper"},
    ),
    "the swift pace": (lambda at: at.turn("I look around.", "swift"), {"narrator", "actor"}),
    "a conversation": (lambda at: at.turn("Hello, Mara.", "talk", "conversation.say"), {"actor"}),
    "a character of an Ink story": (lambda at: at.turn("Hello.", "guard"), {"ink_agent"}),
    "a text that an Ink story asks for": (_ink_story, {"narrator"}),
    "an NPC of a game": (_npc, {"npc mara"}),
    "suggested replies": (lambda at: _text(at.call("session.suggest_replies", limit=4)), {"replyer"}),
    "a recap": (_recap, {"summariser"}),
    "who helps to build a world": (_architect, {"architect"}),
}


async def _text(answer: Awaitable[Any]) -> str:
    return json.dumps(await answer)


async def cut_by(at: Table, callers: set[str]) -> None:
    """The audit says of all of them that something was left out."""
    what = f"output: lines: {LINE}"
    await until_audited(at.client, lambda noted: callers <= {one["caller"] for one in noted if one["what"] == what})


async def test_whatever_way_words_are_told_none_of_them_crosses_a_line(tmp_path: Path) -> None:
    async with open_table(tmp_path) as at:
        for road, (go, callers) in ROADS_OUT.items():
            told = (await go(at)).replace("Feed the spider", "")
            assert "pider" not in told, (road, told)
            assert LINE_MARK in told or road == "suggested replies", road
            await cut_by(at, callers)
        kept = [await at.client.call("session.get", at.sessions[name]) for name in ("ensemble", "talk", "guard", "ink")]
        assert "spider drops" not in json.dumps(kept)


async def test_a_summary_passes_the_guardrails_of_its_table(tmp_path: Path) -> None:
    async with open_table(tmp_path) as at:
        await at.turn("I look around.")
        house, id = at.client.house, at.sessions["ensemble"]
        async with house.store.reading() as unit:
            _, state = await head_state(unit, OPERATOR, id)
            turn = await unit.plays.turn((await play_of(unit, OPERATOR, id)).head_turn_id)
            assert turn is not None
            summariser = await Summariser.of(house, unit, await SESSIONS.get(unit, id), turn, state)
        text = "You walk down the old road to the gate. A spider drops down on the lock before you."
        line = MemoryEntry(speaker_id="narrator", speaker_name="Narrator", kind="narration", text=text)
        assert await summariser.sum_up([line], 70) == f"You walk down the old road to the gate. {LINE_MARK}"
        await cut_by(at, {"summariser"})


async def test_a_campaign_goes_on_at_a_table_whose_line_is_a_word_of_the_mark(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await free_session(client)
        # What the next scene begins with names the chapel bell, and is left out; the mark speaks of a table.
        await client.call("boundary.update", session, lines=["bell", "table"])
        await client.turn(session, "I go to the ford.")
        await all_done(client)
        history = (await client.call("session.get", session))["history"]
        assert [one["outcome"] for one in (await client.call("scene.list", session))["scenes"] if "outcome" in one]
        assert LINE_MARK in history[-1]["text"] and "bell" not in history[-1]["text"]
