"""Stories that the wizard makes with no model: they read as stories, and every one can be walked to two endings."""

from __future__ import annotations

import io
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from fabula.cli.author.editor import edit_text
from fabula.cli.author.questions import Author
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.language.english import sentences
from fabula.language.titles import MOST_WORDS, noun_phrases, title_of
from fabula.language.words import stems, word_set
from fabula.ports.errors import InvalidRequest
from fabula.story.contexts import ArchitectContext, CastMember, Lore, LoreNote, PlannerContext
from fabula.story.graph import Comparison, Graph, Node, Transition, graph_problems
from fabula.story.readings import TakeWay
from fabula.story.values import JsonObject
from fabula.understudy.architect import build, short_name
from fabula.understudy.author_lines import retold
from fabula.understudy.genres import ANYWHERE, GENRES, genre_of
from fabula.understudy.places import first_place
from fabula.understudy.planner import plan
from fabula.understudy.plot_points import EVERY, LINE, recognise
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import Somebody, scene_text
from fabula.understudy.reading.ways import SceneText
from fabula.understudy.scene_view import details
from fabula.understudy.sections import outline

CONCEPTS = {
    "space": "A salvage crew finds a derelict starship drifting beyond the last colony, and something aboard is awake.",
    "fairy tale": "A dragon who is afraid of fire asks a young witch for courage before the king's hunt begins.",
    "office": "In a small office the printer starts to print confessions, and every employee fears one of them.",
    "heist": "A retired safecracker is asked to rob the casino that ruined her brother, in one night.",
    "ghost story": "A young widow inherits a mansion where the ghost of a child keeps moving the furniture.",
    "western": "A sheriff with one day left in office must bring an outlaw through a town that loves him.",
    "school": "At a boarding school every pupil in the third form dreams the same dream, and the new teacher is in it.",
    "sea": "A fishing boat comes back to the harbour with nobody aboard but a dog and a locked sea chest.",
    "detective": "An inspector is called to a hotel where the murdered man checked in twice.",
    "war": "A war nurse behind the front receives letters for a soldier who does not exist.",
    "desert": "A caravan guide has lost the way to the last oasis, and only a thief among the travellers knows it.",
    "cooking": "Two rival bakers reach the final of a cooking contest, and someone has swapped the salt for the sugar.",
}
CAST = [
    CastMember(id="mara", name="Mara Quill", personality="Steady, and short of sleep.", style=""),
    CastMember(id="finch", name="Mr. Finch", personality="Kind and evasive.", style=""),
]
WRITTEN = """Opening Situation:
The lift has stopped between two floors, and nobody has rung.

Suggested Beats:
- Mara counts the people inside, and counts again.
- Behind the mirror somebody is humming.
- The player finds a key for a floor that is not there.
- Mr. Finch has a second watch.
- Mara is asleep on her feet.
- Wolves.
- The stranger asks for the way down.
"""
IMPERATIVE = re.compile(r"(Ask|Find|Tell|Speak|Go|Decide|Win|Hear|Promise|Agree|Take|Give|Warn|Help|Read|Open)\b")


def planned(concept: str, seed: int = 1) -> str:
    return plan(PlannerContext(story_concept=concept, available_characters=CAST), seed)


def story(concept: str, seed: int = 1, script: str | None = None) -> tuple[str, Graph, JsonObject]:
    script = planned(concept, seed) if script is None else script
    context = ArchitectContext(mode="graph", story_concept=concept, planned_story=script, available_characters=CAST)
    answer = build(context, seed)
    return script, Graph.model_validate(answer["graph"]), answer


def flat(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


@cache
def stories() -> list[tuple[str, Graph]]:
    made = [story(concept, seed)[:2] for concept in CONCEPTS.values() for seed in range(4)]
    return [*made, *(story(concept, 1, WRITTEN)[:2] for concept in CONCEPTS.values())]


def test_no_sentence_of_the_plan_stands_in_a_scene() -> None:
    for script, graph in stories():
        told = [flat(node.scene) for node in graph.nodes]
        lines = [flat(line) for part in outline(script) for line in sentences(part) if len(line.split()) > 1]
        assert not [(line, scene) for line in lines for scene in told if line in scene]


def test_no_sentence_is_told_in_two_scenes() -> None:
    for _, graph in stories():
        told = [line for node in graph.nodes for line in set(re.split(r"(?<!Mr\.)(?<=[.!?]) (?=[A-Z“])", node.scene))]
        assert len(told) == len(set(told)), sorted(line for line in told if told.count(line) > 1)


def test_titles_are_titles() -> None:
    for _, graph in stories():
        titles = [node.title for node in graph.nodes]
        assert len(titles) == len(set(titles)), titles
        for title in titles:
            assert 1 <= len(title.split()) <= MOST_WORDS and not IMPERATIVE.match(title) and title[-1] not in ".,:;"
    for concept in CONCEPTS.values():
        assert 2 <= len(title_of(concept).split()) <= MOST_WORDS and title_of(concept) not in concept


def test_every_scene_is_reached_and_the_story_ends_in_two_ways() -> None:
    for _, graph in stories():
        assert graph_problems(graph) == []
        seen, todo = set[str](), [graph.start_node]
        while todo:
            node = graph.node(todo.pop())
            assert node is not None
            if node.id not in seen:
                seen.add(node.id)
                todo += [way.to for way in node.transitions]
        assert seen == {node.id for node in graph.nodes}
        assert sum(not node.transitions for node in graph.nodes) >= 2


@pytest.mark.parametrize("genre", CONCEPTS)
def test_places_fit_the_concept(genre: str) -> None:
    concept = CONCEPTS[genre]
    own, found = first_place(concept), genre_of(concept)
    assert found.name == genre
    _, graph, _ = story(concept)
    known = {place.seen for place in found.places} | ({own.seen} if own else set())
    arrivals = [node for node in graph.nodes if node.id.endswith("arrival")]
    assert all(any(seen in node.scene for seen in known) for node in arrivals)
    if own is not None:
        assert graph.nodes[0].title == own.title and stems(own.title) <= stems(concept)


def test_another_seed_brings_another_plan_and_the_same_seed_the_same() -> None:
    for concept in CONCEPTS.values():
        assert planned(concept, 1) == planned(concept, 1)
        assert len({planned(concept, seed) for seed in range(6)}) >= 5


def test_every_goal_names_a_deed_and_somebody_or_something_that_is_there() -> None:
    names = {short_name(member.name) for member in CAST}
    for _, graph in stories():
        for node in graph.nodes:
            if node.transitions:
                said = node.goal.rstrip(".")
                there = any(name in said for name in names) or any(
                    phrase in node.scene for phrase in noun_phrases(said)
                )
                assert there or said.startswith("Decide:"), (node.goal, node.scene)


def test_what_a_player_does_has_its_reward_in_the_scene_it_leads_to() -> None:
    _, graph, _ = story(CONCEPTS["space"], 1)
    for node in graph.nodes:
        if node.id.endswith("_turn") and len(node.transitions) == 1:
            after = graph.node(node.transitions[0].to)
            place = next(one for one in (*GENRES[0].places, first_place(CONCEPTS["space"])) if one.seen in after.scene)
            assert after.scene.index(place.seen) > 0, "what came of the deed stands before the place"


def test_the_architect_knows_every_note_of_the_planner_again() -> None:
    for concept in CONCEPTS.values():
        for seed in range(6):
            points = [recognise(part)[0] for part in outline(planned(concept, seed))]
            assert LINE not in points and len({point.name for point in points}) == len(points)
    assert recognise("Mara counts the people.")[0] is LINE
    assert {point.name for point in EVERY} >= {"opening", "last"}


def test_every_genre_has_enough_for_a_story_and_its_words_are_its_own() -> None:
    for genre in (*GENRES, ANYWHERE):
        assert len(genre.places) >= 6 and len(genre.things) >= 4 and len(genre.dangers) >= 2
        every = [place.seen for place in genre.places] + [thing.tells for thing in genre.things]
        assert len(set(every)) == len(every)
        assert all(thing.name.startswith("the ") for thing in genre.things)


def test_the_introduction_says_what_it_is_about_and_who_is_there() -> None:
    _, _, answer = story(CONCEPTS["sea"])
    assert CONCEPTS["sea"] in str(answer["introduction"]) and "Mara Quill and Mr. Finch" in str(answer["introduction"])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Odile counts the passengers, and counts again.", "You watch Odile count the passengers, and count again."),
        ("The extra passenger asks for a ticket home.", "You watch the extra passenger ask for a ticket home."),
        ("The conductor is asleep.", "You find the conductor asleep."),
        ("Odile has a key.", "Odile, it seems, has a key."),
        ("The player finds a ticket.", "By now it is plain: you find a ticket."),
        ("Wolves.", ""),
    ],
)
def test_a_line_of_the_author_is_witnessed_and_not_repeated(line: str, told: str) -> None:
    assert retold(line) == told


@pytest.mark.parametrize(
    ("concept", "title"),
    [
        ("A night train stops between two stations.", "The Night Train"),
        ("A young widow meets the ghost of a child.", "The Ghost of the Child"),
        ("In the last carriage somebody is humming.", "The Last Carriage"),
        ("wolves at night", "Wolves at Night"),
        ("Ein Drache, der Angst vor Feuer hat", "Ein Drache"),
        ("...", ""),
        ("Four climbers wait in a hut.", "Four Climbers"),
        ("The village bell rings by itself.", "The Village Bell"),
        ("", ""),
    ],
)
def test_a_title_is_made_of_the_nouns_of_a_text(concept: str, title: str) -> None:
    assert title_of(concept) == title


def test_the_editor_of_the_author_is_opened_with_the_text_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys\nfrom pathlib import Path\nfile = Path(sys.argv[1])\n"
                      "file.write_text(file.read_text().replace('wolves', 'sheep'))\n")  # fmt: skip
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    assert edit_text("Here be wolves.") == "Here be sheep."
    monkeypatch.setenv("EDITOR", "no-such-editor-at-all")
    with pytest.raises(InvalidRequest, match="no-such-editor-at-all"):
        edit_text("Here be wolves.")


def scene_of(graph: Graph, node: Node) -> SceneText:
    titles = {one.id: one for one in graph.nodes}
    people = [Somebody(id=one.id, name=one.name, personality=one.personality, here=True) for one in CAST]
    return scene_text(node, titles, [one for one in people if one.id in node.characters], [])


def lines_for(node: Node, way: Transition) -> list[str]:
    """What a player says who has read the goal, and what the way says that it means."""
    goal = node.goal.rstrip(".")
    said = [f"{goal}.", f"I {goal[0].lower()}{goal[1:]}.".replace("your", "my")]
    asked = word_set("what who how")
    means = [f"{one[0].upper()}{one[1:]}{'?' if one.split()[0] in asked else '.'}" for one in way.means or ()]
    return means if goal.startswith("Decide") else [*said, *means]


IDLE = [
    "Nice weather.",
    "I go to London.",
    "I look around.",
    "I eat a plum.",
    "Hello.",
    "I bow deeply.",
    "Who are you?",
]


@pytest.mark.all
def test_goals_and_means_lead_on_where_they_say_and_idle_words_nowhere() -> None:
    for _, graph in stories():
        for node in graph.nodes:
            scene = scene_of(graph, node)
            for number, way in enumerate(node.transitions):
                for line in lines_for(node, way):
                    assert read_line(line, scene).decision == TakeWay(way=number), (node.goal, line)
            if node.transitions:
                moved = [line for line in IDLE if isinstance(read_line(line, scene).decision, TakeWay)]
                assert moved == [], (node.goal, moved)


def test_every_deed_against_a_danger_and_every_use_of_a_thing_is_understood() -> None:
    for genre in (*GENRES, ANYWHERE):
        deeds = [f"{danger.deed[0].upper()}{danger.deed[1:]} together with Mara." for danger in genre.dangers]
        uses = [f"{thing.verb[0].upper()}{thing.verb[1:]} {thing.name}." for thing in genre.things]
        for goal in (*deeds, *uses):
            condition = Comparison(key="part_1_begun", op="eq", value=True)
            way = Transition(to="on", condition=condition, means=[goal.rstrip(".").lower()])
            here = Node(id="here", title="Here", scene=goal, goal=goal, characters=["mara"], transitions=[way])
            scene = scene_of(Graph(start_node="here", nodes=[here]), here)
            assert read_line(f"I {goal[0].lower()}{goal[1:]}", scene).decision == TakeWay(way=0), goal


def test_lore_that_everybody_may_know_gives_places_and_things_and_a_secret_none() -> None:
    notes = [
        LoreNote(title="The Lee Door Inn", content="Six tables and one cat. The fire burns blue. It is old."),
        LoreNote(title="The Drowned Bell", content="It rang once, under water. Nobody was near."),
        LoreNote(title="The Hidden Chapel", content="Only the keeper has the key.", secret=True),
    ]
    lore = Lore(base=notes)
    script = plan(PlannerContext(story_concept=CONCEPTS["sea"], available_characters=CAST, lore=lore), 3)
    context = ArchitectContext(
        mode="graph", story_concept=CONCEPTS["sea"], planned_story=script, available_characters=CAST, lore=lore
    )
    nodes = Graph.model_validate(build(context, 3)["graph"]).nodes
    told = " ".join(node.scene for node in nodes)
    assert "the Lee Door Inn" in script and "Six tables and one cat. The fire burns blue." in told
    assert "The Lee Door Inn" in [node.title for node in nodes]
    assert "Hidden Chapel" not in script + told and "has the key" not in told


async def test_the_plan_is_edited_in_the_editor_at_a_terminal_and_written_anew_in_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Typed:
        def __init__(self, *lines: str) -> None:
            self._lines = list(lines)

        async def next(self, prompt: str = "> ") -> str | None:
            return self._lines.pop(0) if self._lines else None

    script = tmp_path / "editor.py"
    script.write_text("import sys\nopen(sys.argv[1], 'a').write('And wolves.')\n")
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    terminal = TerminalWriter(Console(file=io.StringIO(), force_terminal=True))
    assert await Author(writer=terminal, lines=Typed()).edit("Write.", "A plan.") == "A plan.\nAnd wolves."
    pipe = TerminalWriter(Console(file=io.StringIO()))
    assert await Author(writer=pipe, lines=Typed("My own.", ".")).edit("Write.", "A plan.") == "My own."
    monkeypatch.setenv("VISUAL", "no-such-editor-at-all")
    assert await Author(writer=terminal, lines=Typed("Mine.", ".")).edit("Write.", "A plan.") == "Mine."


def test_what_is_only_spoken_of_is_not_seen() -> None:
    scene = "“It is about the ghost,” says Mara. There is a lamp on the table."
    here = Node(id="here", title="The Hall", scene=scene, goal="Wait.")
    assert details(here) == ["the lamp", "the table"]
