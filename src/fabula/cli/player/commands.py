"""The commands of the terminal player: a table, so that /help, completion and the player itself cannot disagree.

A command is a verb on the sitting. To add one, write its function and give it a row in `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from fabula.actions.branches import Backtrack, Fork, SwitchBranch, backtrack, fork, list_branches, switch_branch
from fabula.actions.sessions import RenameSession, SessionView, update_session
from fabula.actions.suggest_replies import SuggestReplies, suggest_replies
from fabula.actions.views import Nothing
from fabula.cli.player.sitting import Sitting
from fabula.cli.player.trees import drawn_tree, leaves_of
from fabula.story.values import Json

Outcome = Literal["go_on", "leave"]


@dataclass(frozen=True, kw_only=True)
class PlayerCommand:
    """A command: its arguments as /help shows them, its sentence there, and what it does with what follows it."""

    arguments: str = ""
    sentence: str
    run: Callable[[Sitting, str], Awaitable[Outcome | None]]


def is_command(line: str) -> bool:
    return line.startswith("/")


async def run_command(sitting: Sitting, line: str) -> Outcome:
    """Does what a line with a slash asks for; an unknown word is answered helpfully."""
    name, _, rest = line[1:].partition(" ")
    command = COMMANDS.get(name.lower())
    if command is None:
        sitting.paper.say(_unknown(name), "yellow")
        return "go_on"
    return await command.run(sitting, rest.strip()) or "go_on"


def _unknown(name: str) -> str:
    near = get_close_matches(name.lower(), COMMANDS, n=1)
    guess = f" Did you mean /{near[0]}?" if near else ""
    return f"There is no command /{name}.{guess} /help lists them all; anything without a slash is said or done."


async def _help(sitting: Sitting, _: str) -> None:
    sitting.paper.say("Say or do anything in your own words: I ask Tobias about the lamp. Or use a command:")
    for name, command in COMMANDS.items():
        call = f"/{name} {command.arguments}".strip()
        sitting.paper.row(f"{call:<18}{command.sentence}", indent=2)


async def _status(sitting: Sitting, _: str) -> None:
    session = await sitting.session()
    world = session.snapshot.world_state
    present = ", ".join(sitting.telling.names.get(id, id) for id in world.active_characters) or "nobody else"
    title = sitting.telling.titles.get(world.current_node, world.current_node)
    paper = sitting.paper
    paper.say(f"{sitting.story.display_name}: {title}", "bold")
    paper.say(f"Turn {session.turn_index}, {'ended' if session.status == 'ended' else 'open'}. Here: {present}.")
    for variable in sitting.story.common_variables:
        held: Mapping[str, Json] = {
            "world": world.custom,
            "player": world.player_state,
            "character": world.character_state.get(variable.character_id or "", {}),
        }[variable.scope]
        if variable.pinned and variable.key in held:
            paper.say(f"{variable.display_name}: {_plain(held[variable.key])}", indent=2)
    paper.say(f"Saved as “{session.display_name}”. Come back with:", "dim")
    paper.row(f"fabula play --session {session.session_id}", "dim", indent=2)


def _plain(value: Json) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


async def _backtrack(sitting: Sitting, rest: str) -> None:
    if rest and not rest.isdecimal():
        sitting.paper.say("Say how many turns to go back, as a number: /backtrack 2", "yellow")
        return
    view = await backtrack(sitting.house, sitting.session_id, Backtrack(turns=int(rest or "1")))
    sitting.paper.say(f"Back at turn {view.turn_index}. The other line stays: /branches shows it.")
    show_place(sitting, view)


async def _branches(sitting: Sitting, _: str) -> None:
    view = await list_branches(sitting.house, sitting.session_id, Nothing())
    for line, here in drawn_tree(view):
        sitting.paper.row(line, "bold" if here else "")
    if len(leaves_of(view)) > 1:
        sitting.paper.say("/switch NUMBER goes on from the end of another line.", "dim")


async def _switch(sitting: Sitting, rest: str) -> None:
    leaves = leaves_of(await list_branches(sitting.house, sitting.session_id, Nothing()))
    if not rest.isdecimal() or not 1 <= int(rest) <= len(leaves):
        sitting.paper.say(f"Say which line, a number from 1 to {len(leaves)}; /branches shows them.", "yellow")
        return
    turn_id = leaves[int(rest) - 1].turn_id
    view = await switch_branch(sitting.house, sitting.session_id, SwitchBranch(turn_id=turn_id))
    sitting.paper.say(f"On line {rest} now, at turn {view.turn_index}.")
    show_place(sitting, view)


async def _fork(sitting: Sitting, rest: str) -> None:
    forked = await fork(sitting.house, sitting.session_id, Fork(display_name=rest or None))
    old, sitting.session_id = sitting.session_id, forked.session_id
    sitting.paper.say(f"You go on in a copy, “{forked.display_name}”. The first one waits for you:")
    sitting.paper.row(f"fabula play --session {old}", indent=2)


async def _regenerate(sitting: Sitting, _: str) -> None:
    await sitting.play_again()


async def _retry(sitting: Sitting, _: str) -> None:
    await sitting.say_again()


async def _suggest(sitting: Sitting, rest: str) -> None:
    limit = int(rest) if rest.isdecimal() else None
    view = await suggest_replies(sitting.house, sitting.session_id, SuggestReplies(limit=limit))
    sitting.suggested[:] = [reply.text for reply in view.replies]
    for number, text in enumerate(sitting.suggested, 1):
        sitting.paper.say(f"{number}. {text}", indent=2)
    sitting.paper.say("A number says it for you.", "dim")


async def _thoughts(sitting: Sitting, _: str) -> None:
    sitting.telling.thoughts = not sitting.telling.thoughts
    what = "You now read what characters think." if sitting.telling.thoughts else "Thoughts are private again."
    sitting.paper.say(what)


async def _transcript(sitting: Sitting, _: str) -> None:
    show_history(sitting, await sitting.session(), most=None)


async def _save(sitting: Sitting, rest: str) -> None:
    session = await sitting.session()
    if rest:
        session = await update_session(sitting.house, sitting.session_id, RenameSession(display_name=rest))
    sitting.paper.say(f"This play is called “{session.display_name}”; every turn is saved by itself. Come back with:")
    sitting.paper.row(f"fabula play --session {session.session_id}", indent=2)


async def _quit(sitting: Sitting, _: str) -> Outcome:
    return "leave"


def show_place(sitting: Sitting, session: SessionView) -> None:
    """Where a play stands, after going somewhere else in it."""
    sitting.telling.ended = session.status == "ended"
    sitting.suggested.clear()
    if session.history:
        show_history(sitting, session, most=session.turn_index)
    else:
        sitting.telling.heading(session.snapshot.world_state.current_node)


def show_history(sitting: Sitting, session: SessionView, *, most: int | None) -> None:
    """The transcript, or only what was said in turn `most`."""
    for message in session.history:
        if most is not None and message.turn_index != most:
            continue
        match message.kind:
            case "player_input":
                sitting.paper.gap()
                sitting.paper.say(f"> {message.text}", "bold")
            case "dialogue":
                sitting.paper.say(f"{message.speaker_name}: “{message.text}”")
            case "action":
                sitting.paper.gap()
                sitting.paper.say(message.text, "italic green")
            case _:
                sitting.paper.gap()
                sitting.paper.say(message.text)


COMMANDS: dict[str, PlayerCommand] = {
    "help": PlayerCommand(sentence="Lists the commands.", run=_help),
    "status": PlayerCommand(sentence="Shows where you are, who is here, and what you watch.", run=_status),
    "backtrack": PlayerCommand(arguments="[N]", sentence="Goes back one turn, or N.", run=_backtrack),
    "branches": PlayerCommand(sentence="Shows the tree of everything you have tried.", run=_branches),
    "switch": PlayerCommand(arguments="N", sentence="Goes on from the end of line N of the tree.", run=_switch),
    "fork": PlayerCommand(arguments="[NAME]", sentence="Goes on in a copy; this play stays as it is.", run=_fork),
    "regenerate": PlayerCommand(sentence="Plays the last turn anew.", run=_regenerate),
    "retry": PlayerCommand(sentence="Says the words of a failed or stopped turn again.", run=_retry),
    "suggest": PlayerCommand(arguments="[N]", sentence="Suggests what you might say or do.", run=_suggest),
    "thoughts": PlayerCommand(sentence="Shows or hides what characters think.", run=_thoughts),
    "transcript": PlayerCommand(sentence="Shows everything that was said so far.", run=_transcript),
    "save": PlayerCommand(arguments="[NAME]", sentence="Names this play; it is saved after every turn.", run=_save),
    "quit": PlayerCommand(sentence="Leaves. You can come back at any time.", run=_quit),
}
