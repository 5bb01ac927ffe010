"""The NPC: its dossier, its past and the moment become a prompt, the stable part first.

1. System: who it is, how it answers, its tags and tools. This changes only when the game changes the spec.
2. User: its history, which grows at its end; then what comes to mind, what is around it, and what has just happened.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files

from fabula.agents.phrases import listed, titled
from fabula.ports.models import Message
from fabula.story.contexts import NpcContext
from fabula.story.npc import GameEvent, Lived, NpcSpec, NpcState, PlayedTag, Relationship, TagSpec, ToolSpec
from fabula.story.values import Json

MOST_CHARS = 60_000

_FOLDER = files("fabula.agents.npc") / "texts"
# Read when this module is imported: a turn opens no file.
_TEXTS = {name: (_FOLDER / f"{name}.txt").read_text("utf-8").strip() for name in ("role", "output", "tools", "repeats")}


def write_npc_prompt(context: NpcContext) -> tuple[Message, ...]:
    """The messages for one turn; of a history that is too long the oldest entries are left out, eight at a time."""
    system = _system(context.state)
    seen = context
    while len(user := _user(seen)) > MOST_CHARS and len(seen.history) > 1:
        seen = seen.model_copy(update={"history": seen.history[min(8, len(seen.history) - 1) :]})
    return (Message(role="system", content=system), Message(role="user", content=user))


def _system(state: NpcState) -> str:
    tags = listed("Your tags", map(_tag_line, state.known_tags()))
    tools = listed("Your tools", map(_tool_line, state.tools))
    parts = (_text("role"), _dossier(state.spec), _text("output"), tags, tools, _text("tools") if tools else "")
    return "\n\n".join(part for part in parts if part)


def _dossier(spec: NpcSpec) -> str:
    facts = (
        titled("Who you are", f"{spec.name}, {spec.role}" if spec.role else spec.name),
        titled("Your personality", spec.personality),
        titled("How you speak", spec.style),
        titled("Your past", spec.backstory),
        listed("What you want", spec.goals),
        listed("What you know", spec.knowledge),
        listed("Whom you know", map(_person_line, spec.relationships)),
        f"You speak {spec.language}." if spec.language else "",
        spec.system_prompt.strip(),
    )
    return "\n\n".join(fact for fact in facts if fact)


def _user(context: NpcContext) -> str:
    state = context.state
    parts = (
        titled("What you have lived through", "\n".join(_lived_lines(context.history, state.spec.name))),
        titled("What this brings back to you", "\n".join(_lived_lines(context.recalled, state.spec.name))),
        titled("Around you now", "\n".join(_surroundings(state))),
        titled("What has just happened", _event_line(context.event)),
        _text("repeats") if context.repeats else "",
        f"What does {state.spec.name} do?",
    )
    return "\n\n".join(part for part in parts if part)


def _surroundings(state: NpcState) -> Iterable[str]:
    world, told = state.world, state.player
    lines = (
        ("Place", world.location),
        ("Time", world.time),
        ("Nearby", ", ".join(map(_short, world.nearby))),
        ("You carry", ", ".join(map(_short, world.inventory))),
        ("Your mood", state.spec.mood),
        ("The player is", told.name or told.id),
        *((key, _short(value)) for key, value in sorted(world.state.items())),
    )
    return (f"{name}: {value}" for name, value in lines if value)


def _lived_lines(history: Iterable[Lived], name: str) -> Iterable[str]:
    for lived in history:
        yield _event_line(lived.event)
        played = [tag for tag in lived.played if tag.status != "skipped"]
        unsure = " (perhaps nobody heard all of it)" if lived.unconfirmed and played else ""
        for tag in played:
            yield f"{name} {_played_line(tag)}{unsure}"


def _played_line(tag: PlayedTag) -> str:
    attrs = " ".join(_short(value) for value in tag.attrs.values() if value)
    what = f"{tag.tag} {attrs}".strip() if attrs else tag.tag
    text = tag.text.strip()
    cut = " [cut off]" if tag.status == "partial" else ""
    return f"({what}): {text}{cut}" if text or cut else f"({what})"


def _event_line(event: GameEvent) -> str:
    who = event.source.name or event.source.id
    data = (
        f" {_short(event.data)}" if event.data not in (None, "", {}, []) and event.event_type != "tool_results" else ""
    )
    return f"[{event.event_type}] {f'{who}: ' if who else ''}{event.text.strip()}{data}".rstrip()


def _tag_line(tag: TagSpec) -> str:
    names = tag.attrs if isinstance(tag.attrs, (list, dict)) else ()
    attrs = "".join(f' {name}=".."' for name in names)
    seen = "" if tag.visible else " (others cannot perceive it)"
    shown = f"<{tag.name}/>" if tag.name == "silence" else f"<{tag.name}{attrs}>..</{tag.name}>"
    return f"{shown}: {tag.description or tag.name}{seen}"


def _tool_line(tool: ToolSpec) -> str:
    return f"{tool.name}: {tool.description} Parameters: {json.dumps(tool.parameters, ensure_ascii=False)}"


def _person_line(person: Relationship) -> str:
    score = f" ({person.score:g})" if person.score is not None else ""
    return f"{person.name or person.id}{score}: {person.description}".rstrip(": ")


def _short(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and isinstance(name := value.get("name"), str) and len(value) == 1:
        return name
    return json.dumps(value, ensure_ascii=False)


def _text(name: str) -> str:
    return _TEXTS[name]
