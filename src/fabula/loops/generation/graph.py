"""The generation loop as a graph: plan, outline, draw, lint, perhaps draw again, keep. Its state holds no handles.

1. **plan**: the planner writes a plan when there is none (first section only).
2. **outline**: the plan falls into sections.
3. **draw**: the architect proposes the section; a reply that cannot be read goes back with its problems.
4. **lint**: the graph is looked at with the section in it; what the section brought in goes back to the architect, at
   most twice. The proposal with the fewest findings is the one that counts.
5. **keep**: the section becomes true in one transaction. What lint still finds is shown to the author.

Each step is checkpointed, and calls are seeded by draft and section: a run that was interrupted goes on at its step,
and finished model calls are answered from the memo.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal, Protocol, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from fabula.agents.replies.architect import OpeningProposal, SectionProposal
from fabula.agents.replies.planner import outline_problems, outline_sections
from fabula.loops.checkpoint_version import is_of_version, loop_version
from fabula.loops.generation.draft_setup import seeded
from fabula.loops.generation.section_run import Opened, SectionRun, section_of
from fabula.loops.generation.section_writer import draw_opening, draw_plan, draw_section, findings_of
from fabula.loops.model_questions import Answer, unusable
from fabula.loops.untraced import untraced
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import ModelError
from fabula.ports.threads import run_in_thread
from fabula.story.events import Progress
from fabula.story.values import JsonObject

MOST_REDRAWS = 2
VERSION = loop_version(1)
"""Raise the number when `GenerationState` changes."""


class GenerationState(TypedDict, total=False):
    """What is handed from step to step, as plain JSON. `kept` is the best proposal so far, `problems` its findings."""

    v: str
    run: str
    plan: str
    sections: list[str]
    drawn: JsonObject | None
    kept: JsonObject | None
    problems: list[str]
    redraws: int


async def plan(state: GenerationState, runtime: Runtime[SectionRun]) -> GenerationState:
    """The author's plan, or the planner's."""
    run = runtime.context
    given = (run.materials.resource.planned_story or "").strip()
    if given:
        return {"plan": given}
    run.progress(Progress(done=0, total=0, label="Planning the story"))
    found = await draw_plan(
        run.materials,
        run.models,
        origin=run.origin("planner"),
        seed=run.seed("plan"),
        deadline=run.deadline,
    )
    return {"plan": found}


async def outline(state: GenerationState, runtime: Runtime[SectionRun]) -> GenerationState:
    """The sections of the plan."""
    sections = outline_sections(state["plan"])
    if problems := outline_problems(sections):
        raise InvalidRequest(f"This cannot be built: {problems[0]}. Join some of its paragraphs.")
    return {"sections": sections}


async def draw(state: GenerationState, runtime: Runtime[SectionRun]) -> GenerationState:
    """The architect's proposal; while putting findings right, a failure leaves the earlier proposal as it is."""
    run, redraws = runtime.context, state.get("redraws", -1) + 1
    _tell(run, state, again=redraws > 0)
    try:
        answer = await _asked(run, state, call=f"draw:{redraws}")
    except ModelError:
        if redraws == 0:
            raise
        answer = Answer(value=None, problems=[])
    if answer.value is None and redraws == 0:
        raise unusable(f"The architect's section {run.section_index + 1}", answer.problems)
    return {"drawn": None if answer.value is None else answer.value.as_json(), "redraws": redraws}


async def _asked(
    run: SectionRun, state: GenerationState, *, call: str
) -> Answer[OpeningProposal] | Answer[SectionProposal]:
    problems = state.get("problems", [])
    if run.begun is None:
        return await draw_opening(run, state["plan"], state["sections"], problems=problems, call=call)
    return await draw_section(run, problems=problems, call=call)


def _tell(run: SectionRun, state: GenerationState, *, again: bool) -> None:
    done = run.section_index
    total = len(state["sections"]) if run.begun is None else run.begun.draft.total_sections
    verb = "Mending" if again else "Building"
    run.progress(Progress(done=done, total=total, label=f"{verb} section {done + 1} of {total}"))


async def lint(state: GenerationState, runtime: Runtime[SectionRun]) -> GenerationState:
    """The better of the proposals so far, and what is wrong with it."""
    drawn, kept = state["drawn"], state.get("kept")
    if drawn is None:
        return {"redraws": MOST_REDRAWS}
    problems = await run_in_thread(findings_of, runtime.context, _proposal(runtime.context, drawn))
    if kept is not None and len(state["problems"]) <= len(problems):
        return {}
    return {"kept": drawn, "problems": problems}


def after_lint(state: GenerationState) -> Literal["draw", "keep"]:
    return "draw" if state["problems"] and state["redraws"] < MOST_REDRAWS else "keep"


async def keep(state: GenerationState, runtime: Runtime[SectionRun]) -> GenerationState:
    """One transaction."""
    run, kept = runtime.context, state["kept"]
    assert kept is not None
    proposal = _proposal(run, kept)
    if isinstance(proposal, OpeningProposal):
        total = len(state["sections"])
        await run.keep(_opened(run, state, proposal))
    else:
        assert run.begun is not None
        total = run.begun.draft.total_sections
        await run.keep(section_of(proposal))
    done = run.section_index + 1
    run.progress(Progress(done=done, total=total, label=f"Section {done} of {total} is built"))
    return {}


def _opened(run: SectionRun, state: GenerationState, proposal: OpeningProposal) -> Opened:
    return Opened(
        plan=state["plan"],
        sections=state["sections"],
        section=section_of(proposal),
        start_node=proposal.start_node,
        world=seeded(run.materials.world_seed, proposal.world_state_schema.fields),
        player=seeded(run.materials.player_seed, proposal.player_state_schema.fields),
        introduction=proposal.introduction,
    )


def _proposal(run: SectionRun, raw: JsonObject) -> OpeningProposal | SectionProposal:
    return (OpeningProposal if run.begun is None else SectionProposal).model_validate(raw)


async def build_section(run: SectionRun, saver: Any, *, thread_id: str) -> None:
    """Builds one section; a run of the same section that was interrupted goes on where it stopped."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    graph = compiled_generation(saver)
    before = await graph.aget_state(config)
    same = before.values.get("run") == run.run and is_of_version(before.values, VERSION)
    goes_on = same and bool(before.next)
    if before.values and not goes_on:
        await saver.adelete_thread(thread_id)
    start: GenerationState | None = None if goes_on else {"v": VERSION, "run": run.run}
    with untraced():
        await graph.ainvoke(start, config, context=run, durability="async")


@lru_cache(maxsize=8)
def compiled_generation(saver: Any) -> CompiledStateGraph[GenerationState, SectionRun, Any, Any]:
    """The graph with its checkpointer."""
    return generation_graph().compile(checkpointer=saver)


@lru_cache(maxsize=1)
def generation_graph() -> StateGraph[GenerationState, SectionRun, Any, Any]:
    """The graph, not yet bound to a checkpointer."""
    graph: StateGraph[GenerationState, SectionRun, Any, Any] = StateGraph(GenerationState, context_schema=SectionRun)
    for name, step in (("plan", plan), ("outline", outline), ("draw", draw), ("lint", lint), ("keep", keep)):
        graph.add_node(name, step)
    graph.add_conditional_edges(START, _first_step, ["plan", "draw"])
    graph.add_edge("plan", "outline")
    graph.add_edge("outline", "draw")
    graph.add_edge("draw", "lint")
    graph.add_conditional_edges("lint", after_lint, ["draw", "keep"])
    graph.add_edge("keep", END)
    return graph


def _first_step(state: GenerationState, runtime: Runtime[SectionRun]) -> Literal["plan", "draw"]:
    return "plan" if runtime.context.begun is None else "draw"


class BuildSection(Protocol):
    """`build_section`, for those who load it late."""

    async def __call__(self, run: SectionRun, saver: Any, *, thread_id: str) -> None: ...
