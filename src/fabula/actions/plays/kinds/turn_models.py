"""Who plays a turn: the models of the session, the understudy in their place, or the understudy when they fail."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.library.builtins import UNDERSTUDY
from fabula.loops.stand_in import StandInModels, wants_stand_in
from fabula.loops.turns.stage import Stage
from fabula.ports.models import ModelClients
from fabula.ports.work import Work
from fabula.story.resources import Preset
from fabula.story.values import JsonObject

PLAYED_WITH = "with"


def played_with(stand_in: str | None) -> JsonObject:
    """What the work on a turn says of who plays it, so that whoever takes it up again plays it alike."""
    return {} if stand_in is None else {PLAYED_WITH: stand_in}


def is_for_understudy(work: Work) -> bool:
    """Whether a turn was asked for without the session's models."""
    return work.input.get(PLAYED_WITH) == UNDERSTUDY.api_id


def models_of_turn(house: House, preset: Preset, stage: Stage) -> ModelClients:
    """The house's models, with the understudy behind them where the preset wants that."""
    if not wants_stand_in(preset):
        return house.models
    return StandInModels(house.models, UNDERSTUDY, stage=stage, clock=house.clock)
