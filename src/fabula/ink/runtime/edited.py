"""stub"""
from __future__ import annotations
from fabula.ink.runtime.content import StoryContent
from fabula.ink.runtime.state import PastTurn, StoryState
from fabula.ink.runtime.tokens import Json
def knot_of(state: StoryState) -> str:
    return ""
def places_of(state: StoryState) -> tuple[str, ...]:
    return ()
def name_places(state: StoryState) -> tuple[Json, tuple[PastTurn, ...]]:
    return {}, state.past
def relocate(saved: dict[str, Json], content: StoryContent) -> dict[str, Json]:
    return saved
