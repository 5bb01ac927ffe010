"""The gate before a model's word: which of its operations on the state may be applied; pure.

A variable that a condition reads moves the story. A model may change one only when

1. it says why, with words of this turn (`because`): the player's own, or of what was told; and
2. the rules' reading of the player's line does not contradict it. What is only asked, wished, denied, told of the past
   or asked of others moves nobody, and who plainly takes one way does not take another.

Everything else a model may change as the schemas let it. What the rules themselves would do needs no reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from fabula.story.changes import Bounds, RefusedOp, apply_all, place_of
from fabula.story.conditions import holds, tests_of
from fabula.story.graph import Graph, Node
from fabula.story.readings import AskBack, Intent, IntentKind, Mood, Stay, TakeWay, Unclear, Understood
from fabula.story.state import StateOp, StateUpdate, WorldState

Place = tuple[str, ...]

NO_REASON = "it moves the story, and nothing that was said in this turn is quoted as its reason"
NOT_MEANT = "it moves the story, and the player's words do not mean that"
ANOTHER_WAY = "the player plainly took another way"

_HARMLESS: frozenset[IntentKind] = frozenset(
    {
        "look",
        "examine",
        "listen",
        "ask",
        "gesture",
        "wait",
        "greet",
        "farewell",
        "thank",
        "apologise",
        "hint",
        "where",
        "who_is_here",
        "silence",
        "unknown",
    }
)
_MEANT: frozenset[Mood] = frozenset({"act", "statement"})
_MARKS = re.compile(r"[^\w]+")
_SHORTEST = 3


class ProposedUpdate(StateUpdate):
    """A model's operations, and for each the words of the turn that it gives as the reason."""

    because: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What was said in the turn: the player's line, and what was told after it."""

    line: str
    beats: Sequence[str] = ()

    @cached_property
    def words_of_line(self) -> str:
        return _words(self.line)

    @cached_property
    def words_of_beats(self) -> str:
        """Read once for all operations: what is told may be very long. A line break keeps beats apart."""
        return "\n".join(map(_words, self.beats))


@dataclass(frozen=True, kw_only=True)
class Gated:
    """The operations that may be applied, and those that may not, with why."""

    ops: tuple[StateOp, ...]
    refused: tuple[RefusedOp, ...]


def moving_places(graph: Graph) -> frozenset[Place]:
    """The variables that the conditions of a story read."""
    tests = (test for node in graph.nodes for way in node.transitions for test in tests_of(way.condition))
    return frozenset(
        ("character", test.character or "", test.key) if test.scope == "character" else (test.scope, test.key)
        for test in tests
    )


def gate(
    update: StateUpdate,
    *,
    heard: Heard,
    read: Understood | None,
    node: Node,
    world: WorldState,
    bounds: Bounds,
    moving: frozenset[Place],
    by_rule: Sequence[StateOp] = (),
) -> Gated:
    """What of an update passes. `node` is where the play stands now; `by_rule` is what the rules do themselves."""
    quotes = update.because if isinstance(update, ProposedUpdate) else []
    passed: list[StateOp] = []
    refused: list[RefusedOp] = []
    for number, op in enumerate(update.ops):
        reason = None
        if place_of(op) in moving and op not in by_rule and not _is_so_already(op, world, bounds):
            quote = quotes[number] if number < len(quotes) else ""
            reason = _refusal(quote, heard, read, node.id, _opened_by(op, node, world, bounds))
        if reason is None:
            passed.append(op)
        else:
            refused.append(RefusedOp(op=op, reason=reason))
    return Gated(ops=tuple(passed), refused=tuple(refused))


def _refusal(quote: str, heard: Heard, read: Understood | None, node_id: str, opened: frozenset[int]) -> str | None:
    by_player = is_quoted(quote, heard.words_of_line)
    if not by_player and not is_quoted(quote, heard.words_of_beats):
        return NO_REASON
    if read is None:
        return None
    decision = read.decision
    if read.node_id != node_id:
        # The line was said in the scene before, and led here: it means no way of this one.
        return NOT_MEANT if opened else None
    if isinstance(decision, TakeWay):
        return ANOTHER_WAY if opened and decision.way not in opened else None
    if may_move(read):
        return None
    # What was told may change somebody's mind, as long as it takes nobody anywhere that they did not mean to go.
    return None if not by_player and not opened else NOT_MEANT


def may_move(read: Understood) -> bool:
    """Whether a line that the rules took no way by may still mean one: it does or says something, or is not read."""
    if isinstance(read.decision, Unclear):
        return read.decision.reason == "language"
    if isinstance(read.decision, TakeWay | AskBack):
        return True
    return not read.answers and any(_is_deed(intent) for intent in read.intents)


def is_unsure(read: Understood) -> bool:
    """Whether somebody else had better be asked which way the line means, if any."""
    return not isinstance(read.decision, TakeWay) and may_move(read)


def _is_deed(intent: Intent) -> bool:
    return intent.mood in _MEANT and not intent.negated and intent.kind not in _HARMLESS


def is_quoted(quote: str, heard: str) -> bool:
    """Whether a quotation stands among the words that were heard, whatever its marks and blanks."""
    wanted = _words(quote)
    return len(wanted) - 2 >= _SHORTEST and wanted in heard


def _words(text: str) -> str:
    """The words of a text, each between blanks."""
    return f" {_MARKS.sub(' ', text.casefold()).strip()} "


def _is_so_already(op: StateOp, world: WorldState, bounds: Bounds) -> bool:
    done = apply_all([op], world, bounds)
    return bool(done.ops) and done.state == world


def _opened_by(op: StateOp, node: Node, world: WorldState, bounds: Bounds) -> frozenset[int]:
    """The ways of a node that an operation would open by itself."""
    after = apply_all([op], world, bounds).state
    return frozenset(
        number
        for number, way in enumerate(node.transitions)
        if way.condition is not None and holds(way.condition, after) and not holds(way.condition, world)
    )


def decided(read: Understood, way: int | None) -> Understood:
    """A reading after somebody was asked which way it means."""
    return read.model_copy(update={"decision": Stay() if way is None else TakeWay(way=way)})
