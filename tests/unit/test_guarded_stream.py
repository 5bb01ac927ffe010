"""A text that comes in piece by piece: nothing that is closed gets out, and nothing else is lost."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.language.guarded_stream import GuardedStream
from fabula.language.spoilers import Spoilers

SECRET = "Under the tarpaulin stands Long Meg, the whole of her, with weed still on her skirts."
STORY = Spoilers.of(
    [
        ("", "Tobias waits on the jetty in the rain."),
        ("shed", f"The shed is dark. {SECRET} Nobody laughs. It was Corvina who hid it there."),
    ],
    first_words=False,
)
OPEN = [
    "Tobias waits on the jetty in the rain.",
    "Under the roof it is dry.",
    "“Under the tarpaulin? I would not know,” he says.",
    "Nobody answers.",
    "You look at him.\nHe looks at you.",
    "Well… yes.",
]


def told(text: str, size: int, *, visited: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    stream = GuardedStream(STORY.guard(visited=visited))
    pieces = [stream.take(text[place : place + size]) for place in range(0, len(text), size)]
    return "".join([*pieces, stream.close()]), pieces


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_a_closed_sentence_is_left_out_however_it_is_cut(size: int) -> None:
    text, _ = told(f"He nods. {SECRET} Then he is still.", size)
    assert text == "He nods. Then he is still."


def test_a_sentence_that_was_begun_ends_with_dots() -> None:
    text, _ = told("I tell you that under the tarpaulin stands long meg, the whole of her, with weed. So there.", 2)
    assert text.startswith("I tell you that")
    assert "tarpaulin stands" not in text
    assert text.endswith("… So there.")


def test_a_name_that_stands_only_in_a_closed_scene_does_not_get_out() -> None:
    text, _ = told("I think it was Corvina, inspector. Ask her.", 1)
    assert "Corvina" not in text and text.endswith("… Ask her.")


def test_a_short_sentence_is_held_back_only_as_a_whole() -> None:
    assert told("Nobody laughs. Good.", 1)[0] == "Good."
    assert told("Nobody laughs about that here. Good.", 1)[0] == "Nobody laughs about that here. Good."


def test_what_was_visited_is_told_as_it_comes() -> None:
    text, pieces = told(SECRET, 1, visited=("shed",))
    assert text == SECRET
    assert "".join(pieces[:40]).startswith("Under the tarpaulin stands"), "it does not wait for the end"


@pytest.mark.parametrize("pieces", [["A ", "lamp ", "burns ", "low."], ["A", " lamp", " burns", " low", "."]])
def test_what_gives_nothing_away_goes_on_at_once(pieces: list[str]) -> None:
    stream = GuardedStream(STORY.guard())
    assert [stream.take(piece) for piece in pieces[:3]] == pieces[:3]


def test_only_what_begins_like_something_closed_waits() -> None:
    stream = GuardedStream(STORY.guard())
    assert [stream.take(piece) for piece in ("No", "body", " laughs", " at", " Cor", "d", " now. ")] == [
        "",
        "",
        "",
        "Nobody laughs at",
        " ",
        "Cord",
        " now. ",
    ]


@examples(300)
@given(st.sampled_from(["Cor-vina", "Cor**vina**", "Corvina's", "C.o.r.vina", "“Corvina”"]), st.integers(1, 30))
def test_a_closed_name_in_parts_does_not_get_out_however_it_is_cut(name: str, size: int) -> None:
    text, _ = told(f"I think it was {name} who lied. So there.", size)
    assert "vina" not in text and "So there." in text
    text, _ = told(f"{name} lied. So there.", size)
    assert "vina" not in text and "So there." in text


def test_a_long_text_without_blanks_costs_no_more_than_its_length() -> None:
    def seconds(length: int) -> float:
        stream, started = GuardedStream(STORY.guard()), process_time()
        stream.take("a-" * length)
        stream.close()
        return process_time() - started

    assert min(seconds(8_000) for _ in range(3)) < 4 * min(seconds(4_000) for _ in range(3))


@pytest.mark.parametrize("sentence", ["\n", "\u00e9. "])
def test_a_piece_of_very_many_sentences_is_not_looked_through_for_each_of_them(sentence: str) -> None:
    longest = 0

    class Watched(GuardedStream):
        def _step(self, *, last: bool) -> str:
            nonlocal longest
            longest = max(longest, len(self._waiting))
            return super()._step(last=last)

    stream = Watched(STORY.guard())
    assert stream.take(sentence * 5_000) + stream.close() == sentence * 5_000
    assert longest < 1_000


@pytest.mark.parametrize("letters", ["\ufdfa", "\u3042\u304d", "\u0434\u043e "])
def test_a_sentence_without_end_in_other_scripts_is_looked_through_so_far_and_not_told(letters: str) -> None:
    looked: list[int] = []

    class Watched(GuardedStream):
        def _step(self, *, last: bool) -> str:
            looked.append(len(self._waiting))
            return super()._step(last=last)

    stream = Watched(STORY.guard())
    told = stream.take(letters * (100_000 // len(letters))) + stream.take(" And on. So there.") + stream.close()
    assert told == "So there." and stream.held
    assert max(looked) < 5_000 and len(looked) < 30


@pytest.mark.parametrize("letters", ["\u3042", "\u0434\u043e "])
def test_a_long_sentence_in_other_scripts_is_told(letters: str) -> None:
    sentence = f"{letters * (3_500 // len(letters))}! "
    stream = GuardedStream(STORY.guard())
    assert stream.take(sentence) + stream.take("So there.") + stream.close() == f"{sentence}So there."


@examples(300)
@given(st.lists(st.sampled_from([*OPEN, SECRET, "Nobody laughs."]), max_size=6), st.integers(1, 30))
def test_open_sentences_pass_whole_and_closed_ones_never_do(sentences: list[str], size: int) -> None:
    text, _ = told(" ".join(sentences), size)
    assert "stands Long Meg" not in text and "Nobody laughs" not in text
    assert text.split() == " ".join(one for one in sentences if one in OPEN).split()
