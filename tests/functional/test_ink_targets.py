"""Where talks and choices lead, over HTTP: to labels, to goals that are odd to look at, to the choice that was sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.ink_live import begin, of_type, play, told
from tests.knot_theatre import say, says, theatre
from tests.live import RpcFailed, bodies, live_server

from fabula.testing.model_server import ModelServer

HEAD = "-> gate\n=== guard\nI have stood at this gate.\n-> DONE\n"
TALK = [says("NEEDS_INPUT", "Well?"), says("DIRECT_CONTINUE", "")]


def goal(model: ModelServer) -> str:
    """The goal in the last prompt."""
    asked = "\n".join(str(one["content"]) for one in model.requests[-1].body["messages"])
    return asked.partition("## The goal")[2].partition("\n")[2].partition("\n\n##")[0]


LABELS = {
    "a gather": "=== gate\nRain.\n* [Talk] -> agent(-> guard, -> gate.opened)\n"
    "- (opened) The gate opens now.\n* [Go] -> END\n",
    "a gather of the same knot": "=== gate\nRain.\n* [Talk] -> agent(-> guard, -> opened)\n"
    "- (opened) The gate opens now.\n* [Go] -> END\n",
    "a choice": "=== gate\nRain.\n* [Talk] -> agent(-> guard, -> gate.opened)\n"
    "* (opened) [Push] The gate opens now.\n* * [Go] -> END\n",
    "a gather in a stitch": "=== gate\nRain.\n* [Talk] -> agent(-> guard, -> yard.well.opened)\n"
    "=== yard\n= well\nDeep.\n- (opened) The gate opens now.\n* [Go] -> END\n",
}


@pytest.mark.parametrize("label", LABELS)
async def test_a_talk_may_lead_to(tmp_path: Path, label: str) -> None:
    async with theatre(tmp_path, TALK) as (client, model):
        session, _ = await begin(client, HEAD + LABELS[label])
        await play(client, session, choice=0)
        assert (await say(client, session, "Hello."))["reply"] == "Well?"
        assert goal(model) == "The gate opens now."
        assert told(await play(client, session, player_input="Open it.")) == ["The gate opens now."]


async def test_a_talk_may_lead_to_a_label_before_the_first_knot(tmp_path: Path) -> None:
    source = "Rain.\n-> agent(-> guard, -> opened)\n- (opened) The gate opens now.\n* [Go] -> END\n"
    async with theatre(tmp_path, TALK) as (client, model):
        session, _ = await begin(client, source + HEAD.removeprefix("-> gate\n"))
        assert (await say(client, session, "Hello."))["reply"] == "Well?"
        assert goal(model) == "The gate opens now."
        assert told(await play(client, session, player_input="Open it.")) == ["The gate opens now."]


async def test_a_label_that_an_edit_has_moved_is_found_and_one_that_is_gone_is_told(tmp_path: Path) -> None:
    source = HEAD + LABELS["a gather"]
    async with theatre(tmp_path, TALK) as (client, model):
        session, _ = await begin(client, source)
        story = (await client.call("session.get", session))["story_id"]
        await play(client, session, choice=0)
        deeper = source.replace("- (opened)", "- Mud everywhere.\n- (opened)")
        await client.call("story.update_ink", story_id=story, source=deeper)
        assert (await say(client, session, "Hello."))["reply"] == "Well?"
        assert goal(model) == "The gate opens now."
        gone = source.replace("opened)", "lifted)")
        await client.call("story.update_ink", story_id=story, source=gone)
        with pytest.raises(RpcFailed) as refused:
            await play(client, session, player_input="Hello?")
        assert refused.value.code == 40909 and "opened" in refused.value.data["reason"]
        await client.call("story.update_ink", story_id=story, source=deeper)
        assert told(await play(client, session, player_input="Open it.")) == ["The gate opens now."]


CHOICES = (
    "-> g\n=== g\nHi.\n+ [A] one -> g\n+ [A] two -> g\n+ [A (1)] three -> g\n+ [go] low -> g\n+ [GO] up -> g\n"
    "+ [Wait\u00a0] nbsp -> g\n+ [\u3000x] ideo -> g\n"
)


async def test_the_choice_that_was_sent_is_the_one_that_is_taken(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, CHOICES)
        for index, word in enumerate(["one", "two", "three", "low", "up", "nbsp", "ideo"]):
            assert told(await play(client, session, choice=index))[0].startswith(word)
        tree = (await client.call("session.branches", session))["turns"]
        assert [turn["label"] for turn in tree][1:] == ["A (1) (1)", "A (2)", "A (1)", "go", "GO", "Wait", "x"]


async def test_a_choice_may_be_sent_by_its_words(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session, _ = await begin(client, CHOICES)
        for words, word in [("GO", "up"), ("wait", "nbsp"), (" X ", "ideo"), ("A (1)", "three")]:
            assert told(await play(client, session, player_input=words))[0].startswith(word)
        for words in ("Go", "A", ""):
            with pytest.raises(RpcFailed, match="this is none of them"):
                await play(client, session, player_input=words)


TALK_AT_ONCE = "-> agent(-> guard, -> t)\n" + HEAD.removeprefix("-> gate\n")
GOALS = {
    "a seed first": ("~ SEED_AI(7)\nThe gate opens now.\n-> END\n", "The gate opens now."),
    "a text that is kept first": (
        '~ temp w = generate("weather")\nThe gate opens now.\n-> END\n',
        "The gate opens now.",
    ),
    "a text within": ('The gate {generate("how")}opens now.\nRain.\n-> END\n', "The gate opens now.\nRain."),
    "another talk at once": ("-> continue(-> court)\n", ""),
    "a question at once": ('~ temp name = input("Your name")\nThe gate opens, {name}.\n-> END\n', ""),
    "words of a function": ("{opened()}\nRain.\n-> END\n", "The gate opens at last.\nRain."),
    "a tunnel first": ("-> court ->\nThe gate opens now.\n-> END\n", "The gate opens now."),
    "another knot on the same line": ("The gate opens now. -> court\n", "The gate opens now."),
    "another knot in the same sentence": ("The gate opens and -> court\n", ""),
    "another knot on the next line": ("The gate opens now.\n-> court\n", "The gate opens now."),
    "nothing but another knot": ("-> court\n", "Mordred waits beside the well."),
    "an end that never comes": ("The gate opens now.\n-> round\n= round\n-> round\n", "The gate opens now."),
    "a mistake": ("The gate opens now.\n{1 / (nothing * 2)}\n-> END\n", "The gate opens now."),
}
REST = "=== court\nMordred waits beside the well.\n->->\n=== function opened()\nThe gate opens at last.\n"


@pytest.mark.parametrize("target", GOALS)
async def test_the_goal_is_known_of_a_target_with(tmp_path: Path, target: str) -> None:
    body, expected = GOALS[target]
    async with theatre(tmp_path, TALK) as (client, model):
        session, _ = await begin(client, "VAR nothing = 0\n" + TALK_AT_ONCE + "=== t\n" + body + REST)
        assert (await say(client, session, "Hello."))["reply"] == "Well?"
        assert goal(model) == expected


ENDLESS = {
    "lines for characters only": "The night turns. # context\n-> t\n",
    "nothing": "-> t\n",
}


@pytest.mark.parametrize("target", ENDLESS)
async def test_a_target_without_an_end_is_talked_before_and_fails_when_the_story_goes_there(
    tmp_path: Path, target: str
) -> None:
    source = TALK_AT_ONCE + "=== t\n" + ENDLESS[target]
    async with theatre(tmp_path, TALK) as (client, model):
        session, _ = await begin(client, source)
        assert (await say(client, session, "Hello."))["reply"] == "Well?" and goal(model) == ""
        frames = await play(client, session, player_input="Onward.")
        failed = [frame["error"] for frame in frames if frame["type"] == "failed"]
        assert len(failed) == 1 and "Its author can repair it." in failed[0]["message"], bodies(frames)
        assert of_type(frames, "story_ended") == []
