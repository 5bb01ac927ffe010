"""Guests take no more room in a play than there is, whoever invites them."""

from __future__ import annotations

from fabula.story.changes import MOST_PRESENT
from fabula.story.guests import (
    LARGEST_GUESTS,
    MOST_GUESTS,
    added,
    entered,
    guests_problem,
    guests_size,
    left,
    removed,
    shortened,
    with_room,
)
from fabula.story.plays import PlayState, SessionCharacter
from fabula.story.state import Snapshot, WorldState

EMPTY = PlayState(
    snapshot=Snapshot(story_id="s", player_description="", world_state=WorldState(current_node="n")),
    graph="g",
    player_name="P",
)


def guest(id: str, letters: int) -> SessionCharacter:
    return SessionCharacter(
        session_character_id=id,
        display_name="",
        personality="x" * letters,
        style="",
        system_prompt="",
        created_at_ms=1,
        updated_at_ms=1,
    )


def test_the_oldest_guest_who_is_not_in_the_scene_makes_room() -> None:
    play = EMPTY
    for id in ("a", "b", "c"):
        play = added(play, guest(id, 90_000))
    play = with_room(entered(play, "a"), "d")
    assert list(play.session_characters) == ["a", "c"]
    assert with_room(play, "d") == play


def test_a_guest_of_whom_a_model_writes_a_book_is_cut_short() -> None:
    assert guests_size(added(EMPTY, shortened(guest("a", 1_000_000)))) == 4_200


def test_an_older_play_with_more_guests_than_there_is_room_for_may_lose_some() -> None:
    old = added(added(EMPTY, guest("a", LARGEST_GUESTS)), guest("b", LARGEST_GUESTS))
    assert guests_problem(old, added(old, guest("b", 10))) is None
    assert guests_problem(old, added(old, guest("c", 10))) is not None


def crowd(count: int, *, here: bool = False) -> PlayState:
    play = EMPTY
    for n in range(count):
        play = added(play, guest(f"g{n}", 1))
        play = entered(play, f"g{n}") if here else play
    return play


def test_a_play_has_so_many_guests_however_short_they_are_described() -> None:
    full = crowd(MOST_GUESTS)
    assert guests_problem(full, added(full, guest("g0", 2))) is None
    problem = guests_problem(full, added(full, guest("new", 1)))
    assert problem == "A play may have 100 guests, and these would be 101. Delete one of them first."
    assert list(with_room(full, "g0").session_characters) == list(full.session_characters)
    assert list(with_room(full, "new").session_characters) == list(full.session_characters)[1:]


def test_a_scene_holds_so_many_guests_and_an_older_play_with_more_may_lose_some() -> None:
    full = crowd(MOST_PRESENT, here=True)
    problem = guests_problem(full, entered(added(full, guest("new", 1)), "new"))
    assert problem == "A scene holds 50 characters, and these would be 51. Let one of them leave first."
    assert guests_problem(full, added(full, guest("new", 1))) is None
    older = crowd(MOST_GUESTS + 9, here=True)
    assert guests_problem(older, left(older, "g1")) is None
    assert guests_problem(older, removed(older, "g1")) is None
    assert guests_problem(removed(older, "g1"), older) is not None
