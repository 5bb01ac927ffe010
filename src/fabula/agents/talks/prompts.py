"""The prompts of the AI knots: typed contexts become messages. What never changes stands first."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

from fabula.agents.wishes import wish_text
from fabula.ports.models import Message
from fabula.story.contexts import InkAgentContext, InkGenerateContext
from fabula.story.ink_stories import Heard, Talk

_TEXTS = {
    file.name.removesuffix(".txt"): file.read_text("utf-8").strip()
    for file in (files("fabula.agents.talks") / "texts").iterdir()
    if file.name.endswith(".txt")
}


def agent_messages(context: InkAgentContext) -> tuple[Message, ...]:
    """The prompt of a character, or of the teller when nobody is named."""
    if context.character is None:
        rules = _TEXTS["continue"]
    else:
        rules = _TEXTS["agent"].replace("{character}", context.character)
    voice = _section("How the character speaks, and what it knows", context.voice)
    asked = [
        _section("What the character also knows", context.knowledge),
        *_story(context.earlier, context.story_so_far),
        *_conversation(context.talk),
        _section("What comes to the character's mind of earlier", (f"- {one.text}" for one in context.memories)),
        _section("The goal: where the story goes on. Never tell it", context.goal),
        _section("The player now says or does", [context.player_input.strip() or "(nothing: the player is silent)"]),
        wish_text(context.wish),
        _TEXTS["decision"],
    ]
    return _messages([rules, voice], asked)


def generate_messages(context: InkGenerateContext) -> tuple[Message, ...]:
    """The prompt of a text that the story asks for."""
    asked = [
        *_story(context.earlier, context.story_so_far),
        _section("Write", [context.prompt]),
        wish_text(context.wish),
    ]
    return _messages([_TEXTS["generate"]], asked)


def rewrite_messages(messages: tuple[Message, ...], wish: str = "rewrite") -> tuple[Message, ...]:
    """Asks for the same in words that give nothing away. What was given away is not said again."""
    return (
        *messages,
        Message(role="assistant", content="(an answer that told too much)"),
        Message(role="user", content=_TEXTS[wish]),
    )


def instruction_texts() -> tuple[str, ...]:
    """The texts that no character may recite."""
    return tuple(_TEXTS[name] for name in ("agent", "continue", "decision", "generate"))


def _messages(system: list[str], user: list[str]) -> tuple[Message, ...]:
    return (
        Message(role="system", content="\n\n".join(part for part in system if part)),
        Message(role="user", content="\n\n".join(part for part in user if part)),
    )


def _section(title: str, lines: Iterable[str]) -> str:
    body = "\n".join(lines)
    return f"## {title}\n{body}" if body else ""


_MARKS = {"text": "", "context": "(known, not seen) ", "choice": "> ", "said": "Player: ", "reply": ""}


def _story(earlier: list[str], lines: list[Heard]) -> list[str]:
    return [
        _section("Long before, in short", earlier),
        _section("The story so far", (f"{_MARKS[one.kind]}{one.text}" for one in lines)),
    ]


def _conversation(talk: Talk) -> list[str]:
    lines = [f"Player: {one.said or '(silence)'}\nYou ({one.outcome}): {one.reply}" for one in talk.lines]
    return [
        _section("Earlier in this conversation, in short", talk.earlier),
        _section("This conversation", lines),
        _section("What brought the player closer", talk.worked),
        _section("What led nowhere", talk.failed),
    ]
