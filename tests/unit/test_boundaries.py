"""Boundaries find the words that a table does not want, in their forms; a telling is held to them as it comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.loops.guardrails import CheckedStream, Guardrails, judge_words
from fabula.rules.guardrails import LINE_MARK, PROHIBITED_MARK, VEIL_MARK, GuardrailCheck, Outcome, Refuse, WordsSeen
from fabula.story.boundaries import BUILT_IN, Boundaries, Limits, limits_of, lines_of_rating, union_of

TABLE = Boundaries(
    lines=["spiders", "harm to children", '"the black hand"', "bugs"],
    veils=["torture"],
    categories={"bugs": ["beetle", "cockroach"]},
)


def limits(*boundaries: Boundaries) -> Limits:
    made = limits_of(*(boundaries or (TABLE,)))
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A spider sits on the sill.", "spiders"),
        ("Cobwebs everywhere.", "spiders"),
        ("I look for S P I D E R S.", "spiders"),
        ("What a sp\u200bider!", "spiders"),
        ("A spi-der.", "spiders"),
        ("The child comes to harm.", "harm to children"),
        ("I hit the guard. The children laugh.", None),
        ("They beat the children.", "harm to children"),
        ("Children play by the harmless pond.", None),
        ("The hand was black.", None),
        ("They call it the Black Hand.", '"the black hand"'),
        ("Two cockroaches flee.", "bugs"),
        ("She was tortured there.", None),
        ("A quiet road in the rain.", None),
    ],
)
def test_a_line_is_found_by_its_words_in_any_form(text: str, line: str | None) -> None:
    assert limits().line_in(text) == line


def test_lines_in_scripts_without_spaces_are_found_by_their_letters() -> None:
    assert limits(Boundaries(lines=["蜘蛛"])).line_in("墙上有一只大蜘蛛。") == "蜘蛛"


def test_a_rating_draws_lines_around_what_it_does_not_allow() -> None:
    assert "gore" in lines_of_rating("teen") and "gore" not in lines_of_rating("mature")
    assert limits(Boundaries(rating="teen")).line_in("Entrails hang from the hook.") == "gore"
    assert lines_of_rating("adult") == [] and lines_of_rating(None) == []


def test_the_union_of_boundaries_keeps_every_line_and_the_strictest_rating() -> None:
    world = Boundaries(lines=["Fire"], rating="mature", veils=["grief"])
    both = union_of(world, Boundaries(lines=["fire", "fog"], rating="teen"))
    assert ([one.casefold() for one in both.lines], both.veils, both.rating) == (["fire", "fog"], ["grief"], "teen")
    assert limits(world, Boundaries(lines=["fog"])).line_in("A foggy night") is None
    assert limits(world, Boundaries(lines=["fog"])).line_in("Fires in the fog") == "Fire"


def test_whoever_set_nothing_has_no_limits_and_the_same_boundaries_are_made_ready_once() -> None:
    assert limits_of(None, Boundaries()) is None
    assert limits_of(TABLE) is limits_of(Boundaries.model_validate(TABLE.as_json()))


def test_every_built_in_category_finds_its_own_words() -> None:
    for category in BUILT_IN:
        found = limits(Boundaries(lines=[category.name]))
        for words in category.words:
            assert found.line_in(f"Then {words.strip(chr(34))} again.") == category.name, words


def rails() -> Guardrails:
    return Guardrails(limits=limits())


def told(stream: CheckedStream, *pieces: str) -> str:
    return "".join(map(stream.take, pieces)) + stream.close()


def test_a_telling_stops_before_the_sentence_that_crosses_a_line_and_is_cut_the_second_time() -> None:
    stream = CheckedStream(rails())
    assert told(stream, "Rain. A spi", "der falls. Birds.") == "Rain."
    assert stream.denied is not None and stream.denied.rule == "spiders"
    stream.resume()
    assert told(stream, " More spiders. And cobwebs. Then dawn.") == f" {LINE_MARK} Then dawn."
    assert [one.rule for one in stream.objections] == ["spiders"] * 3


def test_what_is_veiled_may_be_named_and_is_not_shown() -> None:
    stream = CheckedStream(rails())
    text = told(stream, "They torture him. The torture lasts. Torture again. At dawn it is over. He was tortured.")
    assert text == f"They torture him. {VEIL_MARK} At dawn it is over. He was tortured."
    assert stream.denied is None


def test_a_check_that_fails_refuses() -> None:
    def broken(seen: WordsSeen) -> Outcome:
        raise KeyError(seen.words)

    outcome = judge_words(WordsSeen(words="hello"), [GuardrailCheck(name="broken", judge=broken)])
    assert isinstance(outcome, Refuse) and (outcome.check, outcome.rule) == ("broken", "check_failed")
    stream = CheckedStream(rails(), asks_again=False, checks=[GuardrailCheck(name="broken", judge=broken)])
    assert "hello" not in told(stream, "hello there.")


def test_words_beyond_the_longest_text_are_looked_through_to_their_end() -> None:
    long = "Rain falls on the road. " * 2_000
    assert isinstance(rails().judge_input(f"{long}A spider."), Refuse)
    assert not isinstance(rails().judge_input(long), Refuse)


def test_a_players_words_are_refused_with_a_sentence() -> None:
    outcome = rails().judge_input("I throw a spider at Mara.")
    assert isinstance(outcome, Refuse) and "'spiders'" in outcome.sentence


TELLING = st.lists(
    st.sampled_from(["A spider. ", "Rain falls. ", "spi", "ders! ", "Mara nods… ", "harm ", "to a child", "\n", "…"]),
    max_size=14,
)


@examples(1000)
@given(TELLING, TELLING)
def test_nothing_that_is_told_crosses_a_line_however_it_comes(first: list[str], second: list[str]) -> None:
    stream, made = CheckedStream(rails()), limits()
    passed = told(stream, *first)
    if stream.denied is not None:
        stream.resume()
        passed = f"{passed} {told(stream, *second)}"
    assert made.line_in(passed) is None


def test_a_character_may_think_what_it_hides_and_says_it_to_nobody() -> None:
    stream = Guardrails().hiding(["terribly homesick", "sad"]).stream(asks_again=False)
    assert stream is not None
    stream.think(True)
    assert told(stream, "I am terribly homesick.") == "I am terribly homesick."
    stream.think(False)
    assert told(stream, "I am terribly homesick. It is sad.") == f"{PROHIBITED_MARK} It is sad."
    assert [(one.check, one.rule) for one in stream.objections] == [("hidden_traits", "a hidden trait")]
