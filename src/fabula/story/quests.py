"""Quests: what a player may set out to do in a world, and the rules by which it opens, is done, or has failed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from fabula.story.conditions import Condition, holds
from fabula.story.state import WorldState
from fabula.story.values import Id, Sparse


class QuestRule(Sparse):
    """When something becomes true of a quest: a scene was entered, or a condition holds. One of both is enough."""

    optional = frozenset({"nodes", "condition"})
    nodes: list[Id] = Field(default=[], max_length=100)
    condition: Condition | None = None

    def applies(self, visited: Collection[str], state: WorldState) -> bool:
        if any(node_id in visited for node_id in self.nodes):
            return True
        return self.condition is not None and holds(self.condition, state)


class Quest(Sparse):
    """Something that the player may set out to do. Without `opens` it is open from the beginning."""

    optional = frozenset({"opens", "fails"})
    quest_id: Id
    title: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    text: Annotated[str, StringConstraints(max_length=2_000)] = ""
    opens: QuestRule | None = None
    done: QuestRule
    fails: QuestRule | None = None


def quest_problems(quests: Sequence[Quest], nodes: frozenset[str]) -> list[str]:
    """What is wrong with some quests, in sentences."""
    ids = [quest.quest_id for quest in quests]
    problems = [f"the quest id '{id}' is used twice" for id in sorted({id for id in ids if ids.count(id) > 1})]
    for quest in quests:
        rules = [rule for rule in (quest.opens, quest.done, quest.fails) if rule is not None]
        problems += [
            f"the quest '{quest.quest_id}' names the node '{node_id}', which does not exist"
            for rule in rules
            for node_id in rule.nodes
            if node_id not in nodes
        ]
        if any(not rule.nodes and rule.condition is None for rule in rules):
            problems.append(f"a rule of the quest '{quest.quest_id}' names neither a node nor a condition")
    return problems
