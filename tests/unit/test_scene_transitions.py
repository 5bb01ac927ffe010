"""What is told between scenes: a player reads a dozen of these in a campaign, and no form of them again and again."""

from __future__ import annotations

from fabula.story.change_labels import change_label, read_change_label
from fabula.story.free_plays import Discovery
from fabula.story.graph import Node
from fabula.understudy.transitions import LATER, NOT_ALL, tell_transition

PLACES = ("The Mill", "The Ford", "The Chapel", "The Weir", "The Inn")


def openings(*, moved: bool) -> list[str]:
    """How one scene after the other begins, each at another place."""
    told: list[str] = []
    for title in PLACES:
        node = Node(id=title.lower().replace(" ", "-"), title=title, scene="", goal="", characters=[], transitions=[])
        aim = Discovery(
            discovery_id="d1",
            place=node.id,
            subject="wheel",
            knower="orr",
            knower_name="Orr",
            about="the wheel",
            truth="It stopped.",
            purpose="Ask Orr.",
        )
        told.append(tell_transition(node, [], aim, moved=moved, arrived=False, seed=7, told=told))
    return told


def test_no_form_comes_again_before_all_others_were_told() -> None:
    for moved, forms in ((False, NOT_ALL), (True, LATER)):
        parts = [max(form.split("{place}"), key=len) for form in forms]
        heard = [next(part for part in parts if part in text) for text in openings(moved=moved)]
        assert len(set(heard)) == min(len(PLACES), len(forms))


def test_what_the_tree_calls_a_change_is_read_again_and_other_labels_are_by_hand() -> None:
    assert read_change_label(change_label("scene_began", "The Mill: below")) == ("scene_began", "The Mill: below")
    assert read_change_label(change_label("world_moved")) == ("world_moved", "")
    assert read_change_label("changed by hand") == (None, "") == read_change_label("some: other label")
