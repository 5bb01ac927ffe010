"""People of a story: what they are after follows from the play, and takes them elsewhere than usual."""

from __future__ import annotations

from fabula.story.calendars import Calendar, moment
from fabula.story.people import Person, bent_schedules, first_relations, goals_now
from fabula.story.relations import Relation, Relations
from fabula.story.schedules import Schedule, place_of
from fabula.story.state import WorldState

MARA = Person.model_validate(
    {
        "bonds": {"bram": {"trust": -0.3, "reason": "He sold her father's boat."}},
        "goals": [
            {
                "goal_id": "the-well",
                "text": "Keep the well open.",
                "rules": [
                    {"when": {"key": "dry", "op": "eq", "value": True}, "by": 0.3, "why": "The cistern is dry."},
                    {"feeling": {"who": "mara", "axis": "trust", "at_least": 0.5}, "by": -0.4, "why": "You see to it."},
                ],
                "at": {"evening": "the-well"},
            },
            {"goal_id": "sleep", "text": "Sleep one night through.", "strength": 0.1},
        ],
    }
)
SCHEDULES = {"mara": Schedule.model_validate({"usual": {"morning": "the-shop", "evening": "the-inn"}})}


def state(*, dry: bool) -> WorldState:
    return WorldState(current_node="square", custom={"dry": dry})


def where(*, dry: bool, relations: Relations | None = None, hour: int = 19) -> str | None:
    now = moment(Calendar(), (hour - moment(Calendar(), 0).hour) * 60)
    bent = bent_schedules(SCHEDULES, {"mara": MARA}, state(dry=dry), relations or {})
    return place_of(bent["mara"], now, state(dry=dry))


def test_a_goal_is_as_strong_as_what_holds_makes_it_and_says_why() -> None:
    held, given_up = goals_now(MARA, state(dry=False), {})
    assert (held.strength, held.stance, held.reasons) == (0.5, "held", [])
    assert given_up.stance == "given_up"
    strong = goals_now(MARA, state(dry=True), {})[0]
    assert (strong.strength, strong.stance, strong.reasons) == (0.8, "pursued", ["The cistern is dry."])
    eased = goals_now(MARA, state(dry=True), {"mara": {"player": Relation(trust=0.6)}})[0]
    assert (eased.strength, eased.stance) == (0.4, "held")


def test_who_pursues_a_goal_is_where_it_takes_them_and_else_where_they_usually_are() -> None:
    assert where(dry=False) == "the-inn"
    assert where(dry=True) == "the-well"
    assert where(dry=True, hour=9) == "the-shop", "the goal says nothing of mornings"
    assert where(dry=True, relations={"mara": {"player": Relation(trust=0.6)}}) == "the-inn"


def test_a_play_begins_with_how_people_stand_to_each_other() -> None:
    begun = first_relations({"mara": MARA, "bram": Person()})
    assert begun["mara"]["bram"].trust == -0.3 and begun["mara"]["bram"].reason == "He sold her father's boat."
    assert "bram" not in begun
