"""The names that Fabula gives to every Ink story: agent, continue, generate, input, SEED_AI.

Each is a function of the host that suspends the story with a typed request; the story goes on with the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import fabula
from fabula.ink import Builtins, DivertTarget, Story, Suspend
from fabula.story.seeds import derived_seed
from fabula.story.values import Json

CONTEXT_TAG = "context"
RequestKind = Literal["agent", "continue", "generate", "input", "seed"]

_FUNCTIONS: dict[str, RequestKind] = {
    "fabula_agent": "agent",
    "fabula_continue": "continue",
    "generate": "generate",
    "input": "input",
    "SEED_AI": "seed",
}
HOST_FUNCTIONS = frozenset(_FUNCTIONS)

TALKS = {"agent": "-> agent(-> character, -> target)", "continue": "-> continue(-> target)"}
"""The built-in knots, as an author writes them."""

ASKED = frozenset({"generate", "input", "SEED_AI"})
"""The built-in functions."""

OUR_NAMES = ("character", "target")
ASIDE_NAMES = ("fabula_character", "fabula_target")
"""What the arguments of our knots are called, and how in a story that has such a name for something of its own. Saves
hold these names."""


def _knots(character: str, target: str) -> Builtins:
    return Builtins(
        externals={
            "fabula_agent": frozenset({2}),
            "fabula_continue": frozenset({1}),
            "generate": frozenset({1}),
            "input": frozenset({1, 2}),
            "SEED_AI": frozenset({1}),
        },
        shown=frozenset({"generate"}),
        prelude=f"""
=== agent(-> {character}, -> {target})
~ fabula_agent({character}, {target})
-> {target}

=== continue(-> {target})
~ fabula_continue({target})
-> {target}
""",
    )


AI_KNOTS = _knots(*OUR_NAMES)
AI_KNOTS_ASIDE = _knots(*ASIDE_NAMES)


@dataclass(frozen=True, kw_only=True)
class KnotRequest:
    """What a suspended story asks for. Knots are named by their paths."""

    kind: RequestKind
    arguments: tuple[str, ...]

    @property
    def character(self) -> str:
        """Who talks; a `continue` has nobody but the teller."""
        return self.arguments[0] if self.kind == "agent" else ""

    @property
    def target(self) -> str:
        return self.arguments[-1]


def bind_knots(story: Story) -> Story:
    """The story with all names bound; those that it does not use do no harm."""
    for name, kind in _FUNCTIONS.items():
        story.bind_external(name, _suspending(kind))
    return story


def request_of(story: Story) -> KnotRequest | None:
    """What the story waits for, if it waits for the host."""
    pending = story.pending_request
    if pending is None:
        return None
    return KnotRequest(kind=pending["kind"], arguments=tuple(pending["arguments"]))


def default_ai_seed(version: str = fabula.__version__) -> int:
    """The seed of a play that names none: it changes with each minor release, and with nothing else."""
    return derived_seed("fabula", ".".join(version.split(".")[:2]))


def is_context(tags: list[str]) -> bool:
    """Whether a line is for the characters' ears only."""
    return any(tag.strip().lower() == CONTEXT_TAG for tag in tags)


def shown_name(path: str) -> str:
    """How a knot is called in front of readers: `guard_backstory` is Guard backstory."""
    words = path.split(".")[-1].replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def written_name(path: str) -> str:
    """A place as its author names it: `gate.0.opens` is the label gate.opens."""
    return ".".join(part for part in path.split(".") if not part.isdigit() and "-" not in part)


def _suspending(kind: RequestKind) -> Callable[..., Suspend]:
    def ask(*arguments: object) -> Suspend:
        said: list[Json] = [_plain(argument) for argument in arguments]
        return Suspend({"kind": kind, "arguments": said})

    return ask


def _plain(argument: object) -> str:
    return argument.path if isinstance(argument, DivertTarget) else str(argument)
