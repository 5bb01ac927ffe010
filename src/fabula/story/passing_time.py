"""How time passes in a play: so many minutes with each turn, by rule; pure, and cheap enough for the turn itself.

1. A turn takes the minutes of its scene, or those of the calendar.
2. Who goes to another scene is on the way for some time; a scene that is played in a certain phase begins in it.
3. Who sleeps, rests or waits says so, and the line says for how long.
4. Then those come and go whose schedules say so, bent to the goals that they pursue.
"""

from __future__ import annotations

import re
from typing import Final

from fabula.story.calendars import (
    LATEST,
    MINUTES_PER_HOUR,
    Calendar,
    StoryTime,
    minutes_until,
    minutes_until_start,
    moment,
)
from fabula.story.graph import Node
from fabula.story.off_screen import OffScreen
from fabula.story.plays import PlayState
from fabula.story.schedules import Schedules, with_presence
from fabula.story.story_worlds import StoryWorld

LONGEST_REST_DAYS: Final = 7
A_WHILE: Final = 60
LONGEST_LINE: Final = 400


def begin_time(world: StoryWorld, play: PlayState, node: Node, *, minute: int = 0) -> PlayState:
    """The play at its first moment, with those in its scene whom their schedules bring there. `minute` is when it is in
    its world, if that has moved on already."""
    now = _in_phase(world.calendar, moment(world.calendar, minute), node)
    state = with_presence(_schedules(world, play), node, play.world, before=None, now=now)
    return with_time(play.with_world(state), now)


def pass_time(world: StoryWorld, play: PlayState, line: str, node: Node, *, moved: bool) -> PlayState:
    """The play after the time that a turn takes. `node` is where the turn is played, `moved` that it came there now."""
    before = play.snapshot.time
    if before is None:
        # The story got its calendar while this play was under way.
        return begin_time(world, play, node)
    now = time_after(world.calendar, before, line, node, moved=moved)
    state = with_presence(_schedules(world, play), node, play.world, before=None if moved else before, now=now)
    return with_time(play.with_world(state) if state is not play.world else play, now)


def skip_time(world: StoryWorld | None, play: PlayState, node: Node | None, minutes: int) -> PlayState:
    """The play so many minutes later, with nothing played meanwhile; without a calendar they are only counted."""
    time, off_screen = play.snapshot.time, play.off_screen or OffScreen(minute=play.minute)
    if time is None or world is None:
        later = off_screen.model_copy(update={"passed": min(off_screen.passed + minutes, LATEST)})
        return play.model_copy(update={"off_screen": later})
    now = moment(world.calendar, time.minutes + minutes)
    if node is not None:
        play = play.with_world(with_presence(_schedules(world, play), node, play.world, before=time, now=now))
    return with_time(play, now)


def _schedules(world: StoryWorld, play: PlayState) -> Schedules:
    return world.schedules_now(play.world, play.relations)


def with_time(play: PlayState, now: StoryTime) -> PlayState:
    """The same play at another time."""
    return play.model_copy(update={"snapshot": play.snapshot.model_copy(update={"time": now})})


def time_after(calendar: Calendar, before: StoryTime, line: str, node: Node, *, moved: bool) -> StoryTime:
    """What time it is after a turn."""
    turn = calendar.minutes_per_turn if node.minutes is None else node.minutes
    # A scene that says when it begins is not missed by who waits on the way to it.
    is_set = moved and calendar.phase_named(node.phase) is not None
    passed = turn if is_set else max(turn, minutes_of_rest(calendar, before, line))
    if moved:
        passed += calendar.minutes_per_journey if node.journey is None else node.journey
    now = moment(calendar, before.minutes + passed)
    return _in_phase(calendar, now, node) if moved else now


def _in_phase(calendar: Calendar, now: StoryTime, node: Node) -> StoryTime:
    """The moment at which a scene begins that is played in a certain phase."""
    phase = calendar.phase_named(node.phase)
    wait = 0 if phase is None else minutes_until(calendar, now, phase)
    return moment(calendar, now.minutes + wait) if wait else now


_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
    )
    for word in words.split()
}
# Anchored at the beginning of the line, so that "I do not sleep" or "she waits" pass no time.
_RESTS: Final = re.compile(
    r"(?:then |now |so )?(?:(?:i|we|let's|let us|i'll|we'll|i will|we will) )?(?:just |simply |quietly |both )?"
    r"(?:(?:decide|try|want|settle down|lie down|sit down|stay here|stay) (?:to |and ))?"
    r"(?:(?P<sleep>sleep|go to (?:bed|sleep)|spend the night|turn in for the night|lie down to sleep)"
    r"|(?P<rest>rest|wait|nap|take a (?:nap|rest)|sit and wait|doze|linger))\b"
)
_FOR: Final = re.compile(
    r"\b(?:for |another |about )*(?P<half>half )?(?P<count>\d{1,3}|[a-z]+) (?P<unit>minute|hour|day)s?\b"
)
_UNTIL: Final = re.compile(r"\b(?:until|till|for) (?:it is |the |next |tomorrow )*(?P<phase>[^\s,.;!?]+)")


def minutes_of_rest(calendar: Calendar, now: StoryTime, line: str) -> int:
    """How long a line says that its speaker sleeps, rests or waits; 0 for every other line."""
    said = " ".join(line[:LONGEST_LINE].casefold().replace("’", "'").split())
    found = _RESTS.match(said)
    if found is None:
        return 0
    rest = said[found.end() :]
    longest = LONGEST_REST_DAYS * calendar.minutes_per_day
    told = _said_until(calendar, now, rest) or _said_for(calendar, rest)
    return min(longest, told or _usual(calendar, now, rest, sleeps=found["sleep"] is not None))


def _said_until(calendar: Calendar, now: StoryTime, rest: str) -> int:
    for found in _UNTIL.finditer(rest):
        phase = calendar.phase_named(found["phase"])
        if phase is not None:
            return minutes_until_start(calendar, now, phase)
    return 0


def _said_for(calendar: Calendar, rest: str) -> int:
    for found in _FOR.finditer(rest):
        count = int(found["count"]) if found["count"].isdigit() else _NUMBERS.get(found["count"], 0)
        if count:
            unit = {"minute": 1, "hour": MINUTES_PER_HOUR, "day": calendar.minutes_per_day}[found["unit"]]
            return count * unit // (2 if found["half"] else 1)
    return 0


_NOTHING_ELSE: Final = re.compile(r"(?: (?:here|there|quietly|patiently|up|now|(?:for )?a (?:while|bit|moment)))*\.?")


def _usual(calendar: Calendar, now: StoryTime, rest: str, *, sleeps: bool) -> int:
    """Who sleeps wakes in the morning, and who rests does so for a while.

    Who waits for somebody, or calls out "Wait, who are you?", does not let time pass.
    """
    if sleeps:
        return minutes_until_start(calendar, now, calendar.morning)
    return A_WHILE if _NOTHING_ELSE.fullmatch(rest) else 0
