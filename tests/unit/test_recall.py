import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any

import pytest

from fabula.language.stemming import content_words, kept_stem, language_of, stem_in
from fabula.ports.embedder import Vector
from fabula.recall.imprints import imprint_of, signs_of
from fabula.recall.questions import read_question
from fabula.recall.ranking import Basis, Candidate, Moment, Ranked, rank, shortened, stems_of
from fabula.recall.spoken_dates import dates_in
from fabula.recall.word_vectors import MOST_WORDS, WordVectors

TODAY = date(2023, 5, 8)
ORDINARY = Candidate(1, 0, "inn", "Mara", "", "english", "", "", "", 0, 1, 0.0, "", "", 0)


def past(*lines: tuple[str, str], scene: str = "inn") -> list[Candidate]:
    made = []
    for place, (speaker, text) in enumerate(lines):
        found = imprint_of(text, names=["Mara", "Orr"], day=TODAY)
        made.append(
            ORDINARY._replace(
                place=place,
                scene=scene,
                speaker=speaker,
                words=" ".join(found.words),
                signs=" ".join(found.signs),
                dates=" ".join(found.dates),
            )
        )
    return made


def recalled(candidates: list[Candidate], question: str, moment: Moment | None = None) -> list[Ranked]:
    read = read_question(question, ["Mara", "Orr"])
    return rank(read, Basis(candidates=candidates, total=len(candidates)), moment=moment)


def test_forms_of_a_word_have_one_stem() -> None:
    assert stem_in("bought") == stem_in("buying") == stem_in("buys")
    assert stem_in("Häuser".lower(), "german") == stem_in("hauses", "german")


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that take turns after every few steps."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_that_stem_at_once_do_not_spoil_each_others_words(hasty_threads: None) -> None:
    words = [
        f"{letters}{ending}" for ending in ("ingly", "ations", "ies", "y") for letters in map(_letters, range(400))
    ]
    alone = [kept_stem.__wrapped__(word) for word in words]
    with ThreadPoolExecutor(4) as threads:
        together = threads.map(lambda _: [kept_stem.__wrapped__(word) for word in words], range(4))
        assert all(stems == alone for stems in together)


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(3))


class LettersEmbedder:
    """A word means its length and how often it has the letter a."""

    name, dimension = "letters", 2

    embeds_words = True

    async def load(self) -> None:
        """There is nothing to load."""

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [(float(len(text)), float(text.count("a"))) for text in texts]

    async def close(self) -> None:
        """It holds nothing."""


async def test_more_words_than_are_kept_have_vectors_all_the_same() -> None:
    words = [f"word{number}" for number in range(MOST_WORDS + 10)]
    table = WordVectors()
    vector, rows = await table.look_up(LettersEmbedder(), "a b", ["banana"])
    assert (vector, rows.tolist()) == ((3.0, 1.0), [[6.0, 3.0]])
    _, rows = await table.look_up(LettersEmbedder(), "a", words)
    assert (rows[0].tolist(), rows[-1].tolist()) == ([5.0, 0.0], [9.0, 0.0])


async def test_words_have_their_vectors_although_the_table_began_anew_meanwhile() -> None:
    table = WordVectors()
    await table.look_up(LettersEmbedder(), "a", ["banana"])

    class Interrupted(LettersEmbedder):
        async def embed(self, texts: Sequence[str]) -> list[Vector]:
            await table.look_up(LettersEmbedder(), "a", [f"word{number}" for number in range(MOST_WORDS)])
            return await super().embed(texts)

    _, rows = await table.look_up(Interrupted(), "a", ["banana", "ox"])
    assert rows.tolist() == [[6.0, 3.0], [2.0, 0.0]]


def test_stems_are_taken_as_they_were_kept_and_found_anew_where_they_were_not() -> None:
    kept = ORDINARY._replace(words="rains fell", stems="rain fall")
    older, cut = kept._replace(stems=""), kept._replace(words="rains fell fe")
    assert stems_of([kept, older, cut]) == [["rain", "fall"], ["rain", "fall"], ["rain", "fall", "fe"]]


def test_of_very_long_memories_only_so_many_words_are_read_for_a_question() -> None:
    short, long = ORDINARY._replace(words="rain"), ORDINARY._replace(words="wind " * 800)
    assert shortened([short, long], most=5_000) == [short, long]
    cut = shortened([short, *[long] * 700], most=70_000)
    assert cut[0] == short
    assert 60_000 < sum(len(one.words) for one in cut) <= 70_000


def test_a_language_is_known_by_its_small_words() -> None:
    assert language_of("Der Hund ist nicht mehr in dem Haus.") == "german"
    assert language_of("The dog is no longer in the house.") == "english"
    assert content_words("Der Hund ist im Haus.", "german") == ["hund", "haus"]


def test_scripts_without_spaces_are_found_by_pairs_of_letters() -> None:
    assert content_words("海辺の家") == ["海辺", "辺の", "の家"]


def test_dates_are_reckoned_from_the_day_on_which_they_were_spoken_of() -> None:
    assert "d:2023-05-07" in dates_in("I went there yesterday.", TODAY)
    assert "m:2023-04" in dates_in("It was last month.", TODAY)
    assert "y:2020" in dates_in("Three years ago we moved.", TODAY)
    assert dates_in("You may go.", TODAY) == dates_in("A bargain may go.", TODAY) == []
    assert "n:05" in dates_in("It rained all during May.", TODAY)
    assert "n:03" in dates_in("By March.", TODAY)
    assert dates_in("It happened in May 2021.", None) == ["n:05", "m:2021-05", "y:2021"]


@pytest.mark.parametrize("today", [date(1, 1, 1), date(9999, 12, 31)])
def test_a_play_of_the_first_or_the_last_year_speaks_of_days_beyond_it(today: date) -> None:
    past = ("yesterday", "last night", "last week", "last monday", "last month", "500 days ago", "900 weeks ago")
    others = ("90 months ago", "900 years ago", "tomorrow", "next week", "next friday", "next month", "next year")
    for spoken in (*past, *others):
        assert imprint_of(f"Mara was here in May, and {spoken} Tom.", day=today).dates[0] == "n:05"


def test_names_of_people_in_the_scene_are_no_sign_of_a_name() -> None:
    assert "name" in signs_of("we sailed with the Black Petrel", ["Mara"])
    assert "name" not in signs_of("thanks for that, Mara", ["Mara"])


def test_names_are_taken_out_of_a_question_and_tell_who_is_asked_about() -> None:
    read = read_question("Where did mara's brother hide?", ["Mara", "Orr"])
    assert read.terms == ("brother", "hide")
    assert (set(read.named), set(read.wanted)) == ({"mara"}, {"place", "name"})


def test_an_answer_is_found_by_the_words_of_its_question() -> None:
    lines = past(("Orr", "Where is the lantern?"), ("Mara", "Under the stairs."), ("Orr", "The soup is cold."))
    assert recalled(lines, "lantern")[0].number == 1


def test_the_rarer_word_counts_more() -> None:
    lines = past(("Mara", "the sea was calm"), scene="a") + past(("Mara", "the sea had a kraken"), scene="b")
    lines += past(("Mara", "the sea was grey"), scene="c")
    first, *_ = recalled(lines, "kraken sea")
    assert first.number == 1
    assert "words" in [reason.part for reason in first.reasons]


def test_what_nothing_speaks_for_does_not_come_to_mind() -> None:
    assert recalled(past(("Mara", "the soup is cold")), "lantern") == []
    assert recalled([], "lantern") == []


def test_a_question_about_when_prefers_what_has_a_time_in_it() -> None:
    lines = past(("Mara", "the mill burned down"), scene="a") + past(("Mara", "the mill burned last year"), scene="b")
    assert recalled(lines, "When did the mill burn?")[0].number == 1


def test_the_one_who_is_asked_about_is_preferred_and_nobody_is_left_out() -> None:
    lines = past(("Orr", "my boat sank"), scene="a") + past(("Mara", "my boat sank"), scene="b")
    assert [one.number for one in recalled(lines, "What happened to Mara's boat?")] == [1, 0]


def test_a_moment_adds_newness_importance_mood_place_and_people() -> None:
    plain = past(("Mara", "the bell rang"), scene="a") + past(("Mara", "the bell rang"), scene="b")
    changes: dict[str, tuple[dict[str, Any], Moment]] = {
        "recent": ({"minute": 5000}, Moment(minute=5000, half_life=60)),
        "important": ({"importance": 5}, Moment()),
        "mood": ({"valence": -0.9}, Moment(valence=-0.5)),
        "place": ({"where": "tower"}, Moment(where="tower")),
        "people": ({"people": "orr"}, Moment(people=frozenset({"orr"}))),
    }
    for part, (change, moment) in changes.items():
        lines = [plain[0], plain[1]._replace(**change)]
        assert [one.number for one in recalled(lines, "bell")] == [0, 1]
        first, *_ = recalled(lines, "bell", moment)
        assert first.number == 1
        assert part in [reason.part for reason in first.reasons]
