"""Growth: a turn at turn 10,000 against one at turn 10, in time, in bytes written, and in what going back costs."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from fabula.actions.house import House
from fabula.actions.library.stories import CreateStory, create_story
from fabula.actions.plays.play_states import state_at
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.actions.turns.turn_runner import warm_up
from fabula.ports.actors import OPERATOR
from fabula.ports.plays import Finished, MessageChange, NewTurn, SpokenMessage
from fabula.settings import Settings
from fabula.story.state_hash import state_hash
from fabula.wiring import open_house

FAR = 10_000
MEASURED = 20


async def story_of(house: House) -> str:
    from fabula.actions.library.characters import CreateCharacter, create_character
    from fabula.actions.library.schemas import CreateSchema, create_schema
    from fabula.actions.library.story_resources import CreateStoryResources, create_story_resources

    await create_schema(house, OPERATOR, CreateSchema(schema_id="growth", display_name="S", fields={}))
    content = {"id": "growth-mara", "name": "Mara", "personality": "calm", "style": "short", "system_prompt": ""}
    await create_character(
        house,
        OPERATOR,
        CreateCharacter.model_validate({"content": {**content, "schema_id": "growth", "tags": [], "folder": ""}}),
    )
    resource = await create_story_resources(
        house, OPERATOR, CreateStoryResources(story_concept="A road.", character_ids=["growth-mara"])
    )
    node = {"id": "road", "title": "Road", "scene": "A road.", "goal": "Wait.", "characters": ["growth-mara"]}
    way = {"to": "road", "condition": {"key": "never", "op": "eq", "value": True}}
    story = await create_story(
        house,
        OPERATOR,
        CreateStory.model_validate(
            {
                "resource_id": resource.resource_id,
                "graph": {"start_node": "road", "nodes": [{**node, "transitions": [way]}]},
                "world_schema_id": "growth",
                "player_schema_id": "growth",
                "introduction": "",
            }
        ),
    )
    return story.story_id


async def lengthen(house: House, session_id: str, upto: int) -> None:
    """Turns as the loop would have left them, many in one transaction."""
    async with house.store.reading() as unit:
        play = await unit.plays.get(session_id)
        assert play is not None
        state = await state_at(unit, play.head_turn_id)
    head, index, count = play.head_turn_id, play.turn_index, state.message_count
    while index < upto:
        async with house.store.writing() as unit:
            for _ in range(min(500, upto - index)):
                index += 1
                turn_id = house.ids.new("turn")
                new = NewTurn(
                    turn_id=turn_id,
                    session_id=session_id,
                    parent_id=head,
                    turn_index=index,
                    kind="play",
                    player_input="I walk on.",
                    request_id=f"r{index}",
                )
                await unit.plays.begin(new)
                snapshot = state.snapshot.model_copy(update={"turn_index": index})
                state = state.model_copy(update={"snapshot": snapshot, "message_count": count + 4})
                lines = [_line(house, turn_id, index, count + place) for place in range(4)]
                count += 4
                await unit.plays.commit(
                    Finished(turn_id=turn_id, state=state.as_json(), state_hash=state_hash(state), messages=lines)
                )
                head = turn_id


def _line(house: House, turn_id: str, index: int, sequence: int) -> MessageChange:
    said = SpokenMessage(
        message_id=house.ids.new("message"),
        turn_id=turn_id,
        turn_index=index,
        sequence=sequence,
        kind="narration",
        speaker_id="narrator",
        speaker_name="Narrator",
        text=f"The road goes on past milestone {sequence}.",
        recorded_at_ms=0,
        created_at_ms=0,
        updated_at_ms=0,
    )
    return MessageChange(op="say", message=said)


async def play(house: House, session_id: str, turns: int) -> tuple[float, float]:
    """Median milliseconds and mean bytes of a turn, with the understudy: all of it is the server's own time."""
    times, before = [], _written()
    for number in range(turns):
        started = time.perf_counter()
        turn = await run_turn(
            house, OPERATOR, session_id, RunTurn(player_input=f"I walk on, {number}."), request_id="bench"
        )
        await house.work.wait(turn.turn_id)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), (_written() - before) / turns


def _written() -> int:
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["wchar"])


async def back(house: House, session_id: str, turns: int) -> float:
    started = time.perf_counter()
    async with house.store.reading() as unit:
        here = await unit.plays.get(session_id)
        assert here is not None
        target = await unit.plays.ancestor(here.head_turn_id, here.turn_index - turns)
        await state_at(unit, target.turn_id)
    return (time.perf_counter() - started) * 1000


async def main() -> None:
    """Near and far are measured in the same run, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_house(Settings(data_dir=Path(folder), samples=False)) as house:
            await warm_up(house)
            story_id = await story_of(house)
            near, far = [
                (await start_session(house, OPERATOR, StartSession(story_id=story_id))).session_id for _ in range(2)
            ]
            await lengthen(house, far, FAR - 60)
            # Both histories are as long as a role is told, so that only the length of the story differs.
            await play(house, near, 10)
            await play(house, far, 10)
            rounds = [(await play(house, near, MEASURED), await play(house, far, MEASURED)) for _ in range(2)]
            times = [statistics.median(pair[place][0] for pair in rounds) for place in (0, 1)]
            sizes = [statistics.mean(pair[place][1] for pair in rounds) for place in (0, 1)]
            print(
                f"a turn at turn 10: {times[0]:.1f} ms, at turn {FAR:,}: {times[1]:.1f} ms: "
                f"{times[1] / times[0]:.2f}x (goal 1.20)"
            )
            print(f"bytes written a turn: {sizes[0]:,.0f} and {sizes[1]:,.0f}: {sizes[1] / sizes[0]:.2f}x (goal 1.10)")
            costs = [statistics.median([await back(house, far, turns) for _ in range(9)]) for turns in (1, 1_000)]
            print(f"going back 1 turn: {costs[0]:.1f} ms, 1,000 turns: {costs[1]:.1f} ms: {costs[1] / costs[0]:.2f}x")


if __name__ == "__main__":
    asyncio.run(main())
