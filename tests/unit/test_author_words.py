"""What an author says about a world is taken at its word: plain sentences become something, wondering nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import calls_of
from tests.mass import examples

from fabula.canon.author_words import Taken, take_at_word
from fabula.canon.coverage import coverage_of
from fabula.story.canon import AxiomContent, EntityContent, EventContent, FactContent, RelationshipContent
from fabula.story.worldbuilding import WorldContext
from fabula.understudy.world_questions import questions_for


def taken(text: str, **names: str) -> list[Taken]:
    return take_at_word(text, {name: id for id, name in names.items()}, world_id="salt")


@pytest.mark.parametrize(
    ("sentence", "name", "kind"),
    [
        ("There is a harbour town called Saltmere.", "Saltmere", "place"),
        ("The Tide Guild is a guild of pilots.", "the Tide Guild", "faction"),
        ("Brother Anselm is a priest who lies.", "Brother Anselm", "character"),
        ("Captain Ysolde leads the Tide Guild.", "Captain Ysolde", "character"),
        ("Its oldest ship is called Patience.", "Patience", "object"),
    ],
)
def test_a_name_that_is_new_is_somebody_or_something(sentence: str, name: str, kind: str) -> None:
    entity = taken(sentence)[0].content
    assert isinstance(entity, EntityContent)
    assert (entity.name, entity.entity_kind, entity.anchor) == (name, kind, True)


def test_what_nobody_can_do_is_a_law() -> None:
    [law] = taken("Nobody can breathe under water.")
    assert isinstance(law.content, AxiomContent) and law.content.predicate == "breathe"


def test_those_who_are_known_are_tied_also_by_their_short_names() -> None:
    found = [
        one.content
        for one in taken(
            "The Tide Guild is a guild. Captain Ysolde leads the Tide Guild. Anselm is a priest. Anselm fears Ysolde."
        )
        if isinstance(one.content, RelationshipContent)
    ]
    assert [(one.subject, one.predicate, one.object) for one in found] == [
        ("captain-ysolde", "leads", "tide-guild"),
        ("anselm", "afraid_of", "captain-ysolde"),
    ]


def test_what_was_once_is_an_event_and_everything_else_is_lore_of_whom_it_is_about() -> None:
    told = "Saltmere burned in the night of the bells. Saltmere smells of tar. It never sleeps there."
    first, second, third = (one.content for one in taken(told, saltmere="Saltmere"))
    assert isinstance(first, EventContent) and first.who == ["saltmere"]
    assert isinstance(second, FactContent) and second.object == "Saltmere smells of tar."
    assert isinstance(third, FactContent) and third.subject == "saltmere"


@pytest.mark.parametrize("text", ["Maybe there are dragons.", "Is that too strict?", "Yes.", "Okay!", "I wonder."])
def test_what_is_only_wondered_about_is_nothing_yet(text: str) -> None:
    assert taken(text) == []


@examples(1_000)
@given(st.text(max_size=200))
def test_any_text_is_taken_down_within_bounds(text: str) -> None:
    assert len(taken(text)) <= 40


def test_what_is_missing_is_asked_for_and_never_twice_in_a_row() -> None:
    told = taken("There is a town called Saltmere. It stands on stilts above the old city of salt.")
    contents = [one.content for one in told]
    context = WorldContext(world_id="salt", name="Salt", coverage=coverage_of(contents), a_place="Saltmere")
    assert context.coverage.counts["places"] == 1 and "people" in context.coverage.gaps
    [first, *_] = questions_for(context)
    again = context.model_copy(update={"asked": [first], "said_so_far": 1})
    assert first.endswith("?") or "?" in first
    assert questions_for(again)[0] != first


def test_what_only_somebody_knows_is_kept_from_the_others() -> None:
    [kept] = taken("Only Anselm knows that the lamp was put out by Ysolde.", anselm="Anselm", ysolde="Ysolde")
    assert isinstance(kept.content, FactContent)
    assert (kept.content.known_to, kept.content.object) == (["anselm"], "The lamp was put out by Ysolde.")


def test_a_secret_of_nobody_is_lore() -> None:
    [said] = taken("Only Anselm knows that the lamp is out.")
    assert isinstance(said.content, FactContent) and said.content.known_to == []


def test_a_long_text_of_names_costs_no_more_than_what_is_taken_down_of_it() -> None:
    known = {f"Name{number}": f"name{number}" for number in range(300)}

    def cost(sentences: int) -> int:
        text = " ".join(f"N{number}a is a town." for number in range(sentences))
        return calls_of(lambda: take_at_word(text, known, world_id="salt")).total()

    assert cost(400) < 1.5 * cost(100)
