"""The commands of the terminal player: a table, so that /help, completion and the player itself cannot disagree.

A command is a verb on the player_session. To add one, write its function and give it a row in `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Generic, Literal, Protocol, TypeVar

from fabula.actions.house import House
from fabula.actions.library.apis import list_apis
from fabula.actions.library.model_choice import group_of_model
from fabula.actions.plays.branches import (
    Backtrack,
    Fork,
    ListBranches,
    SwitchBranch,
    backtrack,
    fork,
    list_branches,
    switch_branch,
)
from fabula.actions.plays.journal import ListJournal, list_journal
from fabula.actions.plays.play_memories import (
    ListBeliefs,
    ListMemories,
    SearchMemories,
    list_beliefs,
    list_memories,
    search_memories,
)
from fabula.actions.plays.recap_session import RecapSession, recap_session
from fabula.actions.plays.scenes import ListScenes, list_scenes
from fabula.actions.plays.sessions import (
    RenameSession,
    SessionView,
    UpdateConfig,
    get_config,
    update_config,
    update_session,
)
from fabula.actions.plays.suggest_replies import DEFAULT, FEWEST, MOST, SuggestReplies, suggest_replies
from fabula.actions.rules.game_systems import NameGameSystem, get_game_system
from fabula.actions.rules.roll_dice import RollDice, roll_dice
from fabula.actions.rules.sheets import NameSheet, get_sheet
from fabula.actions.views import Nothing, Paging
from fabula.cli.player.boundaries_command import boundaries
from fabula.cli.player.canon_commands import canon, entities, facts, inventory
from fabula.cli.player.context_command import context
from fabula.cli.player.history import show_history
from fabula.cli.player.lines import typed_number
from fabula.cli.player.people_commands import conflicts, relations
from fabula.cli.player.player_session import PlayerSession
from fabula.cli.player.sentences import counted
from fabula.cli.player.talk_commands import build, talk
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.trees import drawn_tree, leaves_of
from fabula.cli.player.turn_trace import find_trace, show_trace
from fabula.cli.player.zero_command import zero
from fabula.ports.actors import OPERATOR
from fabula.recall.perception import PLAYER_OWNER
from fabula.story.journals import JournalStatus
from fabula.story.scenes import SceneOutcome

Outcome = Literal["go_on", "leave"]


class Seated(Protocol):
    """Whoever sits at a play, of either kind, as far as commands know."""

    house: House
    session_id: str

    @property
    def writer(self) -> TerminalWriter: ...

    async def session(self) -> SessionView: ...

    async def play_again(self) -> None: ...

    async def say_again(self, *, with_understudy: bool = False) -> None: ...

    def show_status(self, session: SessionView) -> None: ...

    async def show_place(self, session: SessionView) -> None: ...


S = TypeVar("S", bound=Seated, contravariant=True)


@dataclass(frozen=True, kw_only=True)
class PlayerCommand(Generic[S]):
    """A command: its arguments as /help shows them, its sentence there, and what it does with what follows it."""

    arguments: str = ""
    sentence: str
    run: Callable[[S, str], Awaitable[Outcome | None]]


Commands = Mapping[str, PlayerCommand[S]]

COLUMN = 18
"""How wide the commands stand in their list."""


def is_command(line: str) -> bool:
    return line.startswith("/")


async def run_command(player_session: S, line: str, commands: Commands[S]) -> Outcome:
    """Does what a line with a slash asks for; an unknown word is answered helpfully."""
    name, _, rest = line[1:].partition(" ")
    command = commands.get(name.lower())
    if command is None:
        player_session.writer.say(_unknown(name, commands), "yellow")
        return "go_on"
    return await command.run(player_session, rest.strip()) or "go_on"


def _unknown(name: str, commands: Collection[str]) -> str:
    typed = name.lower()
    near = [one for one in commands if typed and one.startswith(typed)] or get_close_matches(typed, commands, n=1)
    guess = f" Did you mean /{near[0]}?" if near else ""
    return f"There is no command /{name}.{guess} /help lists them all; anything without a slash is said or done."


async def _status(player_session: Seated, _: str) -> None:
    session = await player_session.session()
    player_session.show_status(session)
    player_session.writer.say(f"Saved as “{session.display_name}”. Come back with:", "dim")
    player_session.writer.row(f"fabula play --session {session.session_id}", "dim", indent=2)


async def _backtrack(player_session: Seated, rest: str) -> None:
    turns = typed_number(rest or "1")
    if not turns:
        player_session.writer.say("Say how many turns to go back, as a number: /backtrack 2", "yellow")
        return
    played = (await player_session.session()).turn_index
    if turns > played:
        player_session.writer.say(_too_far(played), "yellow")
        return
    view = await backtrack(player_session.house, OPERATOR, player_session.session_id, Backtrack(turns=turns))
    player_session.writer.say(f"Back at turn {view.turn_index}. The other line stays: /branches shows it.")
    await player_session.show_place(view)


def _too_far(played: int) -> str:
    if played == 0:
        return "This is the beginning: nothing has been played yet."
    return f"Only {counted(played, 'turn')} {'has' if played == 1 else 'have'} been played."


async def _branches(player_session: Seated, _: str) -> None:
    view = await list_branches(player_session.house, OPERATOR, player_session.session_id, ListBranches())
    for line, here in drawn_tree(view):
        player_session.writer.row(line, "bold" if here else "")
    if len(leaves_of(view)) > 1:
        player_session.writer.say("/switch NUMBER goes on from the end of another line.", "dim")


async def _switch(player_session: Seated, rest: str) -> None:
    leaves = leaves_of(await list_branches(player_session.house, OPERATOR, player_session.session_id, ListBranches()))
    number = typed_number(rest)
    if number is None or not 1 <= number <= len(leaves):
        player_session.writer.say(_which_line(len(leaves)), "yellow")
        return
    turn_id = leaves[number - 1].turn_id
    view = await switch_branch(player_session.house, OPERATOR, player_session.session_id, SwitchBranch(turn_id=turn_id))
    player_session.writer.say(f"On line {number} now, at turn {view.turn_index}.")
    await player_session.show_place(view)


def _which_line(lines: int) -> str:
    if lines == 1:
        return "There is only one line so far. /backtrack goes back, and what you say then begins another."
    return f"Say which line, a number from 1 to {lines}; /branches shows them."


async def _fork(player_session: Seated, rest: str) -> None:
    forked = await fork(player_session.house, OPERATOR, player_session.session_id, Fork(display_name=rest or None))
    old, player_session.session_id = player_session.session_id, forked.session_id
    player_session.writer.say(f"You go on in a copy, “{forked.display_name}”. The first one waits for you:")
    player_session.writer.row(f"fabula play --session {old}", indent=2)


async def _regenerate(player_session: Seated, _: str) -> None:
    await player_session.play_again()


async def _retry(player_session: Seated, _: str) -> None:
    await player_session.say_again()


async def _understudy(player_session: Seated, _: str) -> None:
    await player_session.say_again(with_understudy=True)


async def _model(player_session: Seated, rest: str) -> None:
    house, writer = player_session.house, player_session.writer
    if not rest:
        config = await get_config(house, OPERATOR, player_session.session_id, Nothing())
        apis = (await list_apis(house, OPERATOR, Paging())).apis
        writer.say(f"This play uses the models of '{config.api_group_id}'. There are:")
        for api in apis:
            writer.row(f"/model {api.api_id:<18}{api.display_name}", indent=2)
        writer.say("Or name one that `fabula models detect` finds.", "dim")
        return
    group = await group_of_model(house, OPERATOR, rest)
    await update_config(house, OPERATOR, player_session.session_id, UpdateConfig(api_group_id=group))
    writer.say(f"This play goes on with {rest}. After a failed turn, /retry says your words again.")


async def _suggest(player_session: PlayerSession, rest: str) -> None:
    limit = typed_number(rest)
    if rest and (limit is None or not FEWEST <= limit <= MOST):
        player_session.writer.say(f"Ask for {FEWEST} to {MOST} suggestions: /suggest {DEFAULT}", "yellow")
        return
    view = await suggest_replies(player_session.house, OPERATOR, player_session.session_id, SuggestReplies(limit=limit))
    player_session.suggested[:] = [reply.text for reply in view.replies]
    for number, text in enumerate(player_session.suggested, 1):
        player_session.writer.say(f"{number}. {text}", indent=2)
    player_session.writer.say("A number says it for you.", "dim")


async def _thoughts(player_session: PlayerSession, _: str) -> None:
    player_session.telling.thoughts = not player_session.telling.thoughts
    what = "You now read what characters think." if player_session.telling.thoughts else "Thoughts are private again."
    player_session.writer.say(what)


async def _time(player_session: PlayerSession, _: str) -> None:
    time = (await player_session.session()).snapshot.time
    player_session.writer.say("No time passes in this story." if time is None else f"{time.text}.")


_JOURNAL_PARTS: Mapping[JournalStatus, str] = {"open": "Open", "done": "Done", "failed": "Failed"}


async def _journal(player_session: PlayerSession, _: str) -> None:
    house, writer = player_session.house, player_session.writer
    if (await player_session.session()).snapshot.time is None:
        writer.say("This story keeps no journal.")
        return
    listed = await list_journal(house, OPERATOR, player_session.session_id, ListJournal())
    for status, title in _JOURNAL_PARTS.items():
        entries = [entry for entry in listed.entries if entry.status == status]
        if entries:
            writer.say(title, "bold")
        for entry in entries:
            writer.say(f"{entry.title}. {entry.text}".strip(), indent=2)


async def _memories(player_session: PlayerSession, rest: str) -> None:
    house, writer = player_session.house, player_session.writer
    owner = rest.strip() or PLAYER_OWNER
    listed = await list_memories(house, OPERATOR, player_session.session_id, ListMemories(owner_id=owner, limit=20))
    if not listed.memories:
        writer.say(f"{owner} remembers nothing yet. What happened is written down every few turns.")
    for memory in reversed(listed.memories):
        writer.say(f"{memory.speaker}: {memory.text}" if memory.speaker else memory.text, indent=2)


async def _beliefs(player_session: PlayerSession, rest: str) -> None:
    house, writer = player_session.house, player_session.writer
    owner = rest.strip() or PLAYER_OWNER
    listed = await list_beliefs(house, OPERATOR, player_session.session_id, ListBeliefs(owner_id=owner, limit=20))
    if not listed.beliefs:
        writer.say(f"{owner} takes nothing to be true yet. What happened is written down every few turns.")
    for belief in listed.beliefs:
        source = f", from {belief.from_whom}" if belief.from_whom else ""
        writer.say(f"{belief.text} ({belief.sureness}{source})", indent=2)


async def _why(player_session: PlayerSession, rest: str) -> None:
    house, writer = player_session.house, player_session.writer
    if not rest.strip():
        writer.say("Say about what: /why the lantern", "yellow")
        return
    asked = SearchMemories(query=rest.strip()[:2000], limit=5)
    found = await search_memories(house, OPERATOR, player_session.session_id, asked)
    if not found.found:
        writer.say("Nothing comes to mind.")
    for one in found.found:
        writer.say(f"{one.memory.speaker}: {one.memory.text}" if one.memory.speaker else one.memory.text, indent=2)
        writer.say(", ".join(f"{reason.part} {reason.score:.1f}" for reason in one.reasons), "dim", indent=4)


async def _roll(player_session: Seated, rest: str) -> None:
    formula, _, reason = rest.partition(" ")
    if not formula:
        player_session.writer.say("Say which dice, in their usual notation: /roll 2d6+1 to climb the wall", "yellow")
        return
    command = RollDice(formula=formula, reason=reason.strip().removeprefix("for ").strip())
    rolled = await roll_dice(player_session.house, OPERATOR, player_session.session_id, command)
    player_session.writer.say(f"{rolled.sentence}.")


async def _character(player_session: Seated, rest: str) -> None:
    house, writer = player_session.house, player_session.writer
    sheet = await get_sheet(house, OPERATOR, player_session.session_id, NameSheet(character_id=rest or None))
    system = await get_game_system(house, OPERATOR, NameGameSystem(system_id=sheet.system_id))
    for part in (system.attributes, system.skills, system.tracks):
        shown = [f"{one.display_name} {sheet.stats[name]}" for name, one in part.items()]
        if shown:
            writer.say(", ".join(shown))
    there = sheet.stats.get("conditions")
    if isinstance(there, list) and there:
        writer.say(", ".join(system.conditions[str(name)].display_name for name in there), "yellow")


async def _end_scene(player_session: PlayerSession, _: str) -> None:
    await player_session.end_scene()


async def _flashback(player_session: PlayerSession, text: str) -> None:
    if not text:
        player_session.writer.say("Say what you remember: /flashback Two days ago, at the Long Bridge.", "yellow")
        return
    await player_session.flashback(text)


async def _out_of_character(player_session: PlayerSession, text: str) -> None:
    if not text:
        player_session.writer.say("Say what you wish of the telling: /ooc Shorter, please.", "yellow")
        return
    if player_session.telling.ended:
        player_session.writer.say("This play has ended: nothing more is told.", "yellow")
        return
    await player_session.say(f"(({text.replace('(', '[').replace(')', ']')}))")


async def _scenes(player_session: PlayerSession, _: str) -> None:
    listed = await list_scenes(player_session.house, OPERATOR, player_session.session_id, ListScenes())
    for scene in reversed(listed.scenes):
        how = "now" if scene.outcome is None else SCENE_OUTCOMES[scene.outcome]
        player_session.writer.say(f"{scene.title} ({how})", "bold")
        if scene.summary:
            player_session.writer.say(scene.summary, indent=2)


SCENE_OUTCOMES: Mapping[SceneOutcome, str] = {
    "left": "left",
    "met": "done",
    "asked": "ended",
    "turns": "it had gone on for long",
    "ended": "the last",
}


async def _recap(player_session: Seated, _: str) -> None:
    recap = await recap_session(player_session.house, OPERATOR, player_session.session_id, RecapSession())
    player_session.writer.say(recap.text or "Nothing has happened yet.")


async def _transcript(player_session: Seated, _: str) -> None:
    show_history(player_session.writer, await player_session.session(), most=None)


async def _trace(player_session: Seated, rest: str) -> None:
    session = await player_session.session()
    trace = await find_trace(player_session.house, player_session.session_id, rest, head_turn_id=session.head_turn_id)
    show_trace(player_session.writer, trace)


async def _save(player_session: Seated, rest: str) -> None:
    session = await player_session.session()
    if rest:
        session = await update_session(
            player_session.house, OPERATOR, player_session.session_id, RenameSession(display_name=rest)
        )
    player_session.writer.say(
        f"This play is called “{session.display_name}”; every turn is saved by itself. Come back with:"
    )
    player_session.writer.row(f"fabula play --session {session.session_id}", indent=2)


async def _quit(player_session: Seated, _: str) -> Outcome:
    return "leave"


def _with_help(sentence: str, commands: Commands[S]) -> Commands[S]:
    """The commands, and the one that lists them under a sentence."""

    async def help(player_session: Seated, _: str) -> None:
        player_session.writer.say(f"{sentence} Or use a command:")
        for name, command in table.items():
            call = f"/{name} {command.arguments}".strip()
            # One that is too long for its column has a line of its own.
            if len(call) >= COLUMN:
                player_session.writer.row(call, indent=2)
                call = ""
            player_session.writer.row(f"{call:<{COLUMN}}{command.sentence}", indent=2)

    table: Commands[S] = {"help": PlayerCommand(sentence="Lists the commands.", run=help), **commands}
    return table


_OF_ALL: Commands[Seated] = {
    "status": PlayerCommand(sentence="Shows where you are, who is here, and what you watch.", run=_status),
    "backtrack": PlayerCommand(arguments="[N]", sentence="Goes back one turn, or N.", run=_backtrack),
    "branches": PlayerCommand(sentence="Shows the tree of everything you have tried.", run=_branches),
    "switch": PlayerCommand(arguments="N", sentence="Goes on from the end of line N of the tree.", run=_switch),
    "fork": PlayerCommand(arguments="[NAME]", sentence="Goes on in a copy; this play stays as it is.", run=_fork),
    "regenerate": PlayerCommand(sentence="Plays the last turn anew.", run=_regenerate),
    "retry": PlayerCommand(sentence="Says the words of a failed or stopped turn again.", run=_retry),
    "understudy": PlayerCommand(sentence="Plays a failed turn without a model, by rules.", run=_understudy),
    "model": PlayerCommand(arguments="[NAME]", sentence="Shows the models, or takes another one.", run=_model),
    "roll": PlayerCommand(arguments="DICE [WHY]", sentence="Rolls dice: /roll 2d6+1 to climb.", run=_roll),
    "character": PlayerCommand(arguments="[ID]", sentence="Shows your sheet, or somebody's.", run=_character),
    "recap": PlayerCommand(sentence="Tells the story so far, in short.", run=_recap),
    "transcript": PlayerCommand(sentence="Shows everything that was said so far.", run=_transcript),
    "trace": PlayerCommand(
        arguments="[TURN]", sentence="Shows what happened in the last turn, or in one by its number.", run=_trace
    ),
    "save": PlayerCommand(arguments="[NAME]", sentence="Names this play; it is saved after every turn.", run=_save),
    "quit": PlayerCommand(sentence="Leaves. You can come back at any time.", run=_quit),
}
_OF_SCENES: Commands[PlayerSession] = {
    "talk": PlayerCommand(arguments="NAME ...", sentence="Talks with up to four of them; alone, ends it.", run=talk),
    "end-scene": PlayerCommand(sentence="Ends the scene of a free play; the world moves on.", run=_end_scene),
    "flashback": PlayerCommand(
        arguments="TEXT", sentence="Plays a scene of the past; /end-scene returns to the present.", run=_flashback
    ),
    "ooc": PlayerCommand(
        arguments="TEXT",
        sentence="Tells the storyteller something out of character; ((text)) in a line does, too.",
        run=_out_of_character,
    ),
    "scenes": PlayerCommand(sentence="Lists the scenes so far, and what came of them.", run=_scenes),
    "build": PlayerCommand(sentence="Builds the world of this play by talking about it.", run=build),
    "boundaries": PlayerCommand(
        arguments="[line|veil|drop|rating WORDS]",
        sentence="Shows or sets what this table does not want.",
        run=boundaries,
    ),
    "zero": PlayerCommand(sentence="Asks what this play is about, and what it must not do.", run=zero),
    "suggest": PlayerCommand(arguments="[N]", sentence="Suggests what you might say or do.", run=_suggest),
    "time": PlayerCommand(sentence="Tells what time it is in the story.", run=_time),
    "journal": PlayerCommand(sentence="Lists what you set out to do, and what became of it.", run=_journal),
    "relations": PlayerCommand(
        arguments="[WHO]", sentence="Tells how others stand to you, or how somebody stands to all.", run=relations
    ),
    "conflicts": PlayerCommand(sentence="Tells what people are at odds about, and how far it has come.", run=conflicts),
    "memories": PlayerCommand(
        arguments="[WHO]", sentence="Lists what you, or a character by its id, remember.", run=_memories
    ),
    "beliefs": PlayerCommand(
        arguments="[WHO]", sentence="Lists what you, or a character by its id, take to be true.", run=_beliefs
    ),
    "facts": PlayerCommand(arguments="[ABOUT]", sentence="Lists what is true here, or of somebody.", run=facts),
    "entities": PlayerCommand(sentence="Lists who and what canon knows.", run=entities),
    "inventory": PlayerCommand(sentence="Lists what you carry.", run=inventory),
    "canon": PlayerCommand(sentence="Shows what was proposed in this play, and what became of it.", run=canon),
    "context": PlayerCommand(
        arguments="[TEXT]", sentence="Shows what models would be told next, and what would be left out.", run=context
    ),
    "why": PlayerCommand(arguments="WORDS", sentence="Shows what some words bring back to you, and why.", run=_why),
    "thoughts": PlayerCommand(sentence="Shows or hides what characters think.", run=_thoughts),
}
COMMANDS: Commands[PlayerSession] = _with_help(
    "Say or do anything in your own words: I ask Tobias about the lamp.", {**_OF_ALL, **_OF_SCENES}
)
_OF_INK: Commands[Seated] = {
    **_OF_ALL,
    "status": PlayerCommand(sentence="Shows where you are, and what the story waits for.", run=_status),
}
INK_COMMANDS: Commands[Seated] = _with_help(
    "Type the number of a choice, or say something to whoever you talk to.", _OF_INK
)
