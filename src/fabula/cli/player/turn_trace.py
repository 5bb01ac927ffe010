"""How the trace of a turn reads on the terminal: its steps, its model calls, what was changed, what followed."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.plays.session_turns import GetTurn, get_turn
from fabula.actions.turns.explain_turn import CallShown, ExplainTurn, OperationShown, TurnTraceView, explain_turn
from fabula.cli.player.sentences import counted
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR

NOT_KEPT = "Nothing is kept of what happened in this turn: it was played long ago, or `trace_days` is 0."


async def find_trace(house: House, session_id: str, turn: str, *, head_turn_id: str) -> TurnTraceView:
    """The trace of a turn that is named by its id or its number; the last one where none is named."""
    turn_id = turn or head_turn_id
    if turn.isdecimal():
        turn_id = (await get_turn(house, OPERATOR, session_id, GetTurn(turn_index=int(turn[:9])))).turn_id
    return await explain_turn(house, OPERATOR, session_id, ExplainTurn(turn_id=turn_id))


def show_trace(writer: TerminalWriter, trace: TurnTraceView, *, prompts: bool = False) -> None:
    """Shows a trace; with `prompts`, also all that models were told and said."""
    writer.say(f"Turn {trace.turn_index}, {trace.status}. Its trace: {trace.trace_id}", "bold")
    if not trace.kept:
        writer.say(NOT_KEPT, "yellow")
    elif trace.took_ms is not None:
        writer.say(f"It took {trace.took_ms} ms in {counted(trace.attempts, 'attempt')}.")
    for step in trace.steps:
        writer.row(f"{step.began_ms:>7} ms  {step.name:<26}{step.took_ms:>7} ms", indent=2)
    for call in trace.calls or []:
        _show_call(writer, call, prompts=prompts)
    _show_rest(writer, trace)


def _show_call(writer: TerminalWriter, call: CallShown, *, prompts: bool) -> None:
    notes = [name for name, is_so in (("from the memo", call.memo_hit), ("a repair", call.repaired)) if is_so]
    first = "" if call.first_piece_ms is None else f", first words after {call.first_piece_ms} ms"
    marks = f" ({', '.join(notes)})" if notes else ""
    writer.say(f"{call.number}. {call.agent} asked {call.model}: {call.tokens} tokens, {call.took_ms} ms{first}{marks}")
    if call.problem is not None:
        writer.row(call.problem, "red", indent=3)
    if prompts:
        for message in call.messages:
            writer.say(f"[{message.role}]", "dim")
            writer.paragraphs(message.content, "dim")
        writer.say("[reply]", "dim")
        writer.paragraphs(call.reply)


def _show_rest(writer: TerminalWriter, trace: TurnTraceView) -> None:
    for lore in trace.lore or []:
        word = "" if lore.word is None else f" (“{lore.word}”)"
        writer.row(f"lore: {lore.entry}, because {lore.because}{word}", indent=2)
    for answer in trace.degraded or []:
        writer.row(f"{answer.agent}: {answer.reason}", "yellow", indent=2)
    for operation in trace.operations or []:
        writer.row(_operation(operation), "" if operation.accepted else "yellow", indent=2)
    for follower in trace.followers:
        took = "" if follower.took_ms is None else f", {follower.took_ms} ms"
        said = "" if follower.outcome == follower.state else f": {follower.outcome}"
        writer.row(f"then {follower.kind}: {follower.state}{took}{said}", indent=2)


def _operation(one: OperationShown) -> str:
    words = ", ".join(f"{name}={value}" for name, value in one.op.items() if name != "type")
    refused = "" if one.accepted else f" refused: {one.reason}"
    return f"{one.by}: {one.op.get('type')} {words}{refused}"
