"""Campaigns of five scenes on a server that is killed again and again, and what must be true of each of them after it.

1. Each sort of campaign is played once undisturbed. What its player says follows from what they read; that is kept.
2. Players say the same in plays with the same seed, several at once, while the server gets SIGKILL at random moments
   and is started again. A player whose connection broke looks where the play stands, and goes on from there.
3. Every finished campaign must be what the undisturbed one is: lines, scenes, threads, clocks, canon and hash. Where a
   model plays, it must have been asked the same, too: nothing that was said or is true may be missing in a prompt, or
   stand in it twice. Each such campaign has a model of its own name, so that no answer of another one is at hand, and
   its player waits before each line until all that follows the turn before is done: prompts have what is done by then.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
from tests.fork_server import ForkServer
from tests.free_world import entity, fact, free_world
from tests.live import RpcFailed, sse
from tests.scripted import ROLES
from tests.turn_kills import Victim, lines, victim

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour
from fabula.testing.troupe import Troupe

SCENES = 5
MOST_LINES = 40
MOST_ANSWERS, LONGEST_PAUSE_S, PATIENCE_S = 60, 0.05, 120.0
BROKEN = (httpx.HTTPError, RuntimeError)
END_SCENE = "/end-scene"

SECRETS = [
    entity("wren", "character", "Wren", "Sweeps the chapel, though it has no roof."),
    entity("rope", "object", "the ferry rope", "It hangs across the ford."),
    fact("wren", "keeps_to", "the Chapel"),
    fact("rope", "cut_by", "Ilse", known_to=["ilse"]),
    fact("chapel", "burned_by", "Wren", known_to=["wren"]),
    fact("mill", "sold_to", "the flood", known_to=["orr"]),
]
CLOCKS = [
    {"clock_id": "flood", "name": "The flood", "segments": 3, "pressure": 3, "every": 20}
    | {"fires": {"event": "The flood came.", "notice": "The water has come up to the door."}},
    {"clock_id": "winter", "name": "Winter", "segments": 12, "pressure": 1, "every": 60},
]
THREADS = [
    {"thread_id": "wheel", "title": "Who stopped the wheel?", "priority": 4, "about": ["wheel"]},
    {"thread_id": "bell", "title": "Where is the bell?", "priority": 2, "about": ["bell"]},
]

Tell = Callable[[dict[str, Any], int], str]
"""What a player says next, by the scene that is open and how many turns of it they have played."""


@dataclass(frozen=True, kw_only=True)
class Sort:
    """A sort of campaign: how it is started, what its player says, and whether the story is over after five scenes."""

    name: str
    start: Mapping[str, Any]
    tell: Tell
    ends: bool
    by_model: bool = False


def ask_for_secrets(scene: dict[str, Any], turns: int) -> str:
    """Looks around first, then asks whoever the scene is about."""
    _, _, asked = str(scene["purpose"]).partition("Persuade ")
    return "I look around." if turns == 0 or not asked else f"I persuade {asked.split(' to ')[0]} to tell me."


def ask_twice_and_leave(scene: dict[str, Any], turns: int) -> str:
    """Asks, with dice, and ends the scene by hand where nothing comes of it."""
    return ask_for_secrets(scene, turns) if turns < 3 else END_SCENE


def go_on(scene: dict[str, Any], turns: int) -> str:
    """What the scripted model needs to open the next way."""
    return "I look around." if turns == 0 else "go on"


BY_RULE = {"api_group_id": "builtin"}
SORTS = [
    Sort(name="vale", start={"world_id": "vale", "seed": 5, **BY_RULE}, tell=ask_for_secrets, ends=True),
    Sort(
        name="reach",
        start={"world_id": "withy-reach", "player_profile_id": "toll-warden", "seed": 11, **BY_RULE},
        tell=ask_twice_and_leave,
        ends=False,
    ),
    Sort(
        name="model",
        start={"world_id": "vale", "seed": 7, "preset_id": "ensemble"},
        tell=go_on,
        ends=True,
        by_model=True,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A campaign that is played: its session, and the name of the model that plays it, if one does."""

    session: str
    model: str = ""


@dataclass(frozen=True, kw_only=True)
class Undisturbed:
    """A sort of campaign, what its player said when nothing was killed, what was true at its end, and what its model
    was asked."""

    sort: Sort
    said: list[str]
    seen: dict[str, Any]
    asked: list[str]


@dataclass(kw_only=True)
class Tally:
    """What came of it. `answers` counts what players have read; by it the next kill is timed. `prompts` counts what
    models were asked, `asked_again` how often that was cut off and asked again."""

    campaigns: Counter[str] = field(default_factory=Counter)
    turns: int = 0
    failed_whole: int = 0
    answers: int = 0
    prompts: int = 0
    asked_again: int = 0
    wrong: list[str] = field(default_factory=list)


class NotingTroupe(Troupe):
    """Notes what each model was asked, by its name, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: defaultdict[str, list[str]] = defaultdict(list)

    def __call__(self, request: JsonObject) -> Behaviour | str:
        messages = request["messages"]
        assert isinstance(messages, list)
        told = [f"{one['role']}: {one['content']}" for one in messages if isinstance(one, dict)]
        self.asked[str(request["model"])].append("\n".join(told))
        return super().__call__(request)


def asked_of(it: Victim, begun: Begun) -> list[str]:
    """What the model of a campaign was asked, in order; that is forgotten then."""
    assert isinstance(it.troupe, NotingTroupe)
    return it.troupe.asked.pop(begun.model, [])


@asynccontextmanager
async def campaign_victim(
    fork_server: ForkServer, folder: Path, environment: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Victim]:
    """A victim with a small world of five secrets, and with the samples."""
    chosen = {**environment, "FABULA_SAMPLES": "true"}
    async with victim(fork_server, folder, NotingTroupe(), chosen) as it:
        await free_world(it.client)
        evidence = [{"type": "source", "ref": "the book"}]
        changes = [{"content": one, "evidence": evidence} for one in SECRETS]
        await it.client.call("canon.propose", world_id="vale", changes=changes)
        await it.client.call("canon.review", world_id="vale")
        for clock in CLOCKS:
            await it.client.call("clock.create", world_id="vale", **clock)
        for thread in THREADS:
            await it.client.call("thread.update", world_id="vale", **thread)
        yield it


async def play_undisturbed(it: Victim, sort: Sort) -> Undisturbed:
    begun = await begin(it, sort)
    session, said, turns = begun.session, list[str](), 0
    while not is_over(sort, shown := await settled(it, session)):
        assert len(said) < MOST_LINES, f"{sort.name} takes too long"
        line = sort.tell(shown["now"], turns)
        await followed(it, session)
        if line == END_SCENE:
            await it.client.call("session.end_scene", session)
        else:
            assert (await it.client.turn(session, line))[-1]["type"] == "completed"
        said.append(line)
        after = await settled(it, session)
        turns = turns + 1 if after["ended_scenes"] == shown["ended_scenes"] else 0
    asked = asked_of(it, begun)
    assert bool(asked) == sort.by_model and len(asked) == len(set(asked))
    return Undisturbed(sort=sort, said=said, seen=await seen(it, session), asked=asked)


async def play_among_kills(it: Victim, known: Undisturbed, tally: Tally, chance: random.Random) -> None:
    """Says the same again, each line until it is part of the story."""
    begun = await insist(lambda: begin(it, known.sort))
    session, acknowledged = begun.session, set[str]()
    for number in range(len(known.said)):
        await bounded(it, session, play_line(it, session, known, number, tally, acknowledged))
        tally.turns += 1
        # A player who is quicker than the story wakes its loop; one who reads finds that it went on by itself.
        if known.sort.by_model or chance.random() < 0.7:
            await bounded(it, session, insist(lambda: settled(it, session)))
        if known.sort.by_model:
            await bounded(it, session, insist(lambda: followed(it, session)))
    await bounded(it, session, insist(lambda: settled(it, session)))
    found = await bounded(it, session, insist(lambda: seen(it, session)))
    asked = asked_of(it, begun)
    tally.prompts, tally.asked_again = tally.prompts + len(asked), tally.asked_again + len(asked) - len(set(asked))
    wrong = [*differences(known.seen, found), *other_prompts(known.asked, list(dict.fromkeys(asked)))]
    tally.wrong += [f"{known.sort.name} {session}: {one}" for one in wrong]
    turns = (await insist(lambda: it.client.call("session.branches", session)))["turns"]
    lost = acknowledged - {turn["turn_id"] for turn in turns}
    tally.wrong += [f"{known.sort.name} {session}: turn {one} was acknowledged and is lost" for one in sorted(lost)]
    tally.campaigns[known.sort.name] += 1


_NUMBERS = itertools.count()


async def begin(it: Victim, sort: Sort) -> Begun:
    """Starts a play, with a model of its own where one plays it."""
    if not sort.by_model:
        return Begun(session=str((await it.client.raw("story.start_session", **sort.start))["session_id"]))
    # Who was cut off begins with another name: nobody knows how far that came.
    name = f"scripted-{next(_NUMBERS)}"
    address = (await it.client.call("api.get", api_id="troupe"))["base_url"]
    api = {"provider": "open_ai", "base_url": address, "api_key": "sk-troupe", "model": name}
    await it.client.call("api.create", api_id=name, display_name=name, **api)
    bindings = {f"{role}_api_id": name for role in ROLES}
    await it.client.call("api_group.create", api_group_id=name, display_name=name, bindings=bindings)
    answer = await it.client.raw("story.start_session", **sort.start, api_group_id=name)
    return Begun(session=str(answer["session_id"]), model=name)


async def play_line(
    it: Victim, session: str, known: Undisturbed, number: int, tally: Tally, acknowledged: set[str]
) -> None:
    """Says one line, or ends the scene, until that is so; once."""
    line, done, failed = known.said[number], known.said[: number + 1], 0
    while True:
        shown = await insist(lambda: it.rested(session))
        tally.answers += 1
        if line == END_SCENE:
            listed = (await insist(lambda: it.client.call("scene.list", session)))["scenes"]
            if sum(one.get("outcome") == "asked" for one in listed) >= done.count(END_SCENE):
                return
            with suppress(*BROKEN):
                await it.client.call("session.end_scene", session)
            continue
        inputs = [one for one in shown["history"] if one["kind"] == "player_input"]
        if len(inputs) >= sum(one != END_SCENE for one in done):
            return
        if failed % 2:
            # Every other time it is said anew: both must end alike.
            with suppress(*BROKEN, RpcFailed):
                await it.client.turn(session, "", method="session.retry_turn")
            failed += 1
            continue
        if await say_and_fail(it, session, line, f"line-{number}-{failed}", tally, acknowledged):
            failed += 1
            tally.failed_whole += 1


async def say_and_fail(it: Victim, session: str, line: str, key: str, tally: Tally, acknowledged: set[str]) -> bool:
    """Says a line with a key, so that saying it twice is saying it once; whether its turn failed, as it may when two
    servers died with it. Reads until the server dies."""
    request, text = it.client.request("session.run_turn", session, player_input=line, key=key), ""
    with suppress(*BROKEN):
        async with it.client.http.stream("POST", "/rpc", json=request) as response:
            async for chunk in response.aiter_text():
                text += chunk
                tally.answers += 1
    # The id of an event names its turn, and `turn~2` when a second server plays it.
    events = sse(text[: text.rfind("\n\n") + 2])
    acknowledged |= {str(event["id"]).partition(":")[0].partition("~")[0] for event in events if "id" in event}
    frames = [event["data"]["frame"] for event in events if event["event"] == "message"]
    return bool(frames) and frames[-1]["type"] == "failed"


async def settled(it: Victim, session: str) -> dict[str, Any]:
    """Waits until the story is in a scene, or over; answers where it stands."""
    while True:
        shown = await it.rested(session)
        listed = (await it.client.call("scene.list", session))["scenes"]
        loops = (await it.client.call("loop.state", session))["loops"]
        now = [one for one in listed if one["status"] == "open"]
        is_between = not now and shown["status"] != "ended"
        if not is_between and (not loops or loops[0]["status"] == "sleeping"):
            ended = len(listed) - len(now)
            return {"status": shown["status"], "now": now[0] if now else {}, "ended_scenes": ended}
        await asyncio.sleep(0.02)


def is_over(sort: Sort, shown: dict[str, Any]) -> bool:
    over = shown["status"] == "ended"
    if sort.ends:
        assert not over or shown["ended_scenes"] == SCENES, shown
    return over if sort.ends else bool(shown["ended_scenes"] >= SCENES)


async def followed(it: Victim, session: str) -> None:
    """Waits until all that follows the turns of a play is done."""
    while any(one["subject"] == session for one in (await it.client.call("outbox.list"))["items"]):
        await asyncio.sleep(0.02)


async def seen(it: Victim, session: str) -> dict[str, Any]:
    """What is true of a play when all that follows its turns is done, whatever its turns are called."""
    await followed(it, session)
    shown = await it.rested(session)
    listed = (await it.client.call("scene.list", session))["scenes"]
    threads = (await it.client.call("thread.list", session))["threads"]
    clocks = (await it.client.call("clock.list", session))["clocks"]
    changes = (await it.client.call("canon.list", session))["changes"]
    turns = (await it.client.call("session.branches", session))["turns"]
    return {
        "status": shown["status"],
        "lines": lines(shown),
        "turns": [(one["label"], one["state_hash"]) for one in turns if one["status"] == "committed"],
        "scenes": [(one["title"], one["status"], one.get("outcome"), one.get("summary")) for one in listed],
        "threads": [(one["title"], one["status"], len(one["moves"])) for one in threads],
        "clocks": [(one["clock_id"], one["status"], one["filled"]) for one in clocks],
        "changes": sorted((json.dumps(one["content"], sort_keys=True), one["status"]) for one in changes),
        "hash": shown["state_hash"],
    }


def differences(wanted: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """In what two plays differ, one sentence for each part, with the first place where they do."""
    told = []
    for part, value in wanted.items():
        if value != found[part]:
            pairs = [(value, found[part])]
            if isinstance(value, list):
                longest = max(len(value), len(found[part]))
                pairs = list(zip(*(one + [None] * (longest - len(one)) for one in (value, found[part])), strict=True))
            first = next(pair for pair in pairs if pair[0] != pair[1])
            told.append(f"{part}: {first[1]!r} instead of {first[0]!r}")
    return told


def other_prompts(wanted: list[str], found: list[str]) -> list[str]:
    """The first prompt that another campaign of the same words did not have, by the lines in which it differs."""
    for number, (one, other) in enumerate(itertools.zip_longest(wanted, found, fillvalue="")):
        if one != other:
            lines = list(unified_diff(one.split("\n"), other.split("\n"), lineterm="", n=1))
            return [f"prompt {number} of {len(wanted)}, {len(found)} were found: {lines[2:40]}"]
    return []


async def insist(question: Callable[[], Awaitable[Any]]) -> Any:
    """Asks until there is an answer; a server that was killed comes back."""
    while True:
        try:
            return await question()
        except (*BROKEN, KeyError):
            await asyncio.sleep(0.02)


async def bounded(it: Victim, session: str, waiting: Awaitable[Any]) -> Any:
    """What is waited for; if it never comes, what the store and the server know of the play."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await waiting
    except TimeoutError:
        raise AssertionError(
            f"{session} does not go on after {it.kills} kills: {await known_of(it, session)}"
        ) from None


async def known_of(it: Victim, session: str) -> str:
    """What is asked when a play hangs: where it stands, its loop and its work, and the end of the server's log."""
    told = {}
    for method, of in (("session.get", session), ("loop.state", session), ("work.list", None)):
        try:
            async with asyncio.timeout(10):
                answer = await it.client.call(method, of)
        except (*BROKEN, RpcFailed, TimeoutError) as error:
            answer = {"no answer": repr(error)}
        answer.pop("history", None)
        answer.pop("snapshot", None)
        told[method] = answer
    log = (it.folder / "server.log").read_text("utf-8", "replace")[-3000:]
    return f"{json.dumps(told, indent=1)}\n{log}"


async def kill_again_and_again(it: Victim, kills: int, tally: Tally, chance: random.Random) -> None:
    """A life lasts until players have read some answers, and a moment more: on any machine kills find turns, scenes
    that end and worlds that move under way."""
    while it.kills < kills:
        enough = tally.answers + chance.randint(0, MOST_ANSWERS)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S / 6):
                while tally.answers < enough:
                    await asyncio.sleep(0.002)
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE_S))
        it.kill()
        if it.kills % 50 == 0:
            print(f"{it.kills} kills: {tally}", flush=True)  # noqa: T201 - it takes long
        await it.stop()
        told = (it.folder / "server.log").read_text("utf-8", "replace")
        if "Traceback" in told:
            tally.wrong.append(f"kill {it.kills}: the server said {told}")
        await it.start()
