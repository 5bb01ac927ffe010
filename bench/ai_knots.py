"""AI knots: the engine's own time per agent turn of a 100 kB story (everything but the model), and preprocessing.

Run: python -m bench.ai_knots. The rival is the same story's plain choice of a knot, measured in the same run.
"""

from __future__ import annotations

import statistics
import time

from fabula.agents.knots.decisions import read_decision
from fabula.agents.knots.grounding import grounding_of
from fabula.agents.knots.moments import gather_moment
from fabula.agents.knots.names import request_of
from fabula.agents.knots.prompting import agent_messages
from fabula.agents.knots.published import Published, publish
from fabula.agents.knots.running import lines_of
from fabula.story.ink_stories import Heard, InkPlay, Waiting

KNOTS = 200
TURNS = 60
REPLY = '{"weights": {"NEEDS_INPUT": 1}, "reply": "I keep the door, and the door keeps me. Ask me about the rust."}'


def story_of_100_kb() -> str:
    """A story with an agent at its beginning and a hundred kilobytes behind it."""
    parts = ["-> hall\n=== hall\nA hall.\n-> agent(-> keeper, -> k0)\n"]
    parts.append(
        "=== keeper\n" + "".join(f"I have counted {n} hinges and all of them rust.\n" for n in range(30)) + "-> DONE\n"
    )
    for number in range(KNOTS):
        body = "".join(f"Under lamp {number}-{line} of Corvin{number} nothing ever moved again.\n" for line in range(8))
        parts.append(f"=== k{number}\n{body}+ [On] -> k{(number + 1) % KNOTS}\n")
    return "\n".join(parts)


def agent_turn(published: Published, state: str, lines: tuple[str, ...], history: list[Heard]) -> None:
    """What the engine does for one message, apart from the model and the store."""
    story = published.at(state)
    request = request_of(story)
    assert request is not None
    ink = InkPlay(state=state, ai_seed=1, waiting=Waiting(kind="agent"), history=history)
    moment = gather_moment(published, story, request, ink, lines, "Tell me about the rust on the hinges.")
    agent_messages(moment.context)
    decision, _ = read_decision(REPLY)
    assert decision is not None and not moment.evaluator.findings(decision)
    moment.evaluator.fit(decision, moment.character, "")


def milliseconds(work: object, times: int) -> float:
    assert callable(work)
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken)


def main() -> None:
    source = story_of_100_kb()
    published = publish(source, {})
    story = published.fresh(seed=1)
    history = [Heard(kind="text", text=line.text) for line in lines_of(story)]
    state = story.state_json()
    lines = grounding_of(published, "keeper", seed=1)
    learn = milliseconds(lambda: grounding_of(published, "keeper", seed=1), 5)
    turn = milliseconds(lambda: agent_turn(published, state, lines, history), TURNS)
    plain = milliseconds(lambda: published.at(state), TURNS)
    print(f"story: {len(source) // 1000} kB, {KNOTS} knots")
    print(f"agent turn, engine only: {turn:.1f} ms at the median (goal 15 ms); loading a save alone: {plain:.1f} ms")
    print(f"ratio to loading a save: {turn / plain:.1f}")
    print(f"preprocessing a character: {learn:.1f} ms (goal 300 ms)")


if __name__ == "__main__":
    main()
