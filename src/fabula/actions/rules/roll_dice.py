"""Roll dice in a play: the code rolls, seeded, and the roll is a line of the transcript that can be gone back from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.messages import spoken_line
from fabula.actions.rules.game_systems import unknown_formula
from fabula.actions.views import Command, View
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import Actor
from fabula.ports.plays import MessageChange
from fabula.rules.draws import play_draws
from fabula.rules.formulas import FormulaError, parse_formula
from fabula.rules.rolls import Rolled, roll
from fabula.story.change_labels import change_label
from fabula.story.checks import PLAYER, RollView, ShownDie

MOST_SHOWN = 40


class RollDice(Command):
    """`formula` is dice notation, such as `2d6+1`, `4d6kh3` or `4dF`; `reason` says what they are rolled for."""

    formula: str = Field(max_length=200)
    reason: str = Field(default="", max_length=400)


class DiceRolled(View):
    """`roll` is what fell; `sentence` stands in the transcript, under `message_id`."""

    type: Literal["dice_rolled"] = "dice_rolled"
    roll: RollView
    reason: str
    sentence: str
    message_id: str


@allowed("player")
async def roll_dice(house: House, actor: Actor, session_id: str, command: RollDice) -> DiceRolled:
    """Rolls dice and writes the roll into the transcript; going back takes it back, and the same dice fall again."""
    try:
        formula = parse_formula(command.formula)
    except FormulaError as error:
        raise unknown_formula(str(error)) from None
    reason = " ".join(command.reason.split())

    async def change(at: AtHead) -> tuple[Amendment, DiceRolled]:
        draws = play_draws(at.play.tree_id, at.state.dice_seed, at.state.dice_cursor)
        try:
            rolled = roll(formula, draws)
        except FormulaError as error:
            raise unknown_formula(str(error)) from None
        sentence = _sentence(at.state.player_name, command.formula, reason, rolled)
        said = spoken_line(at, kind="action", speaker_id=PLAYER, speaker_name=at.state.player_name, text=sentence)
        state = await kind_of_play(at.state).say(at, entry_of(said))
        state = state.model_copy(update={"message_count": state.message_count + 1, "dice_cursor": draws.cursor})
        told = DiceRolled(
            roll=shown_roll(command.formula, rolled), reason=reason, sentence=sentence, message_id=said.message_id
        )
        label = change_label("dice_rolled", command.formula)
        return Amendment(state=state, messages=[MessageChange(op="say", message=said)], label=label), told

    return (await amend(house, actor, session_id, change))[1]


def shown_roll(formula: str, rolled: Rolled) -> RollView:
    """A roll as clients see it."""
    return RollView(
        formula=formula,
        dice=[ShownDie(size=die.size, shown=list(die.shown), kept=die.is_kept) for die in rolled.dice],
        raw=[die.value for die in rolled.dice],
        kept=[die.value for die in rolled.dice if die.is_kept],
        total=rolled.total,
    )


def _sentence(who: str, formula: str, reason: str, rolled: Rolled) -> str:
    fallen = ", ".join(f"{die.value}" if die.is_kept else f"({die.value})" for die in rolled.dice[:MOST_SHOWN])
    more = ", …" if len(rolled.dice) > MOST_SHOWN else ""
    # `/roll 2d6 to climb` says already how it goes on.
    joint = "" if reason.startswith(("to ", "for ")) else "for "
    what = f" {joint}{reason}" if reason else ""
    dice = f" [{fallen}{more}]" if fallen else ""
    return f"{who} rolls {' '.join(formula.split())}{what}: {rolled.total}{dice}"
