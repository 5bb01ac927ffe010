"""The sections that prompts are made of: for each context key, what becomes of it when a prompt is over its budget.

A new section is one row in `RULES`, under the key by which presets and renderings name it (in prompts that no preset
writes, under the name of the section). A key without a row is taken for instructions, which are never left out. Shares
are of the free room; those that are reserved in one prompt add up to less than all of it.
"""

from __future__ import annotations

from typing import Final

from fabula.agents.context_packer import SectionRule

INSTRUCTIONS: Final = SectionRule(kind="instructions", priority=100, required=True)
MOMENT: Final = SectionRule(kind="moment", priority=100, required=True)
"""What has just been said, rolled or wished, and what is asked for: without it there is nothing to answer."""

_HISTORY: Final = SectionRule(kind="story", priority=90, share=0.5, reserved=0.2, canonical=True)
_SCHEMA: Final = SectionRule(kind="world", priority=70, share=0.15, canonical=True)
_CAST: Final = SectionRule(kind="cast", priority=65, share=0.25, canonical=True)
_PREVIOUS: Final = SectionRule(kind="world", priority=15, share=0.05, canonical=True)

RULES: Final[dict[str, SectionRule]] = {
    # The story: what happened, the latest of it above all.
    "shared_history": _HISTORY,
    "earlier_history": SectionRule(kind="story", priority=88, share=0.35, canonical=True),
    "session_history": _HISTORY,
    "lived": _HISTORY,
    "completed_beats": SectionRule(kind="story", priority=92, share=0.3, reserved=0.1, canonical=True),
    "talk_lines": SectionRule(kind="story", priority=91, share=0.4, reserved=0.1, canonical=True),
    "talk_so_far": SectionRule(kind="story", priority=45, share=0.1),
    "talk_lessons": SectionRule(kind="story", priority=50, share=0.1),
    "story_so_far": SectionRule(kind="story", priority=40, share=0.1),
    "section_summaries": SectionRule(kind="story", priority=40, share=0.2),
    "graph_summary": SectionRule(kind="story", priority=55, share=0.2, canonical=True),
    "recent_section_detail": SectionRule(kind="story", priority=60, share=0.3, canonical=True),
    # Canon and conflicts have a part of the room for themselves.
    "canon": SectionRule(kind="canon", priority=85, share=0.15, reserved=0.1, canonical=True),
    "news": SectionRule(kind="canon", priority=83, share=0.05, canonical=True),
    "conflicts": SectionRule(kind="conflicts", priority=84, share=0.1, reserved=0.05, canonical=True),
    # Memories: what comes to mind, and what somebody thought.
    "memories": SectionRule(kind="memories", priority=30, share=0.1),
    "recalled": SectionRule(kind="memories", priority=30, share=0.1),
    "private_memory": SectionRule(kind="memories", priority=25, share=0.1),
    # Lore: what always applies stays longer than what was called to mind.
    "lorebook_base": SectionRule(kind="lore", priority=60, share=0.25, canonical=True),
    "lorebook_matched": SectionRule(kind="lore", priority=35, share=0.15, canonical=True),
    "knowledge": SectionRule(kind="lore", priority=60, share=0.25, canonical=True),
    # The cast.
    "player": SectionRule(kind="cast", priority=75, share=0.1, canonical=True),
    "current_cast": _CAST,
    "present": SectionRule(kind="cast", priority=99, required=True, canonical=True),
    "available_characters": _CAST,
    "previous_cast": SectionRule(kind="cast", priority=10, share=0.05, canonical=True),
    "character_card": SectionRule(kind="cast", priority=99, required=True, canonical=True),
    "dossier": SectionRule(kind="cast", priority=97, share=0.3, required=True, canonical=True),
    "voice": SectionRule(kind="cast", priority=97, share=0.3, required=True, canonical=True),
    "minds": SectionRule(kind="cast", priority=50, share=0.1),
    # The world as it is now.
    "current_node": SectionRule(kind="world", priority=98, share=0.2, required=True, canonical=True),
    "scene_lore": SectionRule(kind="lore", priority=33, share=0.05),
    "surroundings": SectionRule(kind="world", priority=80, share=0.2, canonical=True),
    "world_state": SectionRule(kind="world", priority=80, share=0.2, canonical=True),
    "state_at_first": SectionRule(kind="world", priority=81, share=0.2, canonical=True),
    "world_state_schema": _SCHEMA,
    "player_state_schema": _SCHEMA,
    "world_state_schema_seed": _SCHEMA,
    "player_state_schema_seed": _SCHEMA,
    "progression_hints": SectionRule(kind="world", priority=62, share=0.1, canonical=True),
    "previous_node": _PREVIOUS,
    "node_change": _PREVIOUS,
    "story_time": SectionRule(kind="world", priority=100, required=True, canonical=True),
    "transitioned_this_turn": SectionRule(kind="world", priority=100, required=True, canonical=True),
    # What was agreed upon at the table.
    "session_zero": SectionRule(kind="boundaries", priority=100, required=True),
    "crossed": SectionRule(kind="boundaries", priority=100, required=True),
    "due": SectionRule(kind="story", priority=86, share=0.1, canonical=True),
    "directives": SectionRule(kind="boundaries", priority=100, required=True),
    # The moment.
    "actor_purpose": MOMENT,
    "conversation": MOMENT,
    "current_section": MOMENT,
    "event": MOMENT,
    "goal": MOMENT,
    "keeper_phase": MOMENT,
    "narrator_purpose": MOMENT,
    "outcome": MOMENT,
    "feasibility": MOMENT,
    "planned_story": MOMENT,
    "player_input": MOMENT,
    "problems": MOMENT,
    "reply_limit": MOMENT,
    "section_index": MOMENT,
    "story_concept": MOMENT,
    "target_node_count": MOMENT,
    "total_sections": MOMENT,
    "wish": MOMENT,
}


def rule_of(key: str | None) -> SectionRule:
    """The rule for a context key; texts of a preset have none, and are instructions."""
    return INSTRUCTIONS if key is None else RULES.get(key, INSTRUCTIONS)
