"""How fast Ink plays: The Intercept, built, line by line, and saved, beside inkjs in the same run.

Run it with `python -m bench.ink_speed`. The rival is measured when Node is installed and can find the npm package
`inkjs` (set NODE_PATH to a node_modules folder that has it).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT.parent / "shared" / "data" / "stories" / "TheIntercept.ink"
PLAYS = 100
TURNS = 200

RIVAL = """
const fs = require('fs');
const { Story } = require('inkjs');
const [file, plays, turns] = process.argv.slice(2);
const json = fs.readFileSync(file, 'utf8');
const times = [];
for (let play = 0; play < +plays; play++) {
  const story = new Story(json);
  for (let turn = 0; turn < +turns; turn++) {
    while (story.canContinue) {
      const start = process.hrtime.bigint();
      story.Continue();
      times.push(Number(process.hrtime.bigint() - start) / 1e9);
    }
    const count = story.currentChoices.length;
    if (!count) break;
    story.ChooseChoiceIndex((turn * 7 + play) % count);
  }
}
const timed = (repeats, work) => [...Array(repeats)].map(() => {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e9;
});
const built = timed(40, () => new Story(json));
const story = new Story(json);
for (let turn = 0; turn < 26 && (story.ContinueMaximally(), story.currentChoices.length); turn++)
  story.ChooseChoiceIndex((turn * 7) % story.currentChoices.length);
const saved = timed(400, () => story.state.ToJson());
console.log(JSON.stringify({ lines: times, built, saved }));
"""


def measure_ours(story_json: str) -> list[float]:
    from fabula.ink import Story

    first, times = Story(story_json), []
    for play in range(PLAYS):
        story = first.fork()
        for turn in range(TURNS):
            while story.can_continue:
                start = time.perf_counter()
                story.continue_()
                times.append(time.perf_counter() - start)
            count = len(story.current_choices)
            if not count:
                break
            story.choose((turn * 7 + play) % count)
    return times


def measure_builds_and_saves(story_json: str) -> dict[str, list[float]]:
    """How long a story takes to be built, and to be saved after some turns."""
    from fabula.ink import Story

    story = Story(story_json)
    for turn in range(26):
        story.continue_maximally()
        if not story.current_choices:
            break
        story.choose(turn * 7 % len(story.current_choices))
    story.state_json()
    return {"built": timed(40, lambda: Story(story_json)), "saved": timed(400, story.state_json)}


def timed(repeats: int, work: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return times


def measure_rival(story_json: str) -> dict[str, list[float]] | None:
    """The same plays by inkjs, or None where it cannot run."""
    node = shutil.which("node")
    if node is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        file, script = Path(folder, "story.json"), Path(folder, "rival.js")
        file.write_text(story_json, "utf-8")
        script.write_text(RIVAL, "utf-8")
        command = [node, str(script), str(file), str(PLAYS), str(TURNS)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    times: dict[str, list[float]] = json.loads(done.stdout)
    return times


def at_share(times: list[float], share: float) -> float:
    """The time in milliseconds that this share of the lines stays below."""
    ordered = sorted(times)
    return 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main() -> int:
    if not SOURCE.is_file():
        print("ink_speed: skipped, The Intercept is not in ../shared/data/stories")
        return 0
    from fabula.ink import compile_ink

    source = SOURCE.read_text("utf-8-sig")
    start = time.perf_counter()
    story_json = compile_ink(source).story_json
    print(f"ink compile The Intercept: {time.perf_counter() - start:.3f} s")
    if story_json is None:
        print("ink_speed: The Intercept does not compile")
        return 1
    ours = measure_ours(story_json)
    print(f"ink continue_ median: {at_share(ours, 0.5):.3f} ms over {len(ours)} lines")
    print(f"ink continue_ p99: {at_share(ours, 0.99):.3f} ms")
    others = measure_builds_and_saves(story_json)
    for name, times in others.items():
        print(f"ink story {name} median: {at_share(times, 0.5):.3f} ms")
    rival = measure_rival(story_json)
    if rival is None:
        print("inkjs: not available (needs Node, and the npm package inkjs on NODE_PATH)")
        return 0
    for name, share in (("median", 0.5), ("p99", 0.99)):
        print(beside(f"Continue {name}", ours, rival["lines"], share))
    for name, times in others.items():
        print(beside(f"story {name} median", times, rival[name], 0.5))
    return 0


def beside(what: str, ours: list[float], rival: list[float], share: float) -> str:
    ratio = at_share(ours, share) / at_share(rival, share)
    return f"inkjs {what}: {at_share(rival, share):.3f} ms; ours takes {ratio:.2f} times as long"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    sys.exit(main())
