"""What a model may propose for a check: stat, difficulty and circumstances, each from a closed list. Code rolls.

1. A stat is a skill or an attribute of the system.
2. A difficulty is one that the system names. Where the author of a scene named one, or somebody stands against the
   deed, there is nothing to propose.
3. Circumstances are those of a list, for or against who acts. Where the system knows advantage, more of one side than
   of the other give it; else each adds or takes one, at most two in all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fabula.story.checks import CIRCUMSTANCES, Check, CheckProposal, Circumstance, Edge, Modifier
from fabula.story.game_systems import GameSystem

MOST_BONUS: Final = 2
_EDGES: Final[Mapping[Edge, int]] = {"advantage": 1, "none": 0, "disadvantage": -1}


def offered_stats(system: GameSystem) -> dict[str, str]:
    """The skills and attributes that may be proposed, by id, and what they are called."""
    skills = {id: skill.display_name for id, skill in system.skills.items()}
    return skills | {id: attribute.display_name for id, attribute in system.attributes.items()}


def offered_difficulties(system: GameSystem, check: Check, *, of_scene: str | None) -> dict[str, int]:
    """The difficulties that may be proposed; none where the scene has its own, or where somebody resists."""
    settled = check.opponent is not None or (of_scene is not None and of_scene in system.difficulties)
    return {} if settled else dict(system.difficulties)


def is_open(system: GameSystem, check: Check) -> bool:
    """Whether there is anything to propose: a level that is forced is not rolled for."""
    return check.forced is None and bool(offered_stats(system))


def proposal_problems(system: GameSystem, check: Check, proposal: CheckProposal, *, of_scene: str | None) -> list[str]:
    """What of a proposal is not on offer."""
    problems = []
    if proposal.stat is not None and proposal.stat not in offered_stats(system):
        problems.append("its stat is none of this system")
    if proposal.difficulty is not None and proposal.difficulty not in offered_difficulties(
        system, check, of_scene=of_scene
    ):
        problems.append("its difficulty is not on offer")
    if len(set(proposal.circumstances)) != len(proposal.circumstances):
        problems.append("a circumstance is named twice")
    return problems


def proposed_check(system: GameSystem, check: Check, proposal: CheckProposal) -> Check:
    """The check with what was proposed, which was found to be on offer."""
    update: dict[str, object] = {}
    if proposal.stat is not None:
        skill = system.skills.get(proposal.stat)
        stat, named = (skill.attribute, proposal.stat) if skill is not None else (proposal.stat, None)
        update |= {"stat": stat, "skill": named}
    if proposal.difficulty is not None:
        update["target"] = system.difficulties[proposal.difficulty]
    return check.model_copy(update={**update, **_circumstances(system, check, proposal.circumstances)})


def _circumstances(system: GameSystem, check: Check, found: Sequence[Circumstance]) -> dict[str, object]:
    if not found:
        return {}
    if system.core.advantage is not None and system.core.disadvantage is not None:
        # What the rules found in the player's own words counts as one circumstance more.
        balance = sum(CIRCUMSTANCES[name] for name in found) + _EDGES[check.edge]
        edge: Edge = "none" if balance == 0 else "advantage" if balance > 0 else "disadvantage"
        return {"edge": edge, "modifiers": [*check.modifiers, *(_modifier(name, 0) for name in found)]}
    modifiers, total = [*check.modifiers], 0
    for name in found:
        after = max(-MOST_BONUS, min(MOST_BONUS, total + CIRCUMSTANCES[name]))
        modifiers.append(_modifier(name, after - total))
        total = after
    return {"modifiers": modifiers}


def _modifier(name: Circumstance, value: int) -> Modifier:
    return Modifier(source=name.replace("_", " "), value=value)
