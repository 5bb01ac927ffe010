"""Twenty thousand broken stories: the compiler answers each with problems or a story, never with an exception.

Whole stories and single lines are cut, doubled, swapped and sprinkled with signs, always in the same way, because the
generator is seeded.
"""

import random
from pathlib import Path

from tests.mass import seeds
from tests.shared import INK_PROOF

from fabula.ink import compile_ink

TRANSCRIPTS = Path(__file__).parents[3] / "transcripts" / "ink"
SIGNS = [*'{}[]()|-<>#*+=~"\\&!$:.,/\n \t', "->", "<-", "<>", "->->", "==", "++", "else:", "INCLUDE ", "VAR ", "LIST "]
SIGNS += ["{x:\n", "- else:\n", "\n}\n", "/*", "*/", "//", "~ return ", "~ temp x = ", "ref ", "not ", "stopping:", "0"]
PARTS = 20
PER_PART = 1_000
LONGEST = 600


def sources() -> list[str]:
    folders = [folder for place in (TRANSCRIPTS, INK_PROOF) if place.is_dir() for folder in sorted(place.iterdir())]
    return [(folder / "story.ink").read_text("utf-8-sig")[:LONGEST] for folder in folders]


def mutated(source: str, other: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 4)):
        start = dice.randint(0, len(source))
        end = min(len(source), start + dice.randint(0, 12))
        match dice.randrange(5):
            case 0:
                source = source[:start] + source[end:]
            case 1:
                source = source[:start] + dice.choice(SIGNS) + source[start:]
            case 2:
                source = source[:end] + source[start:]
            case 3:
                source = source[:start] + dice.choice(SIGNS) + source[end:]
            case _:
                cut = dice.randint(0, len(other))
                source = source[:start] + other[cut : cut + dice.randint(0, 40)] + source[start:]
    return source


@seeds(PARTS, "part")
def test_a_mutated_source_is_answered_with_problems_or_a_story(part: int) -> None:
    dice = random.Random(part)
    stories = sources()
    for _ in range(PER_PART):
        source = mutated(dice.choice(stories), dice.choice(stories), dice)
        result = compile_ink(source, include=lambda name: None)
        assert (result.story_json is None) == bool(result.errors), source
