"""Context: how much of each prompt stands again at the beginning of the next, and what it costs to assemble one.

Plays The Drowned Toll with no model, at both paces: its own world and canon, its lorebook grown to 321 entries, answers
as long as those of models, and a past long enough that prompts leave out its oldest lines, so that a summary and
memories stand in them. All of it happens in one scene. A Season on Kettle Hill is played beside it, where the player
goes from place to place, and people come and go.

The first thirty turns are measured, and eighty after sixty, in which the history is cut twice: in thirty it would be
once, twice or not at all, by chance. Every prompt is that of a real turn, as a model would be sent it; the share is
over all prompts of a role. The time is that of the processor, from what a turn has read to the messages: the context of
a role and its prompt.

Of a long play, what does not stand again is told by its cause: the cuts of the history, and what stands behind it and
is told anew each time. As much leaves a long history as comes into it, and what leaves does not stand again: that
share, the last figure, is lost in any order of the sections. It is the more, the more is said between two prompts of a
role.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.house import House
from fabula.actions.library.presets import CreatePreset, NamePreset, create_preset, get_preset
from fabula.actions.library.samples import install_samples, sample_folder
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.adapters.models import understudy
from fabula.agents.packed_prompts import Prompt
from fabula.agents.prompts import write_prompt
from fabula.agents.windows import told_history
from fabula.loops.scene import questions
from fabula.loops.scene.contexts import SceneTeller
from fabula.ports.actors import OPERATOR
from fabula.ports.models import ModelRequest
from fabula.settings import Settings
from fabula.story.contexts import RoleContext
from fabula.story.resources import AgentPreset
from fabula.understudy import answer
from fabula.wiring import open_house

ENTRIES, TURNS, PAST, LATER = 321, 30, 60, 80
STABLE, MOST_MS = 0.95, 4.0
NARRATED, SPOKEN = 350, 150
END = 6_000
"""So many letters never stand behind the history: where more are lost, it was cut, or what is before it changed."""
ROLES = ("director", "narrator", "actor", "keeper", "swift")
PLACES = ("weir", "osier", "ferry", "lantern", "chapel", "mill", "causeway", "orchard", "kiln", "beacon")
SAID = (
    "I look around.",
    "I ask about the toll.",
    "I ask who keeps the chain.",
    "I wait and listen.",
    "Tell me about the river.",
    "I look at the lantern.",
    "What do you know of the bridge?",
)
WALKED = (
    "I look around.",
    "I ask Nan about the season.",
    "I go to the mill.",
    "I ask Hester about the flour.",
    "I wait and listen.",
    "I ask who else is here.",
    "I go back to the square.",
    "I look around.",
    "I go to the well.",
    "Tell me about the well.",
    "I ask Odile about the water.",
    "I go back to the square.",
    "I go to the inn.",
    "I ask about the quarrel.",
    "I say that I want to help.",
    "I wait a while.",
    "I go back to the square.",
)


class Tale(NamedTuple):
    """A sample that is played, its book that is grown, and what the player says in it."""

    story: str
    sample: str
    book: str
    said: tuple[str, ...]

    def said_in(self, turn: int) -> str:
        """What the player says; every fourth time they come to speak of another place."""
        place = f" Have you been to the {PLACES[turn % len(PLACES)]} {20 + turn}?" if turn % 4 == 0 else ""
        return self.said[turn % len(self.said)] + place


TOLL = Tale("toll-the-drowned-toll", "the-drowned-toll", "toll-lore.json", SAID)
TOWN = Tale("kettle-a-season-on-the-hill", "kettle-hill", "kettle-lore.json", WALKED)


class Assembly:
    """What was assembled: all prompts by role and speaker, and the milliseconds of the processor that each took."""

    def __init__(self) -> None:
        self.prompts: dict[str, list[Prompt]] = {}
        self.took: list[float] = []
        self._gathering = 0.0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Measures everything that is assembled while the block lasts."""
        gathered = {role: getattr(SceneTeller, role) for role in ROLES}

        def gather(make: Callable[..., RoleContext]) -> Callable[..., RoleContext]:
            def timed(*given: Any, **named: Any) -> RoleContext:
                began = time.thread_time()
                context = make(*given, **named)
                self._gathering = time.thread_time() - began
                return context

            return timed

        def write(agent: AgentPreset, context: RoleContext) -> Prompt:
            began = time.thread_time()
            prompt = write_prompt(agent, context)
            self.took.append((self._gathering + time.thread_time() - began) * 1000)
            self._gathering = 0.0
            who = getattr(context, "actor", None)
            self.prompts.setdefault(context.role if who is None else f"actor {who.name}", []).append(prompt)
            return prompt

        timed_roles = {role: gather(make) for role, make in gathered.items()}
        with replaced(SceneTeller, **timed_roles), replaced(questions, write_prompt=write):
            yield


@contextmanager
def replaced(owner: object, **by: object) -> Iterator[None]:
    """Puts something else in the place of some names as long as the block lasts."""
    before = {name: getattr(owner, name) for name in by}
    for name, value in by.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


CHANCE = random.Random(7)
WORDS = ("rain", "on", "slate", "and", "a", "slow", "hand", "along", "wall", "after", "dark", "nobody", "speaks", "yet")


def prose(letters: int) -> str:
    return " ".join(CHANCE.choice(WORDS) for _ in range(letters // 5)).capitalize() + "."


def at_length(request: ModelRequest) -> str:
    """The understudy's answer, as long as models tell: it is short of words, and a short past makes a poor share."""
    told = answer(request)
    match request.origin.agent:
        case "narrator":
            return f"{told} {prose(NARRATED)}"
        case "actor":
            return told.replace("</dialogue>", f" {prose(SPOKEN)}</dialogue>")
        case "swift":
            told = told.replace("</narration>", f" {prose(NARRATED)}</narration>")
            return told.replace("</dialogue>", f" {prose(SPOKEN)}</dialogue>")
        case _:
            return told


def grown_sample(folder: Path, tale: Tale) -> Path:
    """The sample with a lorebook of 321 entries; the new ones tell of places that the talk comes to."""
    grown = folder / tale.sample
    shutil.copytree(sample_folder() / tale.sample, grown)
    file = grown / "lorebooks" / tale.book
    book = json.loads(file.read_text("utf-8"))
    for number in range(len(book["entries"]), ENTRIES):
        place = f"{PLACES[number % len(PLACES)]} {number}"
        content = f"The {place}: {prose(350)}"
        entry = {"entry_id": f"grown-{number}", "title": place.title(), "content": content, "keywords": [place]}
        book["entries"].append({**entry, "enabled": True, "always_include": False, "order": number})
    file.write_text(json.dumps(book), "utf-8")
    return grown


def kept(prompts: list[Prompt]) -> float:
    """How much of all prompts stands again, letter by letter, at the beginning of the next."""
    return kept_of_all([prompts])


def kept_of_all(some: Iterable[list[Prompt]]) -> float:
    """How much of all prompts of several roles stands again at the beginning of the next of the same role."""
    common = letters = 0
    for prompts in some:
        texts = [_text(prompt) for prompt in prompts]
        common += sum(_common(*pair) for pair in pairwise(texts))
        letters += sum(map(len, texts[:-1]))
    return common / max(letters, 1)


def ends(prompts: list[Prompt]) -> str:
    """In which sections the common beginning of two prompts ends, how often, and how much stood behind it."""
    lost: dict[str, list[int]] = {}
    for before, after in pairwise(prompts):
        place = _common(_text(before), _text(after))
        lost.setdefault(_section_at(before, place), []).append(len(_text(before)) - place)
    return ", ".join(f"{name} {len(some)} times ({statistics.mean(some):,.0f} letters)" for name, some in lost.items())


def _section_at(prompt: Prompt, place: int) -> str:
    """The section of a prompt in which a letter stands; the messages stand one behind the other."""
    found, at = "", 0
    for message in prompt.messages:
        for one in prompt.sections:
            if one.message_role == message.role and one.text:
                if at > place:
                    return found
                found, at = one.name, at + len(one.text) + 2
        at -= 1
    return found


def _text(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


def losses(prompts: list[Prompt]) -> str:
    """What does not stand again of all prompts, by its cause."""
    texts = [_text(prompt) for prompt in prompts]
    lost = [len(before) - _common(before, after) for before, after in pairwise(texts)]
    came = [_history(after) - _history(before) for before, after in pairwise(prompts)]
    # What came into the history between two prompts shows only where nothing left it.
    uncut = [grown for grown, letters in zip(came, lost, strict=True) if letters <= END]
    new = statistics.mean(uncut) if uncut else 0.0
    total = sum(map(len, texts[:-1]))
    cut, end = sum(one for one in lost if one > END), sum(one for one in lost if one <= END)
    share = new * len(lost) / total
    return f"lost {cut / total:.1%} to cuts ({share:.1%} in any order), {end / total:.1%} behind the history"


def _history(prompt: Prompt) -> int:
    return sum(len(one.text) for one in prompt.sections if one.key in ("earlier_history", "shared_history"))


def _common(before: str, after: str) -> int:
    shorter = min(len(before), len(after))
    low, high = 0, shorter
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == after[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


async def measure(
    house: House, tale: Tale, preset_id: str, turns: int, *, past: int = PAST, later_turns: int = LATER
) -> tuple[Assembly, Assembly]:
    """The first turns of a play, and more of them after it has become long."""
    command = StartSession(story_id=tale.story, preset_id=preset_id, seed=7, rules="none")
    session_id = (await start_session(house, OPERATOR, command)).session_id
    first, later = Assembly(), Assembly()

    async def play(number: int) -> None:
        said = RunTurn(player_input=tale.said_in(number))
        begun = await run_turn(house, OPERATOR, session_id, said, request_id=f"{tale.story}-{preset_id}-{number}")
        await house.work.wait(begun.turn_id)
        await _followed(house)

    with first.watch():
        for number in range(turns):
            await play(number)
    for number in range(turns, past):
        await play(number)
    with later.watch():
        for number in range(past, past + later_turns):
            await play(number)
    return first, later


async def _followed(house: House) -> None:
    """Waits until what follows a turn is done, so that summaries and memories are there for the next."""
    while await house.store.read(lambda unit: unit.work.unfinished(FOLLOWER_WORK)):
        house.work.wake()
        await asyncio.sleep(0.005)


def show(pace: str, assembly: Assembly, *, is_long: bool) -> None:
    print(f"{pace}: {len(assembly.took)} prompts, {kept_of_all(assembly.prompts.values()):.1%} of all stands again")
    for role, prompts in assembly.prompts.items():
        if len(prompts) > 1:
            sections = {one.key for prompt in prompts for one in prompt.sections if one.text and one.key}
            on = [name for name in ("lorebook_base", "memories", "canon", "story_so_far", "minds") if name in sections]
            tokens = statistics.median(prompt.tokens for prompt in prompts)
            print(
                f"  {role:<16} {kept(prompts):6.1%} stands again (goal {STABLE:.0%}), {tokens:,.0f} tokens, "
                f"{len(prompts)} prompts, with {', '.join(on)}"
            )
            print(f"  {'':<16} they differ in {ends(prompts)}")
            if is_long:
                print(f"  {'':<16} {losses(prompts)}")
    middle, most = statistics.median(assembly.took), max(assembly.took)
    print(f"  assembly         {middle:.2f} ms of CPU at the median (goal {MOST_MS:.0f} ms), longest {most:.2f} ms")


@asynccontextmanager
async def grown_house(folder: Path, tale: Tale) -> AsyncIterator[House]:
    """A house with the sample in it, which answers at length, and a preset for the swift pace beside the built-in."""
    CHANCE.seed(7)
    with replaced(understudy, answer=at_length):
        async with open_house(Settings(data_dir=folder / "data", samples=False), tends_turns=True) as house:
            await install_samples(house, await asyncio.to_thread(grown_sample, folder, tale))
            agents = (await get_preset(house, OPERATOR, NamePreset(preset_id="builtin"))).agents
            extra = {"pace": "swift", "history": told_history(agents.director)}
            director = agents.director.model_copy(update={"extra": extra})
            swift = agents.model_copy(update={"director": director})
            await create_preset(house, OPERATOR, CreatePreset(preset_id="swift", display_name="Swift", agents=swift))
            yield house


async def run(turns: int) -> None:
    for tale in (TOLL, TOWN):
        with tempfile.TemporaryDirectory() as folder:
            async with grown_house(Path(folder), tale) as house:
                for preset_id, pace in (("builtin", "ensemble"), ("swift", "swift")):
                    first, later = await measure(house, tale, preset_id, turns)
                    show(f"{tale.sample}, {pace}, from the first turn", first, is_long=False)
                    show(f"{tale.sample}, {pace}, after {PAST} turns", later, is_long=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.context", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS, help="how many turns are measured")
    asyncio.run(run(parser.parse_args().turns))


if __name__ == "__main__":
    main()
