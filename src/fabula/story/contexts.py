"""What each role is told: typed contexts, from which prompts are written and the understudy answers."""

from __future__ import annotations

from collections.abc import Set
from typing import Literal

from fabula.story.calendars import StoryTime
from fabula.story.checks import Resolution
from fabula.story.conflicts import ConflictPhase
from fabula.story.conversations import ConversationMode
from fabula.story.directives import Directive
from fabula.story.graph import Condition, Node
from fabula.story.ink_stories import Heard, Talk
from fabula.story.intent_verdicts import IntentVerdict
from fabula.story.minds import Mind
from fabula.story.npc import GameEvent, Lived, NpcState
from fabula.story.readings import Understood
from fabula.story.relations import Relation
from fabula.story.resources import ArchitectMode
from fabula.story.scene_lore import ScenePiece
from fabula.story.schemas import SchemaField
from fabula.story.session_zero import SessionZero
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject, Value

NarratorPurpose = Literal["describe_transition", "describe_scene", "describe_result"]
ActorPurpose = Literal["advance_goal", "react_to_player", "comment_on_scene"]
KeeperPhase = Literal["after_player_input", "after_turn_outputs"]


class LoreNote(Value):
    """A lore entry that applies now. `heard_at` is the entry of the shared history that called it to mind first.

    What the present scene calls to mind (`of_scene`) applies for as long as it does, even when that entry is gone.
    `known_to` are the characters that know it, by id, when not everyone does; a `secret` is not to be told yet;
    `revealed` is what could not be told before.
    """

    title: str
    content: str
    heard_at: int | None = None
    of_scene: bool = False
    keywords: list[str] = []
    known_to: list[str] = []
    secret: bool = False
    revealed: bool = False


class KnownFact(Value):
    """A fact of a character that a role may know. `known_to`, `secret` and `revealed` are those of lore.

    `always` says that everybody may know it at any time.
    """

    text: str
    always: bool = False
    known_to: list[str] = []
    secret: bool = False
    revealed: bool = False


class CastMember(Value):
    """A character as a role sees it: template variables filled in, live state beside it.

    `facts` are those that the role may know.
    """

    id: str
    name: str
    personality: str
    style: str
    system_prompt: str = ""
    state: JsonObject = {}
    facts: list[KnownFact] = []


class PlayerCard(Value):
    """Who the player is."""

    name: str
    description: str


class StateView(Value):
    """The variables that a role may see; `player_state` is None for actors."""

    custom: JsonObject = {}
    player_state: JsonObject | None = None
    character_state: dict[str, JsonObject] = {}


class Lore(Value):
    """Active lore: what always applies, and what the scene called to mind."""

    base: list[LoreNote] = []
    matched: list[LoreNote] = []


class PlannerContext(Value):
    role: Literal["planner"] = "planner"
    story_concept: str
    lore: Lore = Lore()
    available_characters: list[CastMember]


class ArchitectContext(Value):
    """`section_*`, `graph_nodes` and `recent_nodes` are empty in mode `graph`."""

    role: Literal["architect"] = "architect"
    mode: ArchitectMode
    story_concept: str
    planned_story: str
    lore: Lore = Lore()
    available_characters: list[CastMember]
    world_fields: dict[str, SchemaField] | None = None
    player_fields: dict[str, SchemaField] | None = None
    section_summaries: list[str] = []
    current_section: str = ""
    section_index: int = 0
    total_sections: int = 1
    target_node_count: int = 4
    graph_nodes: list[Node] = []
    recent_nodes: list[Node] = []
    problems: list[str] = []


class Pointer(Value):
    """What the reader does not know and others do: the words that it is about, and the names of those who know it."""

    keywords: list[str]
    known_to: list[str]


class RecalledLine(Value):
    """Something that comes to mind from before the history that a role is told. `owner` is the id of who remembers."""

    owner: str
    owner_name: str
    text: str


class CanonNote(Value):
    """Something that is true in the world of the story, about somebody in the scene. `known_to` are those who know it,
    by id; nobody named means everybody. It holds from `since` on and before `until`, in minutes of story time."""

    text: str
    known_to: list[str] = []
    since: int | None = None
    until: int | None = None

    def holds_at(self, minute: int) -> bool:
        return (self.since is None or self.since <= minute) and (self.until is None or minute < self.until)

    def is_known_to(self, ids: Set[str]) -> bool:
        """Whether one of them knows it."""
        return not self.known_to or not ids.isdisjoint(self.known_to)


class NewsNote(Value):
    """Something that came to pass off-screen and is noticed in this scene. `known_to` are those who know of it, by id;
    nobody named means that everybody there notices."""

    text: str
    known_to: list[str] = []


class ConflictNote(Value):
    """A conflict that concerns those in the scene. `due` is what is to come of it soon, for whoever plans; `own` is
    what whoever is told wants of it."""

    title: str
    phase: ConflictPhase
    stakes: str = ""
    people: list[str] = []
    due: str = ""
    own: str = ""


class DueBeat(Value):
    """A beat of a story template that is due: what has to happen, with whom and where, and how it may end."""

    title: str
    text: str = ""
    people: list[str] = []
    places: list[str] = []
    outcomes: list[str] = []


class PastScene(Value):
    """A scene that was played before the present one; `began` is the entry of the shared history it began with, `lore`
    what was to be said of it."""

    node: Node
    began: int
    lore: list[ScenePiece] = []


class SceneContext(Value):
    """What all roles of a turn share. `understood` is the player's line as the rules read it where it was said.

    `wish` is how the player wants this turn to be told, who has read another telling of it. `so_far` sums up what
    happened before the shared history, and `memories` are single things from there that come to mind. `time` is the
    clock of the play, if its story has a calendar. `resolutions` are what the dice decided about the line,
    `again` what was told before a telling claimed the opposite, or crossed a line of the table, which `crossed` names.
    `canon` is what is true in the story's world around those in the scene, as far as the role may know it. `minds` are
    what the role may know of how those in the scene feel, and what shows of it. `news` is what came to pass off-screen
    and is noticed as this scene begins, `session_zero` what was agreed upon, `conflicts` what people in the
    scene are at odds about, `directives` what the role is told to do and leave, `verdicts` what of the line
    cannot be done like that, `due` what the template that the play follows needs next.

    `scene_began` is the entry of the shared history with which the present scene began, and `past_scenes` are those
    before it that the history still tells of. Without it, prompts tell the history in one piece. `scene_lore` is what
    was chosen to be said of the present scene as it began, as far as the role may know it. `met` are those who noticed
    something of the history, also if they have left, with nothing but what everybody may know: a prompt that is to
    extend the last one tells of each where they came. `at_first` are the values that variables had as the play began,
    as far as everybody may know them: such a prompt tells at its end what is different now.

    The last four are for roles that are played by rule, and stand in no prompt: all that was told in this play, the
    characters that are not in the scene, who knows what the reader does not, and whether the reader did not hear the
    player's line, because it was not there or it was whispered to somebody else.
    """

    lore: Lore = Lore()
    player: PlayerCard
    current_cast: list[CastMember]
    met: list[CastMember] = []
    current_node: Node
    transitioned_this_turn: bool = False
    world_state: StateView
    at_first: StateView | None = None
    shared_history: list[MemoryEntry] = []
    scene_began: int | None = None
    past_scenes: list[PastScene] = []
    scene_lore: list[ScenePiece] = []
    understood: Understood | None = None
    wish: str | None = None
    so_far: str = ""
    resolutions: list[Resolution] = []
    again: str | None = None
    crossed: str | None = None
    verdicts: list[IntentVerdict] = []
    memories: list[RecalledLine] = []
    canon: list[CanonNote] = []
    minds: list[Mind] = []
    news: list[NewsNote] = []
    time: StoryTime | None = None
    session_zero: SessionZero | None = None
    conflicts: list[ConflictNote] = []
    directives: list[Directive] = []
    due: list[DueBeat] = []
    told: list[str] = []
    absent_cast: list[CastMember] = []
    pointers: list[Pointer] = []
    unheard: bool = False


class DirectorContext(SceneContext):
    role: Literal["director"] = "director"
    player_fields: dict[str, SchemaField] = {}


class NarratorContext(SceneContext):
    role: Literal["narrator"] = "narrator"
    purpose: NarratorPurpose
    player_fields: dict[str, SchemaField] = {}
    previous_node: Node | None = None
    previous_cast: list[CastMember] = []


class ConversationNote(Value):
    """What somebody in a conversation knows of it: how they stand to the player, as it is felt, and in words."""

    mode: ConversationMode = "talk"
    relation: Relation = Relation()
    stands: str = ""


class ActorContext(SceneContext):
    """`actor` is the speaker; the player's own variables are not known to it. `conversation` is there in one."""

    role: Literal["actor"] = "actor"
    actor: CastMember
    purpose: ActorPurpose
    private_memory: list[MemoryEntry] = []
    conversation: ConversationNote | None = None


class ProgressionHint(Value):
    """A way on, and what would open it."""

    to: str
    condition: Condition | None = None


class KeeperContext(SceneContext):
    """`beats_above` says that a prompt only points at the beats of the turn, which end its history."""

    role: Literal["keeper"] = "keeper"
    phase: KeeperPhase
    world_fields: dict[str, SchemaField] = {}
    player_fields: dict[str, SchemaField] = {}
    previous_node: Node | None = None
    previous_cast: list[CastMember] = []
    node_change: str | None = None
    progression_hints: list[ProgressionHint] = []
    player_input: str
    completed_beats: list[MemoryEntry] = []
    beats_above: bool = False
    turns_in_scene: int = 0


class ReplyerContext(SceneContext):
    role: Literal["replyer"] = "replyer"
    player_fields: dict[str, SchemaField] = {}
    reply_limit: int = 3
    session_history: list[MemoryEntry] = []


class SwiftContext(SceneContext):
    """One call that writes the whole turn; it knows what director, narrator, actors and keeper know."""

    role: Literal["swift"] = "swift"
    player_fields: dict[str, SchemaField] = {}
    world_fields: dict[str, SchemaField] = {}
    previous_node: Node | None = None
    progression_hints: list[ProgressionHint] = []
    player_input: str
    turns_in_scene: int = 0


RoleContext = (
    PlannerContext
    | ArchitectContext
    | DirectorContext
    | NarratorContext
    | ActorContext
    | KeeperContext
    | ReplyerContext
    | SwiftContext
)


class InkAgentContext(Value):
    """What a character of an Ink story is told; a `continue` has no character, only the teller.

    `voice` and `knowledge` are lines of the character's own knot, `goal` is the passage that the talk should lead to.
    `memories` come to the character's mind of what was said in talks with it and stands nowhere else.
    """

    role: Literal["ink_agent"] = "ink_agent"
    character: str | None
    voice: list[str] = []
    knowledge: list[str] = []
    story_so_far: list[Heard] = []
    earlier: list[str] = []
    talk: Talk = Talk()
    goal: list[str] = []
    memories: list[RecalledLine] = []
    player_input: str
    wish: str | None = None
    told_too_much: bool = False
    session_zero: SessionZero | None = None


class InkGenerateContext(Value):
    """What a text is written from that an Ink story asks for."""

    role: Literal["ink_generate"] = "ink_generate"
    prompt: str
    story_so_far: list[Heard] = []
    earlier: list[str] = []
    wish: str | None = None
    told_too_much: bool = False
    session_zero: SessionZero | None = None


KnotContext = InkAgentContext | InkGenerateContext


class NpcContext(Value):
    """What an NPC of a game knows when it takes a turn: `history` is its own, oldest first, up to this moment.

    `recalled` are older things that the moment brings back; `repeats` tells that its first reply was an old line, and
    `crossed` which line of the game's boundaries (`session_zero`) it crossed.
    """

    role: Literal["npc"] = "npc"
    state: NpcState
    event: GameEvent
    history: list[Lived] = []
    recalled: list[Lived] = []
    repeats: bool = False
    crossed: str | None = None
    session_zero: SessionZero | None = None


ModelContext = RoleContext | KnotContext | NpcContext
"""All contexts that a model may be asked from; those of games are no part of a play and have no preset."""
