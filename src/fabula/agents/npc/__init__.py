"""The NPC: its dossier, its past and the moment become a prompt, the stable part first.

1. System: who it is, how it answers, its tags and tools. This changes only when the game changes the spec.
2. User: its history, which grows at its end; then what comes to mind, what is around it, and what has just happened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.resources import files

from fabula.agents.compact_renderings import brief, halves, newest_cuts, newest_halves
from fabula.agents.packed_prompts import Prompt, PromptSection, fit_prompt, section
from fabula.agents.phrases import listed, titled
from fabula.agents.session_zero import session_zero_text
from fabula.story.contexts import NpcContext
from fabula.story.npc import GameEvent, Lived, NpcSpec, NpcState, PlayedTag, Relationship, TagSpec, ToolSpec
from fabula.story.values import Json

BUDGET = 16_000
HISTORY_CUT = 8
SHORT_BACKSTORY = 600

_FOLDER = files("fabula.agents.npc") / "texts"
# Read when this module is imported: a turn opens no file.
_TEXTS = {
    name: (_FOLDER / f"{name}.txt").read_text("utf-8").strip()
    for name in ("role", "output", "tools", "repeats", "crossed")
}


def write_npc_prompt(context: NpcContext) -> Prompt:
    """The prompt for one turn; what is over the budget is shortened, the oldest of its history first."""
    return fit_prompt([*_system(context.state), *_user(context)], BUDGET, shorter=lambda key: _shorter(context, key))


def _system(state: NpcState) -> Iterator[PromptSection]:
    tools = listed("Your tools", map(_tool_line, state.tools))
    yield section("role", _text("role"), system=True)
    yield section("dossier", _dossier(state.spec), system=True)
    yield section("output", _text("output"), system=True)
    yield section("tags", listed("Your tags", map(_tag_line, state.known_tags())), system=True)
    yield section("tools", tools, system=True)
    yield section("tool_rules", _text("tools") if tools else "", system=True)


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


def _user(context: NpcContext) -> Iterator[PromptSection]:
    state, name = context.state, context.state.spec.name
    yield section("lived", _lived_text(context.history, name))
    yield section("recalled", _recalled_text(context.recalled, name))
    yield section("surroundings", titled("Around you now", "\n".join(_surroundings(state))))
    yield section("event", titled("What has just happened", _event_line(context.event)))
    yield section("session_zero", "" if context.session_zero is None else session_zero_text(context.session_zero))
    yield section("repeats", _text("repeats") if context.repeats else "")
    yield section("crossed", _text("crossed").replace("{crossed}", context.crossed) if context.crossed else "")
    yield section("question", f"What does {name} do?")


def _lived_text(history: Iterable[Lived], name: str) -> str:
    return titled("What you have lived through", "\n".join(_lived_lines(history, name)))


def _recalled_text(recalled: Iterable[Lived], name: str) -> str:
    return titled("What this brings back to you", "\n".join(_lived_lines(recalled, name)))


def _shorter(context: NpcContext, key: str) -> Callable[[], Iterator[str]] | None:
    spec = context.state.spec
    match key:
        case "lived":
            return lambda: (_lived_text(context.history[count:], spec.name) for count in _lived_cuts(context.history))
        case "recalled":
            return lambda: (_recalled_text(some, spec.name) for some in newest_halves(context.recalled))
        case "dossier":
            return lambda: (_dossier(less) for less in _short_specs(spec))
        case _:
            return None


def _lived_cuts(history: Sequence[Lived]) -> Iterator[int]:
    yield from newest_cuts(len(history), HISTORY_CUT)
    if len(history) > 1:
        yield len(history) - 1


def _short_specs(spec: NpcSpec) -> Iterator[NpcSpec]:
    """With less of its past, then with less of what it knows."""
    short = spec.model_copy(update={"backstory": brief(spec.backstory, SHORT_BACKSTORY)})
    yield short
    for known in halves(spec.knowledge):
        yield short.model_copy(update={"knowledge": known})


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
