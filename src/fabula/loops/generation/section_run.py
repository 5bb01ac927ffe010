"""The run of one section: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fabula.agents.replies.architect import OpeningProposal, SectionProposal
from fabula.loops.generation.draft_setup import DraftSetup
from fabula.loops.model_questions import derived_seed
from fabula.ports.models import CallOrigin, ModelClients
from fabula.ports.progress import TellProgress
from fabula.story.schemas import Schema, SchemaField
from fabula.story.sections import Section, WaysOn
from fabula.story.stories import StoryDraft


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What the first section leaves behind: the plan, how it falls into sections, and what the story stands on."""

    plan: str
    sections: list[str]
    section: Section
    start_node: str
    world: dict[str, SchemaField]
    player: dict[str, SchemaField]
    introduction: str


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A draft that has its first section: the next one is built upon it."""

    draft: StoryDraft
    world: Schema
    player: Schema


@dataclass(frozen=True, kw_only=True)
class SectionRun:
    """`keep` makes a section true in one transaction, and does nothing when it is there already.

    `run` names what the section is built upon: a run that was interrupted goes on only where that is the same.
    """

    draft_id: str
    begun: Begun | None
    materials: DraftSetup
    models: ModelClients
    deadline: float
    attempt: int
    run: str
    progress: TellProgress
    keep: Callable[[Opened | Section], Awaitable[None]]

    @property
    def section_index(self) -> int:
        return 0 if self.begun is None else self.begun.draft.next_section_index

    def seed(self, call: str) -> int:
        """The seed of a call: an interrupted section asks the same again, one whose answers failed asks anew."""
        return derived_seed(f"{self.draft_id}:{self.section_index}:{self.attempt}", call)

    def origin(self, agent: str) -> CallOrigin:
        """Calls for a draft are recorded under its id."""
        return CallOrigin(agent=agent, story_id=self.draft_id)


def section_of(proposal: SectionProposal | OpeningProposal) -> Section:
    """The architect's proposal as a section."""
    return Section(
        nodes=[node.as_node() for node in proposal.nodes],
        joints=[WaysOn(node_id=patch.node_id, ways=patch.ways()) for patch in proposal.transition_patches],
        summary=proposal.section_summary,
    )
