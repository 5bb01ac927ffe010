"""State changes by operations: checked, applied in order, or refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.story.changes import (
    LONGEST_HISTORY,
    LONGEST_THOUGHTS,
    MOST_OPS,
    MOST_PRESENT,
    Bounds,
    apply_all,
    enter,
    opening_state,
    progression_ops,
    remember,
    remember_privately,
    window,
)
from fabula.story.graph import Comparison, Graph, Node, Transition
from fabula.story.schemas import Schema, SchemaField
from fabula.story.state import (
    AddActiveCharacter,
    MemoryEntry,
    RemoveActiveCharacter,
    RemoveCharacterState,
    RemoveState,
    SetActiveCharacters,
    SetCharacterState,
    SetCurrentNode,
    SetPlayerState,
    SetState,
    StateUpdate,
    WorldState,
)
from fabula.story.state_hash import canonical, state_hash
from fabula.story.values import same_json

WORLD = Schema(
    schema_id="world",
    display_name="World",
    fields={
        "gate": SchemaField(value_type="string", default="shut", enum_values=["shut", "open"]),
        "hour": SchemaField(value_type="int", default=6),
    },
    additional=False,
)
PERSON = Schema(schema_id="person", display_name="P", fields={"mood": SchemaField(value_type="string", default="calm")})
BOUNDS = Bounds(world=WORLD, player=None, characters={"mira": PERSON, "tom": None}, nodes=frozenset({"yard", "hall"}))
STATE = WorldState(current_node="yard", active_characters=["mira"])
NONE = Bounds()


def entry(number: int, kind: Any = "dialogue") -> MemoryEntry:
    return MemoryEntry(speaker_id="mira", speaker_name="Mira", kind=kind, text=f"line {number}")


def test_operations_are_applied_in_order_and_refused_ones_leave_the_rest_alone() -> None:
    ops: list[Any] = [
        SetState(key="gate", value="open"),
        SetState(key="gate", value="ajar"),
        SetState(key="hour", value=True),
        SetState(key="weather", value="rain"),
        SetPlayerState(key="gold", value=3),
        SetCharacterState(character="mira", key="mood", value="glad"),
        SetCharacterState(character="ghost", key="mood", value="glad"),
        AddActiveCharacter(character="tom"),
        AddActiveCharacter(character="tom"),
        RemoveActiveCharacter(character="mira"),
        SetCurrentNode(node_id="cellar"),
        SetCurrentNode(node_id="hall"),
    ]
    result = apply_all(ops, STATE, BOUNDS)
    assert result.state == WorldState(
        current_node="hall",
        active_characters=["tom"],
        custom={"gate": "open"},
        player_state={"gold": 3},
        character_state={"mira": {"mood": "glad"}},
    )
    assert [refused.reason for refused in result.refused] == [
        "'gate' takes one of ['shut', 'open']",
        "'hour' takes a value of type int",
        "'weather' is not a variable of schema 'world'",
        "there is no character 'ghost'",
        "there is no node 'cellar'",
    ]
    assert len(result.ops) + len(result.refused) == len(ops)
    assert STATE.active_characters == ["mira"]


def test_removing_what_is_not_there_changes_nothing() -> None:
    for op in (
        RemoveState(key="x"),
        RemoveCharacterState(character="mira", key="x"),
        RemoveActiveCharacter(character="tom"),
    ):
        assert apply_all([op], STATE, BOUNDS).state == STATE


def test_a_cast_with_a_stranger_is_refused_whole() -> None:
    result = apply_all([SetActiveCharacters(characters=["mira", "ghost"])], STATE, BOUNDS)
    assert result.state == STATE and [one.reason for one in result.refused] == ["there is no character 'ghost'"]


def test_variables_that_grow_too_large_are_refused_and_may_shrink() -> None:
    play = apply_all(
        [SetState(key=f"note{n}", value="x" * 90_000) for n in range(3)], WorldState(current_node="x"), NONE
    )
    assert list(play.state.custom) == ["note0", "note1"]
    assert [one.reason for one in play.refused] == [
        "the variables of a play may have a size of 200000 letters, and these would have 270611"
    ]
    old = WorldState(current_node="x", custom={"note": "x" * 900_000, "rest": 1})
    shorter = apply_all([SetState(key="note", value="x" * 800_000), SetPlayerState(key="hp", value=1)], old, NONE)
    assert len(str(shorter.state.custom["note"])) == 800_000 and len(shorter.refused) == 1


def test_too_many_operations_at_once_are_refused_from_the_limit_on() -> None:
    done = apply_all([SetState(key=f"k{n}", value=n) for n in range(MOST_OPS + 2)], WorldState(current_node="x"), NONE)
    assert len(done.ops) == MOST_OPS
    assert {one.reason for one in done.refused} == {"more than 500 operations came at once"}


def test_a_play_starts_from_the_defaults_and_the_start_node() -> None:
    node = Node(
        id="yard",
        title="Yard",
        scene="",
        goal="",
        characters=["tom", "tom"],
        on_enter_updates=[SetState(key="hour", value=7), SetState(key="gate", value=5)],
    )
    opened = opening_state(Graph(start_node="yard", nodes=[node]), BOUNDS)
    assert opened.state.custom == {"gate": "shut", "hour": 7}
    assert opened.state.character_state == {"mira": {"mood": "calm"}}
    assert opened.state.active_characters == ["tom"]
    assert len(opened.refused) == 1


def test_entering_a_node_replaces_the_cast() -> None:
    node = Node(id="hall", title="Hall", scene="", goal="", characters=["tom"])
    arrived = enter(node, STATE, BOUNDS).state
    assert (arrived.current_node, arrived.active_characters) == ("hall", ["tom"])


def test_what_led_on_is_kept_true_unless_the_keeper_touched_it() -> None:
    way = Transition(to="hall", condition=Comparison(key="gate", op="eq", value="open"))
    assert progression_ops(way, StateUpdate()) == [SetState(key="gate", value="open")]
    assert progression_ops(way, StateUpdate(ops=[RemoveState(key="gate")])) == []
    assert (
        progression_ops(Transition(to="hall", condition=Comparison(key="hour", op="gt", value=1)), StateUpdate()) == []
    )


def test_a_short_window_rolls_and_thoughts_stay_private() -> None:
    state = STATE
    for number in range(20):
        state = remember(state, [entry(number), entry(number, "thought")], limit=8)
        state = remember_privately(state, entry(number, "thought"), limit=3)
    assert [one.text for one in state.actor_shared_history] == [f"line {n}" for n in range(12, 20)]
    assert [one.text for one in state.actor_private_memory["mira"]] == ["line 17", "line 18", "line 19"]


def test_of_the_thoughts_of_a_giant_cast_the_newest_are_kept() -> None:
    state = STATE
    for number in range(300):
        thought = entry(number, "thought").model_copy(
            update={"speaker_id": f"c{number % 100}", "text": f"{number:5000}"}
        )
        state = remember_privately(state, thought, limit=64)
    kept = [int(one.text) for some in state.actor_private_memory.values() for one in some]
    assert sum(5000 for _ in kept) <= LONGEST_THOUGHTS
    assert 299 in kept and set(range(280, 300)) <= set(kept)
    assert "c0" not in state.actor_private_memory
    alone = entry(0, "thought").model_copy(update={"text": "x" * 2 * LONGEST_THOUGHTS})
    assert remember_privately(state, alone, limit=64).actor_private_memory == {"mira": [alone]}


def test_a_long_window_keeps_its_beginning_for_several_turns() -> None:
    kept: list[MemoryEntry] = []
    beginnings = []
    for number in range(400):
        kept = window([*kept, entry(number)], 64)
        beginnings.append(kept[0].text)
    assert len(set(beginnings[100:])) <= 300 // 32 + 1


@given(st.integers(0, 300), st.integers(0, 100))
def test_a_window_holds_the_newest_and_never_too_many(count: int, limit: int) -> None:
    entries = [entry(number) for number in range(count)]
    kept = window(entries, limit)
    assert len(kept) <= limit
    assert kept == entries[len(entries) - len(kept) :]
    assert len(kept) >= min(count, limit - limit // 2)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(json_values, json_values)
def test_equal_values_have_equal_bytes_and_only_those(left: Any, right: Any) -> None:
    assert (canonical(left) == canonical(right)) == same_json(left, right)
    if isinstance(left, dict):
        assert canonical(dict(reversed(left.items()))) == canonical(left)


@settings(deadline=None)
@given(json_values, st.integers(-(10**18), 10**18), st.text(alphabet=':,[]-.0123456789e"', max_size=12))
def test_a_whole_number_has_the_same_bytes_with_and_without_a_fraction(around: object, number: int, like: str) -> None:
    whole, written = int(float(number)), float(number)
    places: list[Callable[[Any], Any]] = [
        lambda n: [around, n, like],
        lambda n: {like: [n], "x": around},
        lambda n: n,
    ]
    for place in places:
        assert canonical(place(whole)) == canonical(place(written))


def test_the_hash_of_a_state_does_not_depend_on_the_order_in_which_it_was_made() -> None:
    one = apply_all([SetPlayerState(key="a", value=1), SetPlayerState(key="b", value=2.0)], STATE, BOUNDS).state
    other = apply_all([SetPlayerState(key="b", value=2), SetPlayerState(key="a", value=1)], STATE, BOUNDS).state
    assert state_hash(one) == state_hash(other) != state_hash(STATE)


names = st.sampled_from(["mira", "tom", "ghost"])
ops = st.one_of(
    st.builds(SetState, key=st.sampled_from(["gate", "hour", "x"]), value=json_values),
    st.builds(SetCharacterState, character=names, key=st.sampled_from(["mood", "y"]), value=json_values),
    st.builds(AddActiveCharacter, character=names),
    st.builds(SetActiveCharacters, characters=st.lists(names, max_size=3)),
    st.builds(SetCurrentNode, node_id=st.sampled_from(["yard", "hall", "moon"])),
)


@settings(deadline=None)
@given(st.lists(ops, max_size=12))
def test_no_operation_brings_the_state_out_of_bounds(some: list[Any]) -> None:
    state = apply_all(some, STATE, BOUNDS).state
    assert set(state.active_characters) | set(state.character_state) <= {"mira", "tom"}
    assert len(set(state.active_characters)) == len(state.active_characters)
    assert state.custom.get("gate", "shut") in ("shut", "open")
    assert state.current_node in ("yard", "hall")
    assert WorldState.model_validate(state.as_json()) == state


CROWD = [f"one-of-many-{n}" for n in range(MOST_PRESENT + 9)]
IN_A_CROWD = Bounds(characters=dict.fromkeys(CROWD))


def test_a_scene_holds_so_many_characters_whoever_lets_them_in() -> None:
    full = WorldState(current_node="yard", active_characters=CROWD[:MOST_PRESENT])
    for op in (AddActiveCharacter(character=CROWD[-1]), SetActiveCharacters(characters=CROWD)):
        refused = apply_all([op], full, IN_A_CROWD)
        assert refused.state == full
        assert refused.refused[0].reason.startswith("a scene holds 50 characters, and these would be 5")
    node = Node(id="hall", title="", scene="", goal="", characters=CROWD)
    assert enter(node, STATE, IN_A_CROWD).state.active_characters == CROWD[:MOST_PRESENT]


def test_an_older_play_with_a_larger_crowd_may_lose_some_of_it() -> None:
    older = WorldState(current_node="yard", active_characters=CROWD)
    fewer = apply_all([SetActiveCharacters(characters=CROWD[1:])], older, IN_A_CROWD).state
    assert fewer.active_characters == CROWD[1:]
    fewer = apply_all([RemoveActiveCharacter(character=CROWD[1])], fewer, IN_A_CROWD).state
    assert apply_all([AddActiveCharacter(character=CROWD[0])], fewer, IN_A_CROWD).refused


def test_what_a_crowd_noticed_is_kept_as_far_as_its_names_have_room() -> None:
    lines = [entry(n).model_copy(update={"heard_by": CROWD}) for n in range(1_000)]
    kept = remember(STATE, lines, limit=1_000).actor_shared_history
    assert kept == lines[-len(kept) :]
    assert LONGEST_HISTORY // 2 < sum(len("".join(one.heard_by or ())) for one in kept) < LONGEST_HISTORY
