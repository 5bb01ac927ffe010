"""How much a role is shown: its windows on the past, and the tokens that its prompt may take."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from fabula.agents.presets.templates import PromptRole
from fabula.story.changes import window
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    LoreNote,
    PlannerContext,
    ReplyerContext,
    RoleContext,
    SceneContext,
)
from fabula.story.resources import AgentPreset, PresetAgents

Scene = TypeVar("Scene", bound=SceneContext)

DEFAULT_WINDOW = 8
DEFAULT_BUDGET = 16_000
GENERATION_BUDGET = 48_000


@dataclass(frozen=True, kw_only=True)
class Windows:
    """How many entries of each past a role sees at most."""

    shared: int = DEFAULT_WINDOW
    private: int = DEFAULT_WINDOW
    session: int = DEFAULT_WINDOW


def windows_of(role: PromptRole, agent: AgentPreset) -> Windows:
    """A role's windows; roles without a limit of their own for the shared history use the director's."""
    limit = {
        "actor": agent.actor_shared_history_limit,
        "narrator": agent.narrator_shared_history_limit,
    }.get(role, agent.director_shared_history_limit)
    return Windows(
        shared=told_history(agent) or _or_default(limit),
        private=_or_default(agent.actor_private_memory_limit),
        session=_or_default(agent.replyer_session_history_limit),
    )


def told_history(agent: AgentPreset) -> int:
    """How many lines of the transcript a role is shown instead of the short shared history; 0 for none.

    `extra.history` of its preset says so. The transcript costs a play nothing to keep, so it may reach further back
    than the snapshot that is written with every turn.
    """
    wanted = agent.extra.get("history") if isinstance(agent.extra, dict) else None
    return wanted if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0 else 0


def _or_default(limit: int | None) -> int:
    return DEFAULT_WINDOW if limit is None else limit


def shared_history_limit(agents: PresetAgents) -> int:
    """How many entries of the shared history a play keeps: what the role with the longest memory may see."""
    limits = (
        agents.director.director_shared_history_limit,
        agents.actor.actor_shared_history_limit,
        agents.narrator.narrator_shared_history_limit,
    )
    return max(map(_or_default, limits))


def budget_of(role: PromptRole, agent: AgentPreset) -> int:
    """How many tokens a role's prompt may take; `extra.prompt_tokens` of its preset decides, else a default."""
    extra = agent.extra
    chosen = extra.get("prompt_tokens") if isinstance(extra, dict) else None
    if isinstance(chosen, int) and not isinstance(chosen, bool) and chosen > 0:
        return chosen
    return GENERATION_BUDGET if role in ("planner", "architect") else DEFAULT_BUDGET


def within_windows(context: RoleContext, windows: Windows) -> RoleContext:
    """The context with no more of the past than the role may see."""
    match context:
        case PlannerContext() | ArchitectContext():
            return context
        case ActorContext():
            private = window(context.private_memory, windows.private)
            context = context.model_copy(update={"private_memory": private})
        case ReplyerContext():
            session = window(context.session_history, windows.session)
            context = context.model_copy(update={"session_history": session})
    shown = window(context.shared_history, windows.shared)
    return _without_oldest(context, len(context.shared_history) - len(shown))


def _without_oldest(context: Scene, count: int) -> Scene:
    """The context without the oldest entries of its shared history, and without the lore that only they called up."""
    if count == 0:
        return context
    later = [_later(note, count) for note in context.lore.matched]
    matched = [note for note in later if note is not None]
    lore = context.lore.model_copy(update={"matched": matched})
    began = None if context.scene_began is None else max(0, context.scene_began - count)
    # The scene in which the history now begins is told at its first entry.
    past = [scene.model_copy(update={"began": max(0, scene.began - count)}) for scene in context.past_scenes]
    spanned = [one for one, later in pairwise([*past, None]) if later is None or later.began > 0]
    return context.model_copy(
        update={
            "shared_history": context.shared_history[count:],
            "lore": lore,
            "scene_began": began,
            "past_scenes": spanned,
        }
    )


def _later(note: LoreNote, count: int) -> LoreNote | None:
    """The note in a history that begins that much later; the scene's own stay, if need be without a place."""
    if note.heard_at is None:
        return note
    if note.heard_at >= count:
        return note.model_copy(update={"heard_at": note.heard_at - count})
    return note.model_copy(update={"heard_at": None}) if note.of_scene else None
