"""Each turn's prompt extends the last one, so that what a provider has read before need not be read again."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from fabula.agents.presets.forms import builtin_preset
from fabula.agents.prompts import write_prompt
from fabula.agents.windows import told_history
from fabula.story.changes import remember
from fabula.story.contexts import (
    ActorContext,
    CanonNote,
    CastMember,
    DirectorContext,
    KeeperContext,
    NarratorContext,
    PastScene,
    PlayerCard,
    RoleContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import Node
from fabula.story.lore import SceneText, active_lore, scene_began
from fabula.story.resources import AgentPreset, LorebookEntry, PresetEntry, PresetModule
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry, WorldState
from fabula.story.values import JsonObject

WORDS = ["rain", "on", "slate", "roofs", "and", "a", "lantern", "moving", "slow", "along", "wall", "after", "dark"]
CHANCE = random.Random(7)
AGENTS = builtin_preset().agents


def prose(letters: int) -> str:
    return " ".join(CHANCE.choice(WORDS) for _ in range(letters // 5)).capitalize() + "."


BOOK = [
    LorebookEntry(
        entry_id=f"lore{n}", title=f"Place {n}", content=prose(500), keywords=[f"place{n}"], always_include=n < 4
    )
    for n in range(300)
]
CAST = [
    CastMember(id=f"c{n}", name=f"Name{n}", personality=prose(400), style=prose(200), system_prompt=prose(500))
    for n in range(7)
]
FIELDS = {f"flag_{n}": SchemaField(value_type="bool", default=False, description=prose(60)) for n in range(8)}
CANON = [CanonNote(text=prose(60)) for _ in range(16)]
FLAGS: JsonObject = dict.fromkeys(FIELDS, False)


def said(speaker: str, kind: Any, text: str, heard_by: list[str] | None = None) -> MemoryEntry:
    return MemoryEntry(speaker_id=speaker, speaker_name=speaker, kind=kind, text=text, heard_by=heard_by)


def cast_of(scene: int) -> list[CastMember]:
    """Who is in a scene: one who is in all of them, and somebody new."""
    return [CAST[0], CAST[scene + 1]]


def ids(cast: list[CastMember]) -> list[str]:
    return [one.id for one in cast]


def node_of(scene: int) -> Node:
    return Node(id=f"s{scene}", title=f"Scene {scene}", scene=f"Place{scene + 4}. " + "x " * 150, goal="y " * 20)


def texts_of(node: Node) -> list[str]:
    return [node.title, node.scene, node.goal]


@dataclass
class Play:
    """Thirty turns through five scenes; the talk comes to a new place of the lorebook every fourth turn.

    Everybody but one leaves with each scene, and somebody new comes; what is true of them comes and goes, too.
    """

    with_canon: bool = True
    state: WorldState = field(default_factory=lambda: WorldState(current_node="s0", custom=dict(FLAGS)))
    prompts: dict[str, list[str]] = field(default_factory=dict)

    def turn(self, number: int) -> None:
        place = f" They speak of place{number + 10}." if number % 4 == 0 else ""
        scene = number // 6
        # Those who are left hear how the player sets out.
        left = ids(cast_of(max(0, number - 1) // 6))
        self.notice(said("Ann", "player_input", prose(80) + place, left))
        if number % 3 == 0:
            custom = {**self.state.custom, f"flag_{number // 3 % 8}": True}
            self.state = self.state.model_copy(update={"custom": custom})
        for context in self.contexts(number):
            agent = AGENTS.director if context.role == "swift" else AGENTS.of(context.role)
            self.prompts.setdefault(context.role, []).append(self.text(agent, context))
        here = ids(cast_of(scene))
        self.notice(said("narrator", "narration", prose(350), here))
        for speaker in here:
            self.notice(said(speaker, "dialogue", prose(150), here))

    def notice(self, entry: MemoryEntry) -> None:
        self.state = remember(self.state, [entry], limit=told_history(AGENTS.director))

    def contexts(self, number: int) -> list[RoleContext]:
        scene = number // 6
        node = node_of(scene)
        history = self.state.actor_shared_history
        view = StateView(custom=self.state.custom, player_state={"gold": 3})
        complete = len(history) < told_history(AGENTS.director)
        marks = [
            SceneText(texts=texts_of(node_of(n)), began=scene_began(history, number - 6 * n, complete=complete))
            for n in range(scene + 1)
        ]
        shared: dict[str, Any] = {
            "lore": active_lore(BOOK, texts_of(node), [entry.text for entry in history], marks),
            "player": PlayerCard(name="Ann", description="A surveyor from the capital."),
            "current_cast": cast_of(scene),
            "met": [one for one in CAST if any(one.id in (entry.heard_by or ()) for entry in history)],
            "at_first": StateView(custom=FLAGS, player_state={"gold": 3}),
            "current_node": node,
            "world_state": view,
            "shared_history": history,
            "scene_began": marks[-1].began or 0,
            "past_scenes": [
                PastScene(node=node_of(n), began=mark.began)
                for n, mark in enumerate(marks[:-1])
                if mark.began is not None
            ],
            "canon": CANON[scene : scene + 12] if self.with_canon else [],
        }
        first = StateView(custom=FLAGS)
        seen_by_actor = {**shared, "world_state": view.model_copy(update={"player_state": None}), "at_first": first}
        seen_by_keeper = {**shared, "at_first": None}
        given: dict[str, Any] = {"world_fields": FIELDS, "player_fields": FIELDS, "player_input": history[-1].text}
        return [
            DirectorContext(**shared, player_fields=FIELDS),
            NarratorContext(**shared, player_fields=FIELDS, purpose="describe_result"),
            ActorContext(**seen_by_actor, actor=CAST[0], purpose="react_to_player"),
            KeeperContext(**seen_by_keeper, **given, phase="after_player_input"),
            SwiftContext(**shared, **given),
        ]

    def text(self, agent: AgentPreset, context: RoleContext) -> str:
        return "\n".join(message.content for message in write_prompt(agent, context).messages)


def common(before: str, after: str) -> int:
    """How many letters two prompts have in common from their beginning."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))


def kept(prompts: list[str]) -> float:
    """How much of all prompts stands again, letter by letter, at the beginning of the next."""
    return sum(common(*pair) for pair in pairwise(prompts)) / sum(map(len, prompts[:-1]))


@pytest.mark.parametrize(("with_canon", "least"), [(True, 0.94), (False, 0.98)])
def test_over_thirty_turns_through_five_scenes_each_prompt_extends_the_last(*, with_canon: bool, least: float) -> None:
    """With three hundred lore entries, and a cast that changes with each scene; and so does canon, where there is some.

    What is read again where canon changes are the lines of the scene that is over.
    """
    play = Play(with_canon=with_canon)
    for number in range(30):
        play.turn(number)
    figures = {role: kept(prompts) for role, prompts in play.prompts.items()}
    assert min(figures.values()) >= least, figures


def test_a_quiet_turn_changes_only_the_end_of_the_prompt() -> None:
    play = Play()
    for number in range(20):
        play.turn(number)
    for role, prompts in play.prompts.items():
        assert kept(prompts[-2:]) >= 0.94, role


def test_lore_called_up_by_the_history_stays_where_it_was_heard() -> None:
    heard = ["Nothing.", "Off to place20!", "Nothing."]
    first = active_lore(BOOK, [], heard)
    later = active_lore(BOOK, [], [*heard, "And place21.", "Back to place20."])
    assert [(note.title, note.heard_at) for note in first.matched] == [("Place 20", 1)]
    assert [(note.title, note.heard_at) for note in later.matched] == [("Place 20", 1), ("Place 21", 3)]


def test_the_lore_of_a_scene_stays_where_the_scene_began() -> None:
    lines = [("player_input", "Nothing."), ("narration", "Rain."), ("player_input", "On.")]
    said_so_far = [said("Ann", kind, text) for kind, text in lines]
    history = [entry.text for entry in said_so_far]
    assert [scene_began(said_so_far, ago, complete=True) for ago in (0, 1, 2)] == [2, 0, 0]
    assert scene_began(said_so_far, 2, complete=False) is None
    first = SceneText(texts=["By place20."], began=0)
    now = active_lore(BOOK, ["By place20."], history, [first])
    assert [(note.title, note.heard_at, note.of_scene) for note in now.matched] == [("Place 20", 0, True)]
    left = active_lore(BOOK, ["At place21."], history, [first, SceneText(texts=["At place21."], began=2)])
    assert [(note.title, note.heard_at, note.of_scene) for note in left.matched] == [
        ("Place 20", 0, False),
        ("Place 21", 2, True),
    ]
    out_of_sight = active_lore(BOOK, ["By place20."], history, [SceneText(texts=["By place20."], began=None)])
    assert [(note.title, note.heard_at) for note in out_of_sight.matched] == [("Place 20", None)]


def test_the_lore_of_the_present_scene_is_told_however_much_is_forgotten() -> None:
    talk = [f"Then place{n}." for n in range(20, 80)]
    scene = SceneText(texts=["By place100."], began=0)
    kept_notes = active_lore(BOOK, ["By place100."], talk, [scene]).matched
    assert [note.heard_at for note in kept_notes if note.title == "Place 100"] == [None]
    play = Play()
    for number in range(6):
        play.turn(number)
    context = play.contexts(5)[0]
    [note] = [note for note in context.lore.matched if note.of_scene]
    short = AGENTS.director.model_copy(update={"extra": {"prompt_tokens": 2500}})
    prompt = write_prompt(short, context)
    assert note.heard_at == 0 and prompt.shortened
    assert any(note.content in message.content for message in prompt.messages)


def test_no_more_than_eight_notes_come_to_mind_at_once() -> None:
    crowd = " ".join(f"place{n}" for n in range(20, 40))
    assert len(active_lore(BOOK, [crowd]).matched) == 8
    assert len(active_lore(BOOK, ["place50 place51"], ["Nothing.", crowd]).matched) == 8


def test_old_notes_make_room_for_new_ones() -> None:
    titles = [note.title for note in active_lore(BOOK, [], [f"Then place{n}." for n in range(20, 80)]).matched]
    assert 16 <= len(titles) <= 32 and titles[-1] == "Place 79"


def test_the_next_scene_only_adds_to_the_prompt_also_where_the_cast_changes() -> None:
    play = Play(with_canon=False)
    for number in range(8):
        play.turn(number)
    for role, prompts in play.prompts.items():
        before, after = prompts[5:7]
        assert "Scene 0 (id s0)" in before and "Scene 1 (id s1)" not in before
        shared = after[: common(before, after)]
        assert "Scene 0 (id s0)" in shared or role == "actor"
        # What was last said in the scene that is over stands again, too.
        assert common(before, after) > 0.85 * len(before), role


def test_a_shorter_window_tells_of_the_scene_in_which_it_begins() -> None:
    play = Play()
    for number in range(14):
        play.turn(number)
    context = play.contexts(13)[0]
    agent = AGENTS.director.model_copy(update={"extra": {"history": 20}})
    text = play.text(agent, context)
    assert "Scene 0 (id s0)" not in text
    assert text.index("Scene 1 (id s1)") < text.index("Scene 2 (id s2)") < text.index("The scene is: Scene 2.")
    last = context.shared_history[-1].text
    assert text.index("Scene 2 (id s2)") < text.index(last)


def test_the_keeper_reads_the_beats_of_a_turn_once() -> None:
    play = Play()
    for number in range(3):
        play.turn(number)
    played = play.state.actor_shared_history[-3:]
    context = play.contexts(2)[3].model_copy(update={"completed_beats": played})
    text = play.text(AGENTS.keeper, context)
    assert text.count(played[0].text) == 1 and "the last entries above, 3 of them" in text
    unheard = context.model_copy(update={"shared_history": context.shared_history[:-3]})
    assert "## The beats of this turn" in play.text(AGENTS.keeper, unheard)


def test_where_canon_changes_with_the_scene_only_what_happened_in_that_scene_is_read_again() -> None:
    play = Play()
    for number in range(13):
        play.turn(number)
    for role, prompts in play.prompts.items():
        before, after = prompts[11:13]
        last_of_first_scene = play.state.actor_shared_history[5 * 4 + 3].text
        assert last_of_first_scene in after[: common(before, after)] or role == "actor"


def test_a_card_stands_where_somebody_came_and_the_end_says_who_is_there() -> None:
    play = Play()
    for number in range(9):
        play.turn(number)
    for role in ("director", "narrator", "keeper", "swift"):
        text = play.prompts[role][8]
        for member in (CAST[0], CAST[1], CAST[2]):
            assert text.count(member.personality) == 1, "also of who has left"
        first_line_of_both = play.state.actor_shared_history[6 * 4 + 1].text
        assert text.index(CAST[1].personality) < text.index(CAST[2].personality) < text.index(first_line_of_both)
        there = text[text.rindex("## Who is in the scene") :]
        assert "Name0 (id c0)" in there and "Name2 (id c2)" in there and "Name1" not in there
        new = play.prompts[role][6]
        assert CAST[2].personality in new[new.rindex("## Who is in the scene") :], "who has just come"


def test_over_the_budget_cards_and_state_are_told_by_themselves() -> None:
    play = Play()
    for number in range(9):
        play.turn(number)
    context = play.contexts(8)[0]
    short = AGENTS.director.model_copy(update={"extra": {"history": 152, "prompt_tokens": 3500}})
    prompt = write_prompt(short, context)
    text = prompt.messages[-1].content
    assert prompt.shortened and prompt.tokens <= 3500
    assert "[Here is" not in text and "## The state now" in text and "at first" not in text.split("## The state now")[1]
    assert text.index("## Who is in the scene") < text.index("## The scene")


def test_the_end_tells_what_of_the_state_is_not_as_it_was_at_first() -> None:
    play = Play()
    play.turn(0)
    text = play.prompts["director"][0]
    assert "## The state at first\nWorld: flag_0 = false" in text
    assert "## What of the state is not as it was at first\nWorld: flag_0 = true\n" in text
    other = play.contexts(0)[0].model_copy(update={"world_state": StateView(custom={**FLAGS, "flag_1": 0, "new": 1})})
    assert "as it was at first\nWorld: flag_1 = 0; new = 1\n" in play.text(AGENTS.director, other)
    same = other.model_copy(update={"world_state": other.at_first})
    assert "as it was at first\nNothing is." in play.text(AGENTS.director, same)


def test_who_wants_no_cards_is_told_none_in_the_history_either() -> None:
    play = Play()
    for number in range(3):
        play.turn(number)
    off = PresetEntry(entry_id="current_cast", kind="built_in_context_ref", enabled=False)
    module = PresetModule(module_id="static_context", entries=[off])
    text = play.text(AGENTS.director.model_copy(update={"modules": [module]}), play.contexts(2)[0])
    assert CAST[0].personality not in text and "Who is in the scene" not in text
