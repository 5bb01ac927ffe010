"""Guests take no more room in a play than there is, whoever invites them."""

from __future__ import annotations

from fabula.story.guests import LARGEST_GUESTS, added, entered, guests_problem, guests_size, shortened, with_room
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
    play = with_room(entered(play, "a"))
    assert list(play.session_characters) == ["a", "c"]
    assert with_room(play) == play


def test_a_guest_of_whom_a_model_writes_a_book_is_cut_short() -> None:
    assert guests_size(added(EMPTY, shortened(guest("a", 1_000_000)))) == 4_200


def test_an_older_play_with_more_guests_than_there_is_room_for_may_lose_some() -> None:
    old = added(added(EMPTY, guest("a", LARGEST_GUESTS)), guest("b", LARGEST_GUESTS))
    assert guests_problem(old, added(old, guest("b", 10))) is None
    assert guests_problem(old, added(old, guest("c", 10))) is not None
