"""Lore comes to mind by its keywords, and characters' texts know their own variables."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.language.english import told_sentences
from fabula.story.lore import active_lore
from fabula.story.resources import CharacterContent, LorebookEntry
from fabula.story.schemas import Schema, SchemaField
from fabula.story.templates import LONGEST_FILLED, MOST_FILLED, Filling, cast_member


def lore_entry(name: str, *keywords: str, **more: Any) -> LorebookEntry:
    return LorebookEntry(
        **{"entry_id": name, "title": name, "content": f"about {name}", "keywords": list(keywords), **more}
    )


def titles(entries: list[LorebookEntry], *texts: str) -> list[str]:
    return [note.title for note in active_lore(entries, texts).matched]


@pytest.mark.parametrize(
    ("keyword", "text", "found"),
    [
        ("elf", "An ELF waits.", True),
        ("elf", "She did it herself.", False),
        ("iron gate", "the Iron Gate, shut", True),
        ("c++", "written in C++!", True),
        ("straße", "in der STRASSE", True),
        ("城", "他们在古城里", True),
        ("tavern", "在Tavern里", True),
        ("o'neill", "ask O'Neill.", True),
        (" ", "anything", False),
    ],
)
def test_keywords_match_whole_words_in_any_case(keyword: str, text: str, found: bool) -> None:
    assert (titles([lore_entry("x", keyword)], text) == ["x"]) is found


def test_the_old_rule_finds_parts_of_words() -> None:
    assert titles([lore_entry("x", "elf", match="substring")], "herself") == ["x"]


def test_base_and_matched_lore_are_capped_cut_and_ordered() -> None:
    entries = [lore_entry(f"base{n}", always_include=True, order=-n) for n in range(6)]
    entries += [lore_entry(f"m{n}", "rain", order=20 - n) for n in range(12)]
    entries += [lore_entry("off", "rain", enabled=False), lore_entry("long", "rain", content="x" * 2000, order=-1)]
    lore = active_lore(entries, ["Rain again"])
    assert [note.title for note in lore.base] == ["base5", "base4", "base3", "base2"]
    assert [note.title for note in lore.matched] == ["long", "m11", "m10", "m9", "m8", "m7", "m6", "m5"]
    assert len(lore.matched[0].content) == 800


def test_an_entry_may_have_its_own_budget() -> None:
    assert active_lore([lore_entry("x", "rain", content="abcdef", budget=3)], ["rain"]).matched[0].content == "abc"


def test_recursive_entries_call_up_others_and_circles_end() -> None:
    ring = [
        lore_entry("a", "rain", content="storm", recursive=True),
        lore_entry("b", "storm", content="rain flood", recursive=True),
        lore_entry("c", "flood", content="ark"),
        lore_entry("d", "ark"),
    ]
    assert titles(ring, "rain") == ["a", "b", "c"]


@given(
    st.lists(st.builds(lore_entry, st.text("ab", min_size=1, max_size=3), st.text(max_size=3)), max_size=30), st.text()
)
def test_no_keyword_breaks_the_search(entries: list[LorebookEntry], text: str) -> None:
    lore = active_lore(entries, [text])
    assert len(lore.base) <= 4 and len(lore.matched) <= 8


def test_variables_are_filled_once_and_unknown_ones_stay() -> None:
    fields: dict[str, Any] = {"mood": "{{user}}", "gold": 3, "bag": ["a", None], "gone": None}
    text = "{{char}} to {{ user }}: {{mood}} {{gold}} {{bag}} {{gone}} {{what}} {{}} {{{gold}}}"
    filled = Filling(user="Ann").fill(text, id="mira", char="Mira", fields=fields)
    assert filled == 'Mira to Ann: {{user}} 3 ["a", null] null {{what}} {{}} {3}'


def test_a_character_speaks_from_its_live_state_else_from_the_defaults() -> None:
    schema = Schema(
        schema_id="s",
        display_name="S",
        fields={
            "mood": SchemaField(value_type="string", default="calm"),
            "rank": SchemaField(value_type="int", default=1),
        },
    )
    content = CharacterContent(
        id="mira",
        name="Mira",
        personality="{{mood}}, rank {{rank}}",
        style="to {{user}}",
        schema_id="s",
        system_prompt="You are {{char}}.",
    )
    member = cast_member(content, state={"mood": "furious"}, schema=schema, filling=Filling(user=None))
    assert (member.personality, member.style, member.system_prompt) == ("furious, rank 1", "to User", "You are Mira.")


@pytest.mark.parametrize("long", ["x" * 60_000, ["x" * 60_000]])
def test_a_short_text_that_names_a_long_variable_very_often_has_a_bound(long: Any) -> None:
    fields = {"f": long, "mood": "calm"}
    filled = Filling(user="Ann").fill("{{f}}" * 1_500 + "{{mood}}, {{user}}", id="mira", char="Mira", fields=fields)
    assert 60_000 < len(filled) <= LONGEST_FILLED
    assert filled.count("{{f}}") == 1_499 and filled.endswith("calm, Ann")


def test_the_filled_texts_of_a_cast_have_a_bound_together() -> None:
    filling = Filling(user="n" * 1_000)
    cast = [filling.fill("{{user}}" * 90, id=f"c{n}", char="Mira", fields={}) for n in range(100)]
    assert cast[0] == "n" * 90_000
    assert MOST_FILLED // 2 < sum(map(len, cast)) <= MOST_FILLED + 100 * 720
    again = [filling.fill("{{user}}" * 90, id=f"c{n}", char="Mira", fields={}) for n in range(100)]
    assert again == cast


def test_a_scene_that_names_the_player_very_often_does_not_swell_with_a_long_name() -> None:
    assert told_sentences("{{user}} waits.", "Ann") == ["Ann waits."]
    told = told_sentences("{{user}} " * 10_000, "n" * 1_000)
    assert sum(map(len, told)) <= 100_000
