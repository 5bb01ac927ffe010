"""Every route of the app, in one place: tests about all of them loop over this table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import httpx
from tests.browser.scene import call

WEB = Path(__file__).parents[2] / "web"


@dataclass(frozen=True, kw_only=True)
class Route:
    """A place of the app. `pattern` is its key in `web/src/app/routes.ts`; `ready` is there once it has been drawn."""

    name: str
    pattern: str
    ready: str

    def path(self, places: dict[str, str]) -> str:
        return re.sub(r":([a-z_]+)", lambda found: places[found[1]], self.pattern)


ROUTES = (
    Route(name="shelf", pattern="/", ready="#stories"),
    Route(name="story", pattern="/app/story/:story_id", ready="article form"),
    Route(name="stage", pattern="/app/play/:session_id", ready="article[data-turn]"),
    Route(name="tree", pattern="/app/play/:session_id/tree", ready="main h1"),
    Route(name="why", pattern="/app/play/:session_id/turn/:turn_id", ready="#followed"),
    Route(name="people", pattern="/app/play/:session_id/people/:person_id", ready="main li"),
    Route(name="me", pattern="/app/me", ready="#who"),
    Route(name="house", pattern="/app/house", ready="#usage ~ p, #usage ~ table"),
    Route(name="npc", pattern="/app/npc", ready="#frames li + li"),
    Route(name="nowhere", pattern="/app/no-such-place", ready="main h1"),
)
# Other addresses of a place that is in the table already, and those that are no place.
ALIASES = {"/app"}
NO_PLACES = {"/app/no-such-place"}


def make_places(address: str) -> dict[str, str]:
    """Something for every name in the patterns: a story, and a play of it with a turn."""
    stories = call(address, "story.list")["stories"]
    assert isinstance(stories, list)
    story_id = next(story["story_id"] for story in stories if story["kind"] == "graph")
    session_id = str(call(address, "story.start_session", story_id=story_id, seed=7)["session_id"])
    params = {"player_input": "I look around."}
    turn = {"jsonrpc": "2.0", "id": "1", "method": "session.run_turn", "params": params, "session_id": session_id}
    told = httpx.post(f"{address}/rpc", json=turn, timeout=120).text
    assert "event: completed" in told or '"completed"' in told, told[-500:]
    turn_id = str(call(address, "session.get", session_id)["head_turn_id"])
    return {"story_id": str(story_id), "session_id": session_id, "turn_id": turn_id, "person_id": "player"}


def patterns_of_the_app() -> set[str]:
    """The keys of the app's own table."""
    source = (WEB / "src" / "app" / "routes.ts").read_text("utf-8")
    return set(re.findall(r'^  "(/[^"]*)":', source, re.MULTILINE))
