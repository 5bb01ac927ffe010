"""Phrases are found wherever they stand, as a plain search would find them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.ink import analyse, compile_ink
from fabula.knots.published import spoilers_of
from fabula.language.phrases import LONGEST, MOST_LETTERS, Phrases, letters_of

WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=10).map(tuple)


@given(st.sets(WORDS, max_size=12), WORDS)
def test_every_phrase_is_found_exactly_where_a_plain_search_finds_it(
    phrases: set[tuple[str, ...]], text: tuple[str]
) -> None:
    plain = [
        phrase
        for start in range(len(text))
        for phrase in phrases
        if phrase and text[start : start + len(phrase)] == phrase
    ]
    assert sorted(Phrases(phrases).found_in(text)) == sorted(plain)


def test_a_long_sentence_is_known_by_its_beginning() -> None:
    long = " ".join(f"word{n}" for n in range(LONGEST + 5))
    spoilers = spoilers_of(analyse(compile_ink(f"-> a\n== a\nHello.\n-> END\n== b\n{long}.\n-> END\n")))
    assert spoilers.guard(visited=["a"]).leaks(f"They say {long}.") != []
    assert spoilers.guard(visited=["a"]).leaks(" ".join(long.split()[: LONGEST - 1])) == []


def test_words_that_stand_in_an_open_knot_are_open_wherever_else_they_stand() -> None:
    source = "-> a\n== a\nI lean back in my old chair.\n-> END\n== b\nI lean back. I see. The vault cracks.\n-> END\n"
    guard = spoilers_of(analyse(compile_ink(source))).guard(visited=["a"])
    assert guard.leaks("I lean back. I see.") == []
    assert guard.leaks("The vault cracks.") == ["the vault cracks"]


def test_only_letters_count_and_a_phrase_ends_where_a_word_does() -> None:
    phrases = Phrases([("the", "king's", "well"), ("the", "kings"), ("thekings", "well")])
    assert sorted(phrases.found_in(["a", "t", "he", "kings", "well"])) == [
        ("the", "king's", "well"),
        ("the", "kings"),
        ("thekings", "well"),
    ]
    assert list(phrases.found_in(["the", "kingswell"])) == [("the", "king's", "well"), ("thekings", "well")]
    assert list(phrases.found_in(["bathe", "kings"])) == list(phrases.found_in(["the", "kingswells"])) == []


def test_no_sentence_is_known_by_more_letters_than_a_search_goes_through() -> None:
    runs = "\n".join("a a a " + "a" * length + "." for length in range(1, 400))
    source = f"-> a\n== a\nHello.\n-> END\n== b\n{runs}\n{'a ' * 2_000}\n{'b' * 200_000} b b b.\n-> END\n"
    guard = spoilers_of(analyse(compile_ink(source))).guard(visited=["a"])
    assert 0 < max(len(letters_of(sentence)) for sentence in guard.sentences) <= MOST_LETTERS
    assert guard.leaks("a " * 2_000) != [] and guard.leaks(f"They say {'b' * 200_000} b b b.") != []
