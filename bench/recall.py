"""Recall: how well, and how quickly, memories are found again. `--data FILE` has conversations in LoCoMo's format.

Every turn of a conversation is written down as a memory and every question recalled, as in a play. Newness, importance,
place and mood have no say. `--leave-one-out` chooses weights on all conversations but one, and tells what they find in
that one. `--size 100000` gives one owner so many memories and tells what recalling costs in CPU;
`--postgres` does the same on Postgres.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from bench.recall_weights import Sums, sums_of, tell_leave_one_out
from bench.story_turns import postgres as postgres_in

from fabula.actions.house import House
from fabula.actions.memories.recall_memories import (
    READ_WHOLE,
    GatheredPast,
    gather_past,
    rank_past,
    read_with_meaning,
    recall_memories,
)
from fabula.actions.memories.remember import findable
from fabula.language.stemming import STOP_WORDS
from fabula.language.words import words_of
from fabula.ports.memories import NewMemory, Owner, OwnerAt
from fabula.ports.store import Unit
from fabula.settings import Settings
from fabula.wiring import open_house

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev.json"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
FIRST = 10
OWNER = "listener"


@dataclass(frozen=True, kw_only=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Line:
    id: str
    session: str
    day: date
    speaker: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Conversation:
    speakers: tuple[str, str]
    lines: list[Line]
    questions: list[Question]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    category: int
    recalled: float
    in_session: bool
    cpu_ms: float


def conversations(file: Path) -> list[Conversation]:
    """Reads the file; questions whose evidence is empty, or names no turn, are dropped."""
    return [_conversation(one) for one in json.loads(file.read_text("utf-8"))]


def _conversation(one: Any) -> Conversation:
    talk = one["conversation"]
    lines = list(_lines(talk))
    known = {line.id for line in lines}
    questions = []
    for asked in one["qa"]:
        named = re.findall(r"D\d+:\d+", " ".join(asked["evidence"]))
        if evidence := frozenset(named) & known:
            questions.append(Question(text=asked["question"], category=asked["category"], evidence=evidence))
    return Conversation(speakers=(talk["speaker_a"], talk["speaker_b"]), lines=lines, questions=questions)


def _lines(talk: Any) -> Iterator[Line]:
    sessions = [key for key in talk if re.fullmatch(r"session_\d+", key)]
    for session in sorted(sessions, key=lambda key: int(key.removeprefix("session_"))):
        day = datetime.strptime(talk[f"{session}_date_time"].split(" on ")[1], "%d %B, %Y").date()  # noqa: DTZ007
        for turn in talk[session]:
            picture = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = turn["text"] + picture
            yield Line(id=turn["dia_id"], session=session, day=day, speaker=turn["speaker"], text=text)


def without_names(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = re.sub(rf"\b{re.escape(name)}('s)?\b", "", text, flags=re.IGNORECASE)
    return text


def keywords(text: str) -> str:
    return " ".join(word for word in words_of(text) if word not in STOP_WORDS["english"])


async def write_down(house: House, scope: str, talk: Conversation) -> None:
    """All turns become memories, a session at a time, in the way of the product."""
    by_session: dict[str, list[Line]] = {}
    for line in talk.lines:
        by_session.setdefault(line.session, []).append(line)
    for session, lines in by_session.items():
        new = [
            NewMemory(
                memory_id=f"{scope}/{line.id}",
                owner=OWNER,
                text=line.text,
                speaker=line.speaker,
                people=talk.speakers,
                scene=f"{scope}/{session}",
            )
            for line in lines
        ]
        await keep(house, scope, await findable(house, new, days=[lines[0].day] * len(new)))


async def keep(house: House, scope: str, new: Sequence[NewMemory]) -> None:
    async def work(unit: Unit) -> None:
        await unit.memories.add(scope, None, new)

    await house.store.write(work, durable=False)


async def ask(house: House, scope: str, talk: Conversation, question: Question, text: str) -> Outcome:
    started = time.process_time()
    found = await recall_memories(house, OwnerAt(owner=Owner(scope=scope, name=OWNER)), text, most=FIRST)
    took = (time.process_time() - started) * 1000
    ids = [one.memory.memory_id.rpartition("/")[2] for one in found]
    sessions = {id.partition(":")[0] for id in question.evidence}
    return Outcome(
        category=question.category,
        recalled=len(question.evidence.intersection(ids)) / len(question.evidence),
        in_session=bool(ids) and ids[0].partition(":")[0] in sessions,
        cpu_ms=took,
    )


def percent(values: Sequence[float]) -> str:
    return f"{100 * statistics.fmean(values):5.1f}" if values else "   - "


def tell(name: str, outcomes: Sequence[Outcome]) -> None:
    kinds = "  ".join(
        f"{title} {percent([one.recalled for one in outcomes if one.category == number])}"
        for number, title in CATEGORIES.items()
    )
    recall, hit = percent([one.recalled for one in outcomes]), percent([one.in_session for one in outcomes])
    print(f"{name:16} recall@10 {recall}  session hit@1 {hit}   {kinds}", flush=True)


async def measure(settings: Settings, talks: Sequence[Conversation], *, variants: bool) -> None:
    async with open_house(settings) as house:
        for number, talk in enumerate(talks):
            await write_down(house, f"talk{number}", talk)
        forms: dict[str, Callable[[str, Sequence[str]], str]] = {"as asked": lambda text, _: text}
        if variants:
            forms |= {
                "lower case": lambda text, _: text.lower(),
                "keywords": lambda text, _: keywords(text),
                "no names": without_names,
            }
        for form, change in forms.items():
            outcomes = [
                await ask(house, f"talk{number}", talk, question, change(question.text, talk.speakers))
                for number, talk in enumerate(talks)
                for question in talk.questions
            ]
            tell(form, outcomes)


async def leave_one_out(settings: Settings, talks: Sequence[Conversation], *, step: int) -> None:
    """Weights that were chosen without a conversation, tried on it; with every question, or every so many."""
    async with open_house(settings) as house:
        found: list[list[Sums]] = []
        for number, talk in enumerate(talks):
            await write_down(house, f"talk{number}", talk)
            sums = [await sums_in(house, f"talk{number}", question) for question in talk.questions[::step]]
            found.append([one for one in sums if one is not None])
    await asyncio.to_thread(tell_leave_one_out, found)


async def sums_in(house: House, scope: str, question: Question) -> Sums | None:
    owner = OwnerAt(owner=Owner(scope=scope, name=OWNER))

    async def gather(unit: Unit) -> GatheredPast | None:
        return await gather_past(unit, owner, question.text)

    if (past := await house.store.read(gather)) is None:
        return None
    found = await read_with_meaning(house, past)
    places = [(one.space, one.place) for one in found.candidates]
    kept = await house.store.read(lambda unit: unit.memories.at_places(owner, places))
    ids = [one.memory_id.rpartition("/")[2] for one in kept]
    asked = past.question, found.basis(), ids, question.evidence
    return await asyncio.to_thread(sums_of, *asked, lambda id: id.partition(":")[0])


async def measure_size(settings: Settings, talks: Sequence[Conversation], size: int, asked: int, compared: int) -> None:
    """One owner with so many memories: the conversations, then again and again with other words."""
    async with open_house(settings) as house:
        total = await fill(house, talks, size)
        outcomes = []
        questions = [(talk, question) for talk in talks for question in talk.questions]
        for talk, question in questions[:: max(1, len(questions) // asked)]:
            outcomes.append(await ask(house, "one", talk, question, question.text))
        costs = sorted(one.cpu_ms for one in outcomes)
        p95 = costs[int(len(costs) * 0.95)]
        print(f"{total:,} memories of one owner: recall p50 {statistics.median(costs):.1f} ms, p95 {p95:.1f} ms of CPU")
        if compared:
            some = questions[:: max(1, len(questions) // compared)]
            bounded = [await _found_again(house, talk, question, whole=READ_WHOLE) for talk, question in some]
            every = [await _found_again(house, talk, question, whole=total) for talk, question in some]
            print(
                f"of {len(some)} questions recall@10 {percent(bounded)}, scoring every memory {percent(every)} "
                "(any copy of an answer counts)"
            )


async def fill(house: House, talks: Sequence[Conversation], size: int) -> int:
    """Writes so many memories, unless they are there already."""
    owner = OwnerAt(owner=Owner(scope="one", name=OWNER))
    async with house.store.reading() as unit:
        total = (await unit.memories.candidates(owner, [], whole=0)).total
    if total >= size:
        return total
    total, copy = 0, 0
    started = time.process_time()
    while total < size:
        for talk in talks:
            if total < size:
                await write_down_as_one(house, talk, f"copy{copy}")
                total += len(talk.lines)
        copy += 1
    print(f"{total:,} memories written in {(time.process_time() - started) / total * 1000:.2f} ms of CPU each")
    return total


async def _found_again(house: House, talk: Conversation, question: Question, *, whole: int) -> float:
    """The share of the evidence among the first ten, when so many memories are scored."""
    owner = OwnerAt(owner=Owner(scope="one", name=OWNER))

    past = await house.store.read(lambda unit: gather_past(unit, owner, question.text, whole=whole))
    ranked = await rank_past(house, past, most=FIRST)
    places = [(row.space, row.place) for row, _ in ranked]
    found = await house.store.read(lambda unit: unit.memories.at_places(owner, places))
    ids = {one.memory_id.partition("/")[2] for one in found}
    return sum(f"{talk.speakers[0]}/{id}" in ids for id in question.evidence) / len(question.evidence)


async def write_down_as_one(house: House, talk: Conversation, copy: str) -> None:
    """A conversation among many of one owner. Each copy has words of its own, so that rare words stay rare."""
    by_session: dict[str, list[Line]] = {}
    for line in talk.lines:
        by_session.setdefault(line.session, []).append(line)
    for session, lines in by_session.items():
        new = [
            NewMemory(
                memory_id=f"{copy}/{talk.speakers[0]}/{line.id}",
                owner=OWNER,
                text=line.text if copy == "copy0" else _reworded(line.text, copy),
                speaker=line.speaker,
                people=talk.speakers,
                scene=f"{copy}/{talk.speakers[0]}/{session}",
            )
            for line in lines
        ]
        await keep(house, "one", await findable(house, new, days=[lines[0].day] * len(new)))


def _reworded(text: str, copy: str) -> str:
    """A third of the longer words are replaced by words that occur in this copy alone."""
    return " ".join(f"{word}{copy}" if len(word) > 5 and hash_of(word) % 3 == 0 else word for word in text.split())


def hash_of(word: str) -> int:
    return sum(map(ord, word))


def _database(folder: Path, postgres: bool) -> AbstractContextManager[str]:
    return postgres_in(folder) if postgres else nullcontext("")


@asynccontextmanager
async def place(postgres: bool, *, embedder: str, kept: Path | None) -> AsyncIterator[Settings]:
    with tempfile.TemporaryDirectory() as folder, _database(Path(folder), postgres) as url:
        values = {"data_dir": kept or Path(folder), "samples": False, "database_url": url, "embedder": embedder}
        yield Settings.model_validate(values)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--data-dir", type=Path, help="where SQLite keeps what --size writes, for the next time")
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--compared", type=int, default=0, help="for so many questions, score every memory as well")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--embedder", choices=["both", "wordllama", "off"], default="both")
    parser.add_argument("--leave-one-out", action="store_true", help="choose weights without each conversation")
    parser.add_argument("--quick", action="store_true", help="only the questions as they were asked, or every fourth")
    options = parser.parse_args()
    if not options.data.is_file():
        print(f"There is no file {options.data}. Name one with --data.")
        return
    talks = conversations(options.data)
    for embedder in ["off", "wordllama"] if options.embedder == "both" else [options.embedder]:
        kept = options.data_dir / embedder if options.data_dir else None
        async with place(options.postgres, embedder=embedder, kept=kept) as settings:
            print(f"embedder {embedder}, {'Postgres' if options.postgres else 'SQLite'}", flush=True)
            if options.size:
                await measure_size(settings, talks, options.size, options.asked, options.compared)
            elif options.leave_one_out:
                await leave_one_out(settings, talks, step=4 if options.quick else 1)
            else:
                await measure(settings, talks, variants=not options.quick)


if __name__ == "__main__":
    asyncio.run(main())
