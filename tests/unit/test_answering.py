"""Answering by rule: questions from what the one asked may know, looks from what is there, and nothing twice."""

from __future__ import annotations

import random
import re
from collections import Counter

import pytest
from tests.mass import seeds
from tests.rule_play import samples
from tests.unit.knowing_stage import Conversation, talk_in

from fabula.language.english import passages, sentences
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.knowledge import Piece, is_held, is_revealed
from fabula.story.readings import Intent, Unclear, Understood
from fabula.understudy.scene_view import in_own_mouth
from fabula.understudy.tones import PLAIN, TONES

SARN, COURT = samples()
LINES = [
    "Hello.",
    "Who are you?",
    "What happened to the Halcyon?",
    "What happened to the Halcyon?",
    "Why?",
    "I look around.",
    "I look around.",
    "I look cold.",
    "I examine the tarpaulin.",
    "I take the lantern.",
    "Who is Captain Lund?",
    "Where is Marit?",
    "Tell me about the bell.",
    "What is in the cellar?",
    "What do you think?",
    "I sit down and wait.",
    "I dance a jig.",
    "I dance a jig.",
    "Thank you.",
    "I am sure you are right about the boats.",
    "...",
    "What can I do?",
    "I go to London.",
    "asdf qwer",
    "I hit the wall.",
    "Goodbye.",
]


def at_the_jetty(seed: int = 1) -> Conversation:
    return talk_in(SARN, "the-jetty", seed=seed)


def test_a_question_is_answered_with_the_whole_thought() -> None:
    told = at_the_jetty().say("What happened to the Halcyon?")
    assert "struck the reef at ten past two" in told
    assert "Her mate, a man called Ansgar Bell" in told and "She carried forty upright pianos" in told


def test_who_asks_again_is_told_that_there_is_no_more() -> None:
    talk = at_the_jetty()
    talk.say("Tell me about the weather.")
    again = talk.say("Tell me about the weather.")
    assert "four kinds of weather" not in again
    assert "the weather" in again


def test_who_does_not_know_says_so_and_points_to_who_does() -> None:
    talk = talk_in(SARN, "the-wreck")
    talk.say("Good day.")
    told = talk.say("Captain, what is in the logbook?")
    assert "blank" not in told
    assert "Marit Oyen" in told or "Tobias Finch" in told


def test_a_person_who_is_elsewhere_can_be_asked_about() -> None:
    assert "Second Chance" in at_the_jetty().say("Do you know a Captain Lund?")
    away = at_the_jetty().say("Marit, what do you say?")
    assert re.search(r"Marit Oyen\b.*(not here|somewhere else|not in this place)", away)


@pytest.mark.parametrize("question", ["What do you know of the runaways?", "Where do the people in the cellar sleep?"])
def test_a_secret_is_not_told_before_its_condition(question: str) -> None:
    talk = talk_in(SARN, "the-lee-door-inn")
    talk.say("Good day.")
    told = talk.say(question)
    assert not re.search(r"Brack|hide|north|socks", told)


def test_a_secret_is_told_once_its_condition_holds() -> None:
    talk = talk_in(SARN, "the-cellar")
    state = talk.play.world.character_state
    trusting = {**state, "lighthouse-adeline": {**state["lighthouse-adeline"], "trust": 2}}
    talk.play = talk.play.with_world(talk.play.world.model_copy(update={"character_state": trusting}))
    talk.say("Good evening.")
    assert "Runaways come over from Brack" in talk.say("Adeline, what do you know of the runaways?")
    assert "I hide runaways from the slate pits" in talk.say("Where do you hide the runaways?")


def test_who_keeps_a_secret_says_that_they_keep_it() -> None:
    talk = talk_in(SARN, "the-wreck")
    talk.say("Good day.")
    told = talk.say("Captain, did you have the bell buoy cut loose from the reef?")
    assert "cut loose" not in told and "feeds a salvage man" not in told


def test_a_look_around_tells_place_people_things_and_what_can_be_done() -> None:
    talk = at_the_jetty()
    talk.say("Hello.")
    told = talk.say("I look around.")
    assert "jetty" in told and "Tobias Finch" in told
    assert "window" in told and "up to the lighthouse" in told and "over to the inn" in told


def test_a_thing_is_described_once_and_then_there_is_nothing_more_to_it() -> None:
    talk = talk_in(SARN, "the-lamp-room")
    talk.say("Good day.")
    assert "two hundred and eleven prisms" in talk.say("I examine the lens.")
    assert re.search(r"the lens\b|nothing", talk.say("I examine the lens."))


def test_what_is_not_there_cannot_be_taken() -> None:
    talk = at_the_jetty()
    talk.say("Good day.")
    told = talk.say("I take the piano.")
    assert "the piano" in told and "You take" not in told


def test_a_line_in_another_language_is_answered_honestly() -> None:
    line = "Wo bin ich hier eigentlich?"
    talk = at_the_jetty()
    talk.say("Hello.")
    intent = Intent(kind="unknown", text=line)
    talk.understood = Understood(
        line=line, node_id="the-jetty", intents=[intent], decision=Unclear(reason="language"), topic=[]
    )
    assert "English" in talk.say(line)


def test_a_character_says_its_own_facts_as_i() -> None:
    assert in_own_mouth("Marit lost a brother.", "Marit Oyen") == "I lost a brother."
    assert in_own_mouth("Pim has turned no cartwheels.", "Pim Sorrel") == "I have turned no cartwheels."
    assert in_own_mouth("Captain Lund wants the Board to blame the keeper.", "Captain Lund").startswith("I want the")
    assert in_own_mouth(
        "Ottoline had her own fool steal her own seal, because she dreads it.", "Margravine Ottoline"
    ) == ("I had my own fool steal my own seal, because I dread it.")


def test_a_sentence_stays_with_the_one_that_says_who_is_meant() -> None:
    text = "The lamp is a burner. It turns once in a minute. Ships see it. Nobody sleeps."
    assert passages(text) == ["The lamp is a burner. It turns once in a minute. Ships see it.", "Nobody sleeps."]


def held_pieces(setup: PlaySetup) -> list[tuple[Piece, str]]:
    """What may have to be held back, in the words in which anybody could tell it."""
    lore = [(entry, entry.content) for entry in setup.lore]
    facts = [(fact, fact.text) for one in setup.characters.values() for fact in one.facts]
    own = [(fact, in_own_mouth(fact.text, one.name)) for one in setup.characters.values() for fact in one.facts]
    return [(piece, text) for piece, text in (*lore, *facts, *own) if is_held(piece)]


@seeds(60)
def test_nothing_is_said_twice_in_a_play_and_every_line_is_answered(seed: int) -> None:
    dice = random.Random(seed)
    setup = dice.choice([SARN, COURT])
    node = dice.choice([node for node in setup.graph.nodes if node.transitions])
    talk = talk_in(setup, node.id, seed=seed)
    told: list[str] = []
    for line in dice.choices(LINES, k=30):
        answered = talk.say(line)
        assert answered.strip(), line
        told.append(answered)
    names = [content.name for content in setup.characters.values()]
    greetings = {
        one
        for tone in (*TONES, PLAIN)
        for text in tone.greet
        for name in names
        for one in sentences(text.format(name=name, player="friend"))
    }
    counted = Counter(one for text in told for one in sentences(text.replace("\n", " ")) if " " in one)
    assert not {one: count for one, count in counted.items() if count > 1 and one not in greetings}
    everything = "\n".join(told)
    for piece, text in held_pieces(setup):
        assert is_revealed(piece, talk.play.world) or sentences(text)[0] not in everything
    for wrong in (r"You mean it:", r"\bI think so\b", r"\bme look\b", r"\bthe the\b", r"\bNone\b", r"[{}]", r"  "):
        assert not re.search(wrong, everything), wrong


def test_going_back_brings_the_same_words_again() -> None:
    first, second = at_the_jetty(), at_the_jetty()
    first.say("Hello.")
    past, play = first.past, first.play
    first.past = list(past)
    one = first.say("What happened to the Halcyon?")
    first.past, first.play = list(past), play
    assert first.say("What happened to the Halcyon?") == one
    assert second.say("Hello.") == "\n".join(entry.text for entry in past if entry.kind != "player_input")
