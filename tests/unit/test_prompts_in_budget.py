"""Every prompt fits its budget, whoever is asked: what is too much is told in short, and what is worth least goes."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabula.agents.npc import BUDGET, write_npc_prompt
from fabula.agents.packed_prompts import Prompt
from fabula.agents.prompt_explanations import explain_sections
from fabula.agents.prompts import write_prompt
from fabula.agents.talks.prompts import write_agent_prompt, write_generate_prompt
from fabula.story.contexts import (
    ActorContext,
    CanonNote,
    CastMember,
    DirectorContext,
    InkAgentContext,
    InkGenerateContext,
    KeeperContext,
    KnownFact,
    Lore,
    LoreNote,
    NarratorContext,
    NpcContext,
    PastScene,
    PlayerCard,
    RecalledLine,
    ReplyerContext,
    RoleContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import Node
from fabula.story.ink_stories import Heard, Talk, TalkLine
from fabula.story.minds import Mind
from fabula.story.npc import GameEvent, Lived, NpcSpec, NpcState
from fabula.story.resources import AgentPreset
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry

LETTERS = st.sampled_from([20, 200, 2_000])
COUNT = st.sampled_from([0, 1, 3, 40])
ROLES = ("director", "narrator", "actor", "keeper", "replyer", "swift")
SMALL, LARGE = 1_500, 16_000


def prose(letters: int, mark: str) -> str:
    return f"{mark} says the rain. " + "It rains on slate. " * (letters // 19)


def line(number: int, letters: int) -> MemoryEntry:
    return MemoryEntry(speaker_id="c0", speaker_name="Name0", kind="dialogue", text=prose(letters, f"line {number}"))


@st.composite
def _shared(draw: st.DrawFn) -> dict[str, Any]:
    def some(make: Any) -> list[Any]:
        letters = draw(LETTERS)
        return [make(number, letters) for number in range(draw(COUNT))]

    history = some(line)
    matched = some(
        lambda number, letters: LoreNote(
            title=f"Matched {number}",
            content=prose(letters, f"matched {number}"),
            heard_at=number % len(history) if history and number % 2 else None,
            of_scene=number % 3 == 0,
        )
    )
    began = draw(st.sampled_from([None, 0, len(history) // 2, len(history)]))
    past = [PastScene(node=Node(id="p", title="A past scene", scene="Rain.", goal="Wait."), began=len(history) // 4)]
    facts = [KnownFact(text="The well is dry.", known_to=["c0"], secret=True)]
    return {
        "lore": Lore(
            base=some(lambda number, letters: LoreNote(title=f"Base {number}", content=prose(letters, "base"))),
            matched=matched,
        ),
        "player": PlayerCard(name="Ann", description="A surveyor."),
        "current_cast": some(
            lambda number, letters: CastMember(
                id=f"c{number}", name=f"Name{number}", personality=prose(letters, "p"), style="Dry.", facts=facts
            )
        ),
        "current_node": Node(id="n", title="The well", scene=prose(draw(LETTERS), "scene"), goal="Drink."),
        "world_state": StateView(custom={f"v{n}": prose(draw(LETTERS), "v") for n in range(3)}),
        "shared_history": history,
        "scene_began": began,
        "past_scenes": past,
        "so_far": "\n".join(prose(200, f"chapter {number}") for number in range(draw(COUNT))),
        "memories": some(
            lambda number, letters: RecalledLine(owner="c0", owner_name="Name0", text=prose(letters, "memory"))
        ),
        "canon": some(lambda number, letters: CanonNote(text=prose(letters, f"canon {number}"))),
    }


def context_of(role: str, shared: dict[str, Any]) -> RoleContext:
    fields = {"lit": SchemaField(value_type="bool", default=False, description=prose(200, "lit"))}
    given_now: dict[str, Any] = {"world_fields": fields, "player_fields": fields, "player_input": "I drink."}
    match role:
        case "director":
            return DirectorContext(**shared)
        case "narrator":
            return NarratorContext(**shared, purpose="describe_result", previous_node=shared["current_node"])
        case "actor":
            card = CastMember(id="c0", name="Name0", personality="Wry.", style="Dry.")
            thoughts = shared["shared_history"]
            return ActorContext(**shared, actor=card, purpose="react_to_player", private_memory=thoughts)
        case "keeper":
            beats = shared["shared_history"][-4:]
            return KeeperContext(**shared, **given_now, phase="after_turn_outputs", completed_beats=beats)
        case "replyer":
            return ReplyerContext(**shared, session_history=shared["shared_history"])
        case _:
            return SwiftContext(**shared, **given_now)


def check(cut: Prompt, whole: Prompt) -> None:
    """What holds for every prompt that had to be cut, beside the same with all the room there is."""
    told = list(explain_sections(cut))
    assert cut.tokens <= cut.budget or all(one.rule.required or not one.text for one in told)
    assert [one.name for one in told] == [one.name for one in whole.sections]
    dropped = [one for one in told if one.outcome == "dropped"]
    free = cut.budget - 8 - sum(one.full_tokens for one in told if one.rule.required)
    for one in told:
        if one.text and not one.rule.required and one.rule.reserved * max(free, 0) < one.tokens:
            assert all(gone.rule.priority <= one.rule.priority for gone in dropped)
    # A keeper is told the beats of the turn, unless they stand at the end of a history that is told whole.
    both = [pair for pair in zip(told, whole.sections, strict=True) if pair[0].name != "completed_beats"]
    assert all(one.tokens <= full.tokens for one, full in both)
    assert all(one.text for one, full in zip(told, whole.sections, strict=True) if full.text and one.rule.required)
    # What stands before the first section that was touched is sent again letter by letter.
    first = "\n\n".join(
        one.text
        for one in takewhile(lambda one: one.outcome in ("whole", "empty"), told)
        if one.text and one.name in {full.name for full in whole.sections if full.message_role == "system"}
    )
    assert cut.messages[0].content.startswith(first)


@pytest.mark.parametrize("role", ROLES)
@settings(max_examples=60)
@given(shared=_shared(), budget=st.sampled_from([50, SMALL, 4_000, LARGE]))
def test_the_prompt_of_every_role_fits_its_budget(role: str, shared: dict[str, Any], budget: int) -> None:
    context = context_of(role, shared)
    windows: dict[str, Any] = {"history": 128, "prompt_tokens": budget}
    cut = write_prompt(AgentPreset(extra=windows), context)
    whole = write_prompt(AgentPreset(extra={**windows, "prompt_tokens": 10_000_000}), context)
    check(cut, whole)
    assert cut.shortened == (whole.tokens > budget)
    if not cut.shortened:
        assert cut.messages == whole.messages
    text = cut.messages[-1].content
    # A secret that is told in short is still marked as one.
    assert text.count("The well is dry.") == text.count("a secret that you do not tell or hint at")


@settings(max_examples=60)
@given(st.integers(0, 60), LETTERS, st.integers(0, 300), LETTERS)
def test_the_prompt_of_an_npc_fits_its_budget(entries: int, letters: int, known: int, letters_each: int) -> None:
    history = [Lived(kind="notice", event=GameEvent(text=prose(letters, str(n)))) for n in range(entries)]
    spec = NpcSpec(name="Mara", knowledge=[prose(letters_each, f"known {n}") for n in range(known)])
    prompt = write_npc_prompt(
        NpcContext(state=NpcState(spec=spec), event=GameEvent(text="Hello?"), history=history, recalled=history[:8])
    )
    assert prompt.tokens <= BUDGET
    assert "Hello?" in prompt.messages[1].content and "Mara" in prompt.messages[0].content


@settings(max_examples=60)
@given(st.integers(0, 400), LETTERS, st.integers(0, 60), st.sampled_from([SMALL, LARGE]))
def test_the_prompts_of_an_ink_story_fit_their_budget(lines: int, letters: int, talked: int, budget: int) -> None:
    told = [Heard(kind="text", text=prose(letters, str(n))) for n in range(lines)]
    talk = Talk(lines=[TalkLine(said=prose(letters, "s"), outcome="NEEDS_INPUT", reply="No.") for _ in range(talked)])
    agent = InkAgentContext(
        character="Guard", voice=["Gruff."], knowledge=[prose(letters, "k")] * 4, story_so_far=told, talk=talk,
        goal=["The gate opens."], player_input="Open the gate!",
    )  # fmt: skip
    text = InkGenerateContext(prompt="A line about rain.", story_so_far=told)
    for prompt in (write_agent_prompt(agent, budget=budget), write_generate_prompt(text, budget=budget)):
        assert prompt.tokens <= budget
    assert "Open the gate!" in write_agent_prompt(agent, budget=budget).messages[1].content


def test_over_budget_canon_keeps_its_reserve_and_the_last_lines_stay() -> None:
    history = [line(number, 400) for number in range(100)]
    canon = [CanonNote(text=f"Truth {number}: the king is dead.") for number in range(6)]
    memories = [RecalledLine(owner="c0", owner_name="Name0", text=prose(600, f"memory {n}")) for n in range(8)]
    context = SwiftContext(
        player=PlayerCard(name="Ann", description=""),
        current_cast=[],
        current_node=Node(id="n", title="The well", scene="A well.", goal="Drink."),
        world_state=StateView(),
        shared_history=history,
        canon=canon,
        memories=memories,
        player_input="I drink.",
    )
    prompt = write_prompt(AgentPreset(extra={"history": 128, "prompt_tokens": SMALL}), context)
    text = prompt.messages[-1].content
    assert prompt.tokens <= SMALL and "line 99" in text and "line 0 " not in text
    assert "Truth 0" in text and "I drink." in text
    why = {one.name: (one.outcome, one.why) for one in explain_sections(prompt)}
    assert why["shared_history"] == ("compact", "shortened: the prompt was over its budget")
    assert why["canon"][0] == "whole" and why["story_so_far"][0] == "empty"


def test_of_the_minds_of_a_giant_cast_those_who_spoke_last_are_told() -> None:
    stands = [f"stands well with nobody but number {number}" for number in range(4)]
    minds = [Mind(id=f"c{n}", name=f"Name{n}", mood=prose(100, "calm"), stands=stands) for n in range(50)]
    spoken = line(1, 20).model_copy(update={"speaker_id": "c40"})
    context = DirectorContext(
        player=PlayerCard(name="Ann", description=""),
        current_cast=[],
        current_node=Node(id="n", title="The well", scene="A well.", goal="Drink."),
        world_state=StateView(),
        shared_history=[line(0, 20), spoken],
        minds=minds,
    )
    told = {
        budget: write_prompt(AgentPreset(extra={"prompt_tokens": budget}), context).messages[-1].content
        for budget in (SMALL, LARGE)
    }
    assert all(f"Name{n}:" in told[LARGE] for n in range(50)) and stands[3] in told[LARGE]
    assert "Name40:" in told[SMALL] and "Name39:" not in told[SMALL] and stands[3] not in told[SMALL]
