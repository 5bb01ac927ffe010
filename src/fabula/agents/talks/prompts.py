"""The prompts of the AI knots: typed contexts become messages. What never changes stands first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.resources import files

from fabula.agents.compact_renderings import halves, newest_cuts, newest_halves
from fabula.agents.packed_prompts import Prompt, PromptSection, fit_prompt, section
from fabula.agents.session_zero import session_zero_text
from fabula.agents.windows import DEFAULT_BUDGET
from fabula.agents.wishes import wish_text
from fabula.ports.models import Message
from fabula.story.contexts import InkAgentContext, InkGenerateContext, KnotContext, RecalledLine
from fabula.story.ink_stories import Heard, Talk, TalkLine

TALK_CUT = 8

_TEXTS = {
    file.name.removesuffix(".txt"): file.read_text("utf-8").strip()
    for file in (files("fabula.agents.talks") / "texts").iterdir()
    if file.name.endswith(".txt")
}


def write_agent_prompt(context: InkAgentContext, *, budget: int = DEFAULT_BUDGET) -> Prompt:
    """The prompt of a character, or of the teller when nobody is named."""
    if context.character is None:
        rules = _TEXTS["continue"]
    else:
        rules = _TEXTS["agent"].replace("{character}", context.character)
    said = context.player_input.strip() or "(nothing: the player is silent)"
    sections = [
        section("rules", rules, system=True),
        section("voice", _voice(context.voice), system=True),
        section("knowledge", _knowledge(context.knowledge)),
        *_story(context),
        section("talk_so_far", _titled("Earlier in this conversation, in short", context.talk.earlier)),
        section("talk_lines", _conversation(context.talk.lines)),
        section("talk_lessons", _lessons(context.talk)),
        section("memories", _memories(context.memories)),
        section("goal", _titled("The goal: where the story goes on. Never tell it", context.goal)),
        section("player_input", _titled("The player now says or does", [said])),
        section("session_zero", _agreed(context)),
        section("wish", wish_text(context.wish)),
        section("decision", _TEXTS["decision"]),
    ]
    return fit_prompt(sections, budget, shorter=lambda key: _shorter(context, key))


def write_generate_prompt(context: InkGenerateContext, *, budget: int = DEFAULT_BUDGET) -> Prompt:
    """The prompt of a text that the story asks for."""
    sections = [
        section("rules", _TEXTS["generate"], system=True),
        *_story(context),
        section("goal", _titled("Write", [context.prompt])),
        section("session_zero", _agreed(context)),
        section("wish", wish_text(context.wish)),
    ]
    return fit_prompt(sections, budget, shorter=lambda key: _shorter(context, key))


def rewrite_messages(
    messages: tuple[Message, ...], *, plain: bool = False, crossed: str | None = None
) -> tuple[Message, ...]:
    """Asks for the same in words that give nothing away, or that do not cross a line of the table, which `crossed`
    names. What was given away is not said again. `plain` is a text that is no JSON object."""
    name = ("rewrite" if crossed is None else "crossed") + ("_text" if plain else "")
    said = "told too much" if crossed is None else "spoke of what must not happen here"
    return (
        *messages,
        Message(role="assistant", content=f"(an answer that {said})"),
        Message(role="user", content=_TEXTS[name].replace("{crossed}", " ".join((crossed or "").split()))),
    )


def instruction_texts() -> tuple[str, ...]:
    """The texts that no character may recite."""
    return tuple(_TEXTS[name] for name in ("agent", "continue", "decision", "generate"))


def _agreed(context: KnotContext) -> str:
    return "" if context.session_zero is None else session_zero_text(context.session_zero)


def _titled(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n{body}" if body else ""


_MARKS = {"text": "", "context": "(known, not seen) ", "choice": "> ", "said": "Player: ", "reply": ""}


def _story(context: KnotContext) -> Iterator[PromptSection]:
    yield section("story_so_far", _earlier(context.earlier))
    yield section("shared_history", _told(context.story_so_far))


def _earlier(lines: Iterable[str]) -> str:
    return _titled("Long before, in short", lines)


def _told(lines: Iterable[Heard]) -> str:
    return _titled("The story so far", (f"{_MARKS[one.kind]}{one.text}" for one in lines))


def _voice(lines: Iterable[str]) -> str:
    return _titled("How the character speaks, and what it knows", lines)


def _knowledge(lines: Iterable[str]) -> str:
    return _titled("What the character also knows", lines)


def _memories(memories: Iterable[RecalledLine]) -> str:
    return _titled("What comes to the character's mind of earlier", (f"- {one.text}" for one in memories))


def _conversation(lines: Iterable[TalkLine]) -> str:
    told = (f"Player: {one.said or '(silence)'}\nYou ({one.outcome}): {one.reply}" for one in lines)
    return _titled("This conversation", told)


def _lessons(talk: Talk) -> str:
    worked = _titled("What brought the player closer", talk.worked)
    failed = _titled("What led nowhere", talk.failed)
    return "\n\n".join(part for part in (worked, failed) if part)


def _shorter(context: KnotContext, key: str) -> Callable[[], Iterator[str]] | None:
    """The past without its oldest lines, and what is known without its last."""
    match key:
        case "story_so_far":
            return lambda: map(_earlier, newest_halves(context.earlier))
        case "shared_history":
            lines = context.story_so_far
            return lambda: (_told(lines[count:]) for count in newest_cuts(len(lines)))
        case _:
            return _shorter_talk(context, key) if isinstance(context, InkAgentContext) else None


def _shorter_talk(context: InkAgentContext, key: str) -> Callable[[], Iterator[str]] | None:
    match key:
        case "talk_lines":
            lines = context.talk.lines
            return lambda: (_conversation(lines[count:]) for count in newest_cuts(len(lines), TALK_CUT))
        case "talk_so_far":
            title = "Earlier in this conversation, in short"
            return lambda: (_titled(title, some) for some in newest_halves(context.talk.earlier))
        case "memories":
            return lambda: map(_memories, newest_halves(context.memories))
        case "knowledge":
            return lambda: map(_knowledge, halves(context.knowledge))
        case "voice":
            return lambda: map(_voice, halves(context.voice))
        case _:
            return None
