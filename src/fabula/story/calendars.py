"""Calendars: how a world counts its days, and what so many minutes since the beginning of a play read as; pure.

Months, weekdays, the hours of a day and its phases are data of the world. A play keeps only the minutes that have
passed since it began; everything else about its time follows from them and the calendar.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from fabula.story.values import Value

MINUTES_PER_HOUR: Final = 60
LATEST: Final = 10**12
"""No play passes more minutes than this: two million years of ours."""

TimeName = Annotated[str, StringConstraints(min_length=1, max_length=60, strip_whitespace=True)]


class Month(Value):
    name: TimeName
    days: int = Field(ge=1, le=1000)


class Phase(Value):
    """A part of the day, from an hour on until the next phase begins."""

    name: TimeName
    from_hour: int = Field(ge=0, lt=1000)


class StoryDate(Value):
    """A date with a time; months and days are counted from 1."""

    year: int = Field(default=1, ge=-1_000_000, le=1_000_000)
    month: int = Field(default=1, ge=1, le=100)
    day: int = Field(default=1, ge=1, le=1000)
    hour: int = Field(default=8, ge=0, lt=1000)
    minute: int = Field(default=0, ge=0, lt=MINUTES_PER_HOUR)


_MONTHS: Final = (
    ("January", 31),
    ("February", 28),
    ("March", 31),
    ("April", 30),
    ("May", 31),
    ("June", 30),
    ("July", 31),
    ("August", 31),
    ("September", 30),
    ("October", 31),
    ("November", 30),
    ("December", 31),
)
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PHASES: Final = (("morning", 6), ("afternoon", 12), ("evening", 18), ("night", 22))


class Calendar(Value):
    """How time is counted in a world, when its plays begin, and how much of it a turn takes.

    Without another word it is ours, without leap years. `begins` is the moment at which plays begin, on `begins_on` if
    the world has weekdays, else on the first of them. `minutes_per_turn` pass with every turn, `minutes_per_journey`
    on the way to another scene; a scene may say otherwise. Who sleeps wakes when `wakes_at` begins: the first phase, if
    it is not named.
    """

    months: list[Month] = Field(
        default=[Month(name=name, days=days) for name, days in _MONTHS], min_length=1, max_length=100
    )
    weekdays: list[TimeName] = Field(default=list(_WEEKDAYS), max_length=100)
    hours_per_day: int = Field(default=24, ge=1, le=1000)
    phases: list[Phase] = Field(
        default=[Phase(name=name, from_hour=hour) for name, hour in _PHASES], min_length=1, max_length=24
    )
    begins: StoryDate = StoryDate()
    begins_on: TimeName | None = None
    minutes_per_turn: int = Field(default=5, ge=0, le=1440)
    minutes_per_journey: int = Field(default=20, ge=0, le=10_080)
    wakes_at: TimeName | None = None

    @property
    def minutes_per_day(self) -> int:
        return self.hours_per_day * MINUTES_PER_HOUR

    @property
    def days_per_year(self) -> int:
        return sum(month.days for month in self.months)

    def phase_named(self, name: str | None) -> Phase | None:
        """A phase by its name, however it is spelled."""
        wanted = (name or "").strip().casefold()
        return next((phase for phase in self.phases if phase.name.casefold() == wanted), None)

    @property
    def morning(self) -> Phase:
        """The phase in which who slept wakes."""
        return self.phase_named(self.wakes_at) or self.phases[0]


class StoryTime(Value):
    """A moment of a play: `minutes` since it began, and what they read as in the calendar of its world.

    `weekday` is empty in a world without weekdays.
    """

    minutes: int = Field(ge=0, le=LATEST)
    year: int
    month: str
    day: int
    weekday: str = ""
    hour: int
    minute: int
    phase: str

    @property
    def text(self) -> str:
        """As people say it: `Friday, 3 March 1887, 8:05, morning`."""
        day = f"{self.day} {self.month} {self.year}"
        return f"{f'{self.weekday}, ' if self.weekday else ''}{day}, {self.hour}:{self.minute:02d}, {self.phase}"


def calendar_problems(calendar: Calendar) -> list[str]:
    """What is wrong with a calendar, in sentences; empty when all is well."""
    problems = [
        f"{what} '{name}' is named twice"
        for what, names in (
            ("the month", [month.name for month in calendar.months]),
            ("the weekday", calendar.weekdays),
            ("the phase", [phase.name for phase in calendar.phases]),
        )
        for name in _repeated(names)
    ]
    hours = [phase.from_hour for phase in calendar.phases]
    if any(hour >= calendar.hours_per_day for hour in hours):
        problems.append(f"a phase begins after the last hour of a day, which is {calendar.hours_per_day - 1}")
    if sorted(set(hours)) != hours:
        problems.append("the phases do not stand in the order of their hours, each at an hour of its own")
    if calendar.wakes_at is not None and calendar.phase_named(calendar.wakes_at) is None:
        problems.append(f"there is no phase '{calendar.wakes_at}', at which sleepers are to wake")
    if calendar.begins_on is not None and calendar.begins_on not in calendar.weekdays:
        problems.append(f"there is no weekday '{calendar.begins_on}', on which plays are to begin")
    return [*problems, *_date_problems(calendar, calendar.begins)]


def _repeated(names: list[str]) -> list[str]:
    folded = [name.casefold() for name in names]
    return sorted({name for name in names if folded.count(name.casefold()) > 1})


def _date_problems(calendar: Calendar, date: StoryDate) -> list[str]:
    if date.month > len(calendar.months):
        return [f"there is no month {date.month}: a year has {len(calendar.months)}"]
    month = calendar.months[date.month - 1]
    if date.day > month.days:
        return [f"there is no day {date.day} in {month.name}: it has {month.days}"]
    if date.hour >= calendar.hours_per_day:
        return [f"there is no hour {date.hour}: a day has {calendar.hours_per_day}"]
    return []


def moment(calendar: Calendar, minutes: int) -> StoryTime:
    """What so many minutes since the beginning of a play read as."""
    minutes = max(0, min(minutes, LATEST))
    begins = calendar.begins
    days, of_day = divmod(begins.hour * MINUTES_PER_HOUR + begins.minute + minutes, calendar.minutes_per_day)
    before = sum(month.days for month in calendar.months[: begins.month - 1])
    years, of_year = divmod(before + begins.day - 1 + days, calendar.days_per_year)
    month, day = _month_of(calendar, of_year)
    hour, minute = divmod(of_day, MINUTES_PER_HOUR)
    return StoryTime(
        minutes=minutes,
        year=begins.year + years,
        month=month.name,
        day=day,
        weekday=_weekday(calendar, days),
        hour=hour,
        minute=minute,
        phase=phase_at(calendar, hour).name,
    )


def _month_of(calendar: Calendar, day_of_year: int) -> tuple[Month, int]:
    """The month of a day of the year that is counted from 0, and which of its days that is."""
    for month in calendar.months:
        if day_of_year < month.days:
            return month, day_of_year + 1
        day_of_year -= month.days
    raise ValueError("a year has fewer days")


def _weekday(calendar: Calendar, days: int) -> str:
    """The weekday so many days after the first."""
    names = calendar.weekdays
    if not names:
        return ""
    first = names.index(calendar.begins_on) if calendar.begins_on in names else 0
    return names[(first + days) % len(names)]


def phase_at(calendar: Calendar, hour: int) -> Phase:
    """The phase of an hour; before the first phase of a day the last one of the day before goes on."""
    begun = [phase for phase in calendar.phases if phase.from_hour <= hour]
    return begun[-1] if begun else calendar.phases[-1]


def minutes_until(calendar: Calendar, now: StoryTime, phase: Phase) -> int:
    """How long it is until a phase: nothing while it lasts, else until it begins the next time."""
    return 0 if now.phase == phase.name else minutes_until_start(calendar, now, phase)


def minutes_until_start(calendar: Calendar, now: StoryTime, phase: Phase) -> int:
    """How long it is until a phase begins the next time."""
    of_day = now.hour * MINUTES_PER_HOUR + now.minute
    ahead = (phase.from_hour * MINUTES_PER_HOUR - of_day) % calendar.minutes_per_day
    return ahead or calendar.minutes_per_day
