"""Drawing: the planner writes a plan, the architect draws a section of it, and both are looked at."""

from __future__ import annotations

from fabula.agents.replies.architect import OpeningProposal, SectionProposal, read_opening, read_section
from fabula.agents.replies.planner import read_plan
from fabula.agents.replies.shapes import output_schema
from fabula.loops.generation.contexts import opening_context, planner_context, section_context
from fabula.loops.generation.draft_setup import DraftSetup, seeded
from fabula.loops.generation.section_run import SectionRun, section_of
from fabula.loops.model_questions import Answer, Question, ask, unusable
from fabula.ports.models import CallOrigin, ModelClient, ModelClients
from fabula.story.graph import Graph
from fabula.story.lint import Finding, Ground, lint
from fabula.story.sections import grown, joined

PLAN_REPAIRS = 1
REPLY_REPAIRS = 2
OPENING_TOKENS = 8192
SECTION_TOKENS = 4096
TEMPERATURE = 0.0


async def draw_plan(
    materials: DraftSetup, models: ModelClients, *, origin: CallOrigin, seed: int | None, deadline: float
) -> str:
    """The planner's plan; raises ModelUnusable when none can be had."""

    def read(text: str) -> tuple[str | None, list[str]]:
        plan, problems = read_plan(text)
        return plan or None, problems

    question = Question(
        agent=materials.agent("planner"),
        context=planner_context(materials),
        origin=origin,
        read=read,
        seed=seed,
        deadline=deadline,
    )
    answer = await ask(await models.client_for(materials.api("planner")), question, repairs=PLAN_REPAIRS)
    if answer.value is None:
        raise unusable("The planner's plan", answer.problems)
    return answer.value


async def draw_opening(
    run: SectionRun, plan: str, sections: list[str], *, problems: list[str], call: str
) -> Answer[OpeningProposal]:
    """The first section, with what the whole story stands on."""
    question = Question(
        agent=run.materials.agent("architect"),
        context=opening_context(run.materials, plan, sections, problems=problems),
        origin=run.origin("architect"),
        read=lambda text: read_opening(text, characters=run.materials.characters),
        schema=output_schema("architect", "draft_init"),
        seed=run.seed(call),
        temperature=TEMPERATURE,
        max_tokens=OPENING_TOKENS,
        deadline=run.deadline,
    )
    return await ask(await _architect(run), question, repairs=REPLY_REPAIRS)


async def draw_section(run: SectionRun, *, problems: list[str], call: str) -> Answer[SectionProposal]:
    """The next section of a draft that has begun."""
    assert run.begun is not None
    begun, cast = run.begun, run.materials.characters
    existing = {node.id for node in begun.draft.partial_graph.nodes}
    question = Question(
        agent=run.materials.agent("architect"),
        context=section_context(run.materials, begun.draft, begun.world, begun.player, problems=problems),
        origin=run.origin("architect"),
        read=lambda text: read_section(text, existing=existing, characters=cast),
        schema=output_schema("architect", "draft_continue"),
        seed=run.seed(call),
        temperature=TEMPERATURE,
        max_tokens=SECTION_TOKENS,
        deadline=run.deadline,
    )
    return await ask(await _architect(run), question, repairs=REPLY_REPAIRS)


async def _architect(run: SectionRun) -> ModelClient:
    return await run.models.client_for(run.materials.api("architect"))


def findings_of(run: SectionRun, proposal: SectionProposal | OpeningProposal) -> list[str]:
    """What is wrong with the graph because of a section: faults that were there before it are not its own."""
    section = section_of(proposal)
    if isinstance(proposal, OpeningProposal):
        world = seeded(run.materials.world_seed, proposal.world_state_schema.fields)
        player = seeded(run.materials.player_seed, proposal.player_state_schema.fields)
        graph = Graph(start_node=proposal.start_node, nodes=joined([], section))
        return _sentences(lint(graph, run.materials.ground(world, player)))
    assert run.begun is not None
    before, ground = run.begun.draft.partial_graph, _ground(run)
    known = set(_sentences(lint(before, ground)))
    return [one for one in _sentences(lint(grown(before, section), ground)) if one not in known]


def _ground(run: SectionRun) -> Ground:
    assert run.begun is not None
    return run.materials.ground(run.begun.world.fields, run.begun.player.fields)


def _sentences(findings: list[Finding]) -> list[str]:
    return [finding.sentence for finding in findings]
