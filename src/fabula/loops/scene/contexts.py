"""Contexts: what each role of a turn is told, built from the setup and the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from fabula.language.spoilers import Guard
from fabula.loops.scene.play_setup import PlaySetup
from fabula.recall.inner_life import InnerTurn, outward
from fabula.recall.perception import PLAYER_OWNER, has_noticed
from fabula.story.changes import LONGEST_HISTORY, lines_left_out, newest_within
from fabula.story.checks import PLAYER, Resolution
from fabula.story.contexts import (
    ActorContext,
    ActorPurpose,
    CanonNote,
    CastMember,
    DirectorContext,
    KeeperContext,
    KeeperPhase,
    Lore,
    NarratorContext,
    NarratorPurpose,
    PlayerCard,
    Pointer,
    ProgressionHint,
    RecalledLine,
    ReplyerContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import Comparison, Node, tests_of
from fabula.story.knowledge import Reader, is_revealed, known_to, told_pieces, waited_for
from fabula.story.lore import SceneText, active_lore, readable_lore, scene_began
from fabula.story.minds import Mind
from fabula.story.plays import PlayState
from fabula.story.readings import Understood
from fabula.story.resources import CharacterContent
from fabula.story.state import MemoryEntry
from fabula.story.templates import cast_member
from fabula.story.values import Value

MOST_ABSENT = 40


class Scene(Value):
    """Where a turn stands: the node it came from, and what everyone has noticed since the turn began.

    `understood` is the player's line as the rules read it at that node, `resolutions` what the dice decided about it.
    """

    previous_node_id: str
    previous_cast: list[str]
    transitioned: bool = False
    noticed: list[MemoryEntry] = []
    understood: Understood | None = None
    resolutions: list[Resolution] = []

    def after(self, entries: list[MemoryEntry]) -> Scene:
        """The scene after more was said and done; thoughts are noticed by nobody."""
        heard = [entry for entry in entries if entry.kind != "thought"]
        return self.model_copy(update={"noticed": [*self.noticed, *heard]})


def _place_of(test: Comparison) -> tuple[str, ...]:
    """The variable that a comparison reads."""
    return test.scope, test.character or "", test.key


def untold_lines(setup: PlaySetup, play: PlayState) -> int:
    """How many of the first lines of the transcript before a turn its roles are not told."""
    return lines_left_out(play.message_count, setup.told_history or setup.shared_window)


def _placed_among(lore: Lore, noticed: Sequence[bool]) -> Lore:
    """Lore in a history of which only some lines are told: what stood beside another one stands beside the next."""
    before = [0, *accumulate(map(int, noticed))]
    matched = [
        note
        if note.heard_at is None
        else note.model_copy(update={"heard_at": before[note.heard_at] if before[note.heard_at] < before[-1] else None})
        for note in lore.matched
    ]
    return lore.model_copy(update={"matched": matched})


class SceneTeller:
    """Builds contexts for one state of one turn."""

    def __init__(
        self,
        setup: PlaySetup,
        play: PlayState,
        scene: Scene,
        player_input: str,
        past: Sequence[MemoryEntry] = (),
        *,
        turn_index: int,
        wish: str | None = None,
        so_far: str = "",
        recalled: Mapping[str, Sequence[RecalledLine]] | None = None,
        canon: Sequence[CanonNote] = (),
        inner: InnerTurn | None = None,
    ) -> None:
        """`past` is the end of the transcript before this turn, as far back as a role is told.

        `turn_index` is the turn that was last begun, `wish` how the player wants it told, `so_far` the summary of what
        happened before that, `recalled` what comes to mind of it, by who remembers it, `canon` what is true in the
        story's world; `inner` is what goes on in minds.
        """
        self._inner = inner
        self._recalled, self._canon = recalled or {}, canon
        self._turn_index, self._wish, self._so_far = turn_index, wish, so_far
        self._bundle, self._play, self._scene, self._input = setup, play, scene, player_input
        self._node = setup.nodes[play.world.current_node]
        self._past = past
        untold = untold_lines(setup, play)
        recent = past[max(0, len(past) - play.message_count + untold) :]
        whole = [*recent, *scene.noticed] if setup.told_history else play.world.actor_shared_history
        self._history = list(newest_within(whole, LONGEST_HISTORY))
        is_whole = untold == 0 and len(self._history) == len(whole)
        self._reaches_back = is_whole and len(whole) < (setup.told_history or setup.shared_window)

    @property
    def node(self) -> Node:
        return self._node

    def director(self) -> DirectorContext:
        return DirectorContext(
            **self._shared(self._told),
            memories=self._remembered(PLAYER_OWNER),
            minds=self._shown_minds(),
            player_fields=self._bundle.player_schema.fields,
        )

    def narrator(self, purpose: NarratorPurpose) -> NarratorContext:
        return NarratorContext(
            **self._shared(self._told_on_the_way),
            memories=self._remembered(PLAYER_OWNER),
            minds=self._shown_minds(),
            purpose=purpose,
            player_fields=self._bundle.player_schema.fields,
            previous_node=self._previous_node(),
            previous_cast=self._previous_cast(),
        )

    def actor(self, speaker_id: str, purpose: ActorPurpose) -> ActorContext:
        """The speaker knows the world as far as it may, what it noticed itself, and its own mind.

        It knows neither the player's variables nor the summary of what happened: that tells of scenes without it, too.
        """
        reader = Reader.character(speaker_id)
        world = self._play.world
        own = {speaker_id: world.character_state.get(speaker_id, {})}
        hears = self._hears_the_player(speaker_id)
        known = {
            "world_state": StateView(custom=world.custom, character_state=own),
            "shared_history": [entry for entry in self._history if has_noticed(speaker_id, entry)],
            "so_far": "",
            "unheard": not hears,
            **({} if hears else {"understood": None, "resolutions": []}),
        }
        return ActorContext(
            **{**self._shared(reader, listener=speaker_id), **known},
            actor=self.member(speaker_id, reader),
            memories=self._remembered(speaker_id),
            minds=self._own_mind(speaker_id),
            purpose=purpose,
            private_memory=world.actor_private_memory.get(speaker_id, []),
        )

    def keeper(self, phase: KeeperPhase, completed_beats: list[MemoryEntry]) -> KeeperContext:
        moved = f"{self._scene.previous_node_id} -> {self._node.id}" if self._scene.transitioned else None
        return KeeperContext(
            **self._shared(self._told),
            phase=phase,
            world_fields=self._bundle.world_schema.fields,
            player_fields=self._bundle.player_schema.fields,
            previous_node=self._previous_node(),
            previous_cast=self._previous_cast(),
            node_change=moved,
            progression_hints=self._hints(),
            player_input=self._input,
            completed_beats=completed_beats,
            turns_in_scene=self._play.turns_in_scene,
        )

    def replyer(self, limit: int, history: list[MemoryEntry]) -> ReplyerContext:
        return ReplyerContext(
            **self._shared(Reader.player()),
            player_fields=self._bundle.player_schema.fields,
            reply_limit=limit,
            session_history=list(newest_within(history, LONGEST_HISTORY)),
        )

    def swift(self) -> SwiftContext:
        return SwiftContext(
            **self._shared(self._told),
            memories=self._remembered(*self.here()),
            minds=self._shown_minds(),
            player_fields=self._bundle.player_schema.fields,
            world_fields=self._bundle.world_schema.fields,
            previous_node=self._previous_node(),
            progression_hints=self._hints(),
            player_input=self._input,
            turns_in_scene=self._play.turns_in_scene,
        )

    def member(self, id: str, reader: Reader) -> CastMember:
        """A character as a role sees it; guests of the play are characters too."""
        state = self._play.world.character_state.get(id, {})
        content = self._bundle.characters.get(id)
        if content is not None:
            schema = self._bundle.character_schemas.get(content.schema_id)
            facts = told_pieces(content.facts, reader, self._play.world, owner=id)
            return cast_member(content, user=self._play.player_name, state=state, schema=schema, facts=facts)
        guest = self._play.session_characters[id]
        stand_in = CharacterContent(
            id=id,
            name=guest.display_name,
            personality=guest.personality,
            style=guest.style,
            schema_id="guest",
            system_prompt=guest.system_prompt,
        )
        return cast_member(stand_in, user=self._play.player_name, state=state, schema=None)

    def name_of(self, id: str) -> str:
        """What a character of the scene is called."""
        content = self._bundle.characters.get(id)
        return content.name if content is not None else self._play.session_characters[id].display_name

    def here(self) -> list[str]:
        """Who is in the scene, by id."""
        return [id for id in self._play.world.active_characters if self.knows(id)]

    def guard(self) -> Guard:
        """What may not be told to the player now. What was told, and what players and guests are called, may be."""
        told = [entry.text for entry in self._history if entry.kind != "player_input"]
        guests = [guest.display_name for guest in self._play.session_characters.values()]
        player = [self._play.player_name, self._play.snapshot.player_description]
        return self._bundle.spoilers.guard(
            visited=self._play.visited, state=self._play.world, allowed=[*told, *guests, *player]
        )

    def knows(self, id: str) -> bool:
        return id in self._bundle.characters or id in self._play.session_characters

    @cached_property
    def _told_on_the_way(self) -> Reader:
        """The narrator of a change of scenes tells of both."""
        before = self._scene.previous_cast if self._scene.transitioned else []
        return Reader.scene([*before, *self._play.world.active_characters])

    @cached_property
    def _told(self) -> Reader:
        """Who tells the scene knows what somebody in it may tell."""
        return Reader.scene(self._play.world.active_characters)

    def _remembered(self, *owners: str) -> list[RecalledLine]:
        """What comes to mind to these, and to nobody else."""
        return [line for owner in owners for line in self._recalled.get(owner, ())]

    def _own_mind(self, id: str) -> list[Mind]:
        """What a character knows of itself; nothing where nothing goes on in it."""
        mind = None if self._inner is None else self._inner.minds.get(id)
        return [] if mind is None or mind == Mind(id=mind.id, name=mind.name, valence=mind.valence) else [mind]

    def _shown_minds(self) -> list[Mind]:
        """What everybody sees of those in the scene."""
        if self._inner is None:
            return []
        came = self._inner.flashback
        told = "" if came is None else came.told
        seen = [outward(mind, told) for id in self.here() for mind in self._own_mind(id)]
        return [one for one in seen if one.mood or one.presented or one.relived]

    def _cast(self, ids: list[str], reader: Reader) -> list[CastMember]:
        return [self.member(id, reader) for id in ids if self.knows(id)]

    def _previous_cast(self) -> list[CastMember]:
        """Who was in the scene that was left. Of their facts only those count as revealed that its ways waited for."""
        if not self._scene.transitioned:
            return []
        ways = self._bundle.nodes[self._scene.previous_node_id].transitions
        awaited = {_place_of(test) for way in ways for test in tests_of(way.condition)}
        return [self._with_news(one, awaited) for one in self._cast(self._scene.previous_cast, self._told_on_the_way)]

    def _with_news(self, member: CastMember, awaited: set[tuple[str, ...]]) -> CastMember:
        content = self._bundle.characters.get(member.id)
        if content is None or not member.facts:
            return member
        known = told_pieces(content.facts, self._told_on_the_way, self._play.world, owner=member.id)
        news = [
            told.model_copy(
                update={"revealed": told.revealed and bool(awaited & set(map(_place_of, waited_for(fact))))}
            )
            for told, fact in zip(member.facts, known, strict=True)
        ]
        return member.model_copy(update={"facts": news})

    def _previous_node(self) -> Node | None:
        node = self._bundle.nodes.get(self._scene.previous_node_id) if self._scene.transitioned else None
        return None if node is None else self._seen(node, self._told)

    def _seen(self, node: Node, reader: Reader) -> Node:
        """A scene with those notes on it that the reader may know."""
        if not node.notes:
            return node
        return node.model_copy(update={"notes": told_pieces(node.notes, reader, self._play.world)})

    def _hints(self) -> list[ProgressionHint]:
        return [ProgressionHint(to=way.to, condition=way.condition) for way in self._node.transitions]

    def _shared(self, reader: Reader, listener: str | None = None) -> dict[str, Any]:
        world = self._play.world
        return {
            "lore": self._lore(reader, listener),
            "player": PlayerCard(name=self._play.player_name, description=self._play.snapshot.player_description),
            "current_cast": self._cast(self._play.world.active_characters, reader),
            "current_node": self._seen(self._node, reader),
            "transitioned_this_turn": self._scene.transitioned,
            "world_state": StateView(
                custom=world.custom, player_state=world.player_state, character_state=world.character_state
            ),
            "shared_history": self._history,
            "understood": self._scene.understood,
            "wish": self._wish,
            "so_far": self._so_far,
            "resolutions": self._scene.resolutions,
            "canon": [note for note in self._canon if self._may_know(note, reader)],
            "time": self._play.snapshot.time,
            **(self._by_rule(reader) if self._bundle.by_rule else {}),
        }

    def _may_know(self, note: CanonNote, reader: Reader) -> bool:
        """Whether a truth of the world holds now, and the reader knows it; a teller knows what the player knows."""
        now = self._play.minute
        if (note.since is not None and note.since > now) or (note.until is not None and note.until <= now):
            return False
        knowing = reader.ids | {PLAYER} if reader.tells else reader.ids
        return not note.known_to or not knowing.isdisjoint(note.known_to)

    def _by_rule(self, reader: Reader) -> dict[str, Any]:
        """What only roles that are played by rule are told: models would have to read it all."""
        away = [id for id in self._bundle.characters if id not in self._play.world.active_characters]
        return {
            "told": self._told_before,
            "absent_cast": self._cast(away[:MOST_ABSENT], reader),
            "pointers": self._pointers(reader),
        }

    @cached_property
    def _told_before(self) -> list[str]:
        told = [entry for entry in (*self._past, *self._scene.noticed) if entry.kind != "player_input"]
        return [self._bundle.introduction, *(entry.text for entry in newest_within(told, LONGEST_HISTORY))]

    def _pointers(self, reader: Reader) -> list[Pointer]:
        """Lore that the reader does not know, and that those who know it may tell."""
        world = self._play.world
        return [
            Pointer(keywords=entry.keywords, known_to=[self.name_of(id) for id in named if self.knows(id)])
            for entry in self._bundle.lore
            if (named := known_to(entry)) and is_revealed(entry, world) and not reader.may_read(entry, world)
        ]

    def _hears_the_player(self, listener: str) -> bool:
        """Whether somebody noticed the player's words of this turn."""
        said = next((entry for entry in self._scene.noticed if entry.kind == "player_input"), None)
        return said is None or has_noticed(listener, said)

    def _lore(self, reader: Reader, listener: str | None) -> Lore:
        """The lore that comes to mind to a reader; to a listener only what was said in its hearing brings it."""
        node = self._node
        noticed = [listener is None or has_noticed(listener, entry) for entry in self._history]
        heard = [entry.text if is_noticed else "" for entry, is_noticed in zip(self._history, noticed, strict=True)]
        said = self._input if listener is None or self._hears_the_player(listener) else ""
        known = readable_lore(self._bundle.lore, reader, self._play.world)
        lore = active_lore(known, [node.title, node.scene, node.goal, said], heard, self._scenes())
        return lore if all(noticed) else _placed_among(lore, noticed)

    def _scenes(self) -> list[SceneText]:
        """The scenes on the way here, each at the line with which it began."""
        return [
            SceneText(
                texts=[node.title, node.scene, node.goal],
                began=scene_began(self._history, self._turn_index - mark.turn_index, complete=self._reaches_back),
            )
            for mark in self._play.scenes
            if (node := self._bundle.nodes.get(mark.node_id)) is not None
        ]
