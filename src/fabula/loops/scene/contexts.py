"""Contexts: what each role of a turn is told, built from the setup and the state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from fabula.language.spoilers import Guard
from fabula.loops.scene.play_setup import PlaySetup
from fabula.recall.inner_life import InnerTurn, outward
from fabula.recall.perception import PLAYER_OWNER, has_noticed
from fabula.recall.social_beats import in_words, stands_in_words
from fabula.rules.conflicts import due_in
from fabula.rules.off_screen import circumstances, news_here
from fabula.rules.story_templates import due_beats
from fabula.story.agendas import FiredAgenda
from fabula.story.changes import LONGEST_HISTORY, lines_left_out, newest_within
from fabula.story.checks import PLAYER, Resolution
from fabula.story.contexts import (
    ActorContext,
    ActorPurpose,
    CanonNote,
    CastMember,
    ConflictNote,
    DirectorContext,
    DueBeat,
    KeeperContext,
    KeeperPhase,
    Lore,
    NarratorContext,
    NarratorPurpose,
    NewsNote,
    PastScene,
    PlayerCard,
    Pointer,
    ProgressionHint,
    RecalledLine,
    ReplyerContext,
    StateView,
    SwiftContext,
)
from fabula.story.directives import EVERYONE as ALL_TARGETS
from fabula.story.directives import TELLING_AGENTS, Directive, holding
from fabula.story.graph import MOST_WAYS, Comparison, Node, tests_of
from fabula.story.intent_verdicts import IntentVerdict
from fabula.story.knowledge import (
    EVERYONE,
    Fact,
    Piece,
    Reader,
    is_open,
    is_revealed,
    known_to,
    told_pieces,
    waited_for,
)
from fabula.story.lore import SceneText, active_lore, readable_lore, scene_began
from fabula.story.minds import Mind
from fabula.story.people import goals_now
from fabula.story.plays import PlayState
from fabula.story.readings import Understood
from fabula.story.resources import CharacterContent
from fabula.story.schemas import Schema, defaults_of
from fabula.story.state import MemoryEntry
from fabula.story.templates import Filling, cast_member
from fabula.story.values import JsonObject, Value

LONGEST_CARDS = 8_000
"""So many letters the cards of those may have who are not in the scene any more, and in what is told of it."""
MOST_ABSENT = 40
MOST_DUE = 3
"""So many beats of a template are told at once."""
UNFELT = ("seed", "aftermath")
MOST_CONFLICT_NOTES = 2
MOST_STANDS = 4
"""So many things a role is told of how somebody stands to those in the scene."""


class Scene(Value):
    """Where a turn stands: the node it came from, and what everyone has noticed since the turn began.

    `understood` is the player's line as the rules read it at that node, `resolutions` what the dice decided about it,
    `verdicts` what of it cannot be done like that.
    """

    previous_node_id: str
    previous_cast: list[str]
    transitioned: bool = False
    noticed: list[MemoryEntry] = []
    understood: Understood | None = None
    resolutions: list[Resolution] = []
    verdicts: list[IntentVerdict] = []

    def after(self, entries: list[MemoryEntry]) -> Scene:
        """The scene after more was said and done; thoughts are noticed by nobody."""
        heard = [entry for entry in entries if entry.kind != "thought"]
        return self.model_copy(update={"noticed": [*self.noticed, *heard]})


def _place_of(test: Comparison) -> tuple[str, ...]:
    """The variable that a comparison reads."""
    return test.scope, test.character or "", test.key


def _first_values(held: JsonObject, schema: Schema | None) -> JsonObject:
    """The values that some variables had at first, of those that everyone knows."""
    fields = {} if schema is None else schema.fields
    return {
        key: value
        for key, value in defaults_of(schema).items()
        if key in held and fields[key].known_by in (None, EVERYONE)
    }


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
        own_past: Mapping[str, str] | None = None,
        canon: Sequence[CanonNote] = (),
        inner: InnerTurn | None = None,
    ) -> None:
        """`past` is the end of the transcript before this turn, as far back as a role is told.

        `turn_index` is the turn that was last begun, `wish` how the player wants it told, `so_far` the summary of what
        happened before that, `recalled` what comes to mind of it, by who remembers it, `own_past` how characters sum it
        up for themselves, `canon` what is true in the story's world; `inner` is what goes on in minds.
        """
        self._cards: dict[str, CastMember] = {}
        self._filling = Filling(user=play.player_name)
        self._inner = inner
        self._recalled, self._own_past, self._canon = recalled or {}, own_past or {}, canon
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
            directives=self._directives("director", *self.here()),
            due=self._due(),
            player_fields=self._bundle.player_schema.fields,
        )

    def narrator(self, purpose: NarratorPurpose) -> NarratorContext:
        return NarratorContext(
            **self._shared(self._told_on_the_way),
            memories=self._remembered(PLAYER_OWNER),
            minds=self._shown_minds(),
            directives=self._directives("narrator"),
            purpose=purpose,
            player_fields=self._bundle.player_schema.fields,
            previous_node=self._previous_node(),
            previous_cast=self._previous_cast(),
        )

    def actor(self, speaker_id: str, purpose: ActorPurpose) -> ActorContext:
        """The speaker knows the world as far as it may, what it noticed itself, and its own mind.

        It knows neither the player's variables nor the summary of what happened: that tells of scenes without it, too.
        In its place stand the summaries among its own memories.
        """
        reader = Reader.character(speaker_id)
        world = self._play.world
        own = {speaker_id: world.character_state.get(speaker_id, {})}
        hears = self._hears_the_player(speaker_id)
        known = {
            "world_state": StateView(custom=self._variables(reader), character_state=own),
            "at_first": self._first.model_copy(
                update={
                    "player_state": None,
                    "character_state": {speaker_id: self._first.character_state.get(speaker_id, {})},
                }
            ),
            "shared_history": [entry for entry in self._history if has_noticed(speaker_id, entry)],
            "so_far": self._own_past.get(speaker_id, ""),
            "unheard": not hears,
            **({} if hears else {"understood": None, "resolutions": [], "verdicts": []}),
        }
        return ActorContext(
            **{**self._shared(reader, listener=speaker_id), **known},
            actor=self.member(speaker_id, reader),
            memories=self._remembered(speaker_id),
            minds=self._own_mind(speaker_id),
            directives=self._directives("actor", speaker_id),
            purpose=purpose,
            private_memory=world.actor_private_memory.get(speaker_id, []),
        )

    def keeper(self, phase: KeeperPhase, completed_beats: list[MemoryEntry]) -> KeeperContext:
        moved = f"{self._scene.previous_node_id} -> {self._node.id}" if self._scene.transitioned else None
        return KeeperContext(
            **{**self._shared(self._told), **self._without_scene_lore(self._told)},
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
        """Who plays everybody at once is told what somebody here may know. A role played by rule tells nothing of the
        variables, and is told them all."""
        known = {"world_state": self._state(self._play.world.custom)} if self._bundle.is_by_rule("director") else {}
        return SwiftContext(
            **{**self._shared(self._told), **known},
            memories=self._remembered(*self.here()),
            minds=self._shown_minds(),
            directives=self._directives(*TELLING_AGENTS, *self.here()),
            due=self._due(),
            player_fields=self._bundle.player_schema.fields,
            world_fields=self._bundle.world_schema.fields,
            previous_node=self._previous_node(),
            progression_hints=self._hints(),
            player_input=self._input,
            turns_in_scene=self._play.turns_in_scene,
        )

    def member(self, id: str, reader: Reader) -> CastMember:
        """A character as a role sees it; guests of the play are characters too."""
        return self._member(id, lambda facts: told_pieces(facts, reader, self._play.world, owner=id))

    def _member(self, id: str, told: Callable[[Collection[Fact]], list[Fact]]) -> CastMember:
        """A character with what is told of its facts."""
        state = self._play.world.character_state.get(id, {})
        content = self._bundle.characters.get(id)
        if content is not None:
            schema = self._bundle.character_schemas.get(content.schema_id)
            facts = told(content.facts)
            return cast_member(content, state=state, schema=schema, filling=self._filling, facts=facts)
        guest = self._play.session_characters[id]
        stand_in = CharacterContent(
            id=id,
            name=guest.display_name,
            personality=guest.personality,
            style=guest.style,
            schema_id="guest",
            system_prompt=guest.system_prompt,
        )
        return cast_member(stand_in, state=state, schema=None, filling=self._filling)

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
        news = [one.told for one in self._news(self._told_on_the_way)]
        return self._bundle.spoilers.guard(
            visited=self._bundle.open_scenes(self._play),
            state=self._play.world,
            allowed=[*told, *guests, *player, *news],
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

    def _directives(self, *targets: str) -> list[Directive]:
        """What these agents and characters are told to do and to leave, and everyone is."""
        said = self._bundle.told_directives(self._play)
        return holding(said, (ALL_TARGETS, *targets), self._play.minute) if said else []

    def _due(self) -> list[DueBeat]:
        """What the template of the play needs next."""
        followed = self._bundle.followed(self._play)
        if followed is None:
            return []
        return [
            DueBeat(
                title=beat.title,
                text=beat.text,
                people=list(self._bundle.names_of(beat.people, self._play).values()),
                places=[node.title for id in beat.places if (node := self._bundle.nodes.get(id)) is not None],
                outcomes=[one.text for one in beat.outcomes if one.text],
            )
            for beat in due_beats(*followed, self._play)[:MOST_DUE]
        ]

    def _remembered(self, *owners: str) -> list[RecalledLine]:
        """What comes to mind to these, and to nobody else."""
        return [line for owner in owners for line in self._recalled.get(owner, ())]

    def _own_mind(self, id: str) -> list[Mind]:
        """What a character knows of itself; nothing where nothing goes on in it."""
        mind = self._mind(id)
        return [] if mind == Mind(id=mind.id, name=mind.name, valence=mind.valence) else [mind]

    def _mind(self, id: str, *, told_of: bool = False) -> Mind:
        """What goes on in a character, with how it stands to those in the scene: as it would say itself, or as it is
        `told_of` it."""
        known = None if self._inner is None else self._inner.minds.get(id)
        mind = known or Mind(id=id, name=self.name_of(id))
        if not told_of and self._bundle.world is not None and id in self._bundle.world.people:
            goals = goals_now(self._bundle.world.people[id], self._play.world, self._play.relations)
            mind = mind.model_copy(update={"wants": [one.goal.text for one in goals if one.stance == "pursued"]})
        mine = self._play.relations.get(id)
        if not mine:
            return mind
        here = {one: self.name_of(one) for one in self.here() if one != id}
        if self._play.conversation is None:
            # In a conversation how it stands to the player is told with that.
            here = {PLAYER: self._play.player_name, **here}
        felt = [(name, mine[one]) for one, name in here.items() if one in mine]
        words = [stands_in_words(one, name) if told_of else [in_words(one, name)] for name, one in felt]
        stands = [text for some in words for text in some if text][:MOST_STANDS]
        return mind.model_copy(update={"stands": stands, "relation": mine.get(PLAYER) if stands else None})

    def _shown_minds(self) -> list[Mind]:
        """What everybody sees of those in the scene."""
        came = None if self._inner is None else self._inner.flashback
        told = "" if came is None else came.told
        seen = [outward(self._mind(id, told_of=True), told) for id in self.here()]
        return [one for one in seen if one.mood or one.presented or one.relived or one.stands]

    def _cast(self, ids: list[str], reader: Reader) -> list[CastMember]:
        return [self.member(id, reader) for id in ids if self.knows(id)]

    def _met(self, listener: str | None) -> list[CastMember]:
        """Those who noticed something of the history that is told, in the order in which they came.

        All who are in the scene, and as many of those who left as prompts have room for, the first of them first: what
        stands in front of a prompt is dear to change.
        """
        if not self._bundle.told_history:
            return []
        heard = [entry for entry in self._history if listener is None or has_noticed(listener, entry)]
        ids = dict.fromkeys(id for entry in heard for id in (entry.speaker_id, *(entry.heard_by or ())))
        here, left = self.here(), LONGEST_CARDS
        found: list[CastMember] = []
        for id in ids:
            if id == listener or not self.knows(id):
                continue
            card = self._public_card(id)
            if id not in here:
                left -= len(card.personality) + len(card.style) + len(card.system_prompt)
                if left < 0:
                    continue
            found.append(card)
        return found

    def _public_card(self, id: str) -> CastMember:
        """A character with what everybody may know of it at any time."""
        if id not in self._cards:
            self._cards[id] = self._member(id, lambda facts: [fact for fact in facts if is_open(fact)])
        return self._cards[id]

    @cached_property
    def _first(self) -> StateView:
        """The values that the variables of the play had as it began, as far as everybody may know them."""
        world, characters = self._play.world, self._bundle.characters
        return StateView(
            custom=_first_values(world.custom, self._bundle.world_schema),
            player_state=_first_values(world.player_state, self._bundle.player_schema),
            character_state={
                id: _first_values(held, self._bundle.character_schemas.get(characters[id].schema_id))
                for id, held in world.character_state.items()
                if id in characters
            },
        )

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
        return [ProgressionHint(to=way.to, condition=way.condition) for way in self._node.transitions[:MOST_WAYS]]

    def _shared(self, reader: Reader, listener: str | None = None) -> dict[str, Any]:
        return {
            "lore": self._lore(reader, listener),
            "player": PlayerCard(name=self._play.player_name, description=self._play.snapshot.player_description),
            "current_cast": self._cast(self._play.world.active_characters, reader),
            "met": self._met(listener),
            "at_first": self._first,
            "current_node": self._seen(self._node, reader),
            "transitioned_this_turn": self._scene.transitioned,
            "world_state": self._state(self._variables(reader)),
            "shared_history": self._history,
            **self._told_scenes(reader, listener),
            "understood": self._scene.understood,
            "wish": self._wish,
            "so_far": self._so_far,
            "resolutions": self._scene.resolutions,
            "verdicts": self._scene.verdicts,
            "canon": [note for note in self._canon if self._may_know(note, reader)],
            "news": [NewsNote(text=one.told, known_to=one.known_to) for one in self._news(reader)],
            "time": self._play.snapshot.time,
            "session_zero": self._bundle.agreed(self._play),
            "conflicts": self._conflicts(reader, listener),
            **(self._by_rule(reader) if self._bundle.by_rule else {}),
        }

    def _state(self, of_world: JsonObject) -> StateView:
        world = self._play.world
        return StateView(custom=of_world, player_state=world.player_state, character_state=world.character_state)

    def _variables(self, reader: Reader) -> JsonObject:
        """The variables of the world that a reader may know: who tells a scene, those that somebody in it may tell."""
        world, fields = self._play.world, self._bundle.world_schema.fields
        closed = {
            key: Piece(known_by=field.known_by)
            for key, field in fields.items()
            if field.known_by not in (None, EVERYONE)
        }
        if not closed:
            return world.custom
        return {
            key: value
            for key, value in world.custom.items()
            if key not in closed or reader.may_read(closed[key], world)
        }

    def _news(self, reader: Reader) -> list[FiredAgenda]:
        """What came to pass off-screen, and the reader notices as the scene begins."""
        if not self._scene.transitioned or self._play.off_screen is None:
            return []
        return news_here(self._play, reader.ids | {PLAYER} if reader.tells else reader.ids)

    def _conflicts(self, reader: Reader, listener: str | None) -> list[ConflictNote]:
        """What those in the scene are at odds about, as far as the reader knows of it; the fiercest first."""
        off_screen = self._play.off_screen
        if off_screen is None or not self._bundle.conflicts:
            return []
        around = circumstances(self._play)
        knowing = reader.ids | {PLAYER} if reader.tells else reader.ids
        found = []
        for one in self._bundle.conflicts:
            now = off_screen.conflicts.get(one.conflict_id) or one.start
            here = [id for id in one.people if id in self._play.world.active_characters and self.knows(id)]
            is_felt = bool(here) or self._node.id in one.where
            is_known = not one.known_to or not knowing.isdisjoint(one.known_to)
            if is_felt and is_known and now.phase not in UNFELT and (listener is None or listener in one.people):
                own = next((part.wants for part in one.stakeholders if part.who == listener), "")
                due = due_in(one, now, around) if reader.tells else ""
                people = [self.name_of(id) for id in here]
                note = ConflictNote(
                    title=one.title, phase=now.phase, stakes=one.stakes, people=people, due=due, own=own
                )
                found.append((-now.intensity, note))
        return [note for _, note in sorted(found, key=lambda pair: pair[0])][:MOST_CONFLICT_NOTES]

    def _may_know(self, note: CanonNote, reader: Reader) -> bool:
        """Whether a truth of the world holds now, and the reader knows it; a teller knows what the player knows."""
        knowing = reader.ids | {PLAYER} if reader.tells else reader.ids
        return note.holds_at(self._play.minute) and note.is_known_to(knowing)

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
        lore = active_lore(known, [node.title, node.scene, node.goal, said], heard, self._scene_texts)
        return lore if all(noticed) else _placed_among(lore, noticed)

    @cached_property
    def _scene_texts(self) -> list[SceneText]:
        return [
            SceneText(texts=[one.node.title, one.node.scene, one.node.goal], began=one.began) for one in self._scenes
        ]

    @cached_property
    def _scenes(self) -> list[PastScene]:
        """The scenes on the way here that the history tells of, each at the line with which it began.

        The one that was on when the history begins stands at its first line, for as long as it does.
        """
        began = [
            (mark, scene_began(self._history, self._turn_index - mark.turn_index, complete=self._reaches_back))
            for mark in self._play.scenes
        ]
        hidden = sum(place is None for _, place in began)
        return [
            PastScene(node=node, began=place or 0, lore=mark.lore)
            for mark, place in began[max(0, hidden - 1) :]
            if (node := self._bundle.nodes.get(mark.node_id)) is not None
        ]

    def _without_scene_lore(self, reader: Reader) -> dict[str, Any]:
        """What the keeper is told otherwise than all others: all variables, and nothing that is only talk."""
        past = self._told_scenes(reader, None)["past_scenes"]
        return {
            "world_state": self._state(self._play.world.custom),
            "at_first": None,
            "scene_lore": [],
            "past_scenes": [one.model_copy(update={"lore": []}) for one in past],
        }

    def _told_scenes(self, reader: Reader, listener: str | None) -> dict[str, Any]:
        """Where in the history a reader is told of the present scene, and which scenes before it stay told of.

        Who was not there knows nothing of a scene, so a listener is told of the present one alone.
        """
        if not self._scenes:
            return {"scene_began": 0, "past_scenes": []}
        *past, here = self._scenes
        if not reader.tells:
            # Who tells a scene knows what somebody in it knew as it began; the others know what they know themselves.
            lore = [one for one in here.lore if not one.known_to or not reader.ids.isdisjoint(one.known_to)]
            here = here.model_copy(update={"lore": lore})
        if listener is not None:
            heard = sum(has_noticed(listener, entry) for entry in self._history[: here.began])
            return {"scene_began": heard, "past_scenes": [], "scene_lore": here.lore}
        seen = [one.model_copy(update={"node": self._seen(one.node, reader)}) for one in past]
        return {"scene_began": here.began, "past_scenes": seen, "scene_lore": here.lore}
