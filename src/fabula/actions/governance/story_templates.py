"""Keep the story templates of a world, and let plays follow one: how far a play has come, and what was against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, Nothing, View, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import NotFound
from fabula.ports.store import Unit
from fabula.rules.story_templates import act_now, due_beats
from fabula.story.canon import EntityContent
from fabula.story.plays import PlayState
from fabula.story.story_templates import (
    BeatReached,
    StoryTemplate,
    TemplateNow,
    TemplateViolation,
    missing_names,
    template_problems,
)

MOST_CONTENTS = 2000


class ListTemplates(Command):
    world_id: str


class UpdateTemplate(Command):
    """The template as a whole; it is made, or put in the place of the one with its id."""

    world_id: str
    template: StoryTemplate


class NameTemplate(Command):
    world_id: str
    template_id: str


class FollowTemplate(Command):
    """Which template of its world the play follows from now on; none with null."""

    template_id: str | None


class TemplateView(View):
    """A template. `missing` are whom and what it needs and the canon of its world does not have, in sentences."""

    type: Literal["story_template"] = "story_template"
    world_id: str
    template: StoryTemplate
    missing: list[str]


class TemplatesListed(View):
    may_be_large = True
    type: Literal["story_templates_listed"] = "story_templates_listed"
    templates: list[TemplateView]


class TemplateDeleted(View):
    type: Literal["story_template_deleted"] = "story_template_deleted"
    template_id: str


class BeatView(View):
    """A beat of the template in a play. `reached` is there once it was."""

    optional = frozenset({"reached"})
    type: Literal["template_beat"] = "template_beat"
    act_id: str
    beat_id: str
    title: str
    due: bool
    may_be_skipped: bool
    reached: BeatReached | None = None


class TemplateChecked(View):
    """How far a play has come in the template that it follows, and what was against it, the newest last. Without a
    template there is nothing to tell; without an `act_id` its last act is over."""

    may_be_large = True
    optional = frozenset({"template_id", "act_id"})
    type: Literal["story_template_checked"] = "story_template_checked"
    template_id: str | None = None
    act_id: str | None = None
    beats: list[BeatView]
    violations: list[TemplateViolation]


@allowed("author")
async def list_templates(house: House, actor: Actor, command: ListTemplates) -> TemplatesListed:
    """Lists the story templates of a world, each with what the world lacks for it."""
    async with house.store.reading() as unit:
        world = await WORLDS.get(unit, command.world_id)
        people, places = await _known(unit, world.world_id)
    views = [
        TemplateView(world_id=world.world_id, template=one, missing=missing_names(one, people, places))
        for one in world.templates
    ]
    return TemplatesListed(templates=views)


@allowed("author")
async def update_template(house: House, actor: Actor, command: UpdateTemplate) -> TemplateView:
    """Writes a story template into a world, new or in the place of the one with its id."""
    template = command.template
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, command.world_id)
        known = [one.template_id for one in world.templates]
        others = [one for one in world.templates if one.template_id != template.template_id]
        place = known.index(template.template_id) if template.template_id in known else len(others)
        kept = [*others[:place], template, *others[place:]]
        refuse(template_problems(kept), "template")
        await WORLDS.put(unit, world.world_id, world.model_copy(update={"templates": kept}))
        people, places = await _known(unit, world.world_id)
    missing = missing_names(template, people, places)
    return TemplateView(world_id=command.world_id, template=template, missing=missing)


@allowed("author")
async def delete_template(house: House, actor: Actor, command: NameTemplate) -> TemplateDeleted:
    """Takes a story template out of a world; plays that follow it go on without."""
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, command.world_id)
        kept = [one for one in world.templates if one.template_id != command.template_id]
        if len(kept) == len(world.templates):
            raise _unknown(command.template_id)
        await WORLDS.put(unit, world.world_id, world.model_copy(update={"templates": kept}))
    return TemplateDeleted(template_id=command.template_id)


@allowed("author")
async def follow_story_template(
    house: House, actor: Actor, session_id: str, command: FollowTemplate
) -> TemplateChecked:
    """Lets a play follow a template of its world from now on, or none; it is a turn, so going back undoes it."""

    async def change(at: AtHead) -> tuple[Amendment, TemplateChecked]:
        kind = kind_of_play(at.state)
        if command.template_id is None:
            state = kind.follow_template(at.state, None)
            return Amendment(state=state), _checked(state, None)
        setup = await kind.template_setup(house, at.looking, session_id, at.state)
        found = next((one for one in setup.templates if one.template_id == command.template_id), None)
        if found is None:
            raise _unknown(command.template_id)
        refuse(missing_names(found, {*setup.characters, *at.state.session_characters}, setup.nodes), "template")
        state = kind.follow_template(at.state, TemplateNow(template_id=found.template_id))
        return Amendment(state=state), _checked(state, found)

    return (await amend(house, actor, session_id, change))[1]


@allowed("author")
async def check_template(house: House, actor: Actor, session_id: str, command: Nothing) -> TemplateChecked:
    """Tells how far a play has come in its story template, what is due, and what was against it."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        if state.template is None:
            return _checked(state, None)
        setup = await kind_of_play(state).template_setup(house, unit, session_id, state)
        followed = setup.followed(state)
    return _checked(state, None if followed is None else followed[0])


def _checked(state: PlayState, template: StoryTemplate | None) -> TemplateChecked:
    now = state.template
    if template is None or now is None:
        return TemplateChecked(beats=[], violations=[])
    due = {beat.beat_id for beat in due_beats(template, now, state)}
    act = act_now(template, now)
    beats = [
        BeatView(
            act_id=one.act_id,
            beat_id=beat.beat_id,
            title=beat.title,
            due=beat.beat_id in due,
            may_be_skipped=beat.may_be_skipped,
            reached=now.reached.get(beat.beat_id),
        )
        for one in template.acts
        for beat in one.beats
    ]
    return TemplateChecked(
        template_id=template.template_id,
        act_id=None if act is None else act.act_id,
        beats=beats,
        violations=now.violations,
    )


async def _known(unit: Unit, world_id: str) -> tuple[Sequence[str], Sequence[str]]:
    """The people and places that canon has in a world, by id."""
    rows = await unit.canon.true_now(world_id, limit=MOST_CONTENTS)
    found = [one for row in rows if isinstance(one := row.change.content, EntityContent)]
    people = [one.entity_id for one in found if one.entity_kind == "character"]
    return people, [one.entity_id for one in found if one.entity_kind == "place"]


def _unknown(template_id: str) -> NotFound:
    return NotFound(f"This world has no story template named '{template_id}'.", id=template_id)
