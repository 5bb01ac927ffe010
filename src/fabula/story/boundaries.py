"""Boundaries: what a world and a table do not want in their stories.

*Lines* never happen. *Veils* may happen, and are not shown. A *rating* draws lines around those of the built-in
categories that it does not allow. A *category* is a name for many words; a line or veil that is called like one means
all of them. What counts is the union of everybody's boundaries: nobody's line is taken away by another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Final, Literal, get_args

from pydantic import Field, StringConstraints

from fabula.language.terms import Terms, same_words, terms_problem
from fabula.story.values import Value

Rating = Literal["everyone", "teen", "mature", "adult"]
RATINGS: Final[tuple[Rating, ...]] = get_args(Rating)

MOST_NAMED: Final = 20
MOST_CATEGORIES: Final = 20
MOST_WORDS: Final = 100

Named = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
CategoryWords = Annotated[list[Named], Field(min_length=1, max_length=MOST_WORDS)]


class Boundaries(Value):
    """What somebody set. `categories` are names for many words, for this somebody's own lines and veils."""

    lines: list[Named] = Field(default=[], max_length=MOST_NAMED)
    veils: list[Named] = Field(default=[], max_length=MOST_NAMED)
    rating: Rating | None = None
    categories: dict[Named, CategoryWords] = Field(default={}, max_length=MOST_CATEGORIES)

    @property
    def has_limits(self) -> bool:
        """Whether anything is not wanted."""
        return bool(self.lines or self.veils or self.rating)


@dataclass(frozen=True, kw_only=True)
class Category:
    """A built-in name for many words, and the lowest rating that allows them."""

    name: str
    rating: Rating
    words: tuple[str, ...]


def _category(row: str) -> Category:
    name, rating, words = (part.strip() for part in row.split("|"))
    allowed = next(one for one in RATINGS if one == rating)
    return Category(name=name, rating=allowed, words=tuple(word.strip() for word in words.split(";")))


# Read with the code: nothing may touch the disk later, on the event loop.
_ROWS: Final = (files("fabula.story") / "texts" / "boundary_categories.txt").read_text("utf-8").splitlines()
BUILT_IN: Final = tuple(_category(row) for row in _ROWS if row.strip() and not row.startswith("#"))


def lines_of_rating(rating: Rating | None) -> list[str]:
    """The built-in categories that a rating does not allow."""
    if rating is None:
        return []
    return [one.name for one in BUILT_IN if RATINGS.index(one.rating) > RATINGS.index(rating)]


class Limits:
    """Boundaries made ready for looking through texts."""

    def __init__(self, sides: Sequence[_Side]) -> None:
        self.lines: Final = Terms(pair for side in sides for name in side.all_lines for pair in side.words_of(name))
        self.veils: Final = Terms(pair for side in sides for name in side.veils for pair in side.words_of(name))

    def line_in(self, text: str) -> str | None:
        """The line that a text crosses, as whoever drew it called it."""
        return self.lines.find(text) if self.lines else None

    def veil_in(self, sentence: str) -> str | None:
        """The veil that a sentence looks behind."""
        return self.veils.find(sentence) if self.veils else None


@dataclass(frozen=True)
class _Side:
    """What one of those whose boundaries count has set, as a key of what was made of it."""

    lines: tuple[str, ...]
    veils: tuple[str, ...]
    rating: Rating | None
    categories: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def all_lines(self) -> list[str]:
        return [*self.lines, *lines_of_rating(self.rating)]

    def words_of(self, name: str) -> Iterator[tuple[str, str]]:
        """What stands for a line or veil: its own words, and those of the category that is called like it."""
        yield name, name
        own = {title: words for title, words in self.categories if same_words(title, name)}
        known: Mapping[str, tuple[str, ...]] = own or {
            one.name: one.words for one in BUILT_IN if same_words(one.name, name)
        }
        for words in known.values():
            yield from ((name, word) for word in words)


def limits_of(*boundaries: Boundaries | None) -> Limits | None:
    """The union of boundaries, made ready; None where nobody set any. Made once for what was set."""
    sides = tuple(_side(one) for one in boundaries if one is not None and one.has_limits)
    return _limits(sides) if sides else None


def _side(one: Boundaries) -> _Side:
    categories = tuple((name, tuple(words)) for name, words in one.categories.items())
    return _Side(tuple(one.lines), tuple(one.veils), one.rating, categories)


@lru_cache(maxsize=256)
def _limits(sides: tuple[_Side, ...]) -> Limits:
    return Limits(sides)


def categories_problem(categories: Mapping[str, Sequence[str]]) -> str | None:
    """Why categories are not taken."""
    return terms_problem("Categories", (word for name, words in categories.items() for word in (name, *words)))


def union_of(*boundaries: Boundaries | None) -> Boundaries:
    """What counts where all of these do: every line and veil once, and the strictest rating."""
    some = [one for one in boundaries if one is not None]
    ratings = [one.rating for one in some if one.rating is not None]
    return Boundaries.model_construct(
        lines=_once(name for one in some for name in one.lines),
        veils=_once(name for one in some for name in one.veils),
        rating=min(ratings, key=RATINGS.index, default=None),
        categories={name: words for one in some for name, words in one.categories.items()},
    )


def _once(names: Iterator[str]) -> list[str]:
    return list({name.casefold(): name for name in names}.values())
