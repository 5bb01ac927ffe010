"""The spoiler guard: prompts hold nothing of knots not visited, and replies that tell of them never get out."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fabula
from fabula.agents.knots.decisions import Decision, read_decision
from fabula.agents.knots.evaluation import text_evaluator
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
from fabula.story.contexts import InkGenerateContext
from fabula.story.ink_stories import Heard, InkPlay, Talk, Waiting

INTERCEPT = Path(__file__).parents[2].parent / "shared" / "data" / "stories" / "TheIntercept.ink"
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


def with_agents(source: str) -> str:
    """A story in which a watchman stands before many of its knots."""
    knots = set(re.findall(r"^=+ *(\w+) *=*$", source, flags=re.MULTILINE))

    def guarded(found: re.Match[str]) -> str:
        return f"-> agent(-> watchman, -> {found[1]})" if found[1] in knots else found[0]

    lines = "I watch the door and nothing but the door.\n{~It is cold.|It is late.}\nAsk me about the rust.\n"
    return re.sub(r"-> *(\w+)[ \t]*$", guarded, source, flags=re.MULTILINE) + f"\n=== watchman\n{lines}-> DONE\n"


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
            found.append(
                (
                    story.fork(),
                    gather_moment(published, story, request, ink, lines, goal_passage(story, request.target), said),
                )
            )
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


def prompts_without_a_leak(published: Published, seed: int, most: int) -> int:
    """How many prompts were assembled; none holds anything of a knot that was not visited, but the goal."""
    found = moments(published, seed, most)
    for story, moment in found:
        guard, asked = forbidden(published, story), agent_messages(moment.context)
        for messages in (asked, rewrite_messages(asked)):
            assert guard.leaks("\n".join(one.content for one in messages)) == []
    return 2 * len(found)


def test_a_thousand_prompts_hold_no_text_of_knots_that_were_not_visited(stories: list[Published]) -> None:
    counts = [prompts_without_a_leak(published, seed, 42) for published in stories for seed in range(4)]
    assert sum(counts) >= 1_000


@pytest.mark.skipif(not INTERCEPT.is_file(), reason="The Intercept is not in ../shared/data/stories")
def test_prompts_in_a_real_story_of_100_kb_hold_no_text_of_knots_that_were_not_visited() -> None:
    published = publish(with_agents(INTERCEPT.read_text("utf-8-sig")), {})
    assert published.errors == [] and len(published.talks) >= 20
    assert sum(prompts_without_a_leak(published, seed, 40) for seed in range(8)) >= 500


def test_five_hundred_generated_texts_that_tell_too_much_never_get_out(stories: list[Published]) -> None:
    tried = 0
    for published in stories:
        for story, moment in moments(published, 11, 20):
            dice = random.Random(tried)
            context = InkGenerateContext(prompt="the weather", story_so_far=moment.context.story_so_far)
            watch = text_evaluator(published.spoilers, visited=story.visited, context=context)
            for _ in range(8):
                bad = spoiler_of(watch.guard, dice)
                text = f"The rain falls. {disguised(bad, dice)}. It goes on."
                assert watch.wrong(text) and normal(bad) not in normal(watch.cut(text))
                assert watch.wrong(watch.cut(text)) == []
                tried += 1
    assert tried >= 500


def spoiler_of(guard: Guard, dice: random.Random) -> str:
    """Something that is closed now. Two words alone are known again only where they are a sentence of their own."""
    sentences = sorted(one for one in guard.sentences if one.count(" ") > 3 and guard.leaks(one))
    names = sorted(name.text for name in guard.names)
    return dice.choice(sentences if dice.random() < 0.7 or not names else names).strip()


def disguised(bad: str, dice: random.Random) -> str:
    return dice.choice([bad, bad.upper(), bad.capitalize() + "!", bad.replace(" ", ", "), f"«{bad}»"])


def test_five_hundred_replies_that_tell_too_much_never_get_out(stories: list[Published]) -> None:
    tried = 0
    for published in stories:
        for _, moment in moments(published, 7, 18):
            guard, dice = moment.evaluator.guard, random.Random(tried)
            for _ in range(8):
                bad = spoiler_of(guard, dice)
                text = f"I like the rain. Between us: {disguised(bad, dice)}. Ask me something else."
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


def knots_of(source: str) -> dict[str, list[str]]:
    """The plain lines of each knot, read from the source by nothing but its line ends."""
    knots: dict[str, list[str]] = {}
    for part in source.split("\n=== ")[1:]:
        name, *lines = part.splitlines()
        knots[name] = [line for line in lines if re.fullmatch(r"[A-Z][\w ]+\.", line)]
    return knots


def test_lines_of_the_source_that_were_not_reached_never_get_out_whoever_judges() -> None:
    source = generated(100, 5)
    published, written, tried = publish(source, {}), knots_of(source), 0
    for story, moment in moments(published, 3, 40):
        request, dice = request_of(story), random.Random(tried)
        assert request is not None
        near = {*story.visited, request.target, request.character}
        secrets = [line for knot, lines in written.items() if knot not in near for line in lines]
        for bad in dice.sample(secrets, 13):
            text = f"I like the rain. {bad} Ask me something else."
            words = {"reply": text, "bridge_text": text, "guidance": text, "reason": text}
            decision, _ = read_decision(json.dumps({"weights": {"BRIDGE_AND_CONTINUE": 1}, **words}))
            assert decision is not None
            shown = moment.evaluator.fit(decision, moment.character, "Hm.")
            assert bad not in f"{shown.reply} {shown.bridge_text} {shown.guidance} {shown.reason}"
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
