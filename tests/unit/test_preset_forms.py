"""Presets keep what an author changed, and show the whole."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fabula.agents.presets.entries import Changed, Refusal, create_entry, delete_entry, update_entry
from fabula.agents.presets.forms import agent_problems, builtin_preset, compact_agent, expand, expand_agent, normalise
from fabula.agents.presets.summaries import summary
from fabula.agents.presets.templates import PROMPT_ROLES, PromptRole, built_in_entries, template_of
from fabula.story.resources import ROLES, AgentPreset, Preset, PresetAgents, PresetEntry, PresetModule


def agents(**changed: AgentPreset) -> PresetAgents:
    return PresetAgents(**{role: changed.get(role, AgentPreset()) for role in ROLES})


def custom(entry_id: str = "mine", text: str = "Be brief.", order: int = 0) -> PresetEntry:
    return PresetEntry(entry_id=entry_id, display_name="Mine", kind="custom_text", text=text, order=order)


def test_every_role_has_the_five_built_in_modules_in_order() -> None:
    for role in PROMPT_ROLES:
        built = [(m.module_id, m.message_role, m.order) for m in template_of(role)]
        assert built == [
            ("role", "system", 10),
            ("task", "system", 20),
            ("static_context", "user", 30),
            ("dynamic_context", "user", 40),
            ("output", "system", 50),
        ]
        assert all(entry.text or entry.context_key for entry in built_in_entries(role).values())


def test_nothing_submitted_is_stored_as_nothing_and_shown_in_full() -> None:
    stored, problems = normalise(agents())
    assert problems == []
    assert all(stored.of(role).modules == [] for role in ROLES)
    assert expand_agent("director", stored.director).modules == list(template_of("director"))


def test_a_preset_sent_back_whole_with_trimmed_texts_and_empty_built_in_modules_stays_as_it_was() -> None:
    full = expand(builtin_preset())
    raw = full.agents.as_json()
    for agent in raw.values():
        for module in agent["modules"]:
            for entry in module["entries"]:
                if entry.get("text"):
                    entry["text"] = "something else"
    stored, problems = normalise(PresetAgents.model_validate(raw))
    assert problems == []
    assert stored == builtin_preset().agents

    renamed = AgentPreset(modules=[PresetModule(module_id="role", display_name="Rolle", entries=[])])
    shown = expand_agent("actor", compact_agent("actor", renamed)).modules[0]
    assert (shown.display_name, shown.entries) == ("Rolle", list(template_of("actor")[0].entries))


def test_the_list_form_is_accepted_back() -> None:
    shown = summary(builtin_preset())
    stored, problems = normalise(PresetAgents.model_validate(shown["agents"]))
    assert problems == []
    assert stored == builtin_preset().agents


def test_the_list_form_counts_modules_and_entries_and_hides_texts() -> None:
    planner: Any = summary(builtin_preset())["agents"]["planner"]
    assert planner["module_count"] == 5
    assert planner["entry_count"] == 7
    module = planner["modules"][0]
    assert module["entry_count"] == 1
    assert set(module["entries"][0]) == {"entry_id", "display_name", "kind", "enabled", "order", "required"}


def test_a_built_in_entry_can_be_disabled_and_moved_but_not_rewritten() -> None:
    changed = PresetEntry(entry_id="task", kind="built_in_text", enabled=False, order=99, text="mine")
    agent = AgentPreset(modules=[PresetModule(module_id="role", entries=[changed])])
    shown = expand_agent("director", compact_agent("director", agent))
    modules = {module.module_id: module for module in shown.modules}
    assert [entry.entry_id for entry in modules["role"].entries] == ["role", "task"]
    assert modules["task"].entries == []
    moved = modules["role"].entries[1]
    assert (moved.enabled, moved.order, moved.text) == (False, 99, built_in_entries("director")["task"].text)


def test_an_entry_without_an_order_keeps_its_place() -> None:
    raw = {"modules": [{"module_id": "task", "entries": [{"entry_id": "craft", "kind": "built_in_text"}]}]}
    shown = expand_agent("narrator", AgentPreset.model_validate(raw))
    assert shown.modules == list(template_of("narrator"))


def test_what_cannot_be_kept_is_told_by_name() -> None:
    unknown = PresetEntry(entry_id="nosuch", kind="built_in_text")
    taken = PresetEntry(entry_id="role", kind="custom_text", text="x")
    module = PresetModule(module_id="notes", entries=[custom(), custom(text=" "), unknown, taken])
    agent = AgentPreset(modules=[module, PresetModule(module_id="notes")])
    _, problems = normalise(agents(keeper=agent))
    told = " / ".join(problems)
    assert all(problem.startswith("keeper: ") for problem in problems)
    for words in ("module id 'notes' is used twice", "entry id 'mine' is used twice", "built-in entry 'nosuch'"):
        assert words in told
    assert "belongs to a built-in entry" in told
    assert "'mine' has no text" in told


def test_a_custom_module_is_a_user_message_at_the_end_unless_told_otherwise() -> None:
    agent = AgentPreset(modules=[PresetModule(module_id="notes", entries=[custom()])])
    last = expand_agent("planner", compact_agent("planner", agent)).modules[-1]
    assert (last.module_id, last.display_name, last.message_role, last.order) == ("notes", "notes", "user", 1000)


def test_an_entry_is_created_after_the_last_one_and_then_changed_and_deleted() -> None:
    made = create_entry("actor", AgentPreset(), module_id="task", entry_id="mine", display_name="Mine", text="Hi.")
    assert isinstance(made, Changed)
    assert made.entry.order == 20
    moved = update_entry("actor", made.agent, module_id="task", entry_id="mine", order=5, text="Ho.")
    assert isinstance(moved, Changed)
    assert [e.entry_id for e in expand_agent("actor", moved.agent).modules[1].entries] == ["mine", "task"]
    assert moved.entry.text == "Ho."
    gone = delete_entry("actor", moved.agent, module_id="task", entry_id="mine")
    assert gone == AgentPreset()


def test_single_entries_are_refused_with_a_reason() -> None:
    plain = AgentPreset()
    fresh: dict[str, Any] = {"display_name": "d", "text": "t"}
    assert _kind(create_entry("actor", plain, module_id="nope", entry_id="a", **fresh)) == "missing"
    assert _kind(create_entry("actor", plain, module_id="task", entry_id="output", **fresh)) == "duplicate"
    assert _kind(create_entry("actor", plain, module_id="task", entry_id="a", display_name="", text=" ")) == "invalid"
    assert _kind(update_entry("actor", plain, module_id="task", entry_id="a", order=1)) == "missing"
    assert _kind(update_entry("actor", plain, module_id="task", entry_id="task", text="new")) == "invalid"
    assert _kind(delete_entry("actor", plain, module_id="task", entry_id="task")) == "invalid"


def test_a_built_in_entry_is_switched_off_alone() -> None:
    off = update_entry("actor", AgentPreset(), module_id="task", entry_id="task", enabled=False)
    assert isinstance(off, Changed)
    assert not off.entry.enabled
    assert len(off.agent.modules) == 1


def _kind(result: object) -> str:
    assert isinstance(result, Refusal), result
    assert result.reason.endswith(".")
    return result.kind


roles = st.sampled_from(PROMPT_ROLES)
names = st.sampled_from(["a", "b", "role", "task", "output", "player", "lorebook_base", "x.y"])


@st.composite
def submitted(draw: st.DrawFn) -> tuple[PromptRole, AgentPreset]:
    kinds = st.sampled_from(["built_in_text", "built_in_context_ref", "custom_text"])
    entry = st.builds(
        PresetEntry,
        entry_id=names,
        kind=kinds,
        enabled=st.booleans(),
        order=st.integers(-5, 60),
        text=st.none() | st.text(max_size=4),
    )
    module = st.builds(
        PresetModule,
        module_id=st.sampled_from(["role", "task", "dynamic_context", "mine", "zz"]),
        display_name=st.none() | st.text(max_size=3),
        message_role=st.sampled_from([None, "system", "user"]),
        order=st.none() | st.integers(0, 60),
        entries=st.lists(entry, max_size=4),
    )
    return draw(roles), AgentPreset(modules=draw(st.lists(module, max_size=4)))


@given(submitted())
def test_storing_only_deviations_loses_nothing(case: tuple[PromptRole, AgentPreset]) -> None:
    role, agent = case
    if agent_problems(role, agent):
        return
    compact = compact_agent(role, agent)
    full = expand_agent(role, agent)
    assert expand_agent(role, compact) == full
    assert compact_agent(role, full) == compact
    assert agent_problems(role, full) == []
    stored = AgentPreset.model_validate(compact.as_json())
    assert expand_agent(role, stored) == full


def test_the_built_in_preset_is_a_value_that_can_be_stored() -> None:
    preset = builtin_preset()
    assert Preset.model_validate(preset.as_json()) == preset
    assert len(str(preset.as_json())) < 5_000
