"""The understudy as a character of an Ink story: honest, useful, and never the same line again and again."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.agents.talks.decisions import Decision, read_decision
from fabula.knots.talk_memory import exchanged, told
from fabula.story.contexts import InkAgentContext, InkGenerateContext
from fabula.story.ink_stories import Heard, Talk
from fabula.understudy.talker import talk, write

VOICE = [
    "I have stood at this gate for eleven winters.",
    "My brother Tam keeps the bridge.",
    "Nobody passes without a word about the lantern.",
    "The lantern is lit when a friend comes home.",
]
GUARD = InkAgentContext(
    character="Guard",
    voice=VOICE,
    story_so_far=[Heard(kind="text", text="Rain falls on the old road before the gate.")],
    goal=["The guard lifts the lantern, and the gate opens with a groan."],
    player_input="",
)
TELLER = GUARD.model_copy(update={"character": None, "voice": [], "goal": ["You turn the key, and the lock gives."]})


def decided(context: InkAgentContext, said: str) -> Decision:
    decision, problems = read_decision(json.dumps(talk(context.model_copy(update={"player_input": said}), 1)))
    assert decision is not None, problems
    return decision


def talked(context: InkAgentContext, words: list[str]) -> list[Decision]:
    """A conversation, remembered as the loop remembers it."""
    found = []
    for said in words:
        decision = decided(context, said)
        found.append(decision)
        news = [Heard(kind="said", text=said), Heard(kind="reply", text=decision.reply)]
        history, earlier = told(context.story_so_far, context.earlier, news)
        changes: dict[str, Any] = {"story_so_far": history, "earlier": earlier}
        context = context.model_copy(update={**changes, "talk": exchanged(context.talk, said, decision)})
    return found


@pytest.mark.parametrize("context", [GUARD, TELLER])
@pytest.mark.parametrize(
    "said", ["", "Hello!", "The lantern?", "My printer is broken.", "You fool!", "Why?", "Who are you?"]
)
def test_the_same_words_again_and_again_never_get_the_same_line_twice_in_a_row(
    context: InkAgentContext, said: str
) -> None:
    replies = [one.reply for one in talked(context, [said] * 12)]
    assert all(one and one != other for one, other in pairwise(replies))


@given(st.lists(st.text(max_size=40), min_size=2, max_size=12))
def test_whatever_is_said_there_is_an_answer(words: list[str]) -> None:
    assert all(one.reply or one.goes_on for one in talked(GUARD, words))


def test_a_greeting_is_returned_and_a_second_one_more_briefly() -> None:
    first, second = talked(GUARD, ["Good evening, sir.", "Hello."])
    assert first.reply == "Well met. I have stood at this gate for eleven winters."
    assert second.reply == "And to you, again." and second.outcome == "NEEDS_INPUT"


def test_a_question_is_answered_from_its_own_lines_and_opens_nothing() -> None:
    lit, word, more = talked(GUARD, ["When is the lantern lit?", "Will you lift the lantern?", "The lantern?"])
    assert lit.reply == "The lantern is lit when a friend comes home."
    assert word.reply == "Nobody passes without a word about the lantern."
    assert more.reply == "Of the lantern I have told you all I know."
    assert not (lit.goes_on or word.goes_on or more.goes_on)


def test_what_has_nothing_to_do_with_the_story_is_turned_back_with_something_to_talk_about() -> None:
    (lost,) = talked(GUARD, ["I ate a sandwich on Tuesday."])
    assert lost.outcome == "INVALID_INPUT" and lost.reply == "That is no business of mine. Ask me about the gate."


def test_names_health_thanks_apologies_and_partings_are_answered_as_such() -> None:
    words = ["What is your name?", "How are you?", "Thank you.", "I am sorry.", "Goodbye."]
    name, health, thanks, sorry, parting = (one.reply for one in talked(GUARD, words))
    assert name == "Guard, that is what they call me. I have stood at this gate for eleven winters."
    assert (health, thanks) == ("I have had better days, and worse.", "It cost me nothing.")
    assert (sorry, parting) == ("It is forgotten.", "Go safely. You know where to find me.")


def test_who_asks_what_to_do_hears_the_line_that_leads_on() -> None:
    (leads,) = talked(GUARD, ["What should I do?"])
    assert leads.reply == "The lantern is lit when a friend comes home." and leads.outcome == "NEEDS_INPUT"


def test_words_of_the_goal_open_the_way_and_one_is_enough_after_talk_to_the_point() -> None:
    assert decided(GUARD, "Lift the lantern and open the gate.").outcome == "DIRECT_CONTINUE"
    assert decided(GUARD, "I greet your lantern.").outcome == "NEEDS_INPUT"
    assert talked(GUARD, ["Is your brother well?", "I bring the lantern."])[-1].outcome == "BRIDGE_AND_CONTINUE"


def test_nobody_speaks_where_nobody_is() -> None:
    replies = [one.reply for one in talked(TELLER, ["Hello!", "", "I turn around.", "I sing.", "Goodbye."])]
    assert not any(word in reply for reply in replies for word in (" I ", "Well met", "me "))
    assert decided(TELLER.model_copy(update={"talk": Talk()}), "I turn the key in the lock.").goes_on


PEDDLER = GUARD.model_copy(
    update={
        "character": "Peddler",
        "voice": [
            "They call me Odo, and I sell needles, ribbon and bad advice.",
            "My horses died on the salt road in the winter of the wolves.",
            "She was the last of them, the grey mare.",
            "I have walked the salt road for eleven years since.",
            "If you buy me a bowl of soup, I may unroll the map.",
        ],
        "story_so_far": [
            Heard(kind="text", text="A peddler dozes in the common room. The common room smells of eels.")
        ],
        "goal": ["Odo unrolls his map between the bowls, and the pass is marked in red."],
    }
)


def test_a_name_that_stands_in_its_own_lines_is_its_name() -> None:
    first, again = talked(PEDDLER, ["What is your name?", "Who are you?"])
    assert first.reply == "They call me Odo, and I sell needles, ribbon and bad advice."
    assert "Odo" in again.reply and "Peddler" not in again.reply


def test_who_does_what_was_asked_for_has_earned_the_way_on() -> None:
    assert decided(PEDDLER, "I buy you a bowl of soup.").goes_on
    assert decided(PEDDLER, "Here, a soup for you, I'll buy it.").goes_on
    assert not decided(PEDDLER, "Would you like a bowl of soup?").goes_on
    assert not decided(PEDDLER, "I would like some soup.").goes_on


def test_an_offer_is_no_question() -> None:
    assert decided(PEDDLER, "May I buy you a bowl of soup?").goes_on
    helped = decided(PEDDLER, "Can I help you with anything?")
    assert helped.reply == "If you buy me a bowl of soup, I may unroll the map."


def test_insults_open_nothing_however_long_one_has_talked() -> None:
    words = [
        "Tell me of the wolves.",
        "What of the salt road?",
        "I know the winter.",
        "Shut up, you old fool of a road!",
    ]
    assert talked(PEDDLER, words)[-1].outcome == "INVALID_INPUT"


def test_who_asks_again_is_told_again() -> None:
    _, sells, _, again = talked(PEDDLER, ["Hello.", "What do you sell?", "I like cheese.", "What do you sell?"])
    assert sells.reply == "As I told you: they call me Odo, and I sell needles, ribbon and bad advice."
    assert again.reply == "I said it before: they call me Odo, and I sell needles, ribbon and bad advice."
    _, _, more = talked(PEDDLER, ["Hello.", "Did your horses die?", "Tell me more about your horses."])
    assert more.reply == "She was the last of them, the grey mare."


def test_somebody_is_named_before_they_are_only_she() -> None:
    (mare,) = talked(PEDDLER, ["Tell me about the grey mare."])
    assert mare.reply == (
        "My horses died on the salt road in the winter of the wolves. She was the last of them, the grey mare."
    )


def test_a_bare_why_goes_on_with_what_was_said_last() -> None:
    said, why, *_, shrug = talked(PEDDLER, ["What of your horses?", "Why?", "Why?", "Why?", "Why?"])
    assert said.reply.startswith("My horses died")
    assert why.reply == "She was the last of them, the grey mare."
    assert shrug.reply and not any(line in shrug.reply for line in PEDDLER.voice)


def test_a_greeting_with_some_weather_is_a_greeting() -> None:
    (met,) = talked(PEDDLER, ["Good evening! A cold night on the road."])
    assert met.reply.startswith("Well met.")


def test_hints_are_things_and_not_the_one_who_speaks_nor_how_things_are() -> None:
    teller = PEDDLER.model_copy(update={"character": None, "voice": []})
    nod = Heard(kind="text", text="A long look, and then a slow nod. You have said enough.")
    seen = teller.model_copy(update={"story_so_far": [*teller.story_so_far, nod]})
    assert decided(seen, "I dance.").guidance == "Perhaps think of the peddler or the common room."
    for said in ["I like cheese."] * 8:
        assert "about Odo" not in decided(PEDDLER, said).reply
    steers = [one.reply for one in talked(PEDDLER, ["I like cheese."] * 6)]
    assert any("the salt road" in reply for reply in steers) and not any("the salt." in reply for reply in steers)


def test_reasons_are_told_in_whole_words() -> None:
    assert decided(PEDDLER, "Unroll your map on the bowls.").reason == "the player speaks of bowls, map, unroll"


@pytest.mark.parametrize(
    ("prompt", "topic"),
    [
        ("the smell of the kitchen in two sentences", "the smell of the kitchen"),
        ("Describe three heavy doors, in a few words.", "three heavy doors"),
        ("a short description of the light on the fog", "the light on the fog"),
        ("What Captain Voss says", "what Captain Voss says"),
        ("", "the moment"),
    ],
)
def test_a_generated_text_is_about_what_was_asked_for_and_not_about_the_asking(prompt: str, topic: str) -> None:
    texts = {write(InkGenerateContext(prompt=prompt), seed) for seed in range(40)}
    assert len(texts) > 3 and all(topic in text or topic.capitalize()[:1] + topic[1:] in text for text in texts)
    assert not any("sentences" in text or "words" in text for text in texts)


def test_several_generated_texts_of_one_play_are_not_all_built_alike() -> None:
    prompts = ["an old door", "a cold wind", "the smell of eels", "a distant bell", "the last candle", "rain"]
    built = {write(InkGenerateContext(prompt=prompt), 7).replace(prompt, "") for prompt in prompts}
    assert len(built) > 2
