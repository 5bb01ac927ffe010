"""Whatever has to go from a prompt, it fits its budget, what is worth most stays, and nothing changes its place."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from fabula.agents.context_packer import Packed, Section, SectionRule, pack, section_tokens
from fabula.agents.context_sections import RULES
from fabula.agents.presets.templates import PROMPT_ROLES, context_keys
from fabula.language.tokens import text_size


def section(
    name: str,
    tokens: int,
    *shorter: int,
    priority: int = 50,
    share: float = 1.0,
    reserved: float = 0.0,
    required: bool = False,
) -> Section:
    """A section that takes so many tokens, and its shorter renderings."""
    rule = SectionRule(kind="world", priority=priority, share=share, reserved=reserved, required=required)
    text = of_tokens(tokens)

    def renderings() -> Iterator[str]:
        return (of_tokens(one) for one in shorter)

    return Section(name=name, text=text, size=text_size(text), rule=rule, shorter=renderings if shorter else None)


def of_tokens(tokens: int) -> str:
    return "x" * max(4 * tokens - 2, 0)


def told(packed: list[Packed]) -> dict[str, int]:
    return {one.name: one.tokens for one in packed if one.text}


def test_what_fits_is_told_whole_and_no_rendering_is_asked_for() -> None:
    def never() -> Iterator[str]:
        raise AssertionError("nothing has to be shortened")

    full = Section(name="lore", text="abc", size=3, rule=RULES["lorebook_base"], shorter=never)
    (one,) = pack([full], 2)
    assert (one.text, one.outcome, one.tokens, one.full_tokens) == ("abc", "whole", 2, 2)


def test_a_section_over_its_share_is_shortened_before_one_of_lower_priority_within_its_own() -> None:
    history = section("history", 80, 60, 40, 20, priority=90, share=0.5)
    memories = section("memories", 10, 5, priority=10, share=0.2)
    assert told(pack([history, memories], 80)) == {"history": 60, "memories": 10}


def test_everything_is_shortened_before_anything_is_dropped() -> None:
    sections = [section("a", 40, 10, priority=90), section("b", 40, 30, priority=10), section("c", 5, priority=1)]
    assert told(pack(sections, 45)) == {"a": 10, "b": 30, "c": 5}
    assert told(pack(sections, 42)) == {"a": 10, "b": 30}
    assert told(pack(sections, 39)) == {"a": 10}


def test_of_what_was_dropped_the_room_goes_back_to_what_was_shortened() -> None:
    sections = [section("history", 60, 40, 20, priority=90), section("lore", 50, priority=10)]
    assert told(pack(sections, 65)) == {"history": 60}


def test_what_is_reserved_for_a_section_stays_though_others_are_worth_more() -> None:
    canon = section("canon", 20, priority=1, reserved=0.2)
    assert told(pack([section("cast", 90, priority=90), canon], 100)) == {"canon": 20}
    long = section("canon", 60, 40, 15, priority=1, reserved=0.2)
    assert told(pack([section("cast", 80, priority=90), long], 100)) == {"cast": 80, "canon": 15}


def test_what_is_worth_less_than_something_that_went_gets_nothing_of_its_room() -> None:
    sections = [section("history", 70, priority=90), section("canon", 60, 50, 20, priority=80, reserved=0.4)]
    assert told(pack(sections, 65)) == {"canon": 20}


def test_what_is_required_is_told_even_beyond_the_budget() -> None:
    sections = [section("rules", 50, required=True), section("lore", 5, priority=99)]
    packed = pack(sections, 20)
    assert told(packed) == {"rules": 50} and packed[1].outcome == "dropped"


def test_of_two_that_are_worth_the_same_the_later_one_goes() -> None:
    assert told(pack([section("one", 10), section("two", 10)], 15)) == {"one": 10}


def test_every_key_that_a_prompt_names_has_a_rule_and_reserves_leave_room() -> None:
    for role in PROMPT_ROLES:
        keys = context_keys(role)
        assert [key for key in keys if key not in RULES] == []
        assert sum(RULES[key].reserved for key in keys) < 0.8


@st.composite
def _sections(draw: st.DrawFn) -> list[Section]:
    found = []
    for place in range(draw(st.integers(1, 9))):
        tokens = draw(st.integers(0, 60))
        shorter = sorted(draw(st.lists(st.integers(0, 60), max_size=4)), reverse=True)
        found.append(
            section(
                f"s{place}",
                tokens,
                *shorter,
                priority=draw(st.integers(1, 9)),
                share=draw(st.sampled_from([0.1, 0.3, 1.0])),
                reserved=draw(st.sampled_from([0.0, 0.0, 0.1])),
                required=draw(st.sampled_from([False, False, False, True])),
            )
        )
    return found


def free_room(sections: list[Section], room: int) -> int:
    return max(room - sum(section_tokens(one.size) for one in sections if one.rule.required), 0)


def floor(one: Section, reserve: int) -> int:
    """The tokens of a section in the first rendering within what is reserved for it, or in its shortest one."""
    tokens = section_tokens(one.size)
    for text in one.shorter() if one.shorter else ():
        if tokens > reserve and 0 < section_tokens(text_size(text)) < tokens:
            tokens = section_tokens(text_size(text))
    return tokens


@given(_sections(), st.integers(0, 300))
def test_whatever_is_packed_fits_and_what_goes_is_worth_the_least(sections: list[Section], room: int) -> None:
    packed = pack(sections, room)
    free = free_room(sections, room)
    assert [one.name for one in packed] == [one.name for one in sections]
    used = sum(one.tokens for one in packed)
    assert used <= room or all(one.rule.required or not one.text for one in packed)
    dropped = [one for one in packed if one.outcome == "dropped"]
    assert not any(one.rule.required for one in dropped)
    for full, one in zip(sections, packed, strict=True):
        reserve = int(one.rule.reserved * free)
        if section_tokens(full.size) <= reserve:
            assert one.outcome in ("whole", "empty"), "what is reserved was taken"
        if one.outcome == "dropped":
            assert floor(full, reserve) > reserve, "it could have been told in what is reserved for it"
    for one in packed:
        protected = one.rule.required or one.tokens <= int(one.rule.reserved * free)  # nobody else may have it
        if one.text and not protected:
            assert all(gone.rule.priority <= one.rule.priority for gone in dropped)
    if dropped:
        # Everything was told as short as it may be before, and even so there was too much of it.
        assert sum(floor(one, int(one.rule.reserved * free)) for one in sections) > room
    if sum(section_tokens(one.size) for one in sections) <= room:
        assert all(one.outcome in ("whole", "empty") for one in packed)


@given(_sections(), st.integers(0, 300))
def test_the_same_sections_are_packed_the_same_and_stay_in_their_order(sections: list[Section], room: int) -> None:
    once, again = pack(sections, room), pack(sections, room)
    assert once == again
    order = [one.name for one in sections]
    kept = [one.name for one in once if one.text]
    assert kept == [name for name in order if name in set(kept)]
