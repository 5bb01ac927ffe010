"""The spoiler guard: prompts hold nothing of knots not visited, and replies that tell of them never get out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fabula
from fabula.agents.knots.decisions import Decision, read_decision
from fabula.agents.knots.grounding import grounding_of
from fabula.agents.knots.moments import Moment, gather_moment
from fabula.agents.knots.names import request_of
from fabula.agents.knots.prompting import agent_messages, rewrite_messages
from fabula.agents.knots.published import Published, publish
from fabula.agents.knots.remembering import exchanged, told
from fabula.agents.knots.running import goal_passage, lines_of
from fabula.agents.knots.spoilers import Guard
from fabula.agents.knots.vocabulary import normal
from fabula.ink import Story
from fabula.story.ink_stories import Heard, InkPlay, Talk, Waiting

SAMPLES = Path(fabula.__file__).parents[2] / "stories" / "ink"
NAMES = ["Aldous", "Brunhild", "Corvin", "Dagmar", "Edmund", "Frieda", "Gisela", "Hartmut", "Isolde", "Joachim"]


def generated(knots: int, seed: int) -> str:
    """A story of about the size of The Intercept: each knot has its own words, its own name and an agent."""
    dice = random.Random(seed)
    parts = ["-> k0\n"]
    for number in range(knots):
        word, name = f"{dice.choice('bcdfghklm')}{dice.choice('aeiou')}rn{number}", f"{dice.choice(NAMES)}{number}on"
        parts.append(
            f"=== k{number}\nThe {word} hall was colder than the last {number} of them.\n"
            f"Only {name} knew where the {word} stair would lead.\n"
            + "".join(f"Under the {word} lamp number {line} nothing ever moved again.\n" for line in range(6))
            + f"-> agent(-> c{number}, -> k{(number + 1) % knots})\n"
            f"=== c{number}\nI keep the {word} door and nothing but the door.\n"
            f"Ask me about {{~rust|hinges}} if you must.\n-> DONE\n"
        )
    return "\n".join(parts)


def play_of(story: Story, history: list[Heard]) -> InkPlay:
    kept, earlier = told([], [], history)
    return InkPlay(state="", ai_seed=1, waiting=Waiting(kind="agent"), history=kept, earlier=earlier)


def moments(published: Published, seed: int, most: int) -> list[tuple[Story, Moment]]:
    """Moments of talk met by wandering through a story with seeded choices."""
    dice, story = random.Random(seed), published.fresh(seed=seed)
    history: list[Heard] = []
    talk, found = Talk(), []
    for _ in range(most * 3):
        history += [Heard(kind="context" if line.context else "text", text=line.text) for line in lines_of(story)]
        request = request_of(story)
        if request is not None and request.kind in ("agent", "continue"):
            said = " ".join(dice.sample(["lantern", "door", "key", "rust", "why", "please", "river", "open"], 3))
            ink = play_of(story, history).model_copy(update={"talks": {request.character: talk}})
            lines = grounding_of(published, request.character, seed=seed) if request.character else ()
            found.append((story.fork(), gather_moment(published, story, request, ink, lines, said)))
            talk = exchanged(talk, said, Decision(outcome="NEEDS_INPUT", weights={}, reply="Go on."))
            history.append(Heard(kind="said", text=said))
        if len(found) >= most:
            break
        if request is not None:
            history += [Heard(kind="text", text=text.strip()) for text in [story.resume("A stone.")] if text.strip()]
        elif story.current_choices:
            story.choose(dice.randrange(len(story.current_choices)))
        else:
            story = published.fresh(seed=seed)
            history = []
    return found


def forbidden(published: Published, story: Story) -> Guard:
    """What must not be in a prompt: everything of knots not visited, but the goal and the character's own."""
    request = request_of(story)
    assert request is not None
    goal = goal_passage(story, request.target)
    return published.spoilers.guard(visited=story.visited, also_open=[request.character], allowed=goal)


@pytest.fixture(scope="module")
def stories() -> list[Published]:
    sources = [file.read_text("utf-8") for file in sorted(SAMPLES.glob("*.ink"))]
    return [publish(source, {}) for source in [*sources, generated(100, 1), generated(160, 2)]]


def test_a_thousand_prompts_hold_no_text_of_knots_that_were_not_visited(stories: list[Published]) -> None:
    assembled = 0
    for published in stories:
        for seed in range(4):
            for story, moment in moments(published, seed, 42):
                guard = forbidden(published, story)
                for messages in (agent_messages(moment.context), rewrite_messages(agent_messages(moment.context))):
                    assert guard.leaks("\n".join(one.content for one in messages)) == []
                    assembled += 1
    assert assembled >= 1_000


def test_five_hundred_replies_that_tell_too_much_never_get_out(stories: list[Published]) -> None:
    tried = 0
    for published in stories:
        for _, moment in moments(published, 7, 18):
            guard, dice = moment.evaluator.guard, random.Random(tried)
            # Two words alone are known again only where they are a sentence of their own.
            spoilers = sorted(one for one in guard.sentences if one.count(" ") > 3)
            names = sorted(name.text for name in guard.names)
            for _ in range(8):
                bad = dice.choice(spoilers if dice.random() < 0.7 or not names else names).strip()
                disguised = dice.choice([bad, bad.upper(), bad.capitalize() + "!", bad.replace(" ", ", "), f"«{bad}»"])
                text = f"I like the rain. Between us: {disguised}. Ask me something else."
                words = {"reply": text, "bridge_text": text, "guidance": text, "reason": text}
                way = dice.choice(["NEEDS_INPUT", "BRIDGE_AND_CONTINUE", "INVALID_INPUT", "DIRECT_CONTINUE"])
                decision, problems = read_decision(json.dumps({"weights": {way: 1}, **words}))
                assert decision is not None, problems
                assert moment.evaluator.findings(decision) or way == "DIRECT_CONTINUE"
                shown = moment.evaluator.fit(decision, moment.character, "Hm.")
                for told_text in (shown.reply, shown.bridge_text, shown.guidance, shown.reason):
                    assert normal(bad) not in normal(told_text) and guard.leaks(told_text) == []
                tried += 1
    assert tried >= 500


def test_what_was_visited_or_is_the_goal_may_be_told() -> None:
    published = publish(
        "-> a\n== a\nThe bell of Orm rings twice.\n-> END\n== b\nThe bell of Ulf is broken.\n-> END\n", {}
    )
    guard = published.spoilers.guard(visited=["a"])
    assert guard.leaks("The bell of Orm rings twice.") == []
    assert guard.leaks("They say the bell of ULF is broken!") != []
    assert guard.leaks("Ask Ulf.") == ["Ulf"] and guard.cut("Ask Ulf. Or do not.") == "Or do not."
    assert published.spoilers.guard(visited=["a"], allowed=["The bell of Ulf is broken."]).leaks("Ask Ulf.") == []


@given(st.text(max_size=200))
def test_cutting_never_leaves_a_leak(text: str) -> None:
    guard = publish("-> a\n== a\nHello.\n-> END\n== b\nThe bell of Ulf is broken.\n-> END\n", {}).spoilers.guard(
        visited=[]
    )
    assert guard.leaks(guard.cut(f"{text} Ulf {text}. {text}")) == []


@given(st.text(max_size=300) | st.dictionaries(st.text(max_size=8), st.integers()).map(json.dumps))
def test_any_reply_is_a_decision_or_a_problem(text: str) -> None:
    decision, problems = read_decision(text)
    assert (decision is None) == bool(problems)


@given(st.lists(st.floats(0, 1e6), min_size=4, max_size=4))
def test_weights_are_normalised_and_one_outcome_is_chosen(weights: list[float]) -> None:
    names = ("INVALID_INPUT", "NEEDS_INPUT", "DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE")
    text = json.dumps({"weights": dict(zip(names, weights, strict=True)), "reply": "Well."})
    decision, _ = read_decision(text)
    if decision is not None:
        assert abs(sum(decision.weights.values()) - 1) < 1e-6
        assert names.index(decision.outcome) == weights.index(max(weights))
