"""The shapes of replies: a JSON schema for each role that answers in JSON, and how to ask again for a broken one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import Field, TypeAdapter

from fabula.agents.presets.templates import PromptRole
from fabula.agents.replies.architect import GraphProposal, OpeningProposal, SectionProposal
from fabula.ports.models import Message
from fabula.story.plans import ResponsePlan
from fabula.story.resources import ArchitectMode
from fabula.story.state import CastOp, VariableOp
from fabula.story.values import JsonObject, Value

LONGEST_QUOTE = 6_000
MOST_PROBLEMS = 20


class KeeperReply(Value):
    """Operations without the one that is not the keeper's."""

    ops: list[CastOp | VariableOp]


class Reply(Value):
    id: str
    text: str = Field(min_length=1)


class ReplyerReply(Value):
    replies: list[Reply]


_ARCHITECT: dict[ArchitectMode, type[Value]] = {
    "graph": GraphProposal,
    "draft_init": OpeningProposal,
    "draft_continue": SectionProposal,
}
_OTHERS: dict[PromptRole, type[Value]] = {"director": ResponsePlan, "keeper": KeeperReply, "replyer": ReplyerReply}


def output_schema(role: PromptRole, mode: ArchitectMode | None = None) -> JsonObject | None:
    """The JSON schema of a role's reply; None for roles that answer in text or tags."""
    shape = _ARCHITECT[mode or "graph"] if role == "architect" else _OTHERS.get(role)
    schema = None if shape is None else TypeAdapter(shape).json_schema()
    return _with_reasons(schema) if role == "keeper" and schema is not None else schema


def _with_reasons(schema: JsonObject) -> JsonObject:
    """The keeper's schema, in which every operation may say with `because` what it follows from."""
    shapes = schema["$defs"]
    assert isinstance(shapes, dict)
    told: JsonObject = {"type": "string", "description": "the words of this turn that show it, quoted exactly"}
    for shape in shapes.values():
        if isinstance(shape, dict) and isinstance(fields := shape.get("properties"), dict) and "type" in fields:
            fields["because"] = told
    return schema


def repair_messages(
    messages: Sequence[Message], *, raw: str, problems: Sequence[str], schema: JsonObject | None
) -> tuple[Message, ...]:
    """The prompt that asks again: what was asked, what came, what is wrong with it, and what is expected."""
    wrong = "\n".join(f"- {problem}" for problem in problems[:MOST_PROBLEMS])
    expected = f"\n\nThe expected shape, as a JSON schema:\n{json.dumps(schema, ensure_ascii=False)}" if schema else ""
    request = (
        f"Your reply could not be used:\n{wrong}{expected}\n\n"
        "Write the whole reply again, corrected. Answer with the JSON object alone."
    )
    quoted = raw.strip()[:LONGEST_QUOTE] or "(nothing)"
    return (*messages, Message(role="assistant", content=quoted), Message(role="user", content=request))
