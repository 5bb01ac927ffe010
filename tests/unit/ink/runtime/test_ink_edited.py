"""Saves meet edited stories: a table of edits, each with what has to come of it.

Each row: what the author did, the pieces of source before and after, the choices played before the save, and the
outcome. A save that resumes must offer the choices it was saved with, and each must lead to its own outcome.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

import pytest
from tests.unit.ink.runtime.ink_support import compiled, play, start, texts

from fabula.ink import InkEditedError, Story

STORY = """
VAR coins = 3
VAR mood = "calm"
VAR next = -> garden
LIST Bag = lamp, rope, map
VAR held = (lamp)
-> hall

=== hall
You stand in the hall.
* [Open the chest] chest-opened
  -> hall.table
* (up) [Look up] looked-up
* {coins > 2} [Pay the guard] guard-paid
+ [Wait] waited
- (after) The hall is quiet.
It smells of {&dust|wax}.
+ [Go to the garden] to-garden
  -> garden
+ [Sleep] slept
  -> guest ->
  woke-up
  -> hall.table
= table
A table stands here.
+ [Sit] sat
  -> garden
+ [Leave] left
  -> END

=== garden
Roses.
* [Smell] smelled
  ** [Deeply] deep
  ** [Briefly] brief
  -- done-smelling
* [Cut] cut
- The garden ends.
* [Again] again-first
* [On] on
- The path goes on.
* [Again] again-second
* [Back] back
- -> hall.table

=== guest
A soft bed.
+ [Dream] dreamt
+ [Lie awake] lay-awake
- ->->
"""

OUTCOMES = {
    "Open the chest": "chest-opened",
    "Look up": "looked-up",
    "Pay the guard": "guard-paid",
    "Wait": "waited",
    "Go to the garden": "to-garden",
    "Sleep": "slept",
    "Sit": "sat",
    "Leave": "left",
    "Smell": "smelled",
    "Deeply": "deep",
    "Briefly": "brief",
    "Cut": "cut",
    "On": "on",
    "Back": "back",
    "Dream": "dreamt",
    "Lie awake": "lay-awake",
}


@dataclass(frozen=True, kw_only=True)
class Edit:
    what: str
    before: str
    after: str
    played: tuple[str, ...] = ()
    refused: str | None = None


def resumes(what: str, before: str, after: str, *played: str) -> Edit:
    return Edit(what=what, before=before, after=after, played=played)


def refused(what: str, reason: str, before: str, after: str, *played: str) -> Edit:
    return Edit(what=what, before=before, after=after, played=played, refused=reason)


CHEST = "* [Open the chest] chest-opened\n  -> hall.table\n"
LOOK = "* (up) [Look up] looked-up\n"
PAY = "* {coins > 2} [Pay the guard] guard-paid\n"
WAIT = "+ [Wait] waited\n"
HALL = "You stand in the hall.\n"
TO_GARDEN = ("Wait", "Go to the garden")
TO_BED = ("Wait", "Sleep")

EDITS = [
    # Text around the place
    resumes("text before the choices is changed", HALL, "You are standing in a hall.\n"),
    resumes("text before the choices is removed", HALL, ""),
    resumes("text is added before the choices", HALL, HALL + "It is cold.\n"),
    resumes("the outcome of a choice is reworded", "chest-opened", "with a creak: chest-opened"),
    resumes("the outcome of a choice gets longer", "looked-up\n", "looked-up\n  Cobwebs.\n  And a spider.\n"),
    resumes("the gather after the choices is reworded", "The hall is quiet.", "Nothing stirs."),
    resumes("another knot is reworded", "Roses.", "Lilies."),
    resumes("a comment is added", HALL, "// a note\n" + HALL),
    resumes("a tag is added to a line", HALL, "You stand in the hall. # wide\n"),
    # The choices on offer
    resumes("a choice is inserted before", CHEST, "* [Sing] sang\n" + CHEST),
    resumes("a choice is inserted between", LOOK, "* [Sing] sang\n" + LOOK),
    resumes("a choice is inserted after", WAIT, WAIT + "+ [Sing] sang\n"),
    resumes("three choices are inserted before", CHEST, "* [A] a\n* [B] b\n* [C] c\n" + CHEST),
    resumes("choices change places", CHEST + LOOK, LOOK + CHEST),
    resumes("a sticky choice becomes once-only", WAIT, "* [Wait] waited\n"),
    resumes("a label is taken off a choice", "* (up) [Look up]", "* [Look up]"),
    resumes("a choice gets a label", "* [Open the chest]", "* (chest) [Open the chest]"),
    resumes("a choice's outcome goes elsewhere", "chest-opened\n  -> hall.table", "chest-opened\n  -> garden"),
    refused("a choice's text is changed", "Look up", "[Look up]", "[Look upwards]"),
    refused("a typo in a choice is corrected", "Wait", "[Wait]", "[Wait.]"),
    refused("a choice is removed", "Look up", LOOK, ""),
    refused("a choice's condition is changed", "Pay the guard", "{coins > 2}", "{coins > 5}"),
    refused("a choice gets a condition", "Wait", "+ [Wait]", "+ {coins > 9} [Wait]"),
    refused("a choice loses its condition", "Pay the guard", "* {coins > 2} [Pay", "* [Pay"),
    resumes("a choice gets a twin with another outcome", WAIT, WAIT + "+ [Wait] stood still\n"),
    refused("a choice is there twice", "more than once", WAIT, WAIT + WAIT),
    refused("a choice's text now shows after choosing, too", "Look up", "[Look up]", "Look up[]"),
    # Knots and stitches
    refused("the knot is renamed", "knot 'hall'", "=== hall", "=== lobby"),
    resumes("another knot is renamed", "=== guest", "=== visitor"),
    resumes("a knot is added before", "=== hall\n", "=== porch\nA porch.\n-> hall\n=== hall\n"),
    resumes("a knot is added after", "=== guest", "=== pond\nWater.\n-> END\n=== guest"),
    resumes("a stitch is added", "= table\n", "= window\nA window.\n-> END\n= table\n"),
    resumes("another stitch is renamed", "= table", "= desk"),
    refused("the stitch is renamed", "hall.table", "= table", "= desk", "Open the chest"),
    resumes("the stitch's knot changes elsewhere", "The hall is quiet.", "Silence.", "Open the chest"),
    resumes("knots change places", "=== garden", "=== shed\n-> END\n=== garden", *TO_GARDEN),
    # Variables and lists
    resumes("a variable is added", "VAR coins = 3", "VAR coins = 3\nVAR hats = 2"),
    resumes("a variable is removed", 'VAR mood = "calm"\n', ""),
    resumes("a variable starts with another value", "VAR coins = 3", "VAR coins = 4"),
    resumes("a variable changes its type", 'VAR mood = "calm"', "VAR mood = 7"),
    resumes("a list item is added", "lamp, rope, map", "lamp, oil, rope, map"),
    resumes("a list item that nobody holds is removed", "lamp, rope, map", "lamp, map"),
    refused(
        "a list item in a variable is removed",
        "Bag.lamp",
        "lamp, rope, map\nVAR held = (lamp)",
        "rope, map\nVAR held = (rope)",
    ),
    refused("the target in a variable is renamed", "'next'", "=== garden", "=== orchard"),
    # Weave: gathers, labels, depth
    resumes("the gather's text is changed", "The hall is quiet.", "Silence.", "Wait"),
    resumes("the gather's label is changed", "- (after)", "- (later)", "Wait"),
    resumes("the gather loses its label", "- (after)", "-", "Wait"),
    resumes("a label moves from one gather to another", "- The garden ends.", "- (after) The garden ends.", "Wait"),
    resumes("a choice is inserted before the gather", WAIT, WAIT + "+ [Hum] hummed\n", "Wait"),
    resumes("a gather with choices is inserted before", "- (after)", "- Then.\n* [Then] then\n- (after)", "Wait"),
    resumes("the choice taken before is reworded", "[Smell] smelled", "[Sniff] sniffed", *TO_GARDEN, "Smell"),
    resumes("a nested choice is added", "** [Deeply]", "** [Once] once\n  ** [Deeply]", *TO_GARDEN, "Smell"),
    refused("a nested choice is reworded", "Deeply", "[Deeply]", "[Very deeply]", *TO_GARDEN, "Smell"),
    refused(
        "the choices around a nested one are gone",
        "Deeply",
        "** [Deeply] deep\n  ** [Briefly] brief\n  -- done",
        "  done",
        *TO_GARDEN,
        "Smell",
    ),
    resumes("twins stay as they are", "Roses.", "Lilies.", *TO_GARDEN, "Cut"),
    resumes(
        "a choice comes before twins", "* [Again] again-first", "* [Hm] hm\n* [Again] again-first", *TO_GARDEN, "Cut"
    ),
    refused("one of two twins changes what follows", "Again", "again-first", "something else", *TO_GARDEN, "Cut"),
    refused("the first of two twins is removed", "Again", "* [Again] again-first\n", "", *TO_GARDEN, "Cut"),
    # Tunnels: where to come back to
    resumes("text after the tunnel is changed", "woke-up", "woke-up late", *TO_BED),
    resumes("text before the tunnel is changed", "+ [Sleep] slept\n", "+ [Sleep] slept at last\n", *TO_BED),
    resumes("a choice is inserted before the one with the tunnel", "+ [Sleep]", "+ [Nap] napped\n+ [Sleep]", *TO_BED),
    refused("the tunnel's call is removed", "hall", "  -> guest ->\n", "", *TO_BED),
    refused("the tunnel is renamed", "hall", "=== guest", "=== visitor", *TO_BED),
    refused("a choice in the tunnel is reworded", "Dream", "[Dream]", "[Dream a little]", *TO_BED),
]


def edited_source(edit: Edit) -> str:
    assert STORY.count(edit.before) >= 1, f"{edit.before!r} is not in the story"
    source = STORY.replace(edit.before, edit.after, 1)
    renamed = {"=== hall": "lobby", "=== garden": "orchard", "=== guest": "visitor", "= table": "desk"}
    old = edit.before.removeprefix("=== ").removeprefix("= ")
    if edit.before in renamed and edit.after.endswith(renamed[edit.before]):
        source = source.replace(f"-> {old}", f"-> {renamed[edit.before]}").replace(
            f"hall.{old}", f"hall.{edit.after[2:]}"
        )
        source = source.replace(f"{old}.table", f"{renamed[edit.before]}.table")
    return source


def saved_in(edit: Edit) -> Story:
    story = start(STORY)
    play(story, *edit.played)
    return story


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.what)
def test_an_edit(edit: Edit) -> None:
    old = saved_in(edit)
    edited = Story(compiled(edited_source(edit)))
    assert edited.digest != old.digest or "comment" in edit.what or "label" in edit.what
    if edit.refused is None:
        edited.load_state(old.state_json())
        assert texts(edited) == texts(old)
        for choice in edited.current_choices:
            assert leads_to_its_own_outcome(edited, choice.index)
    else:
        before = edited.state_json()
        with pytest.raises(InkEditedError, match="edited") as refusal:
            edited.load_state(old.state_json())
        assert edit.refused in refusal.value.reason
        assert edited.state_json() == before


def leads_to_its_own_outcome(story: Story, index: int) -> bool:
    text = story.current_choices[index].text
    branch = story.fork()
    branch.choose(index)
    said = branch.continue_maximally()
    return OUTCOMES.get(text, "again-first") in said


def test_the_table_is_long_enough() -> None:
    assert len(EDITS) >= 40
    assert len({edit.what for edit in EDITS}) == len(EDITS)


def test_a_refusal_names_the_nearest_earlier_turn_and_a_knot_to_start_from() -> None:
    story = start(STORY)
    play(story, "Wait", "Go to the garden", "Smell")
    edited = start(STORY.replace("[Deeply]", "[Very deeply]"))
    with pytest.raises(InkEditedError) as refusal:
        edited.load_state(story.state_json())
    assert (refusal.value.resume_turn, refusal.value.resume_knot) == (1, "garden")


def test_the_save_of_the_named_turn_loads() -> None:
    story = start(STORY)
    saves: dict[str, str] = {}
    for choice in ("Wait", "Go to the garden", "Smell", "Deeply"):
        story.continue_maximally()
        saves[len(saves) - 1] = story.state_json()
        story.choose(texts(story).index(choice))
    story.continue_maximally()
    edited = start(STORY.replace("[Again] again-first", "[Once more] again-first").replace("[Briefly]", "[Shortly]"))
    with pytest.raises(InkEditedError) as refusal:
        edited.load_state(story.state_json())
    assert refusal.value.resume_turn is not None
    edited.load_state(saves[refusal.value.resume_turn])
    assert "Smell" in texts(edited)


def test_a_choice_that_moved_to_another_knot_is_refused() -> None:
    story = start(STORY)
    play(story)
    edited = start(STORY.replace(LOOK, "").replace("* [Cut]", LOOK + "* [Cut]"))
    with pytest.raises(InkEditedError, match="Look up"):
        edited.load_state(story.state_json())


@pytest.mark.parametrize("seed", range(60))
def test_no_mix_of_edits_ever_leads_to_a_wrong_choice(seed: int) -> None:
    dice = random.Random(seed)
    lines = [f"{dice.choice('*+')} [Choice {n % 7}] outcome-{n % 7}-{n}" for n in range(12)]
    lines.insert(4, "- A gather.")
    lines.insert(9, "- Another gather.")
    story = start("-> k\n=== k\n" + "\n".join(lines) + "\n- -> END\n")
    story.continue_maximally()
    for _ in range(dice.randrange(3)):
        if story.current_choices:
            story.choose(dice.randrange(len(story.current_choices)))
            story.continue_maximally()
    edited = start("-> k\n=== k\n" + "\n".join(mixed_up(lines, dice)) + "\n- -> END\n")
    try:
        edited.load_state(story.state_json())
    except InkEditedError:
        return
    assert texts(edited) == texts(story)
    for choice in story.current_choices:
        outcomes = [branch_text(each, choice.index) for each in (story, edited)]
        assert outcomes[0] == outcomes[1]


def mixed_up(lines: list[str], dice: random.Random) -> list[str]:
    mixed = list(lines)
    for _ in range(dice.randrange(1, 4)):
        spot, kind = dice.randrange(len(mixed)), dice.randrange(4)
        if kind == 0:
            del mixed[spot]
        elif kind == 1:
            mixed.insert(spot, f"* [New {dice.randrange(9)}] new")
        elif kind == 2:
            mixed.insert(dice.randrange(len(mixed)), mixed.pop(spot))
        else:
            mixed[spot] = mixed[spot].replace("Choice", "Option")
    return mixed


def branch_text(story: Story, index: int) -> str:
    branch = story.fork()
    branch.choose(index)
    return branch.continue_()


def test_once_only_choices_that_were_taken_stay_taken_after_an_insertion() -> None:
    source = "-> k\n=== k\n* [A] a\n* [B] b\n* [C] c\n+ [Again] again\n- -> k\n"
    story = start(source)
    play(story, "B")
    edited = start(source.replace("* [A]", "* [New] new\n* [A]"))
    edited.load_state(story.state_json())
    play(edited, "Again")
    assert texts(edited) == ["New", "A", "C", "Again"]


def test_a_saved_line_in_the_middle_of_text_goes_on_with_the_same_line() -> None:
    source = "One.\nTwo.\nThree.\n-> END\n"
    story = start(source)
    story.continue_()
    edited = start("Zero.\n" + source.replace("Three", "Four"))
    edited.load_state(story.state_json())
    assert edited.continue_maximally() == "Two.\nFour.\n"


def test_a_saved_line_that_was_changed_is_refused() -> None:
    story = start("One.\nTwo.\nThree.\n-> END\n")
    story.continue_()
    with pytest.raises(InkEditedError):
        start("One.\n2.\nThree.\n-> END\n").load_state(story.state_json())


def test_numbers_of_list_items_follow_the_edited_list() -> None:
    source = "LIST L = a, b\nVAR x = b\n* [Go] {LIST_VALUE(x)}\n- -> END\n"
    story = start(source)
    story.continue_maximally()
    edited = start(source.replace("L = a, b", "L = a, z, b"))
    edited.load_state(story.state_json())
    assert play(edited, "Go") == "3\n"


def test_a_save_without_names_is_loaded_as_the_reference_does() -> None:
    story = start("One.\n* [Go] on\n- -> END\n")
    story.continue_maximally()
    saved = json.loads(story.state_json())
    del saved["fabula"]
    edited = start("One!\n* [Go] on\n- -> END\n")
    edited.load_state(json.dumps(saved))
    assert texts(edited) == ["Go"]
