"""The gate's question to a model: asked only where the preset says so, and only about what the rules leave open.

1. Nothing is asked of a line to which a rule objects or that takes a way by rule: a model never overrules either.
2. It is told the axioms and caps of the world, and may name one of them as what stands against the deed.
3. What it says is one more verdict. No answer, or one that does not fit, leaves what the rules said.

A turn that is resumed or told again asks the same, and is answered from the memo.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.agents.gate_judgement import (
    GATE_SCHEMA,
    MOST_TOKENS,
    GateJudgement,
    read_gate_judgement,
    write_gate_prompt,
)
from fabula.loops.guardrails import note_objections
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.questions import call_seed
from fabula.loops.scene.scene_run import SceneRun
from fabula.ports.models import CallOrigin, ModelError, ModelRequest, whole
from fabula.rules.feasibility import is_left_open, model_verdict
from fabula.story.intent_verdicts import IntentVerdict
from fabula.story.plays import PlayState
from fabula.story.readings import Stay, TakeWay, Understood

AGENT = "resolver"


async def judge_with_model(
    run: SceneRun, play: PlayState, read: Understood, verdicts: Sequence[IntentVerdict]
) -> tuple[Understood, list[IntentVerdict]]:
    """The reading and the verdicts after a model was asked about what the rules leave open, if it is to be asked."""
    rules = _rules(run.setup)
    if not (_is_asked(run, play) and rules and is_left_open(read, verdicts)):
        return read, list(verdicts)
    said = await _ask(run, play, rules)
    if said is None or said.result == "allow":
        return read, list(verdicts)
    # The lead is told to the player, so it passes the guardrails like everything else.
    rails = run.setup.guardrails(run.before, AGENT)
    if (crossed := rails.objection_to(said.lead)) is not None:
        note_objections(run.stage.recorder, AGENT, [crossed])
    lead = "" if crossed is not None else said.lead
    verdict = model_verdict(said.result, rule_text=rules[said.rule], deed=run.turn.player_input, lead=lead)
    if verdict.stops and isinstance(read.decision, TakeWay):
        read = read.model_copy(update={"decision": Stay()})
    return read, [*verdicts, verdict]


def _is_asked(run: SceneRun, play: PlayState) -> bool:
    setup = run.setup
    by_rule = setup.is_by_rule("keeper") or setup.is_weak("keeper")
    return setup.gate_asks_model and not setup.swift and not by_rule and play.conversation is None


def _rules(setup: PlaySetup) -> dict[str, str]:
    """What a model may go by, by the ids under which it names it."""
    rules = {f"axiom-{number}": one.text for number, one in enumerate(setup.axioms, 1)}
    caps = setup.caps
    if caps is not None and caps.technology is not None and caps.technology.level is not None:
        rules["technology"] = f"The newest technology that there is here is {caps.technology.level}."
    if caps is not None and caps.magic is not None and caps.magic.level != "common":
        rules["magic"] = "Nobody works magic here." if caps.magic.level == "none" else "Magic is rare here."
    return rules


async def _ask(run: SceneRun, play: PlayState, rules: dict[str, str]) -> GateJudgement | None:
    session = run.setup.session
    request = ModelRequest(
        origin=CallOrigin(
            agent=AGENT, session_id=session.session_id, story_id=session.story_id, turn_id=run.turn.turn_id
        ),
        messages=write_gate_prompt(
            rules, scene=run.setup.nodes[play.world.current_node].scene, deed=run.turn.player_input
        ),
        output_schema=GATE_SCHEMA,
        # Not the turn's own seed: told again, a turn has another one, and what can be done must stay the same.
        seed=call_seed(run.before.snapshot.turn_index, f"{run.turn.tree_id}:gate"),
        temperature=0.0,
        max_tokens=MOST_TOKENS,
        streaming=False,
        deadline=run.deadline,
    )
    run.stage.recorder.ask()
    try:
        client = await run.models.client_for(run.setup.api("keeper"), api_revision=run.setup.revision_of_api("keeper"))
        with run.stage.recorder.waiting():
            return read_gate_judgement((await whole(client, request)).text, rules)
    except ModelError:
        # The rules can do without: whoever is asked next says what is wrong with the model.
        return None
