"""The architect: builds scenes from the plan, section by section, so that every way can be walked to an end.

Each section is an arrival and a turn. The arrival leads to the turn when its first variable is set, and the turn
leads to the next section when its second is. Variables are named after the section's number, so that the first
section can declare what all later ones will need. The last section ends in two ways.

What the scenes say comes from the section's plot point (`plot_points`), from places, things and dangers of the
concept's genre (`genres`), and from what the author wrote (`author_lines`): no sentence of the plan stands in a scene,
and no sentence stands in two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabula.language.english import bare, closed, joined, told_sentences, without_stage_words
from fabula.language.titles import MOST_WORDS, in_title_case, noun_phrases, title_of
from fabula.language.words import stems, word_set
from fabula.story.contexts import ArchitectContext, CastMember
from fabula.story.graph import Node
from fabula.story.schemas import SchemaField
from fabula.story.values import Json, JsonObject
from fabula.understudy.author_lines import retold, topic_of
from fabula.understudy.genres import ANYWHERE, Genre, Place, genre_of
from fabula.understudy.places import first_place, lore_things, place_for
from fabula.understudy.plot_points import (
    ALONE,
    ALONE_ENDINGS,
    ENDINGS,
    LAST,
    LINE,
    PRICES,
    STAKES,
    Act,
    Ending,
    PlotPoint,
    act_of,
    filled,
    longest_words,
    recognise,
)
from fabula.understudy.sections import outline
from fabula.understudy.voice import Voice

ENDING_KEY = "ending_path"
OPEN = "open"
AWAITS = (
    "{names} will be there.",
    "You will not be alone in it: {names}.",
    "Remember a name or two: {names}.",
)


@dataclass(frozen=True, kw_only=True)
class Step:
    """One of the two acts of a section, and the names of its variable: a step that is taken by asking is `known`.

    A question opens a way only where knowing is what the way waits for, and that is read from the variable's name.
    """

    known: str
    done: str
    told: str


FIRST_STEP = Step(known="learned", done="begun", told="has learned what part {number} is about")
SECOND_STEP = Step(known="understood", done="settled", told="has settled part {number}")


@dataclass(frozen=True, kw_only=True)
class Material:
    """What one section is written from."""

    number: int
    text: str
    point: PlotPoint
    cast: list[CastMember]
    place: Place
    slots: dict[str, str]
    voice: Voice
    titles: frozenset[str]
    before: str


def build(context: ArchitectContext, seed: int | None) -> JsonObject:
    """The architect's answer in the shape of its mode."""
    match context.mode:
        case "draft_init":
            return _first(context, seed)
        case "draft_continue":
            return _section(context, seed, declared=context.world_fields)
        case "graph":
            return _whole(context, seed)


def _first(context: ArchitectContext, seed: int | None) -> JsonObject:
    fields = _world_fields(context, outline(context.planned_story)[: context.total_sections], context.total_sections)
    section = _section(context, seed, declared=fields)
    nodes = section["nodes"]
    assert isinstance(nodes, list) and isinstance(nodes[0], dict)
    return {**section, "start_node": nodes[0]["id"], **_schemas(context, fields), "introduction": introduction(context)}


def _whole(context: ArchitectContext, seed: int | None) -> JsonObject:
    """All sections in one go, each built on those before it."""
    parts = outline(context.planned_story or context.story_concept)
    fields = _world_fields(context, parts, len(parts))
    nodes: list[JsonObject] = []
    for number, part in enumerate(parts):
        step = context.model_copy(
            update={
                "current_section": part,
                "section_index": number,
                "total_sections": len(parts),
                "graph_nodes": [Node.model_validate(node) for node in nodes],
            }
        )
        nodes = _merged(nodes, _section(step, seed, declared=fields))
    return {
        "graph": {"start_node": nodes[0]["id"], "nodes": list[Json](nodes)},
        **_schemas(context, fields),
        "introduction": introduction(context),
    }


def _merged(nodes: list[JsonObject], section: JsonObject) -> list[JsonObject]:
    patches, added = section["transition_patches"], section["nodes"]
    assert isinstance(patches, list) and isinstance(added, list)
    ways = {str(patch["node_id"]): patch["add_transitions"] for patch in patches if isinstance(patch, dict)}
    old = [{**node, "transitions": ways.get(str(node["id"]), node["transitions"])} for node in nodes]
    return [*old, *(node for node in added if isinstance(node, dict))]


def _section(context: ArchitectContext, seed: int | None, declared: dict[str, SchemaField] | None) -> JsonObject:
    stuff = _material(context, seed)
    number, cast = stuff.number, stuff.cast
    taken = {node.id for node in context.graph_nodes}
    arrival, turn = _new_id(f"{number}_arrival", taken), _new_id(f"{number}_turn", taken)
    first = _act(stuff.point.first, stuff)
    on = _way(turn, _condition(_key(number, FIRST_STEP, declared), True, declared), first.means)
    title = _place_title(stuff)
    nodes: list[Json] = [_node(arrival, title, _arrival_scene(stuff, title), first.goal, cast, [on])]
    turn_title, turn_scene = _turn_title(stuff, title), _turn_scene(stuff)
    if number < context.total_sections:
        goal, ways, endings = _act(stuff.point.second or LINE.second, stuff).goal, list[Json](), list[Json]()
    else:
        pair = _ending_pair(context)
        endings = [_ending_node(ending, stuff, taken) for ending in pair]
        ways = [_way_to_end(node, ending, stuff, declared) for node, ending in zip(endings, pair, strict=True)]
        first_choice, second_choice = (filled(ending.choice, stuff.slots) for ending in pair)
        goal = f"Decide: {first_choice}, or {second_choice}."
        turn_scene = f"{turn_scene} You can {first_choice}, or {second_choice}; nobody else will do it for you."
    nodes.append(_node(turn, turn_title, turn_scene, goal, cast, ways))
    return {
        "nodes": [*nodes, *endings],
        "transition_patches": _patches(context, arrival, number, declared),
        "section_summary": f"{closed(without_stage_words(stuff.text, 'you'))} It leaves off with {_who(cast)}.",
    }


def _material(context: ArchitectContext, seed: int | None) -> Material:
    number = context.section_index + 1
    text = bare(context.current_section or context.story_concept)
    told = [node.scene for node in context.graph_nodes]
    voice = Voice(seed, "architect", number, text, said=told)
    genre = genre_of(context.story_concept, *(member.personality for member in context.available_characters))
    named = recognise(f"{text}.")[1]
    cast = _cast_of(context, text, number)
    titles = frozenset(node.title for node in context.graph_nodes)
    place = place_for(context.story_concept, genre, context.lore, text, voice)
    return Material(
        number=number,
        text=text,
        point=_point(context, text, number, context.total_sections),
        cast=cast,
        place=place,
        slots=_slots(context, genre, named, cast, place, voice),
        voice=voice,
        titles=titles,
        before=_before(context),
    )


def _point(context: ArchitectContext, text: str, number: int, sections: int) -> PlotPoint:
    """The plot point of a section. The last one always leads to the choice; where there is no cast, nobody is asked."""
    point = recognise(f"{bare(text)}.")[0]
    if not context.available_characters:
        return ALONE
    return LAST if number >= sections and point is not LINE else point


def _before(context: ArchitectContext) -> str:
    """What has come of the act that leads here, so that nothing a player does goes without its reward."""
    acts = [act_of(node.goal) for node in context.graph_nodes if not node.transitions]
    return next((act.after for act in acts if act is not None), "")


def _slots(
    context: ArchitectContext,
    genre: Genre,
    named: dict[str, str],
    cast: list[CastMember],
    place: Place,
    voice: Voice,
) -> dict[str, str]:
    """What the words of a point are filled with: what the plan names, else something that was not in the story yet."""
    text, told = context.current_section, "\n".join(node.scene for node in context.graph_nodes).lower()
    every = [*lore_things(context.lore), *voice.order(genre.things), *voice.order(ANYWHERE.things)]
    things = [thing for thing in every if thing.name.lower() not in told] or every
    thing = next((one for one in every if one.name.lower() in text.lower()), things[0])
    dangers = [danger for danger in voice.order(genre.dangers) if danger.seen.lower() not in told]
    danger = next((one for one in genre.dangers if one.title in text), [*dangers, *genre.dangers][0])
    who = cast[0].name if cast else "nobody"
    return {
        "who": who,
        "short": short_name(who),
        "place": place.name,
        "thing": thing.name,
        "verb": thing.verb,
        "tells": thing.tells,
        "danger": danger.title,
        "seen": danger.seen,
        "deed": danger.deed,
        "price": named.get("price") or voice.pick(PRICES),
        "matter": _matter(context),
        "topic": topic_of(context.current_section),
    }


def _matter(context: ArchitectContext) -> str:
    """What the story is about, in the concept's own nouns: neither its place nor one of the cast."""
    place = first_place(context.story_concept)
    people = stems(" ".join(f"{member.name} {member.personality}" for member in context.available_characters))
    phrases = [phrase for phrase in noun_phrases(context.story_concept) if not _is_where(phrase, context.story_concept)]
    others = [phrase for phrase in phrases if not stems(phrase.split()[-1]) & people]
    wanted = [phrase for phrase in others if place is None or phrase != place.name]
    title = title_of(context.story_concept).lower()
    if title.partition(" of ")[0] in wanted:
        return title
    fallback = place.name if place is not None else "what happened here"
    return max(wanted[:4], key=lambda phrase: len(phrase.split()), default=fallback)


def _is_where(phrase: str, concept: str) -> bool:
    """Whether a phrase only says where, when or without what."""
    noun = re.escape(phrase.lower().removeprefix("the "))
    before = "in|at|on|to|into|through|beyond|behind|near|among|from|with|without|between|before|after"
    return re.search(rf"\b(?:{before})(?: \w+)? {noun}\b", concept.lower()) is not None


def short_name(name: str) -> str:
    """How one is called: `Mara`; whoever has a title keeps the whole name, as they would wish."""
    parts = name.split()
    titled = bool(parts) and parts[0].rstrip(".").lower() in _TITLES
    return name if titled or not parts else parts[0]


_TITLES = word_set("mr mrs miss ms dr captain sheriff inspector sister father brother chef old private sir lady the")


def _act(acts: tuple[Act, ...], stuff: Material) -> Act:
    goals = [filled(act.goal, stuff.slots) for act in acts]
    goal = stuff.voice.pick(goals)
    return Act(goal=goal, means=tuple(filled(one, stuff.slots) for one in acts[goals.index(goal)].means))


def _patches(context: ArchitectContext, to: str, number: int, declared: dict[str, SchemaField] | None) -> list[Json]:
    """Every open end of the graph so far leads to the new section."""
    condition = _condition(_key(number - 1, SECOND_STEP, declared), True, declared)
    return [
        {"node_id": node.id, "add_transitions": [_way(to, condition, act.means if (act := act_of(node.goal)) else ())]}
        for node in context.graph_nodes
        if not node.transitions
    ]


def _way(to: str, condition: Json, means: tuple[str, ...]) -> JsonObject:
    way: JsonObject = {"to": to, "condition": condition}
    return {**way, "means": list[Json](means)} if means else way


def _ending_pair(context: ArchitectContext) -> tuple[Ending, Ending]:
    """The two endings: those that were declared with the first section, else the pair of this concept."""
    declared = (context.world_fields or {}).get(ENDING_KEY)
    values = set(declared.enum_values or ()) if declared is not None else set()
    if not context.available_characters:
        return ALONE_ENDINGS
    for pair in ENDINGS:
        if values >= {pair[0].value, pair[1].value}:
            return pair
    number = Voice("endings", context.story_concept, context.planned_story).order(range(len(ENDINGS)))[0]
    return ENDINGS[number]


def _ending_node(ending: Ending, stuff: Material, taken: set[str]) -> Json:
    return _node(
        _new_id(f"ending_{ending.value}", taken),
        ending.title,
        filled(ending.scene, stuff.slots),
        "Let the story end.",
        stuff.cast,
        [],
    )


def _way_to_end(node: Json, ending: Ending, stuff: Material, declared: dict[str, SchemaField] | None) -> Json:
    assert isinstance(node, dict)
    means = tuple(filled(one, stuff.slots) for one in ending.means)
    return _way(str(node["id"]), _condition(ENDING_KEY, ending.value, declared), means)


def _condition(key: str, value: Json, declared: dict[str, SchemaField] | None) -> Json:
    """A condition on a declared variable; on an undeclared one the way is simply open."""
    if declared is not None and key not in declared:
        return None
    return {"scope": "global", "key": key, "op": "eq", "value": value}


def _key(number: int, step: Step, declared: dict[str, SchemaField] | None) -> str:
    """The variable of a step: the one that was declared for it."""
    known = [f"part_{number}_{name}" for name in (step.known, step.done)]
    return next((key for key in known if declared and key in declared), known[1])


def _world_fields(context: ArchitectContext, parts: list[str], sections: int) -> dict[str, SchemaField]:
    """All variables of the story: two for each section, the last of which ends in a choice instead."""
    fields = dict(context.world_fields or {})
    for number in range(1, sections + 1):
        point = _point(context, parts[number - 1] if number <= len(parts) else "", number, sections)
        for step, acts in ((FIRST_STEP, point.first), (SECOND_STEP, point.second)):
            if step is FIRST_STEP or number < sections:
                name = step.known if acts and all(act.asks for act in acts) else step.done
                fields[f"part_{number}_{name}"] = SchemaField(
                    value_type="bool", default=False, description=f"The player {step.told.format(number=number)}."
                )
    fields[ENDING_KEY] = SchemaField(
        value_type="string",
        default=OPEN,
        description="How the player chooses to end it.",
        enum_values=[OPEN, *(ending.value for ending in _ending_pair(context))],
    )
    return fields


def _schemas(context: ArchitectContext, world: dict[str, SchemaField]) -> JsonObject:
    player = dict(context.player_fields or {}) or {
        "resolve": SchemaField(value_type="int", default=3, description="How much the player can still bear.")
    }
    return {
        "world_state_schema": {"fields": {key: field.as_json() for key, field in world.items()}},
        "player_state_schema": {"fields": {key: field.as_json() for key, field in player.items()}},
    }


def introduction(context: ArchitectContext) -> str:
    """What the player reads first: the concept, and who is waiting."""
    told = told_sentences(context.story_concept, "")[:4]
    names = joined([member.name for member in context.available_characters[:3]])
    voice = Voice("introduction", context.story_concept)
    return " ".join([*told, voice.pick(AWAITS, {"names": names}) if names else "It begins now."])


def _node(id: str, title: str, scene: str, goal: str, cast: list[CastMember], ways: list[Json]) -> JsonObject:
    return {
        "id": id,
        "title": title,
        "scene": scene,
        "goal": goal,
        "characters": [member.id for member in cast],
        "transitions": ways,
        "on_enter_updates": [],
    }


def _cast_of(context: ArchitectContext, text: str, number: int) -> list[CastMember]:
    """Who is in the section: those it names, or each in turn."""
    cast = context.available_characters
    whole = [member for member in cast if member.name and member.name in text]
    named = whole or [member for member in cast if re.search(rf"\b{re.escape(short_name(member.name))}\b", text)]
    return (named or [cast[(number - 1) % len(cast)]])[:3] if cast else []


def _place_title(stuff: Material) -> str:
    """The place; of an author's own section what it is about."""
    wanted = title_of(stuff.text, fallback=stuff.place.title) if stuff.point is LINE else stuff.place.title
    return _unused([wanted, stuff.place.title, f"{stuff.place.title} Again"], stuff, "")


def _turn_title(stuff: Material, arrival: str) -> str:
    wanted = [in_title_case(filled(title, stuff.slots)) for title in stuff.voice.order(stuff.point.turn_titles)]
    others = [filled(title, stuff.slots) for title in LINE.turn_titles]
    return _unused([*wanted, *others], stuff, arrival)


def _unused(wanted: list[str], stuff: Material, beside: str) -> str:
    fitting = [title for title in wanted if len(title.split()) <= MOST_WORDS and title != beside]
    return next((title for title in fitting if title not in stuff.titles), f"Part {stuff.number}")


def _arrival_scene(stuff: Material, title: str) -> str:
    """What came of the last act, the place, what the author wrote, and who is there; nothing is told twice."""
    retelling = retold(stuff.text) if stuff.point is LINE else ""
    # A section that is called after something else says where it is, and so does one that goes on with `it`.
    plain = stuff.place.title == title and not stuff.place.seen.startswith("It ")
    here = "" if plain else f"This is {stuff.place.name}."
    pieces = (stuff.before, here, stuff.place.seen, retelling)
    first = [piece for piece in pieces if not stuff.voice.was_said(piece)]
    return " ".join(piece for piece in (*first, _picked(stuff.point.arrivals, stuff)) if piece)


def _turn_scene(stuff: Material) -> str:
    stakes = _picked(STAKES, stuff) if stuff.point is LINE else ""
    return f"{_picked(stuff.point.turns, stuff)} {stakes}".strip()


def _picked(phrases: tuple[str, ...], stuff: Material) -> str:
    """A phrase that no scene has used yet, not even of another person."""
    fresh = [phrase for phrase in phrases if not stuff.voice.was_said(longest_words(phrase))]
    return stuff.voice.pick([filled(phrase, stuff.slots) for phrase in fresh or phrases])


def _who(cast: list[CastMember]) -> str:
    return joined([member.name for member in cast]) or "nobody"


def _new_id(wanted: str, taken: set[str]) -> str:
    """An id that is not in use; the names of sections are unique unless a graph was edited by hand."""
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name
