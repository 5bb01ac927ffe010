"""Call a tool: the one way by which agents and other programs reach the house.

1. The table of authority is asked; what it does not list is denied, and so is a tool that is none.
2. Arguments are bounded and read as the typed command of the action.
3. An agent is held to its own play and world, and to the prohibitions there. Then the tool's own check is asked; one
   that fails denies.
4. The action runs, as the caller: to whoever does not own a play it is not there.
5. The answer is bounded. Each refusal by authority is a typed error, and stands in the audit.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

import orjson

from fabula.actions.audit_notes import note_violation
from fabula.actions.decode import decode
from fabula.actions.house import House
from fabula.actions.plays.told_directives import directives_at
from fabula.actions.tools.callers import Agent, Caller, actor_for, token_of, who_is
from fabula.actions.tools.tool import SESSION, WORLD, Registry, Tool
from fabula.actions.views import Command
from fabula.formats.json_bounds import bounds_problem, nul_problem
from fabula.ports.audit import Why
from fabula.ports.errors import Denied, FabulaError, InvalidRequest, NotFound
from fabula.ports.threads import run_in_thread
from fabula.story.directives import forbidding
from fabula.story.field_bounds import LONGEST_ID
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.tools")

LARGEST_ARGUMENTS: Final = 256 * 1024
LARGEST_ANSWER: Final = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class _Call:
    """A call that the table allows, read whole."""

    tool: Tool
    command: Command
    session_id: str | None

    @property
    def about(self) -> str:
        """The play or the world that it names."""
        return self.session_id or str(getattr(self.command, WORLD, None) or "")


async def call_tool(house: House, registry: Registry, caller: Caller, name: str, arguments: JsonObject) -> bytes:
    """What a tool answers, as JSON; raises Denied for what the caller may not, other errors as the action does."""
    tool = registry.find(name)
    if tool is None:
        raise await _denied(house, caller, name, "unknown_tool", f"There is no tool named '{name[:100]}'.")
    if not registry.allows(name, who_is(caller)):
        raise await _denied(house, caller, name, "not_listed", f"{name} is not for {who_is(caller)}.")
    call = _read(tool, arguments)
    await _check(house, caller, call)
    try:
        view = await tool.run(house, actor_for(caller), call.command, call.session_id)
    except NotFound:
        # Perhaps a wrong id, perhaps somebody who looks for the plays of others: whoever runs the server may wonder.
        if call.session_id is not None:
            await _denied(house, caller, name, "out_of_reach", "No such play is theirs.", call.about)
        raise
    answer = await run_in_thread(lambda: orjson.dumps(view.as_json()))
    if len(answer) > LARGEST_ANSWER:
        raise InvalidRequest(
            f"The answer of {name} has {len(answer) // 1024} KiB, more than the {LARGEST_ANSWER // 1024} KiB that a "
            "tool may answer. Ask for less, with a smaller `limit`."
        )
    return answer


def _read(tool: Tool, arguments: JsonObject) -> _Call:
    """The typed command of a call; raises for what is too large, too deep, or does not fit."""
    try:
        body = orjson.dumps(arguments)
    except TypeError:
        raise InvalidRequest("The arguments are no JSON that can be kept.") from None
    if len(body) > LARGEST_ARGUMENTS:
        raise InvalidRequest(f"The arguments of a tool may have {LARGEST_ARGUMENTS // 1024} KiB. Send less at once.")
    if (problem := bounds_problem(body) or nul_problem(body)) is not None:
        raise InvalidRequest(problem)
    given = {**tool.defaults, **arguments}
    session_id = given.pop(SESSION, None) if tool.of_session or tool.may_name_session else None
    if (tool.of_session or session_id is not None) and (
        not isinstance(session_id, str) or not 0 < len(session_id) <= LONGEST_ID
    ):
        raise InvalidRequest(f"{tool.name} is about a session: give its id as `session_id`.")
    command = decode(tool.command, given)
    return _Call(tool=tool, command=command, session_id=session_id if isinstance(session_id, str) else None)


async def _check(house: House, caller: Caller, call: _Call) -> None:
    name = call.tool.name
    if isinstance(caller, Agent) and (strange := _beyond(caller, call)) is not None:
        raise await _denied(house, caller, name, "out_of_reach", strange, call.about)
    if isinstance(caller, Agent) and (said := await _prohibition(house, caller, name)) is not None:
        raise await _denied(house, caller, name, "prohibited", said, call.about)
    if call.tool.check is None:
        return
    try:
        problem = await call.tool.check(house, caller, call.command, call.session_id)
    except Exception:
        log.exception("the check of %s failed", name)
        sentence = f"Whether {name} may be called could not be found out, so it may not."
        raise await _denied(house, caller, name, "check_failed", sentence, call.about) from None
    if problem is not None:
        raise await _denied(house, caller, name, "not_listed", problem, call.about)


async def _prohibition(house: House, agent: Agent, tool: str) -> str | None:
    """Why a directive of the play or the world keeps an agent from a tool. What cannot be found out is denied."""
    try:
        async with house.store.reading() as unit:
            told, minute = await directives_at(house, unit, world_id=agent.world_id, session_id=agent.session_id)
    except NotFound:
        # Nothing is forbidden in a play that is not there; the action says so itself.
        return None
    except FabulaError as error:
        return f"Whether the {agent.name} may call {tool} could not be found out, so it may not: {error.message}"
    found = forbidding(told, agent.name, tool, minute)
    return None if found is None else f"The directive '{found.directive_id}' keeps the {agent.name} from {tool}."


def _beyond(agent: Agent, call: _Call) -> str | None:
    """Why a call is about something that is not an agent's."""
    world = getattr(call.command, WORLD, None)
    # Of a play its world is known: only a call that names neither, or another world, is about something else.
    if world is not None and world != agent.world_id and (world or call.session_id is None):
        return f"The {agent.name} works in another world."
    if call.session_id is not None and call.session_id != agent.session_id:
        return f"The {agent.name} works in another play."
    return None


async def _denied(house: House, caller: Caller, name: str, why: Why, sentence: str, about: str = "") -> Denied:
    """The refusal, after it was written down."""
    await note_violation(
        house,
        caller=who_is(caller),
        token_id=token_of(caller),
        what=name if why != "unknown_tool" else name[:60],
        why=why,
        about=about,
        sentence=sentence,
    )
    return Denied(sentence, tool=name[:100], why=why)
