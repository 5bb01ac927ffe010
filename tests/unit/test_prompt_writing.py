"""Prompts are written from presets and contexts; each role's is kept as a file that an author can read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fabula.agents.presets.forms import builtin_preset, expand_agent
from fabula.agents.presets.templates import PROMPT_ROLES, context_keys, used_in
from fabula.agents.previews import preview_runtime, preview_template
from fabula.agents.prompts import write_prompt
from fabula.agents.renderings import rendered
from fabula.agents.windows import shared_history_limit, windows_of
from fabula.language.tokens import estimated_tokens_of
from fabula.ports.models import Message
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    CastMember,
    DirectorContext,
    KeeperContext,
    Lore,
    LoreNote,
    NarratorContext,
    PlannerContext,
    PlayerCard,
    ProgressionHint,
    RecalledLine,
    ReplyerContext,
    RoleContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import Comparison, Node, Transition
from fabula.story.resources import AgentPreset, PresetEntry, PresetModule
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry

GOLDEN = Path(__file__).parents[1] / "transcripts" / "prompts"

MIRA = CastMember(
    id="mira",
    name="Mira",
    personality="Patient, proud of the light she keeps.",
    style="Short sentences, dry.",
    system_prompt="You have kept the lighthouse alone for nine years.",
    state={"mood": "wary"},
)
TOM = CastMember(id="tom", name="Tom", personality="Cheerful, tells half of everything.", style="Long and winding.")
LAMP = Node(
    id="lamp_room",
    title="The lamp room",
    scene="Glass on all sides; the great lamp is dark.",
    goal="Learn why the light went out.",
    characters=["mira", "tom"],
    transitions=[Transition(to="cellar", condition=Comparison(key="lamp_lit", op="eq", value=True))],
)
STAIRS = Node(id="stairs", title="The stairs", scene="Two hundred steps.", goal="Climb.", characters=["mira"])
WORLD = {"lamp_lit": SchemaField(value_type="bool", default=False, description="becomes true when the lamp burns")}
PLAYER = {"trust": SchemaField(value_type="string", default="low", enum_values=["low", "high"])}
LORE = Lore(
    base=[LoreNote(title="The coast", content="No ship has passed for a month.")],
    matched=[
        LoreNote(title="Whale oil", content="The last barrel leaks.", heard_at=2),
        LoreNote(title="The lens", content="Ground in the capital, and cracked.", heard_at=None),
    ],
)
HISTORY = [
    MemoryEntry(speaker_id="player", speaker_name="Ann", kind="player_input", text="I climb to the lamp."),
    MemoryEntry(speaker_id="narrator", speaker_name="Narrator", kind="narration", text="The stairs groan under you."),
    MemoryEntry(speaker_id="mira", speaker_name="Mira", kind="dialogue", text="The oil is gone."),
    MemoryEntry(speaker_id="mira", speaker_name="Mira", kind="action", text="She wipes the glass."),
]
THOUGHT = MemoryEntry(speaker_id="mira", speaker_name="Mira", kind="thought", text="She asks too much.")
STATE = StateView(custom={"lamp_lit": False}, player_state={"trust": "low"}, character_state={"mira": {"mood": "wary"}})
SCENE: dict[str, Any] = {
    "lore": LORE,
    "player": PlayerCard(name="Ann", description="A surveyor from the capital."),
    "current_cast": [MIRA, TOM],
    "current_node": LAMP,
    "world_state": STATE,
    "shared_history": HISTORY,
}
HINTS = [ProgressionHint(to="cellar", condition=LAMP.transitions[0].condition)]
PLAN: dict[str, Any] = {"story_concept": "A lighthouse goes dark.", "lore": LORE, "available_characters": [MIRA, TOM]}
SECTION: dict[str, Any] = {"current_section": "They find the leak.", "section_index": 1, "total_sections": 4}
CONTINUED: dict[str, Any] = {
    "section_summaries": ["They climbed."],
    "graph_nodes": [STAIRS, LAMP],
    "recent_nodes": [LAMP],
}
ARCHITECT: dict[str, Any] = {
    **PLAN,
    "planned_story": "Opening Situation: ...",
    "world_fields": WORLD,
    "player_fields": PLAYER,
}
CONTEXTS: dict[str, RoleContext] = {
    "planner": PlannerContext(**PLAN),
    "architect_graph": ArchitectContext(**ARCHITECT, mode="graph"),
    "architect_draft_init": ArchitectContext(**ARCHITECT, **SECTION, mode="draft_init"),
    "architect_draft_continue": ArchitectContext(**ARCHITECT, **SECTION, **CONTINUED, mode="draft_continue"),
    "director": DirectorContext(**SCENE, player_fields=PLAYER),
    "narrator": NarratorContext(**SCENE, player_fields=PLAYER, purpose="describe_transition", previous_node=STAIRS),
    "actor": ActorContext(
        **{**SCENE, "world_state": STATE.model_copy(update={"player_state": None})},
        actor=MIRA,
        purpose="react_to_player",
        private_memory=[THOUGHT],
    ),
    "keeper": KeeperContext(
        **SCENE,
        world_fields=WORLD,
        player_fields=PLAYER,
        phase="after_turn_outputs",
        progression_hints=HINTS,
        player_input="I light it with my own flask.",
        completed_beats=HISTORY[2:],
    ),
    "replyer": ReplyerContext(**SCENE, player_fields=PLAYER, session_history=HISTORY),
    "swift": SwiftContext(
        **SCENE,
        world_fields=WORLD,
        player_fields=PLAYER,
        progression_hints=HINTS,
        player_input="I light it with my own flask.",
    ),
}


def readable(messages: tuple[Message, ...]) -> str:
    return "\n\n".join(f"=== {message.role} ===\n{message.content}" for message in messages) + "\n"


@pytest.mark.parametrize("name", CONTEXTS)
def test_the_prompt_of_each_role_reads_as_kept(name: str) -> None:
    """Write them anew with FABULA_WRITE_GOLDEN=1 after a wanted change, and read them."""
    text = readable(write_prompt(AgentPreset(), CONTEXTS[name]).messages)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("FABULA_WRITE_GOLDEN"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


@pytest.mark.parametrize("name", CONTEXTS)
def test_every_context_key_that_a_role_names_is_rendered(name: str) -> None:
    context = CONTEXTS[name]
    mode = context.mode if isinstance(context, ArchitectContext) else None
    wanted = {key for key in context_keys(context.role) if used_in(context.role, key, mode)}
    assert wanted <= set(rendered(context))


def test_an_actor_never_reads_the_players_variables_nor_the_others_thoughts() -> None:
    text = readable(write_prompt(AgentPreset(), CONTEXTS["actor"]).messages)
    assert "trust" not in text
    assert "You have kept the lighthouse alone" in text


def test_what_several_remember_in_the_same_words_is_told_once_with_all_their_names() -> None:
    """Who remembers something is said of each memory by itself: nobody gets another one's."""
    of_both, of_mira = "Ann: I was here before.", "The oil was good then."
    owned = [("mira", "Mira", of_both), ("mira", "Mira", of_mira), ("mira", "Mira", of_both), ("tom", "Tom", of_both)]
    memories = [RecalledLine(owner=id, owner_name=name, text=text) for id, name, text in owned]
    swift = rendered(CONTEXTS["swift"].model_copy(update={"memories": memories}))["memories"]
    assert swift.splitlines()[1:] == [f"- Mira, Tom: {of_both}", f"- Mira: {of_mira}"]
    mira = rendered(CONTEXTS["actor"].model_copy(update={"memories": memories[:3]}))["memories"]
    assert mira.splitlines()[1:] == [f"- {of_both}", f"- {of_mira}"]


def test_an_author_changes_the_prompt_by_switching_moving_and_adding() -> None:
    mine = PresetEntry(entry_id="mine", kind="custom_text", text="Rhyme.", order=5)
    off = PresetEntry(entry_id="lorebook_matched", kind="built_in_context_ref", enabled=False)
    agent = AgentPreset(
        modules=[
            PresetModule(module_id="role", entries=[mine]),
            PresetModule(module_id="dynamic_context", entries=[off]),
        ]
    )
    system, user = write_prompt(agent, CONTEXTS["director"]).messages
    assert system.content.startswith("Rhyme.\n\nYou are the director")
    assert "Whale oil" not in user.content and "The lens" not in user.content


def test_lore_stands_by_itself_where_the_history_is_switched_off() -> None:
    off = PresetEntry(entry_id="shared_history", kind="built_in_context_ref", enabled=False)
    agent = AgentPreset(modules=[PresetModule(module_id="dynamic_context", entries=[off])])
    user = write_prompt(agent, CONTEXTS["director"]).messages[1].content
    assert "- Whale oil: The last barrel leaks." in user and "The stairs groan" not in user


def test_the_swift_prompt_takes_over_what_the_author_added_to_the_director() -> None:
    entries = [
        PresetEntry(entry_id="player_input", kind="custom_text", text="Rhyme."),
        PresetEntry(entry_id="task", kind="built_in_text", enabled=False),
    ]
    agent = AgentPreset(modules=[PresetModule(module_id="task", entries=entries)])
    system, user = write_prompt(agent, CONTEXTS["swift"]).messages
    assert "Rhyme." in system.content and "Write this whole turn" in system.content
    assert "I light it with my own flask." in user.content


def test_a_window_shows_only_the_newest_entries_and_their_lore() -> None:
    agent = AgentPreset(director_shared_history_limit=1)
    user = write_prompt(agent, CONTEXTS["director"]).messages[1].content
    assert "She wipes the glass." in user
    assert "The oil is gone." not in user and "Whale oil" not in user


def test_over_budget_the_oldest_history_goes_first_and_the_rest_stays() -> None:
    long = [HISTORY[0].model_copy(update={"text": f"Line {n}. " + "word " * 40}) for n in range(200)]
    agent = AgentPreset(director_shared_history_limit=200, extra={"prompt_tokens": 3000})
    context = CONTEXTS["director"].model_copy(update={"shared_history": long})
    prompt = write_prompt(agent, context)
    assert prompt.shortened and prompt.tokens <= 3000
    text = readable(prompt.messages)
    assert "Line 199." in text and "Line 0." not in text and "The lamp room" in text
    hopeless = write_prompt(AgentPreset(extra={"prompt_tokens": 10}), context)
    assert "The lamp room" in readable(hopeless.messages)


def test_tokens_are_estimated_by_one_rule() -> None:
    prompt = write_prompt(AgentPreset(), CONTEXTS["swift"])
    assert prompt.tokens == sum(4 + estimated_tokens_of(message.content) for message in prompt.messages)
    assert estimated_tokens_of("x" * 9) == 3 and estimated_tokens_of("é" * 4) == 2


def test_the_store_keeps_as_much_as_the_role_with_the_longest_memory_sees() -> None:
    agents = builtin_preset().agents
    assert shared_history_limit(agents) == 8
    longer = agents.model_copy(update={"actor": AgentPreset(actor_shared_history_limit=40)})
    assert shared_history_limit(longer) == 40


def test_the_built_in_roles_are_told_the_transcript_beyond_what_the_store_keeps() -> None:
    agents = builtin_preset().agents
    assert windows_of("narrator", agents.narrator).shared == 152
    assert windows_of("narrator", AgentPreset(narrator_shared_history_limit=3)).shared == 3


def test_a_template_preview_shows_placeholders_and_what_they_wait_for() -> None:
    preview, problems = preview_template("p", "keeper", AgentPreset())
    assert problems == []
    assert (preview["preview_kind"], preview["message_role"], preview["agent"]) == ("template", "full", "keeper")
    assert [message["role"] for message in preview["messages"]] == ["system", "user"]
    assert preview["unresolved_context_keys"] == list(context_keys("keeper"))
    first = preview["messages"][1]["modules"][0]["entries"][0]
    assert first == {
        "entry_id": "lorebook_base",
        "display_name": "Lorebook base",
        "kind": "built_in_context_ref",
        "order": 10,
        "source": "preset",
        "compiled_text": "<context:lorebook_base>",
    }


def test_a_preview_of_one_module_has_its_message_role() -> None:
    preview: dict[str, Any] = preview_template("p", "keeper", AgentPreset(), module_id="output")[0]
    assert (preview["message_role"], preview["module_id"], len(preview["messages"])) == ("system", "output", 1)
    assert preview_template("p", "keeper", AgentPreset(), module_id="nope")[1]


def test_the_architects_preview_needs_a_mode_and_the_others_must_not_have_one() -> None:
    assert preview_template("p", "architect", AgentPreset())[1]
    assert preview_template("p", "keeper", AgentPreset(), mode="graph")[1]
    found, problems = preview_template("p", "architect", AgentPreset(), mode="draft_continue")
    preview: Any = found
    assert problems == [] and preview["architect_mode"] == "draft_continue"
    assert "world_state_schema_seed" not in preview["unresolved_context_keys"]


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_runtime_preview_is_exactly_what_is_sent(name: str) -> None:
    found, problems = preview_runtime("p", AgentPreset(), CONTEXTS[name])
    preview: Any = found
    assert problems == [] and preview["unresolved_context_keys"] == []
    shown = [
        "\n\n".join(
            "\n\n".join(text for entry in module["entries"] if (text := entry["compiled_text"]))
            for module in message["modules"]
        )
        for message in preview["messages"]
    ]
    assert shown == [message.content for message in write_prompt(AgentPreset(), CONTEXTS[name]).messages]


def test_the_actors_card_is_shown_as_synthetic() -> None:
    preview: Any = preview_runtime("p", AgentPreset(), CONTEXTS["actor"], module_id="character_card")[0]
    (entry,) = preview["messages"][0]["modules"][0]["entries"]
    assert entry["source"] == "synthetic" and "You are Mira (id mira)." in entry["compiled_text"]


def test_every_built_in_text_is_told_in_some_prompt() -> None:
    for role in PROMPT_ROLES:
        prompts = [readable(write_prompt(AgentPreset(), one).messages) for one in CONTEXTS.values() if one.role == role]
        for module in expand_agent(role, AgentPreset()).modules:
            for entry in module.entries:
                assert entry.text is None or any(entry.text in prompt for prompt in prompts), entry.entry_id
