"""Storyteller: how many lines of players are read as they were meant, over the lines in `../shared/data/storyteller`.

python -m bench storyteller              the figures
python -m bench storyteller --failures   and each line that was read otherwise
python -m bench storyteller --folder X   lines of another folder of the same form
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.actions.library.samples import read_worlds, sample_folder
from fabula.story.graph import Graph, Node
from fabula.story.readings import AskBack, TakeWay
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import Somebody, scene_text
from fabula.understudy.reading.ways import SceneText, ways_of

SHARED = Path(__file__).parents[2] / "shared/data/storyteller"
STAY = "stay"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A line, which way it means (None for none), and which way was read; `asked` are ways that were asked back."""

    scene: str
    line: str
    expected: int | None
    taken: int | None
    asked: tuple[int, ...] = ()

    @property
    def right(self) -> bool:
        """Whether the way that was meant was taken; to ask back is no fault where a way was meant, but not right."""
        return self.taken == self.expected and not self.asked

    @property
    def moved_unasked(self) -> bool:
        return self.taken is not None and self.expected is None

    @property
    def wrong_way(self) -> bool:
        return self.taken is not None and self.expected is not None and self.taken != self.expected

    @property
    def found(self) -> bool:
        return self.expected is not None and (self.taken == self.expected or self.expected in self.asked)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What became of many lines."""

    lines: int
    right: int
    moved_unasked: int
    wrong_ways: int
    meant: int
    taken: int
    found: int

    def sentence(self) -> str:
        share = 100 * self.right / self.lines
        return (
            f"{self.right} of {self.lines} lines right ({share:.1f} %), {self.moved_unasked} moved unasked, "
            f"{self.wrong_ways} the wrong way; of {self.meant} moves meant {self.taken} taken, "
            f"{self.found - self.taken} asked back"
        )


def figures_of(readings: Iterable[Reading]) -> Figures:
    every = list(readings)
    return Figures(
        lines=len(every),
        right=sum(one.right for one in every),
        moved_unasked=sum(one.moved_unasked for one in every),
        wrong_ways=sum(one.wrong_way for one in every),
        meant=sum(one.expected is not None for one in every),
        taken=sum(one.expected is not None and one.taken == one.expected for one in every),
        found=sum(one.found for one in every),
    )


def sample_scenes() -> dict[str, SceneText]:
    """The scenes of all samples by their id; no two have the same."""
    found: dict[str, SceneText] = {}
    for world in read_worlds(sample_folder()):
        people = [(one.id, one.name, one.personality) for one in world.characters]
        entries = [entry for book in world.lorebooks for entry in book.entries if entry.enabled]
        lore = [(entry.title, tuple(entry.keywords)) for entry in entries]
        found |= scenes_of(world.story.graph, people, lore)
    return found


def scenes_in(folder: Path) -> dict[str, SceneText]:
    """The scenes of a story in a folder: `story.json`, `characters`, `lorebooks`."""
    graph = Graph.model_validate(_json(folder / "story.json")["graph"])
    people = [_json(file) for file in sorted((folder / "characters").glob("*.json"))]
    books = [_json(file) for file in sorted((folder / "lorebooks").glob("*.json"))]
    lore = [(entry["title"], tuple(entry.get("keywords", ()))) for book in books for entry in book["entries"]]
    return scenes_of(graph, [(one["id"], one["name"], one["personality"]) for one in people], lore)


def _json(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return content


def scenes_of(
    graph: Graph, people: Iterable[tuple[str, str, str]], lore: Sequence[tuple[str, tuple[str, ...]]]
) -> dict[str, SceneText]:
    """The scenes of a graph. `people` are ids, names and personalities; `lore` titles and keywords."""
    nodes, cast = {node.id: node for node in graph.nodes}, list(people)
    return {node.id: scene_text(node, nodes, _seen_from(node, cast), lore) for node in graph.nodes}


def _seen_from(node: Node, people: Iterable[tuple[str, str, str]]) -> list[Somebody]:
    return [
        Somebody(id=id, name=name, personality=personality, here=id in node.characters)
        for id, name, personality in people
    ]


def read_lines(file: Path, scenes: dict[str, SceneText]) -> Iterator[Reading]:
    """Every line of a file, read in its scene."""
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield read_one(row["line"], scenes[row["scene"]], row["expected"])


def read_one(line: str, scene: SceneText, expected: str) -> Reading:
    decision = read_line(line, scene).decision
    return Reading(
        scene=scene.node_id,
        line=line,
        expected=way_meant(scene, expected),
        taken=decision.way if isinstance(decision, TakeWay) else None,
        asked=tuple(decision.ways) if isinstance(decision, AskBack) else (),
    )


def way_meant(scene: SceneText, expected: str) -> int | None:
    """The way that a file names: by its number, by the value or key of its condition, or by what it is called."""
    if expected == STAY:
        return None
    if expected.isdigit():
        return int(expected)
    if len(scene.ways) == 1:
        return 0
    labels = [way.label.lower() for way in ways_of(scene).ways]
    for place, way in enumerate(scene.ways):
        if any(value == expected for _, value, _ in way.tests):
            return place
    for place, way in enumerate(scene.ways):
        keys = " ".join(key.replace("_", " ") for key, _, _ in way.tests)
        if expected.lower() in f"{keys} {labels[place]}":
            return place
    raise ValueError(f"{scene.node_id} has no way {expected!r}")


def measure(folder: Path) -> Iterator[tuple[str, list[Reading]]]:
    """Each set of lines in a folder by its name: those over the samples, and those of each story beside them."""
    if (folder / "samples.tsv").is_file():
        yield "samples", list(read_lines(folder / "samples.tsv", sample_scenes()))
    for story in sorted(path.parent for path in folder.glob("*/lines.tsv")):
        yield story.name, list(read_lines(story / "lines.tsv", scenes_in(story)))


def main() -> int:
    """Prints the figures of every set."""
    parser = argparse.ArgumentParser(prog="python -m bench storyteller", description=__doc__.splitlines()[0])
    parser.add_argument("--failures", action="store_true", help="print each line that was read otherwise")
    parser.add_argument("--folder", type=Path, default=SHARED, help="where the lines are")
    asked = parser.parse_args()
    if not asked.folder.is_dir():
        print(f"There are no lines to read: {asked.folder} is not there.")
        return 0
    for name, readings in measure(asked.folder):
        print(f"{name}: {figures_of(readings).sentence()}")
        if asked.failures:
            print("\n".join(map(_shown, (one for one in readings if not one.right))))
    return 0


def _shown(one: Reading) -> str:
    got = f"asked {list(one.asked)}" if one.asked else one.taken if one.taken is not None else STAY
    return f"   {one.scene}: meant {one.expected if one.expected is not None else STAY}, got {got}: {one.line}"


if __name__ == "__main__":
    sys.exit(main())
