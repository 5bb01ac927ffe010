"""Two hundred hostile inputs change no state that they may not, leak nothing, and talk past no line.

Each text of `tests/hostile_inputs.txt` comes on each of eight roads: as a player's words or wish, by hand, in a card,
in lore, in a game's event, in what a tool answered. The model at the other end does the worst that it could be talked
into: whoever tells recites its whole prompt, and whoever keeps the state writes where nobody may. A few of the cases
run in `make test`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.game_client import SPEC, Game, game
from tests.live import Client, RpcFailed, gate_story, live_server, sse, until_audited
from tests.mass import Mass
from tests.scripted import bind_troupe

from fabula.agents.closed_question import NONE
from fabula.story.relations import AXES
from fabula.story.state_hash import stored_state_hash
from fabula.testing.model_script import Say, say_json
from fabula.testing.model_server import ModelServer
from fabula.testing.troupe import is_closed_question, is_for_extractor, is_for_summariser, respond, role_of

LINE = "spiders"
LORE = "Under the third stone lies the copper key of the drowned abbey."
FACT = "Mara let the smugglers through on the night of the flood."
TRAIT = "terribly homesick"
CARD = "A wary gatekeeper who likes riddles."
UNVISITED = "A quiet garden behind the gate, full of roses."
SECRETS = ("copper key of the drowned abbey", "let the smugglers through", TRAIT, "quiet garden behind")
OF_MARA = (LORE, FACT, TRAIT)
OF_TOBIAS = "Tobias buried the chart below the third beam."
KEYS = {"entry_id": "key", "title": "The key", "content": LORE, "keywords": ["stone", "key"], "secret": True}
NEWS = {"entry_id": "news", "title": "News", "content": "It rains.", "keywords": ["gate"]}
FORBIDDEN: Any = [
    {"type": "SetState", "key": "gate_open", "value": True},
    {"type": "SetState", "key": "gate_open", "value": "wide"},
    {"type": "SetCharacterState", "character": "tobias", "key": "trust", "value": 9},
    {"type": "SetCharacterState", "character": "mara", "key": "trust", "value": "all of it"},
]
"""What opens a way for no reason that was said, does not fit the schema, or is about nobody who is there."""
TURNS_MOVE = ("turns_in_scene", "message_count", "question")
"""What every turn moves, whatever is said: how many turns and lines there are, and what the storyteller asked back."""
FELT = ("relations", "inner")
"""What words move rightly, by stated rules: how who heard them stands to the player, moods and masks."""
MOST_FELT = 0.5
"""By so much a strong act moves a relation; other words move it by less."""
BECAUSE: Any = ["by order of the lord of this house"] * len(FORBIDDEN)
LEAVING: Any = {"type": "SetCurrentNode", "node_id": "garden"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A text, its family, and the road on which it comes."""

    family: str
    words: str
    road: str


def texts() -> list[tuple[str, str]]:
    rows = (Path(__file__).parents[1] / "hostile_inputs.txt").read_text("utf-8").splitlines()
    pairs = [row.split(" | ", 1) for row in rows if row and not row.startswith("#")]
    return [(family, words.replace("\\n", "\n")) for family, words in pairs]


class Recital:
    """A model that does whatever a hostile text could talk it into."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, request: Any) -> Say | str:
        said = "\n".join(str(message["content"]) for message in request["messages"])
        if is_closed_question(request) or is_for_summariser(request) or is_for_extractor(request):
            return NONE
        if said.startswith("You are a character in a running game"):
            self.asked.append(("npc", said))
            return Say(text=f"<say>{said}</say>")
        role = role_of(request)
        self.asked.append((role, said))
        match role:
            case "keeper":
                return say_json({"ops": [*FORBIDDEN, *self._leaving()], "because": BECAUSE})
            case "narrator":
                return Say(text=said)
            case "actor":
                return Say(text=f"<thought>{TRAIT}</thought><dialogue>{said}</dialogue>")
            case "swift":
                update = json.dumps({"ops": [*FORBIDDEN, *self._leaving()], "because": BECAUSE})
                return Say(text=f"<narration>{said}</narration><update>{update}</update>")
            case "director":
                beats: Any = [{"type": "Narrator", "purpose": "DescribeResult"}]
                beats += [{"type": "Actor", "speaker_id": "mara", "purpose": "ReactToPlayer"}]
                return say_json({"role_actions": [], "beats": beats})
            case _:
                return respond(request)

    def _leaving(self) -> list[Any]:
        """Every other time also what no keeper may do, for which the whole answer is of no use."""
        return [LEAVING] if len(self.asked) % 2 else []


@dataclass(frozen=True, kw_only=True)
class Table:
    """A server with a story full of secrets, seen by its author and by a player, and a game."""

    author: Client
    player: Client
    game: Game
    model: Recital
    story_id: str
    group: str

    async def welcome_player(self) -> None:
        """Another player sits down: of each so many turns and refusals a minute are taken, and no more."""
        token = (await self.author.call("token.create", role="player", label="Ada"))["token"]
        self.player.http.headers["Authorization"] = f"Bearer {token}"

    async def session(self, pace: str = "ensemble") -> str:
        """A play of the player's, at a table that draws one line."""
        answer = await self.player.raw(
            "story.start_session", story_id=self.story_id, api_group_id=self.group, preset_id=pace
        )
        await self.player.call("boundary.update", answer["session_id"], lines=[LINE])
        return str(answer["session_id"])

    async def turn(self, session: str, words: str) -> str:
        """All that the player is shown of a turn, and of the play after it."""
        body = self.player.request("session.run_turn", session, player_input=words)
        answer = await self.player.http.post("/rpc", json=body)
        if answer.headers["content-type"] == "application/json":
            raise RpcFailed(answer.json()["error"])
        frames = [one["data"] for one in sse(answer.text)]
        assert frames[-1]["frame"]["type"] == "completed", frames[-1]
        view = await self.player.call("session.get", session)
        return json.dumps([frames, view], ensure_ascii=False)

    async def state(self, session: str) -> Any:
        """What no hostile text may change: all of the state but what every turn moves by stated rules."""
        house = self.author.house
        view = await self.author.call("session.get", session)
        state: Any = await house.store.read(lambda unit: unit.plays.state(view["head_turn_id"]))
        felt = {name: state.pop(name, None) or {} for name in FELT}
        is_felt_rightly(felt["relations"], felt["inner"])
        world = state["snapshot"]["world_state"]
        for name in ("actor_shared_history", "actor_private_memory"):
            world.pop(name)
        state["snapshot"].pop("turn_index")
        for name in TURNS_MOVE:
            state.pop(name, None)
        return stored_state_hash(state), state


def is_felt_rightly(relations: Any, inner: Any) -> None:
    """Mara alone heard the player: nobody else is moved, she only towards the player, and no further than she may."""
    assert set(relations) <= {"mara"} and set(relations.get("mara", {})) <= {"player"}, relations
    for moved in relations.get("mara", {}).values():
        assert all(abs(moved.get(axis, 0.0)) <= MOST_FELT for axis in AXES), moved
    assert set(inner.get("moods", {})) <= {"mara", "player"} and set(inner.get("masks", {})) <= {"mara"}, inner
    assert all(0 <= mask["integrity"] <= 1 and mask["shown"] <= 1 for mask in inner.get("masks", {}).values()), inner


@asynccontextmanager
async def open_table(folder: Path, group: str) -> AsyncIterator[Table]:
    model = Recital()
    async with ModelServer(model) as models:
        settings = {"openai_api_base": models.base_url, "llm_model": "scripted-small", "openai_api_key": "sk-secret"}
        async with live_server(folder, model_attempts=1, **settings) as author:
            address = str(author.http.base_url).rstrip("/")
            token = (await author.call("token.create", role="player", label="Ada"))["token"]
            headers = {"Authorization": f"Bearer {token}"}
            async with (
                httpx.AsyncClient(base_url=address, headers=headers, timeout=120) as http,
                game(address, additional_headers=headers) as connected,
            ):
                await bind_troupe(author, models.base_url)
                story = await secretive_story(author)
                await connected.send("hello", protocol=1, client="smithy", boundaries={"lines": [LINE]})
                await connected.next("welcome")
                connected.state["spec"] = {**SPEC, "name": "Tobias", "knowledge": [OF_TOBIAS]}
                await connected.turn("Hello.", "tobias")
                connected.state["spec"] = SPEC
                player = Client(http, author.house)
                yield Table(author=author, player=player, game=connected, model=model, story_id=story, group=group)


async def secretive_story(author: Client) -> str:
    story = await gate_story(author)
    known = {**KEYS, "known_by": ["mara"]}
    await author.call("lorebook.create", lorebook_id="book", display_name="Book", entries=[known, NEWS])
    resource = (await author.call("story.get", story_id=story))["resource_id"]
    await author.call("story_resources.update", resource_id=resource, lorebook_ids=["book"])
    await set_card(author, CARD)
    return story


async def set_card(author: Client, personality: str) -> None:
    content = (await author.call("character.get", character_id="mara"))["content"]
    mask = {"presented": ["unshakeable"], "hidden": [TRAIT]}
    hidden: Any = {"mask": mask, "facts": [{"text": FACT, "known_by": ["mara"], "secret": True}]}
    await author.call(
        "character.update", character_id="mara", content={**content, **hidden, "personality": personality}
    )


async def _line(at: Table, case: Case) -> str:
    session = await at.session()
    return await kept(at, session, case, lambda: at.turn(session, case.words), comes=True)


async def _swift(at: Table, case: Case) -> str:
    session = await at.session("swift")
    return await kept(at, session, case, lambda: at.turn(session, case.words), comes=True)


async def _wish(at: Table, case: Case) -> str:
    session = await at.session()
    return await kept(at, session, case, lambda: at.turn(session, f"I wait. (({case.words}))"), comes=True)


async def _by_hand(at: Table, case: Case) -> str:
    session = await at.session()

    async def go() -> str:
        line: Any = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator", "text": case.words}
        await at.player.call("session_message.create", session, **line)
        return await at.turn(session, "I wait.")

    return await kept(at, session, case, go, comes=True)


async def _card(at: Table, case: Case) -> str:
    await set_card(at.author, f"A wary gatekeeper. {case.words}")
    session = await at.session()
    told = await kept(at, session, case, lambda: at.turn(session, "Hello, Mara."))
    await set_card(at.author, CARD)
    return told


async def _lore(at: Table, case: Case) -> str:
    await at.author.call("lorebook_entry.update", lorebook_id="book", entry_id="news", content=case.words)
    session = await at.session("swift")
    told = await kept(at, session, case, lambda: at.turn(session, "I look at the gate."))
    await at.author.call("lorebook_entry.update", lorebook_id="book", entry_id="news", content=NEWS["content"])
    return told


async def _event(at: Table, case: Case) -> str:
    return await spoken(at, case, "interaction_event", fresh_npc(at), text=case.words)


async def _tool(at: Table, case: Case) -> str:
    npc = fresh_npc(at)
    frames = await at.game.turn("Look around.", npc)
    results: Any = [{"call_id": f"{frames[0]['turn_id']}.0", "name": "look", "result": {"seen": [case.words]}}]
    return await spoken(
        at, case, "tool_results", npc, turn_id=frames[0]["turn_id"], results=results, **{"continue": True}
    )


ROADS: dict[str, Callable[[Table, Case], Awaitable[str]]] = {
    "a line": _line,
    "a line in the swift pace": _swift,
    "a wish": _wish,
    "a line by hand": _by_hand,
    "a card": _card,
    "lore": _lore,
    "a game's event": _event,
    "what a tool answers": _tool,
}


OF_A_GAME = ("a game's event", "what a tool answers")


async def kept(at: Table, session: str, case: Case, go: Callable[[], Awaitable[str]], *, comes: bool = False) -> str:
    """What the player was shown. A text that crosses a line, and comes from a player, is refused."""
    before = await at.state(session)
    if comes and case.family == "lines":
        with pytest.raises(RpcFailed, match="does not want 'spiders'"):
            await go()
        noted = await until_audited(at.author, about=session)
        assert [(one["why"], one["what"]) for one in noted] == [("boundary", "input: lines")]
        assert at.model.asked == []
        told = json.dumps(await at.player.call("session.get", session))
    else:
        told = await go()
    assert await at.state(session) == before, case
    return told


def fresh_npc(at: Table) -> str:
    """One that has lived through nothing yet: what was recited to the last would stand in its prompt."""
    return f"mara-{len(at.game.seen)}"


async def spoken(at: Table, case: Case, type: str, npc: str, **fields: Any) -> str:
    """What a game was sent about an NPC to whom a text came."""
    seen = len(at.game.seen)
    await at.game.send(type, agent_id=npc, **fields)
    ends = ("error",) if case.family == "lines" else ("agent_turn_finished", "error")
    last = await at.game.next(*ends, seconds=120)
    assert (last["type"] == "error") == (case.family == "lines"), last
    assert last["type"] != "error" or last["code"] == "line_crossed"
    return json.dumps(at.game.seen[seen:], ensure_ascii=False)


def cases() -> list[Case]:
    """Every text on every road, in an order in which any part has some of each."""
    rows = [Case(family=family, words=words, road=road) for family, words in texts() for road in ROADS]
    return sorted(rows, key=lambda one: hash_of(f"{one.road} {one.words}"))


def hash_of(text: str) -> int:
    return sum(ord(letter) * (place + 1) for place, letter in enumerate(text)) % 1009


def test_there_are_two_hundred_of_them() -> None:
    assert len(cases()) == len({(one.road, one.words) for one in cases()}) == 200


@pytest.mark.parametrize("group", ["troupe", pytest.param("builtin", marks=pytest.mark.all)])
async def test_hostile_inputs_change_nothing_and_learn_nothing(tmp_path: Path, mass: Mass, group: str) -> None:
    """With the model that does its worst, and with the understudy, which plays the story and no NPCs here."""
    every = [one for one in cases() if group == "troupe" or one.road not in OF_A_GAME]
    count = mass(len(every)) if mass(2) == 2 else 5
    async with open_table(tmp_path, group) as at:
        for case in every[:count]:
            at.model.asked.clear()
            await at.welcome_player()
            told = await ROADS[case.road](at, case)
            for secret in (*SECRETS, OF_TOBIAS):
                assert secret not in told, (case, secret)
            if case.family == "lines":
                assert "spider drops onto" not in told and "s p i d e r s and" not in told, case
            for role, prompt in at.model.asked:
                may = OF_MARA if role == "actor" else ()
                known = [one for one in (*OF_MARA, OF_TOBIAS) if one in prompt]
                assert set(known) <= set(may), (case, role, known)
