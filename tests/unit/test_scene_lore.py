"""What is said and felt in a scene follows from what is written and true, and gives nothing away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from tests.mass import seeds
from tests.unit.knowing_stage import generated_setup
from tests.unit.test_lore_bundles import play_at_start

from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.scene_lore import begin_scene, prepare_places
from fabula.rules.scene_lore import WORD_TRAVELS, SceneStart, Truth, Written, prepare_place, settle_scene
from fabula.story.agendas import FiredAgenda
from fabula.story.changes import enter
from fabula.story.conditions import Comparison
from fabula.story.conflicts import Conflict, ConflictNow, ConflictOutcome, Stakeholder
from fabula.story.graph import Node
from fabula.story.knowledge import Until
from fabula.story.off_screen import OffScreen
from fabula.story.plays import SCENES_WITH_LORE, PlayState
from fabula.story.relations import Relation
from fabula.story.resources import LorebookEntry
from fabula.story.scene_lore import ScenePiece
from fabula.story.state import Snapshot, WorldState

WELL = Node(id="well", title="The Well", scene="The well is deep, and a slate hangs over it.", goal="Draw water.")
NAMES = {"odile": "Odile Farrow", "bram": "Bram Tolley", "nan": "Nan Kettle"}
OUT = Until(until=Comparison(key="out", op="eq", value=True))


def entry(id: str, content: str, **more: Any) -> LorebookEntry:
    return LorebookEntry(entry_id=id, title=id, content=content, **more)


SLATE = entry("slate", "Whoever draws last wipes the slate.", keywords=["slate"])
KEY = entry("key", "The rope is of hemp. Odile Farrow keeps the key.", keywords=["well"])
SECRET = entry("secret", "Nan Kettle poisoned the soup.", known_by=OUT)
TALE = entry("tale", "Nan Kettle once served a bishop soap.")
BOOK = (SLATE, KEY, SECRET, TALE)


def written(lore: Sequence[LorebookEntry] = BOOK) -> Written:
    def called(node: Node) -> list[LorebookEntry]:
        return [one for one in lore if any(word in node.scene for word in one.keywords)]

    return Written(names=NAMES, called=called, background=[one for one in lore if not one.keywords])


def start(*here: str, **more: Any) -> SceneStart:
    custom = more.pop("custom", {})
    conflicts = more.pop("conflicts", ())
    world = WorldState(current_node="well", active_characters=list(here), custom=custom)
    play = PlayState(snapshot=Snapshot(story_id="s", player_description="", world_state=world), graph="g", **more)
    here_named = {id: NAMES[id] for id in here}
    return SceneStart(
        play=play.entering("well"), lore={one.entry_id: one for one in BOOK}, names=here_named, conflicts=conflicts
    )


def texts(pieces: Sequence[ScenePiece], kind: str) -> list[str]:
    return [one.text for one in pieces if one.kind == kind]


def test_lore_of_a_place_is_a_feature_a_custom_or_access_by_its_words() -> None:
    pieces = settle_scene(prepare_place(WELL, written()), start("odile"))
    assert texts(pieces, "custom") == ["Whoever draws last wipes the slate."]
    assert texts(pieces, "access") == ["Odile Farrow keeps the key."]
    assert texts(pieces, "feature") == ["The rope is of hemp."]


def test_lore_in_another_language_is_sorted_by_the_words_of_that_language() -> None:
    told = (
        "Das Seil ist aus Hanf und hat einen Knoten. Wer als letzter schöpft, muss die Tafel wischen. "
        "Die Tür ist verschlossen."
    )
    german = (entry("seil", told, keywords=["well"]), entry("tratsch", "Man munkelt, dass es im Moor spukt."))
    pieces = prepare_place(WELL, written(german)).pieces
    assert [(one.kind, one.text.split()[0]) for one in pieces] == [
        ("feature", "Das"),
        ("custom", "Wer"),
        ("gossip", "Man"),
        ("access", "Die"),
    ]


def test_a_piece_of_lore_is_about_those_whose_names_stand_in_it_whole() -> None:
    """The stem of `water` is `wat`, and yet the water is not Wat Penhale."""
    lore = (entry("rope", "The well has sweet water. Wat's rope is of hemp.", keywords=["well"]),)
    place = replace(written(lore), names={"wat": "Wat Penhale"})
    about = {one.text: list(one.about) for one in prepare_place(WELL, place).pieces}
    assert about == {"The well has sweet water.": [], "Wat's rope is of hemp.": ["wat"]}


def test_truths_about_a_place_go_by_their_predicates() -> None:
    truths = [
        Truth(change_id="c1", text="The well is guarded by the Watch.", about=("well",), predicate="guarded_by"),
        Truth(change_id="c2", text="The well's custom is silence.", about=("well",), predicate="custom"),
        Truth(change_id="c3", text="The well is dry.", about=("well",), predicate="is", since=100),
    ]
    pieces = settle_scene(prepare_place(WELL, written(()), truths), start("odile"))
    assert [(one.kind, one.source.id) for one in pieces] == [("custom", "c2"), ("access", "c1")], "dry only later"


def test_gossip_is_told_by_somebody_there_about_somebody_elsewhere() -> None:
    prepared = prepare_place(WELL, written())
    [told] = [one for one in settle_scene(prepared, start("odile", "bram")) if one.kind == "gossip"]
    assert told.text == TALE.content and told.teller in ("odile", "bram")
    assert texts(settle_scene(prepared, start("nan")), "gossip") == [], "nobody gossips about who stands there"
    assert texts(settle_scene(prepared, start()), "gossip") == [], "nor does nobody"


def test_a_secret_is_gossip_only_once_everybody_may_know_it() -> None:
    prepared = prepare_place(WELL, written())
    assert SECRET.content not in str(settle_scene(prepared, start("odile")))
    out = settle_scene(prepared, start("odile", custom={"out": True}))
    assert SECRET.content in texts(out, "gossip")


def test_word_of_what_came_to_pass_elsewhere_takes_half_a_day() -> None:
    fired = FiredAgenda(clock_id="c", name="c", minute=0, event="e", told="The mill is sold.", where="mill")
    kept = fired.model_copy(update={"clock_id": "k", "told": "The books are burnt.", "known_to": ["nan"]})
    here = fired.model_copy(update={"clock_id": "h", "told": "The rope is cut.", "where": "well"})
    prepared = prepare_place(WELL, written(()))

    def talk(minute: int) -> list[str]:
        off_screen = OffScreen(passed=minute, fired=[fired, kept, here])
        return texts(settle_scene(prepared, start("odile", off_screen=off_screen)), "gossip")

    assert talk(WORD_TRAVELS - 1) == [] and talk(WORD_TRAVELS) == ["The mill is sold."]


def conflict(id: str, **more: Any) -> Conflict:
    stakes = [Stakeholder(who="odile"), Stakeholder(who="bram")]
    ends = [ConflictOutcome(outcome_id="o", event="It ends.")]
    return Conflict(conflict_id=id, title=f"The {id}", stakeholders=stakes, outcomes=ends, **more)


def test_tension_is_the_fiercest_conflict_that_is_felt_there() -> None:
    two = [conflict("quarrel"), conflict("feud"), conflict("plot", known_to=["nan"])]
    now = {
        "quarrel": ConflictNow(phase="emerging", intensity=0.3),
        "feud": ConflictNow(phase="rising", intensity=0.5),
        "plot": ConflictNow(phase="climax", intensity=0.9),
    }
    begun = start("odile", conflicts=two, off_screen=OffScreen(conflicts=now))
    assert texts(settle_scene(prepare_place(WELL, written(())), begun), "tension") == [
        "Everybody here feels it: the feud."
    ]


def test_a_grudge_is_known_to_who_bears_it_and_to_who_tells_the_scene() -> None:
    relations = {"odile": {"bram": Relation(trust=-0.4), "nan": Relation(trust=-0.9)}}
    [piece] = settle_scene(prepare_place(WELL, written(())), start("odile", "bram", relations=relations))
    assert piece.text == "Odile Farrow does not trust Bram Tolley." and piece.known_to == ["odile"]


def test_an_earlier_scene_is_not_told_its_gossip_again_and_old_ones_lose_their_lore() -> None:
    prepared = prepare_place(WELL, written())
    play = start("odile").play.with_scene_lore(settle_scene(prepared, start("odile")))
    again = replace(start("odile"), play=play.entering("well"))
    later = settle_scene(prepared, again)
    assert texts(later, "gossip") == [] and texts(later, "custom") == ["Whoever draws last wipes the slate."]
    counts = []
    for _ in range(3 * SCENES_WITH_LORE):
        play = play.entering("well").with_scene_lore(later)
        counts.append(sum(bool(mark.lore) for mark in play.scenes))
        assert all(mark.lore for mark in play.scenes[-SCENES_WITH_LORE:])
    assert max(counts) < 2 * SCENES_WITH_LORE
    assert sum(after < before for before, after in pairwise(counts)) <= 2, "many lose it at once, and rarely"
    assert PlayState.model_validate(play.as_json()) == play


@seeds(100)
async def test_no_scene_has_lore_that_somebody_may_not_know(seed: int) -> None:
    setup = generated_setup(seed)
    play = play_at_start(setup)
    prepared = prepare_places(setup, [node.id for node in setup.graph.nodes])
    for node in setup.graph.nodes:
        there = play.with_world(enter(node, play.world, setup.bounds(play)).state).entering(node.id)
        there = begin_scene(setup, there, prepared[node.id])
        for piece in there.scenes[-1].lore:
            if piece.source.kind == "lore":
                entry = setup.lore_by_id[piece.source.id]
                assert entry.known_by in (None, "everyone") and not entry.secret, (seed, piece)
        scene = Scene(previous_node_id=node.id, previous_cast=[])
        teller = SceneTeller(setup, there, scene, "Well?", turn_index=1)
        told = teller.narrator("describe_scene")
        assert told.scene_lore == there.scenes[-1].lore and teller.keeper("after_turn_outputs", []).scene_lore == []
        for id in there.world.active_characters:
            known = teller.actor(id, "react_to_player").scene_lore
            assert all(not one.known_to or id in one.known_to for one in known)
