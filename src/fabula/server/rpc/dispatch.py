"""Dispatch: a request finds its method, its rule is asked, its params are decoded, its action runs."""

from __future__ import annotations

import difflib
import logging
from dataclasses import dataclass

from fabula.actions.decode import decode
from fabula.actions.house import House
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.ports.meters import RPC_CALLS, RPC_SECONDS
from fabula.ports.threads import run_in_thread
from fabula.server.error_codes import INSIDE, MethodNotFound, error_payload
from fabula.server.rpc.envelopes import Request, write_error, write_result
from fabula.server.rpc.method import Call, Catalogue, Method

log = logging.getLogger("fabula.rpc")


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A request that may run: everything about it was checked."""

    request: Request
    method: Method
    command: Command
    call: Call


def prepare(catalogue: Catalogue, request: Request, actor: Actor, *, max_body: int) -> Prepared:
    """Checks method, rule, size, session and params, in this order; raises a FabulaError that says what is wrong."""
    method = catalogue.find(request.method)
    if method is None:
        raise MethodNotFound(_unknown(catalogue, request.method))
    actor.must_be(method.role, method.name)
    if request.size > max_body and not method.takes_stories:
        raise InvalidRequest(f"{method.name} takes at most {max_body // 1024} KiB. Send less at once.")
    if method.session_bound and not (request.session_id or "").strip():
        raise InvalidRequest(f"{method.name} is about a session: put its id into the envelope as `session_id`.")
    call = Call(session_id=request.session_id, actor=actor, request_id=request.id)
    return Prepared(request=request, method=method, command=decode(method.command, request.params), call=call)


async def answer(house: House, prepared: Prepared) -> bytes:
    """Runs the action and writes the response. This is a door: what nobody expected is logged once, here."""
    request, started = prepared.request, house.clock.monotonic()
    try:
        view = await prepared.method.handler(house, prepared.command, prepared.call)
    except FabulaError as error:
        note_call(house, prepared.method, request, error.name, started)
        return refusal(request, error)
    except Exception:
        log.exception("%s failed", request.method)
        note_call(house, prepared.method, request, INSIDE.name, started)
        return write_error(request.id, error_payload(INSIDE), session_id=request.session_id)
    note_call(house, prepared.method, request, "ok", started)
    return await run_in_thread(_written, request, view) if view.may_be_large else _written(request, view)


def _written(request: Request, view: View) -> bytes:
    result = view.as_json()
    session_id = result["session_id"] if view.names_session else None
    return write_result(request, result, session_id=session_id if isinstance(session_id, str) else None)


def note_call(
    house: House,
    method: Method | None,
    request: Request,
    outcome: str,
    started: float,
    *,
    trace_id: str | None = None,
) -> None:
    """Counts a call, and logs it at level debug. A name that is no method's is not repeated: anyone may make it up."""
    name, took_s = "unknown" if method is None else method.name, house.clock.monotonic() - started
    house.meters.add(RPC_CALLS, name, outcome)
    house.meters.observe(RPC_SECONDS, took_s)
    if log.isEnabledFor(logging.DEBUG):
        ids = {"method": name, "session_id": request.session_id, "outcome": outcome, "ms": round(took_s * 1000, 1)}
        log.debug("rpc call", extra={"facts": {**ids, "trace_id": trace_id}})


def refusal(request: Request, error: FabulaError) -> bytes:
    """The response to a request that was refused."""
    return write_error(request.id, error_payload(error), session_id=request.session_id)


def _unknown(catalogue: Catalogue, name: str) -> str:
    near = difflib.get_close_matches(name[:100], [method.name for method in catalogue], n=1)
    hint = f" Did you mean {near[0]}?" if near else " rpc.discover lists all methods."
    return f"There is no method named '{name[:100]}'.{hint}"
