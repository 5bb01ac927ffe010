"""The architect: builds scenes from the plan, section by section, so that every way can be walked to an end.

Each section is an arrival and a turn. The arrival leads to the turn when its first variable is set, and the turn
leads to the next section when its second is. Variables are named after the section's number, so that the first
section can declare what all later ones will need. The last section ends in two ways.
"""

from __future__ import annotations

import re

from fabula.language.english import bare, closed, inner, joined, sentences, slug, told_sentences, without_stage_words
from fabula.language.words import words_of
from fabula.story.contexts import ArchitectContext, CastMember
from fabula.story.graph import Node
from fabula.story.schemas import SchemaField
from fabula.story.values import Json, JsonObject
from fabula.understudy.places import place_for
from fabula.understudy.sections import outline
from fabula.understudy.voice import Voice

ENDING_KEY = "ending_path"
MEET = ("Speak with {who}.", "Find out what {who} knows.", "Win {who}'s trust.", "Hear what {who} has to say.")
RESOLVE = ("Decide what to do about it.", "Settle the matter with {who}.", "Agree with {who} on what to do next.")
MEANS_TO_BEGIN = (
    "what do you know", "what happened", "what is going on", "tell me what", "tell me about", "tell me everything",
    "i want to know", "i want to help", "i am listening", "let us talk", "you can trust me", "how can i help",
)  # fmt: skip
MEANS_TO_SETTLE = (
    "i will do it", "let us do it", "i have decided", "that is what we do", "it is settled", "we are agreed", "i agree",
    "we have a plan", "you have my word", "i know what to do", "let us go", "it is decided",
)  # fmt: skip
MEANS_TOGETHER = (
    "together", "side by side", "come with me", "with you", "i stay with", "we both", "the two of us",
    "i will not leave you",
)  # fmt: skip
MEANS_ALONE = ("alone", "by myself", "on my own", "without you", "i leave you here", "i go my own way")
REVEAL = (
    "So it is said at last: {truth}.",
    "Now it is out: {truth}.",
    "One thing is certain by now: {truth}.",
    "It all comes back to one thing: {truth}.",
)
ARRIVE = (
    "{who} is already there, and looks as if the waiting has been long.",
    "{who} looks up and seems to have expected you.",
    "{who} stands with folded arms and says nothing yet.",
    "{who} breaks off in the middle of a word when you come in.",
)
STRAIN = (
    "The easy part is over. {who} will not meet your eyes.",
    "Nobody pretends any more. {who} is waiting for your word.",
    "It has grown quiet, and {who} with it.",
    "{who} has stopped pacing, and that is worse.",
    "There is less light than before. {who} sits down, and gets up again.",
)
STAKES = (
    "Whatever is decided here will be remembered.",
    "What you came for is within reach.",
    "A word too many, or one too few, and it is gone.",
    "You can feel that it is now or never.",
    "There are two ways this can go, and both begin with you.",
)


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
    fields = _world_fields(context, context.total_sections)
    section = _section(context, seed, declared=None)
    nodes = section["nodes"]
    assert isinstance(nodes, list) and isinstance(nodes[0], dict)
    return {**section, "start_node": nodes[0]["id"], **_schemas(context, fields), "introduction": introduction(context)}


def _whole(context: ArchitectContext, seed: int | None) -> JsonObject:
    """All sections in one go, each built on those before it."""
    parts = outline(context.planned_story or context.story_concept)
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
        nodes = _merged(nodes, _section(step, seed, declared=None))
    fields = _world_fields(context, len(parts))
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
    number = context.section_index + 1
    text = bare(context.current_section or context.story_concept)
    voice = Voice(seed, "architect", number, text)
    cast = _cast_of(context, text, number)
    taken = {node.id for node in context.graph_nodes}
    arrival, turn = _new_id(f"{number}_arrival", taken), _new_id(f"{number}_turn", taken)
    on = _condition(_key(number, "begun"), True, declared)
    nodes: list[Json] = [
        _node(arrival, _title(text, number), _arrival_scene(context, text, cast, voice), _meet(cast, voice), cast,
              [{"to": turn, "condition": on, "means": [*MEANS_TO_BEGIN]}]),
    ]  # fmt: skip
    endings = _endings(cast, taken) if number >= context.total_sections else []
    ways: list[Json] = [_way_to_end(node, declared) for node in endings]
    goal = _last_choice(cast) if endings else _resolve(cast, voice)
    nodes.append(_node(turn, _turn_title(text, number), _turn_scene(context, cast, voice), goal, cast, ways))
    return {
        "nodes": [*nodes, *endings],
        "transition_patches": _patches(context, arrival, number, declared),
        "section_summary": f"{closed(without_stage_words(text, 'you'))} It leaves off with {_who(cast)} and a choice.",
    }


def _patches(context: ArchitectContext, to: str, number: int, declared: dict[str, SchemaField] | None) -> list[Json]:
    """Every open end of the graph so far leads to the new section."""
    condition = _condition(_key(number - 1, "settled"), True, declared)
    way: JsonObject = {"to": to, "condition": condition, "means": [*MEANS_TO_SETTLE]}
    return [{"node_id": node.id, "add_transitions": [way]} for node in context.graph_nodes if not node.transitions]


def _endings(cast: list[CastMember], taken: set[str]) -> list[Json]:
    who = cast[0].name if cast else "the place"
    together = (
        f"You see it through side by side with {who}. What was wrong has been named, and what can be mended will be. "
        "There is a light somewhere, and you walk towards it at the same pace."
    )
    alone = (
        f"You go on alone. {who} stays behind and does not call after you. What you know now you carry by yourself, "
        "and it weighs less than you feared."
    )
    return [
        _node(_new_id("ending_together", taken), "Together", together, "Let the story end.", cast, []),
        _node(_new_id("ending_alone", taken), "Alone", alone, "Let the story end.", [], []),
    ]


def _way_to_end(node: Json, declared: dict[str, SchemaField] | None) -> JsonObject:
    assert isinstance(node, dict)
    path = "together" if "together" in str(node["id"]) else "alone"
    means: list[Json] = [*(MEANS_TOGETHER if path == "together" else MEANS_ALONE)]
    return {"to": node["id"], "condition": _condition(ENDING_KEY, path, declared), "means": means}


def _condition(key: str, value: Json, declared: dict[str, SchemaField] | None) -> Json:
    """A condition on a declared variable; on an undeclared one the way is simply open."""
    if declared is not None and key not in declared:
        return None
    return {"scope": "global", "key": key, "op": "eq", "value": value}


def _key(number: int, step: str) -> str:
    return f"part_{number}_{step}"


def _world_fields(context: ArchitectContext, sections: int) -> dict[str, SchemaField]:
    fields = dict(context.world_fields or {})
    for number in range(1, sections + 1):
        for step, told in (("begun", "has learned what part {n} is about"), ("settled", "has settled part {n}")):
            if not (step == "settled" and number == sections):
                fields[_key(number, step)] = SchemaField(
                    value_type="bool", default=False, description=f"The player {told.format(n=number)}."
                )
    fields[ENDING_KEY] = SchemaField(
        value_type="string",
        default="open",
        description="How the player chooses to end it.",
        enum_values=["open", "together", "alone"],
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
    return " ".join([*told, f"You will meet {names}." if names else "", "It begins now."]).replace("  ", " ")


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
    named = [member for member in cast if re.search(rf"\b{re.escape(member.name.split()[0])}\b", text)]
    return (named or [cast[(number - 1) % len(cast)]])[:3] if cast else []


def _title(text: str, number: int) -> str:
    words = slug(text, 3).replace("_", " ")
    return words.title() if words else f"Part {number}"


def _turn_title(text: str, number: int) -> str:
    return f"{_title(text, number)}: The Turn"


def _arrival_scene(context: ArchitectContext, text: str, cast: list[CastMember], voice: Voice) -> str:
    place = place_for(context, text, voice)
    told = closed(without_stage_words(text, "you"))
    return " ".join([place, voice.pick(ARRIVE, {"who": cast[0].name}) if cast else "Nobody is here.", told])


def _turn_scene(context: ArchitectContext, cast: list[CastMember], voice: Voice) -> str:
    strain = voice.pick(STRAIN, {"who": cast[0].name if cast else "the place itself"})
    return " ".join(line for line in (strain, _revealed(context, voice), voice.pick(STAKES)) if line)


def _revealed(context: ArchitectContext, voice: Voice) -> str:
    """Something of the world that comes to light: lore or concept that no scene has told yet."""
    told = "\n".join(node.scene for node in context.graph_nodes).lower()
    world = [line for note in [*context.lore.base, *context.lore.matched] for line in sentences(note.content)]
    every = [inner(line) for line in [*world, *told_sentences(context.story_concept, "")]]
    known = [line for line in every if line.lower() not in told and line not in context.current_section]
    fresh = [line for line in known if "you" not in words_of(line)]
    return voice.pick(REVEAL, {"truth": fresh[context.section_index % len(fresh)]}) if fresh else ""


def _meet(cast: list[CastMember], voice: Voice) -> str:
    return voice.pick(MEET, {"who": cast[0].name}) if cast else "Find out what happened here."


def _resolve(cast: list[CastMember], voice: Voice) -> str:
    return voice.pick(RESOLVE, {"who": _who(cast)})


def _last_choice(cast: list[CastMember]) -> str:
    return (
        f"Go on together with {cast[0].name}, or go on alone." if cast else "See it through together, or go on alone."
    )


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
