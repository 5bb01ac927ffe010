"""Lead a free play from scene to scene: the world moves on, and the next scene begins, or the story ends.

Each step is a turn of its own, like a change by hand, made only if the play stands where the step begins. So the loop
may be called by the work that follows a turn, by the next turn of the player and by both at once: what is done is done
once, and going back over it is going back over turns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabula.actions.canon.advance_world import staged_events
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.messages import spoken_line
from fabula.actions.plays.play_states import head_state, past_of
from fabula.actions.setups.scene_bundles import place_lore
from fabula.language.words import names_said, stem, stems, words_of
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.scene_lore import begin_scene
from fabula.loops.story import story_loop
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import OPERATOR
from fabula.ports.plays import MessageChange
from fabula.ports.threads import run_in_thread
from fabula.rules.off_screen import begin_off_screen, follow_threads, move_off_screen, notice_here
from fabula.rules.plot import urgency
from fabula.rules.story_templates import due_beats
from fabula.story.agendas import FiredAgenda
from fabula.story.change_labels import change_label
from fabula.story.changes import enter, remember
from fabula.story.free_plays import Discovery, FreePlay, FreeWorld, Remembered, Where, next_aim
from fabula.story.off_screen import OffScreen
from fabula.story.passing_time import skip_time
from fabula.story.plays import PlayState
from fabula.story.plot_threads import standing
from fabula.story.state import MemoryEntry
from fabula.understudy.scene_lore import tell_scene_lore
from fabula.understudy.transitions import tell_answers, tell_ending, tell_news, tell_return, tell_transition
from fabula.understudy.voice import FreshVoice

NARRATOR, NARRATOR_NAME = "narrator", "Narrator"
LINES_LOOKED_AT = 400
BETWEEN_SCENES = 60
"""So many minutes pass before a scene to which the player is led; who walks there has walked."""


WORLD_MOVES = change_label("world_moved")


class _Elsewhere(Exception):
    """The play does not stand where a step begins."""


async def lead_on(house: House, session_id: str) -> None:
    """Leads a free play on to its next scene, or to its end; a play that is in a scene is left alone."""
    go_on = await run_in_thread(story_loop)
    await go_on(_Steps(house=house, session_id=session_id), await house.checkpoints.saver(), thread_id=session_id)


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """The steps of the story loop for one play."""

    house: House
    session_id: str

    async def where(self) -> Where:
        async with self.house.store.reading() as unit:
            _, state = await head_state(unit, OPERATOR, self.session_id)
        return where_of(state)

    async def has_more(self) -> bool:
        async with self.house.store.reading() as unit:
            _, state = await head_state(unit, OPERATOR, self.session_id)
            setup = await self.house.play_setups.played_by(unit, self.session_id, state.graph)
        is_past = state.free is not None and state.free.flashback is not None
        return is_past or setup.free is None or bool(setup.free.open_ones(state.world))

    async def advance(self) -> Where:
        return await self._change("over", self._advanced)

    async def open_scene(self) -> Where:
        return await self._change("advanced", self._opened)

    async def end_story(self) -> Where:
        return await self._change("advanced", self._ended)

    async def _change(self, here: Where, make: Callable[[AtHead, PlaySetup, FreePlay], Awaitable[Amendment]]) -> Where:
        async def change(at: AtHead) -> tuple[Amendment, None]:
            free = at.state.free
            if free is None or where_of(at.state) != here:
                raise _Elsewhere
            setup = await self.house.play_setups.played_by(at.looking, self.session_id, at.state.graph)
            return await make(at, setup, free), None

        try:
            state, _ = await amend(self.house, OPERATOR, self.session_id, change)
        except _Elsewhere:
            return await self.where()
        return where_of(state)

    async def _advanced(self, at: AtHead, setup: PlaySetup, free: FreePlay) -> Amendment:
        if free.flashback is not None:
            # While the past is remembered, nothing moves in the present.
            return Amendment(state=_with_free(at.state, free, phase="advanced"), label=WORLD_MOVES)
        minutes = 0 if free.outcome == "left" else BETWEEN_SCENES
        state = begin_off_screen(at.state, setup.clocks, setup.threads, setup.conflicts)
        if minutes:
            state = skip_time(setup.world, state, setup.nodes.get(state.world.current_node), minutes)
        if state.off_screen is None:
            return Amendment(state=_with_free(state, free, phase="advanced"), label=WORLD_MOVES)
        clocks = state.off_screen.all_clocks(setup.clocks)
        stood = state.off_screen.conflicts
        state, advanced = move_off_screen(state, setup.clocks, setup.conflicts, tree_id=at.play.tree_id)
        staged = staged_events(
            self.house,
            setup,
            advanced,
            clocks,
            stood=stood,
            after=state,
            session_id=self.session_id,
            turn_id=at.turn_id,
        )
        state, _ = follow_threads(state, setup.threads, fired=advanced.fired, free=setup.free)
        return Amendment(state=_with_free(state, free, phase="advanced"), staged=staged, label=WORLD_MOVES)

    async def _opened(self, at: AtHead, setup: PlaySetup, free: FreePlay) -> Amendment:
        if free.flashback is not None:
            return _present_again(at, setup, free, free.flashback)
        world = setup.free or FreeWorld()
        past = await past_of(at.unit, at.play.head_turn_id, LINES_LOOKED_AT)
        here = at.state.world.current_node
        arrived = free.outcome == "left"
        weights = scene_weights(setup, at.state, past)
        aim = next_aim(world, at.state.world, here=here, outcome=free.outcome, weights=weights)
        place = here if aim is None else aim.place
        state, moved = at.state, place != here
        if moved or free.outcome in ("asked", "turns"):
            entered = enter(setup.nodes[place], state.world, setup.bounds(state))
            state = state.with_world(entered.state).entering(place).arrived()
            prepared = await place_lore(at.looking, setup, state, [place])
            state = begin_scene(setup, state, prepared.get(place))
        number, aim_id = free.number + 1, None if aim is None else aim.discovery_id
        state = _with_free(state, free, phase="open", number=number, aim=aim_id, outcome=None, walked=arrived)
        told = [setup.introduction, *(entry.text for entry in past)]
        answers = tell_answers(_paid_off(at.state, setup), seed=seed_at(at), told=told)
        text = tell_transition(
            setup.nodes[place],
            played_names(setup, state),
            aim,
            moved=moved,
            arrived=arrived,
            seed=seed_at(at),
            told=told,
        )
        state, news = notice_here(state)
        here_now = setup.names_of(state.world.active_characters, state)
        noticed = [tell_news(one.told, _teller(one, here_now)) for one in news]
        begins = state.scenes[-1:] != at.state.scenes[-1:]
        talk = "" if noticed or not begins else _talk(state, here_now, seed=seed_at(at), told=[*told, text])
        told_now = " ".join(one for one in (answers, text, *noticed, talk) if one)
        return tell_at(at, setup, state, told_now, label=change_label("scene_began", setup.nodes[place].title))

    async def _ended(self, at: AtHead, setup: PlaySetup, free: FreePlay) -> Amendment:
        ended = _with_free(at.state, free, phase="open", outcome=None).model_copy(update={"ended": True})
        ended, _ = follow_threads(ended, setup.threads, free=setup.free)
        answers, rest = ending_truths(setup, ended)
        ending = tell_ending(answers, rest, seed=seed_at(at))
        return tell_at(at, setup, ended, ending, label=change_label("story_ended"))


def _present_again(at: AtHead, setup: PlaySetup, free: FreePlay, left: Remembered) -> Amendment:
    """The scene that was left for one of the past goes on."""
    node = setup.nodes[left.place]
    world = enter(node, at.state.world, setup.bounds(at.state)).state
    people = [id for id in left.people if id in setup.characters or id in at.state.session_characters]
    state = at.state.with_world(world.model_copy(update={"active_characters": people})).entering(left.place)
    state = state.model_copy(update={"turns_in_scene": left.turns})
    state = _with_free(state, free, phase="open", aim=left.aim, outcome=None, walked=False, flashback=None)
    text = tell_return(node, played_names(setup, state), seed=seed_at(at))
    return tell_at(at, setup, state, text, label=change_label("present_again"))


def _talk(state: PlayState, here: Mapping[str, str], *, seed: object, told: Iterable[str]) -> str:
    """What is felt or said where the scene begins."""
    pieces = state.scenes[-1].lore if state.scenes else []
    return tell_scene_lore(pieces, here, FreshVoice(seed, "talk", said=told), "tension", "gossip", "custom")


def _teller(news: FiredAgenda, here: Mapping[str, str]) -> str:
    """Who of those in the scene tells what only some know."""
    return next((name for id, name in here.items() if id in news.known_to), "")


def _paid_off(state: PlayState, setup: PlaySetup) -> list[str]:
    """The questions of the threads that were paid off as the scene ended."""
    off_screen, index = state.off_screen or OffScreen(), state.snapshot.turn_index
    every = [(one, standing(one, off_screen.threads)) for one in off_screen.all_threads(setup.threads)]
    return [one.title for one, now in every if now.status == "resolved" and now.moves[-1].turn_index == index]


def ending_truths(setup: PlaySetup, state: PlayState) -> tuple[dict[str, list[str]], list[str]]:
    """What came to light: what answers each thread that was paid off, the most urgent first, and the rest."""
    off_screen = state.off_screen or OffScreen()
    left = [one for one in (setup.free or FreeWorld()).discoveries if one.is_learned(state.world)]
    every = [(one, standing(one, off_screen.threads)) for one in off_screen.all_threads(setup.threads)]
    answers: dict[str, list[str]] = {}
    for thread, now in sorted(every, key=lambda one: -one[1].priority):
        # What it is about stands first among those that it touches.
        found = next((of_it for id in thread.about if (of_it := [one for one in left if one.subject == id])), [])
        if now.status == "resolved" and found:
            answers[thread.title] = [one.truth for one in found]
            left = [one for one in left if one not in found]
    return answers, [one.truth for one in left]


def where_of(state: PlayState) -> Where:
    """Where a free play stands."""
    if state.ended:
        return "ended"
    return "open" if state.free is None else state.free.phase


def _with_free(state: PlayState, free: FreePlay, **changes: object) -> PlayState:
    return state.model_copy(update={"free": free.model_copy(update=changes)})


def seed_at(at: AtHead) -> object:
    """What is told between scenes follows from the seed of the play and where it stands."""
    return at.play.tree_id if at.state.dice_seed is None else at.state.dice_seed, at.state.snapshot.turn_index


def played_names(setup: PlaySetup, state: PlayState) -> list[str]:
    """What those in the scene are called."""
    return list(setup.names_of(state.world.active_characters, state).values())


def scene_weights(setup: PlaySetup, state: PlayState, past: Sequence[MemoryEntry]) -> dict[str, float]:
    """How much each discovery asks for a scene: a point for each of its words that the player used lately, up to five
    for every live plot thread about it, by its urgency, up to three for a running agenda of who it is about, and four
    where the template that the play follows needs its people or its place next."""
    lines = " ".join(entry.text for entry in past if entry.kind == "player_input")
    said, words = stems(lines), words_of(lines)
    off_screen = state.off_screen or OffScreen()
    threads = [
        (frozenset(one.about), standing(one, off_screen.threads)) for one in off_screen.all_threads(setup.threads)
    ]
    clocks = [one for one in off_screen.all_clocks(setup.clocks) if one.status == "active"]
    followed = setup.followed(state)
    beats = [] if followed is None else due_beats(*followed, state)
    wanted = frozenset(id for beat in beats for id in (*beat.people, *beat.places))

    def weight(one: Discovery) -> float:
        interest = len(said & stems(one.about) | frozenset(map(stem, names_said(one.knower_name, words))))
        owed = sum(5 * urgency(now, state.minute) for about, now in threads if about & one.touches)
        due = 4 * bool(wanted & one.touches)
        pressed = sum(3 * clock.filled / clock.segments for clock in clocks if clock.owner in one.touches)
        return interest + owed + pressed + due

    return {one.discovery_id: weight(one) for one in (setup.free or FreeWorld()).discoveries}


def tell_at(at: AtHead, setup: PlaySetup, state: PlayState, text: str, *, label: str) -> Amendment:
    """The state with a line of the narrator's, where there is anything to say."""
    if not text:
        return Amendment(state=state, label=label)
    checked = setup.guardrails(at.state, NARRATOR).cut(text)
    said = spoken_line(at, kind="narration", speaker_id=NARRATOR, speaker_name=NARRATOR_NAME, text=checked.text)
    world = remember(state.world, [entry_of(said)], limit=setup.shared_window)
    state = state.with_world(world).model_copy(update={"message_count": state.message_count + 1})
    said_now = [MessageChange(op="say", message=said)]
    return Amendment(state=state, messages=said_now, label=label, objections=checked.objections, is_checked=True)
