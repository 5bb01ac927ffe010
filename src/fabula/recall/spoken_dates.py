"""Dates that a text speaks of, reckoned from the day on which it was said: `last month` is a month once it is written.

A date is a key: `d:2023-05-07` is a day, `m:2023-05` a month, `y:2023` a year and `n:05` a month of no known year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "few": 3, "couple of": 2}
_MOST_COUNTED = 500

_RELATIVE = re.compile(
    rf"\b(last|next|this past|past|this) (week|weekend|month|year|{'|'.join(_DAYS)}|{'|'.join(_MONTHS)})\b"
)
_AGO = re.compile(rf"\b({'|'.join(_COUNTS)}|\d{{1,3}}) (day|week|month|year)s? ago\b")
_NAMED = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?({'|'.join(_MONTHS)})\b"
    r"(?: (\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,? ?((?:19|20)\d\d)\b)?"
)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
# `may` and `march` are also verbs: only after such a word do they stand for a month by themselves.
_VERBS = frozenset({"may", "march"})
_BEFORE_MONTH = re.compile(r"\b(?:in|of|during|since|until|last|next|early|late|by) $")
_LONGEST_BEFORE = len("during ")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")


def dates_in(text: str, today: date | None) -> list[str]:
    """The keys of all dates that a text speaks of; without a day of its own only those that it names in full."""
    low = text.lower()
    found = [*_named(low, today)]
    if today is not None:
        found += _relative(low, today)
    return list(dict.fromkeys(found))


def day_keys(day: date) -> list[str]:
    """A day with its month and year, from the narrowest to the widest."""
    return [f"d:{day.isoformat()}", *_month_keys(day.year, day.month)]


def month_number(name: str) -> int | None:
    """The number of a month of our calendar by its name."""
    low = name.lower()
    return _MONTHS.index(low) + 1 if low in _MONTHS else None


def is_date_word(word: str) -> bool:
    """Whether a word is a part of dates, which are compared as dates and not as words."""
    return word in _MONTHS or _NUMBER.fullmatch(word) is not None


def _month_keys(year: int, month: int) -> list[str]:
    return [f"m:{year}-{month:02}", f"n:{month:02}", f"y:{year}"]


def _named(low: str, today: date | None) -> Iterator[str]:
    for found in _NAMED.finditer(low):
        first, name, second, year = found.groups()
        if name in _VERBS and not (first or second or year) and not _stands_for_month(low, found.start()):
            continue
        number = _MONTHS.index(name) + 1
        yield f"n:{number:02}"
        known = int(year) if year else today.year if today is not None else None
        if known is not None:
            yield f"m:{known}-{number:02}"
            day = int(first or second or 0)
            if 1 <= day <= 31:
                yield f"d:{known}-{number:02}-{day:02}"
    yield from (f"y:{found[1]}" for found in _YEAR.finditer(low))


def _stands_for_month(low: str, at: int) -> bool:
    """Whether a word before this place makes a month of what may be a verb."""
    return _BEFORE_MONTH.search(low, max(0, at - _LONGEST_BEFORE), at) is not None


def _relative(low: str, today: date) -> Iterator[str]:
    if "yesterday" in low or "last night" in low:
        yield from _day_later(today, -1)
    if re.search(r"\b(?:today|tonight|this morning)\b", low):
        yield from day_keys(today)
    if "tomorrow" in low:
        yield from _day_later(today, 1)
    for found in _RELATIVE.finditer(low):
        yield from _shifted(today, {"next": 1, "this": 0}.get(found[1], -1), found[2])
    for found in _AGO.finditer(low):
        count = min(_COUNTS.get(found[1]) or int(found[1]), _MOST_COUNTED)
        yield from _before(today, count, found[2])


def _shifted(today: date, way: int, unit: str) -> list[str]:
    if unit in ("week", "weekend"):
        return _month_later(today, 7 * way)
    if unit == "month":
        return _month_keys(*_months_later(today, way))
    if unit == "year":
        return [f"y:{today.year + way}"]
    if unit in _DAYS:
        back = (today.weekday() - _DAYS.index(unit)) % 7 or 7
        return _day_later(today, 7 - back if way > 0 else -back)
    month = _MONTHS.index(unit) + 1
    year = today.year - (way <= 0 and month > today.month) + (way > 0 and month < today.month)
    return _month_keys(year, month)


def _before(today: date, count: int, unit: str) -> list[str]:
    if unit == "day":
        return _day_later(today, -count)
    if unit == "week":
        return _month_later(today, -7 * count)
    if unit == "month":
        return _month_keys(*_months_later(today, -count))
    return [f"y:{today.year - count}"]


def _day_later(today: date, days: int) -> list[str]:
    day = _shifted_day(today, days)
    return [] if day is None else day_keys(day)


def _month_later(today: date, days: int) -> list[str]:
    day = _shifted_day(today, days)
    return [] if day is None else _month_keys(day.year, day.month)


def _shifted_day(today: date, days: int) -> date | None:
    # Plays begin on the first day of the year 1 where a calendar says nothing else, and `date` knows no day before it.
    try:
        return today + timedelta(days=days)
    except OverflowError:
        return None


def _months_later(today: date, months: int) -> tuple[int, int]:
    years, month = divmod(today.month - 1 + months, 12)
    return today.year + years, month + 1
