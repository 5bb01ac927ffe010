// Written by `make docs` from the code: change the code, not this file.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Something it does, in one piece. */
export interface ActorActionComplete {
  type: "actor_action_complete";
  beat_index: number;
  speaker_id: string;
  text: string;
}

export interface ActorBeat {
  type: "Actor";
  speaker_id: string;
  purpose: "AdvanceGoal" | "ReactToPlayer" | "CommentOnScene";
}

/** The whole beat: `{speaker_id, speaker_name, segments, raw_output}`. */
export interface ActorCompleted {
  type: "actor_completed";
  beat_index: number;
  speaker_id: string;
  purpose: "AdvanceGoal" | "ReactToPlayer" | "CommentOnScene";
  response: ActorResponse;
}

/** A piece of what it says. */
export interface ActorDialogueDelta {
  type: "actor_dialogue_delta";
  beat_index: number;
  speaker_id: string;
  delta: string;
}

/** The whole of an actor's beat. */
export interface ActorResponse {
  speaker_id: string;
  speaker_name: string;
  segments: Segment[];
  raw_output: string;
}

/** A beat of a character begins. */
export interface ActorStarted {
  type: "actor_started";
  beat_index: number;
  speaker_id: string;
  purpose: "AdvanceGoal" | "ReactToPlayer" | "CommentOnScene";
}

/** A piece of what it thinks; thoughts are in no transcript. */
export interface ActorThoughtDelta {
  type: "actor_thought_delta";
  beat_index: number;
  speaker_id: string;
  delta: string;
}

export interface AddActiveCharacter {
  type: "AddActiveCharacter";
  character: string;
}

export interface AddMemory {
  owner_id?: string;
  text: string;
  importance?: number;
}

/** Something that became true. `item_id` undoes it. */
export interface AddedItem {
  item_id: string;
  kind: string;
  sentence: string;
}

/** `duration` is in minutes of story time, or in words: `90 minutes`, `8 hours`, `3 days`, `2 weeks`. With `dry_run` nothing is written. A session in the envelope stands for its play; then `world_id` is left out. */
export interface AdvanceWorld {
  world_id?: string;
  duration: number | string;
  dry_run?: boolean;
}

/** An agent's answer could not be used; a fallback was taken, a filler in character, or a `stand_in` plays on. */
export interface AgentDegraded {
  type: "agent_degraded";
  agent: string;
  reason: string;
  stand_in?: string | null;
}

/** What came of the player's words, see below. */
export interface AgentOutcome {
  type: "agent_outcome";
  outcome: "DIRECT_CONTINUE" | "BRIDGE_AND_CONTINUE" | "NEEDS_INPUT" | "INVALID_INPUT";
  reply: string;
  reason: string;
  bridge_text?: string | null;
  guidance?: string | null;
}

/** How one role is asked: its limits and the modules of its prompt. */
export interface AgentPreset {
  temperature?: number | null;
  max_tokens?: number | null;
  director_shared_history_limit?: number | null;
  actor_shared_history_limit?: number | null;
  actor_private_memory_limit?: number | null;
  narrator_shared_history_limit?: number | null;
  replyer_session_history_limit?: number | null;
  extra?: Json;
  modules?: PresetModule[];
}

/** A piece of a reply, to be added to those before it; `character` is empty in a `continue`. */
export interface AgentReplyDelta {
  type: "agent_reply_delta";
  character: string;
  delta: string;
}

export interface All {
  all: (Comparison | All | Any | Not)[];
}

/** Answers in plain words. What is left out stays as it is; an empty answer takes it away. */
export interface AnswerSessionZero {
  world_id?: string;
  premise?: string | null;
  themes?: string | null;
  boundaries?: string | null;
}

export interface Any {
  any: (Comparison | All | Any | Not)[];
}

export interface ApiDeleted {
  type: "api_deleted";
  api_id: string;
}

export interface ApiGroupDeleted {
  type: "api_group_deleted";
  api_group_id: string;
}

export interface ApiGroupView {
  type: "api_group";
  api_group_id: string;
  display_name: string;
  bindings: Bindings;
}

export interface ApiGroupsListed {
  next_cursor?: string | null;
  type: "api_groups_listed";
  api_groups: ApiGroupView[];
}

export interface ApiModelsListed {
  type: "api_models_listed";
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  models: string[];
}

/** `ok` when every check is. `tokens_per_second` is measured; `slow` models make players wait. */
export interface ApiTested {
  type: "api_tested";
  api_id?: string | null;
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  model: string;
  ok: boolean;
  checks: ModelCheck[];
  first_word_ms?: number | null;
  tokens_per_second?: number | null;
  slow: boolean;
  problem: string;
}

export interface ApiView {
  type: "api";
  api_id: string;
  display_name: string;
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  model: string;
  has_api_key: boolean;
  api_key_masked?: string | null;
  api_key_problem?: string | null;
}

export interface ApisListed {
  next_cursor?: string | null;
  type: "apis_listed";
  apis: ApiView[];
}

/** Where a story stands: `tension` is from 0 to 1. */
export interface Arc {
  label: "opening" | "rising" | "crisis" | "falling" | "ended";
  tension: number;
}

/** Where an archive is uploaded to or downloaded from. */
export interface ArchivePlace {
  resource_id: string;
  file_id: "archive";
}

/** Of the play in the envelope, or of a world. */
export interface AskBoundaries {
  world_id?: string;
}

/** What is around an entity, so many steps far; without a `centre` the first entities of the world. `kinds` keeps entities of these kinds alone; `at` keeps what held at that moment of story time. With a session it is the graph that its play sees at its head: its world's, and on top of it its own; `layer` "world" leaves that out. */
export interface AskGraph {
  world_id?: string;
  layer?: "world" | "play" | null;
  centre?: string | null;
  hops?: number;
  kinds?: ("character" | "faction" | "place" | "object" | "concept")[];
  at?: number | null;
  limit?: number;
}

/** What does somebody know about something? */
export interface AskKnowledge {
  owner_id?: string;
  about: string;
}

/** `about` is the id of an entity. `everything` has what only others know as well, for authors. */
export interface AskKnown {
  about?: string | null;
  everything?: boolean;
}

/** `turn_id` names a turn of the session; without it the one is meant that is being played. */
export interface AskLoop {
  turn_id?: string | null;
}

/** The shortest way from one entity to another, over facts and relationships; `from` and `to` are ids. A session and `layer` are as for the graph. */
export interface AskPath {
  world_id?: string;
  layer?: "world" | "play" | null;
  from: string;
  to: string;
}

/** Of the play in the envelope, or of a world. */
export interface AskSessionZero {
  world_id?: string;
}

/** What began `from` a moment, before `to`; both are minutes of story time. A session and `layer` are as for the graph. `lanes` keeps some of it alone: what was written or said (`canon`), what came to pass off-screen (`agendas`), and of a play its scenes and plot threads. */
export interface AskTimeline {
  limit?: number | null;
  cursor?: string | null;
  lanes?: ("canon" | "agendas" | "scenes" | "threads")[];
  world_id?: string;
  layer?: "world" | "play" | null;
  from?: number | null;
  to?: number | null;
}

/** A number that describes a character. `modifier` is what it adds to a roll, from its `value`. */
export interface Attribute {
  display_name: string;
  default?: number;
  least?: number;
  most?: number;
  modifier?: string;
  words?: string[];
}

export interface AuditListed {
  next_cursor?: string | null;
  type: "audit_listed";
  violations: ViolationView[];
}

/** What can never be true in this world: of nobody, or of nothing of these kinds, a predicate (with this object). */
export interface AxiomContent {
  kind?: "axiom";
  text: string;
  predicate: string;
  object?: string | null;
  entity_kinds?: ("character" | "faction" | "place" | "object" | "concept")[];
}

export interface Backtrack {
  history?: "all" | "none" | number;
  turns?: number | null;
  turn_id?: string | null;
}

/** A backup; `file` is its name in the folder of backups. */
export interface BackupView {
  type: "backup";
  file: string;
  bytes: number;
  created_at_ms: number;
}

export interface BackupsListed {
  next_cursor?: string | null;
  type: "backups_listed";
  folder: string;
  backups: BackupView[];
}

/** A level, and the least measure (margin, total or count) with which it is reached; None is for all below. */
export interface Band {
  level: "critical_success" | "success" | "partial" | "failure" | "critical_failure";
  at_least?: number | null;
}

/** When a beat was reached, and with which outcome. */
export interface BeatReached {
  turn_index: number;
  minute: number;
  outcome_id: string | null;
}

/** A beat of the template in a play. `reached` is there once it was. */
export interface BeatView {
  type: "template_beat";
  act_id: string;
  beat_id: string;
  title: string;
  due: boolean;
  may_be_skipped: boolean;
  reached?: BeatReached | null;
}

/** `text` is what is remembered. A place of the map that it names is where it was; `ago` says how long ago, else the text may (`two days ago`), else it was a day. */
export interface BeginFlashback {
  text: string;
  ago?: number | string | null;
}

/** Something that somebody takes to be true: how sure they are (0 to 1, and in words), from whom they have it, the turns that speak for it and against it, and the turn that changed it last. */
export interface BeliefView {
  memory_id: string;
  text: string;
  confidence: number;
  sureness: string;
  from_whom?: string | null;
  evidence: string[];
  against?: string[];
  turn_id: string | null;
  story_minute: number;
}

export interface BeliefsListed {
  next_cursor?: string | null;
  type: "beliefs_listed";
  owner_id: string;
  beliefs: BeliefView[];
}

/** Words for what the world does not have, and what is at hand instead; empty where nothing is. */
export interface Beyond {
  words: string[];
  instead?: string;
}

/** Which api each of the seven roles uses. */
export interface Bindings {
  planner_api_id: string;
  architect_api_id: string;
  director_api_id: string;
  actor_api_id: string;
  narrator_api_id: string;
  keeper_api_id: string;
  replyer_api_id: string;
}

/** How somebody stands to somebody when a play begins, and why. */
export interface Bond {
  trust?: number;
  respect?: number;
  affinity?: number;
  fear?: number;
  reason?: string;
}

/** What somebody set. `categories` are names for many words, for this somebody's own lines and veils. */
export interface Boundaries {
  lines: string[];
  veils: string[];
  rating: "everyone" | "teen" | "mature" | "adult" | null;
  categories: { [key: string]: string[] };
}

/** `own` is what this world or table has set, `world` what its world has, `counts` what holds for it: both, with the lines that a rating draws. `built_in` are the categories that every line may name. `before` is what counted in a world earlier; a table finds that by going back. */
export interface BoundariesView {
  type: "boundaries";
  own: Boundaries;
  world?: Boundaries | null;
  counts: Boundaries;
  built_in: string[];
  before?: PastBoundaries[] | null;
}

/** A sentence of an import that crosses a line of a world. `where` is the kind and the id of what it stands in. */
export interface BoundaryWarning {
  where: string;
  world_id: string;
  line: string;
  words: string;
}

/** Where a session of this tree stands. */
export interface BranchHead {
  session_id: string;
  turn_id: string;
}

/** A turn as the list of branches shows it. `label` is what the player said, `preview` how the telling begins. A preview is there where runs are collapsed, or a limit is given. Of a turn that nobody played, `change` is what it was and `about` what it was about, as the place of a scene; without one it was changed by hand. */
export interface BranchTurn {
  turn_id: string;
  parent_id: string | null;
  turn_index: number;
  kind: string;
  status: string;
  label: string;
  state_hash: string | null;
  created_at_ms: number;
  name: string | null;
  bookmarked: boolean;
  preview: string | null;
  change: "world_moved" | "scene_began" | "scene_ended" | "past_began" | "present_again" | "story_ended" | "talk_began" | "talk_left" | "time_passed" | "dice_rolled" | null;
  about: string;
}

/** What was added in a building and not undone since. */
export interface BuildingClosed {
  type: "building_closed";
  building_id: string;
  world_id: string;
  added: AddedItem[];
  coverage: { [key: string]: number };
  gaps: ("places" | "people" | "factions" | "things" | "ties" | "laws" | "past")[];
}

/** A turn of building: the architect's reply, what was added, and how much of the world is told by now. `coverage` counts what there is of each aspect; `gaps` are the aspects with too little, the emptiest first, `bare` the names of whom nothing else is known; `questions` are what is best asked next. */
export interface BuildingView {
  type: "building";
  building_id: string;
  world_id: string;
  reply: string;
  added: AddedItem[];
  refused: RefusedItem[];
  coverage: { [key: string]: number };
  gaps: ("places" | "people" | "factions" | "things" | "ties" | "laws" | "past")[];
  bare: string[];
  questions: string[];
}

/** How time is counted in a world, when its plays begin, and how much of it a turn takes. Without another word it is ours, without leap years. `begins` is the moment at which plays begin, on `begins_on` if the world has weekdays, else on the first of them. `minutes_per_turn` pass with every turn, `minutes_per_journey` on the way to another scene; a scene may say otherwise. Who sleeps wakes when `wakes_at` begins: the first phase, if it is not named. */
export interface Calendar {
  months?: Month[];
  weekdays?: string[];
  hours_per_day?: number;
  phases?: Phase[];
  begins?: StoryDate;
  begins_on?: string | null;
  minutes_per_turn?: number;
  minutes_per_journey?: number;
  wakes_at?: string | null;
}

/** A story's calendar; null where no time passes. `begins` is how the first moment of a play reads. */
export interface CalendarView {
  type: "calendar";
  story_id: string;
  calendar: Calendar | null;
  begins?: StoryTime | null;
}

/** A model call. `repaired`: an earlier answer could not be used, and this one was asked for with what was wrong. */
export interface CallShown {
  number: number;
  agent: string;
  model: string;
  messages: MessageShown[];
  reply: string;
  tokens: number;
  took_ms: number;
  first_piece_ms: number | null;
  memo_hit: boolean;
  repaired: boolean;
  problem?: string | null;
}

/** One call. `memo_hit` means that the answer was known already and cost nothing. */
export interface CallView {
  number: number;
  agent: string;
  session_id: string | null;
  story_id: string | null;
  turn_id: string | null;
  model: string;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  latency_ms: number;
  first_piece_ms: number | null;
  memo_hit: boolean;
  outcome: string;
  error: string | null;
  recorded_at_ms: number;
}

/** Who calls. `token_id` is null for the operator: whoever calls a server that asks for no tokens. */
export interface Caller {
  type: "caller";
  role: "admin" | "author" | "player";
  label: string;
  token_id: string | null;
  tokens_required: boolean;
  version: string;
  features: string[];
}

/** How far a free play has come: how many things were found out, how many are left, and the arc that follows from these and from its plot threads and agendas. */
export interface Campaign {
  arc: Arc;
  found: number;
  to_find: number;
}

/** With `keep`, what was told so far stays: it becomes the turn. */
export interface CancelTurn {
  keep?: boolean;
}

/** The canon keeper judged what was proposed up to this turn: so many changes became canon of the play, were rejected, or wait for somebody to decide. */
export interface CanonCommitted {
  type: "canon_committed";
  turn_id: string;
  accepted: number;
  rejected: number;
  pending: number;
}

/** What a variable says about the world when it changes: that `subject` `predicate` `object`. Without a subject it is whose variable it is; without an object it is the variable's value. A variable of type bool says it when it becomes true, and takes nothing back when it becomes false. */
export interface CanonRule {
  predicate: string;
  subject?: string | null;
  object?: string | null;
}

/** What was committed or undone after a version, oldest first; `version` is the last of them. */
export interface CanonSince {
  type: "canon_since";
  world_id: string;
  version: number;
  changes: ChangeView[];
}

/** What a world goes up to; what is not said has no cap. */
export interface Caps {
  technology?: TechnologyCap | null;
  magic?: MagicCap | null;
}

/** Somebody of a play: a character of the story, a guest who came in during play, or the player. */
export interface CastMember {
  id: string;
  kind: "character" | "guest" | "player";
  name: string;
  in_scene: boolean;
  has_cover: boolean;
}

/** Somebody of a story's cast, by name alone: who they are is for the story to tell. */
export interface CastName {
  character_id: string;
  name: string;
  has_cover: boolean;
}

/** The turn proposes a change of canon; `sentence` says what would be true. The canon keeper judges it later. */
export interface ChangeStaged {
  type: "change_staged";
  change_id: string;
  sentence: string;
}

/** A change with its verdict, the decision upon it, and what took its place. */
export interface ChangeView {
  type: "canon_change";
  change_id: string;
  world_id: string;
  session_id?: string | null;
  turn_id?: string | null;
  kind: "fact" | "entity" | "relationship" | "state" | "event" | "axiom";
  content: EntityContent | FactContent | RelationshipContent | EventContent | StateContent | AxiomContent;
  evidence: Evidence[];
  confidence: number;
  authority: "source" | "gm" | "player" | "system";
  proposer: string;
  base_version: number;
  status: "pending" | "accepted" | "rejected" | "committed" | "undone";
  version: number;
  verdict?: Verdict | null;
  decision?: Decision | null;
  replaced_by?: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface ChangesListed {
  next_cursor?: string | null;
  type: "canon_changes_listed";
  changes: ChangeView[];
}

export interface ChangesProposed {
  type: "canon_changes_proposed";
  changes: ChangeView[];
}

/** A character as its author wrote it. `facts` are what is true of it, each with who else may know it. `mask` is what it presents and hides, `traumas` are what it cannot forget. */
export interface CharacterContent {
  id: string;
  name: string;
  personality: string;
  style: string;
  schema_id: string;
  system_prompt: string;
  tags: string[];
  folder: string;
  facts?: Fact[];
  mask?: Mask | null;
  traumas?: Trauma[];
}

export interface CharacterCreated {
  type: "character_created";
  character_id: string;
  character_summary: CharacterSummary;
}

export interface CharacterDeleted {
  type: "character_deleted";
  character_id: string;
}

export interface CharacterSummary {
  type: "character_summary";
  character_id: string;
  name: string;
  personality: string;
  style: string;
  tags: string[];
  folder: string;
  cover_file_name: string | null;
  cover_mime_type: string | null;
}

export interface CharacterView {
  type: "character";
  character_id: string;
  content: CharacterContent;
  cover_file_name: string | null;
  cover_mime_type: string | null;
}

export interface CharactersListed {
  next_cursor?: string | null;
  type: "characters_listed";
  characters: CharacterSummary[];
}

/** A deed that needs the dice. `actor` and `opponent` are the player or characters by id. `act` is the kind of deed, `because` the rule that asked for the check, in words. `declared` says that the player told the outcome along with the deed. `group` are those who do it with the actor, each with a roll of their own. */
export interface Check {
  check_id: string;
  actor: string;
  act: string;
  deed: string;
  stat: string | null;
  skill: string | null;
  target: number | null;
  opponent: string | null;
  edge: "none" | "advantage" | "disadvantage";
  modifiers: Modifier[];
  forced: "critical_success" | "success" | "partial" | "failure" | "critical_failure" | null;
  because: string;
  declared: boolean;
  group: string[];
}

/** The rules of the game ask for a check: who rolls with which stat, what must be reached, and what is added. */
export interface CheckAsked {
  type: "check_asked";
  check_id: string;
  actor: string;
  stat: string;
  target?: number | null;
  modifiers: Modifier[];
}

export interface CheckInk {
  source: string;
  files?: { [key: string]: string };
}

/** What came of a check: the roll, its level and its effects; `sentence` stands in the transcript. */
export interface CheckResolved {
  type: "check_resolved";
  check_id: string;
  resolution: Resolution;
  sentence: string;
}

/** What became of a clock. `odds` is how likely it was to come to its end within this time. */
export interface ClockMoveView {
  type: "clock_move";
  clock_id: string;
  name: string;
  segments: number;
  before: number;
  after: number;
  chances: number;
  odds: number;
  status: "waiting" | "active" | "fired" | "dropped";
}

/** A clock as it stands in its world, or in a play. `chance` is how likely its next chance fills a segment, with what the play's variables add to its forces. `own` says that the play made it itself. */
export interface ClockView {
  type: "clock";
  clock_id: string;
  name: string;
  agenda: string;
  owner?: string | null;
  segments: number;
  filled: number;
  pressure: number;
  opposition: number;
  every: number;
  status: "waiting" | "active" | "fired" | "dropped";
  chance: number;
  rules: ForceRule[];
  fires?: Firing | null;
  own?: boolean;
}

/** Clocks in the order in which they move. `minute` is up to when they have moved, in story time. */
export interface ClocksListed {
  type: "clocks_listed";
  minute: number;
  clocks: ClockView[];
}

/** `stream` true answers with events of progress before the result. */
export interface CommitImport {
  import_id: string;
  on_conflict?: "fail" | "skip" | "rename";
  stream?: boolean;
}

/** A turn at which canon is committed, and why. While it is `finalizing`, nothing of it is canon yet. */
export interface CommitView {
  type: "canon_commit";
  turn_id: string;
  turn_index: number;
  why: "scene" | "ended" | "death" | "discovery" | "turns" | "asked" | "world";
  status: "finalizing" | "committed";
  accepted: number;
  rejected: number;
  pending: number;
}

/** The turns on the line of the head at which canon was committed, newest first. */
export interface CommitsListed {
  next_cursor?: string | null;
  type: "canon_commits_listed";
  commits: CommitView[];
}

/** A variable that the author pins to the stage's panel. */
export interface CommonVariable {
  scope: "world" | "player" | "character";
  key: string;
  display_name: string;
  character_id?: string | null;
  pinned?: boolean;
}

/** One comparison of one variable. A missing variable never fulfils it, not even `ne`. */
export interface Comparison {
  scope?: "global" | "player" | "character";
  character?: string | null;
  key: string;
  op: "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "contains";
  value: Json;
}

export interface CompletedActorBeat {
  type: "actor";
  beat_index: number;
  speaker_id: string;
  purpose: "AdvanceGoal" | "ReactToPlayer" | "CommentOnScene";
  response: ActorResponse;
}

/** Last: the turn is committed. */
export interface CompletedFrame {
  type: "completed";
  response: TurnCompleted;
}

export interface CompletedNarratorBeat {
  type: "narrator";
  beat_index: number;
  purpose: "DescribeTransition" | "DescribeScene" | "DescribeResult";
  response: NarratorResponse;
}

/** A state of body or mind: what it adds to checks (of some stats, or of all), and whether nothing can be done. */
export interface ConditionRule {
  display_name: string;
  modifier?: number;
  stats?: string[];
  prevents?: boolean;
}

export interface Config {
  api_group_id: string;
  preset_id: string;
}

/** The session has another name, player, models, prompts or budget. */
export interface ConfigChanged {
  type: "config_changed";
}

/** A conflict of the world moved: to which phase and intensity, and why. Players are not told which one, nor why. */
export interface ConflictChanged {
  type: "conflict_changed";
  conflict_id: string;
  title: string;
  phase: "seed" | "emerging" | "rising" | "confrontation" | "climax" | "falling" | "resolution" | "aftermath";
  intensity: number;
  why: string;
}

/** A conflict with all that is written of it. */
export interface ConflictDetailView {
  type: "conflict";
  conflict_id: string;
  title: string;
  stakes: string;
  stakeholders: Stakeholder[];
  phase: "seed" | "emerging" | "rising" | "confrontation" | "climax" | "falling" | "resolution" | "aftermath";
  intensity: number;
  momentum: number;
  due: string;
  outcome?: string | null;
  steps: ConflictStep[];
  drift: number;
  patience: number;
  every: number;
  where: string[];
  known_to: string[];
  signs: { [key: string]: string };
  pushes: ConflictPush[];
  moves: ConflictMove[];
  outcomes: ConflictOutcome[];
}

/** What a stakeholder does when the world moves, once, while the conflict is in one of these phases. `notice` is what is told of it where it is noticed, else `what`. `when` must hold. */
export interface ConflictMove {
  move_id: string;
  by: string;
  phases: ("seed" | "emerging" | "rising" | "confrontation" | "climax" | "falling" | "resolution" | "aftermath")[];
  what: string;
  push?: number;
  when?: Comparison | All | Any | Not | null;
  notice?: string | null;
  where?: string | null;
  known_to?: string[];
}

/** How a conflict may end: at its climax when `when` holds, `early` also before that. One without `when` is how it ends if nobody does anything about it. `changes` are what is true from then on. */
export interface ConflictOutcome {
  outcome_id: string;
  when?: Comparison | All | Any | Not | null;
  feeling?: FeelingTest | null;
  early?: boolean;
  event: string;
  notice?: string | null;
  where?: string | null;
  known_to?: string[];
  changes?: (EntityContent | FactContent | RelationshipContent)[];
}

/** What moves a conflict once, as soon as all that it names holds: a condition, a feeling, a clock that fired. `by` is added to its intensity; below zero it calms. */
export interface ConflictPush {
  push_id: string;
  when?: Comparison | All | Any | Not | null;
  feeling?: FeelingTest | null;
  clock_id?: string | null;
  by: number;
  why: string;
}

/** What moved a conflict: with which turn, to where, and why. */
export interface ConflictStep {
  turn_index: number;
  minute: number;
  phase: "seed" | "emerging" | "rising" | "confrontation" | "climax" | "falling" | "resolution" | "aftermath";
  intensity: number;
  why: string;
}

/** A conflict as it stands. `due` is what is to come of it, `outcome` how it ended, `steps` what moved it last, each with its turn and its reason. */
export interface ConflictView {
  type: "conflict";
  conflict_id: string;
  title: string;
  stakes: string;
  stakeholders: Stakeholder[];
  phase: "seed" | "emerging" | "rising" | "confrontation" | "climax" | "falling" | "resolution" | "aftermath";
  intensity: number;
  momentum: number;
  due: string;
  outcome?: string | null;
  steps: ConflictStep[];
}

/** Conflicts in the order in which they are written. */
export interface ConflictsListed {
  type: "conflicts_listed";
  conflicts: ConflictView[];
}

/** A character's content as a client sends it, before its names are checked. */
export interface ContentDraft {
  id: string;
  name: string;
  personality: string;
  style: string;
  schema_id: string;
  system_prompt: string;
  tags?: string[];
  folder?: string;
  facts?: Fact[];
  mask?: Mask | null;
  traumas?: Trauma[];
}

/** The prompts of the next turn, with the sections that they are made of. */
export interface ContextExplained {
  type: "context_explained";
  prompts: ContextPrompt[];
}

/** What a role would be told. `character_id` is who speaks, where a character does. */
export interface ContextPrompt {
  agent: string;
  character_id?: string | null;
  tokens: number;
  budget: number;
  sections: ContextSection[];
}

/** A section of a prompt in its order. `told` says whether it is told whole, in short (`compact`), not at all (`dropped`), or has nothing to tell (`empty`); `why` says it in words. The same `version` means the same text. The lowest `priority` goes first, what is `required` never. `share` is how much of the room a section may take before it is shortened, `reserved` how much of it nobody takes away. Tokens are estimated. */
export interface ContextSection {
  name: string;
  kind: "instructions" | "cast" | "memories" | "lore" | "conflicts" | "world" | "story" | "canon" | "boundaries" | "moment";
  told: "whole" | "compact" | "dropped" | "empty";
  why: string;
  tokens: number;
  full_tokens: number;
  priority: number;
  share: number;
  reserved: number;
  canonical: boolean;
  required: boolean;
  version: string;
}

export interface ContinueDraft {
  draft_id: string;
  stream?: boolean;
}

/** A conversation that is under way: with whom, since which turn, and how many turns it has had. An `interview` asks a character about itself; nobody in the story notices it. */
export interface Conversation {
  conversation_id: string;
  character_ids: string[];
  mode: "talk" | "interview";
  began: number;
  turns: number;
}

/** What was talked about in short, how everybody stands now, and what is proposed as canon of the play. */
export interface ConversationClosed {
  type: "conversation_closed";
  conversation_id: string;
  summary: string;
  relations: StandsNow[];
  staged: StagedChange[];
}

/** A conversation, and the session in which it is held. */
export interface ConversationOpened {
  type: "conversation";
  session_id: string;
  conversation_id: string;
  character_ids: string[];
  mode: "talk" | "interview";
  turns: number;
}

export interface CopyStory {
  story_id: string;
  display_name?: string | null;
}

/** How a check is rolled. The formulas know `stat`, `skill` and `bonus`: the modifiers of attribute and skill, and the sum of all others. `measure` is what the bands are read with: the total less the target, the total itself, or how many kept dice show the target or more. With `needs_target` a check without one takes `default_target`. */
export interface CoreMechanic {
  formula: string;
  advantage?: string | null;
  disadvantage?: string | null;
  measure?: "margin" | "total" | "count";
  default_target?: number;
  bands: Band[];
  naturals?: Natural[];
}

export interface Counts {
  characters_total: number;
  characters_with_cover: number;
  story_resources_total: number;
  stories_total: number;
  sessions_total: number;
}

/** A new figure comes into the scene. */
export interface CreateAndEnter {
  type: "create_and_enter";
  session_character_id: string;
  display_name: string;
  personality: string;
  style: string;
  system_prompt: string;
}

export interface CreateApi {
  api_id: string;
  display_name: string;
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  api_key: string;
  model: string;
}

export interface CreateApiGroup {
  api_group_id: string;
  display_name: string;
  bindings: Bindings;
}

export interface CreateCharacter {
  content: ContentDraft;
}

/** `owner` is whose agenda it is, by the id of an entity. Without a `clock_id` it gets one. */
export interface CreateClock {
  world_id?: string;
  clock_id?: string | null;
  name: string;
  agenda?: string;
  owner?: string | null;
  segments?: number;
  filled?: number;
  pressure?: number;
  opposition?: number;
  every?: number;
  status?: "active" | "waiting";
  rules?: ForceRule[];
  fires?: Firing | null;
}

/** Without a `conflict_id` it gets one. One of the `outcomes` has no condition: so it ends if nobody acts. */
export interface CreateConflict {
  world_id?: string;
  conflict_id?: string | null;
  title: string;
  stakes?: string;
  stakeholders: Stakeholder[];
  intensity?: number;
  momentum?: number;
  drift?: number;
  patience?: number;
  every?: number;
  where?: string[];
  known_to?: string[];
  signs?: { [key: string]: string };
  pushes?: ConflictPush[];
  moves?: ConflictMove[];
  outcomes: ConflictOutcome[];
}

/** `for` is an agent, a character by id, or `everyone`. `expires` is the minute of story time from which it holds no more. A prohibition may name `phrases` that are not told, and `tools` that are not called. */
export interface CreateDirective {
  world_id?: string;
  directive_id?: string | null;
  kind: "do" | "avoid" | "override" | "prohibit";
  for?: string;
  text?: string;
  priority?: number;
  expires?: number | null;
  phrases?: string[];
  tools?: string[];
}

export interface CreateGameSystem {
  system_id: string;
  display_name: string;
  description?: string;
  core: CoreMechanic;
  attributes?: { [key: string]: Json };
  skills?: { [key: string]: Json };
  tracks?: { [key: string]: Json };
  conditions?: { [key: string]: Json };
  difficulties?: { [key: string]: number };
  effects?: EffectRule[];
  risky?: string[];
}

export interface CreateInk {
  display_name: string;
  source: string;
  files?: { [key: string]: string };
}

export interface CreateLorebook {
  lorebook_id: string;
  display_name: string;
  entries?: LorebookEntry[];
}

export interface CreateLorebookEntry {
  type: "lorebook_entry";
  lorebook_id: string;
  entry_id: string;
  title: string;
  content: string;
  keywords?: string[];
  enabled?: boolean;
  always_include?: boolean;
  match?: "word" | "substring";
  order?: number;
  budget?: number | null;
  recursive?: boolean;
  known_by?: "everyone" | string[] | Until | null;
  secret?: boolean;
}

export interface CreateMessage {
  kind: "player_input" | "narration" | "dialogue" | "action";
  speaker_id: string;
  speaker_name: string;
  text: string;
}

export interface CreatePlayerProfile {
  player_profile_id: string;
  display_name: string;
  description: string;
}

export interface CreatePreset {
  preset_id: string;
  display_name: string;
  agents: PresetAgents;
}

export interface CreatePresetEntry {
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id: string;
  entry_id: string;
  display_name: string;
  text: string;
  enabled?: boolean;
  order?: number | null;
}

export interface CreateSchema {
  schema_id: string;
  display_name: string;
  tags?: string[];
  fields: { [key: string]: SchemaField };
  additional?: boolean;
}

export interface CreateSessionCharacter {
  display_name: string;
  personality: string;
  style: string;
  system_prompt: string;
  enter_scene?: boolean;
}

export interface CreateStory {
  resource_id: string;
  display_name?: string | null;
  graph: Graph;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables?: CommonVariable[] | null;
  world?: StoryWorld | null;
  rules?: string | null;
  world_id?: string | null;
}

export interface CreateStoryResources {
  display_name?: string | null;
  story_concept: string;
  character_ids: string[];
  player_schema_id_seed?: string | null;
  world_schema_id_seed?: string | null;
  lorebook_ids?: string[];
  planned_story?: string | null;
}

export interface CreateToken {
  role: "admin" | "author" | "player";
  label?: string;
}

export interface CreateWorld {
  world_id: string;
  display_name: string;
  description?: string;
  genre?: string;
  tone?: string;
  game_system_id?: string | null;
  policy?: Policy;
  free?: FreeStart | null;
  caps?: Caps | null;
}

export interface Dashboard {
  type: "dashboard";
  health: Health;
  counts: Counts;
  global_config: GlobalConfig;
  recent_stories: RecentStory[];
  recent_sessions: RecentSession[];
}

/** `content` takes the place of what was proposed, where somebody accepts it in other words. */
export interface Decide {
  change_id: string;
  verdict: "accept" | "reject";
  reason: string;
  content?: EntityContent | FactContent | RelationshipContent | EventContent | StateContent | AxiomContent | null;
}

/** Who decided upon a change, when and why. */
export interface Decision {
  by: string;
  at_ms: number;
  reason: string;
}

/** An answer that could not be used, wholly or in part; something else was taken in its place. */
export interface DegradedShown {
  agent: string;
  reason: string;
}

/** By how much each axis of a relation changes. */
export interface Deltas {
  trust: number;
  respect: number;
  affinity: number;
  fear: number;
}

/** `roll` is what fell; `sentence` stands in the transcript, under `message_id`. */
export interface DiceRolled {
  type: "dice_rolled";
  roll: RollView;
  reason: string;
  sentence: string;
  message_id: string;
}

export interface DirectiveDeleted {
  type: "directive_deleted";
  directive_id: string;
}

/** A directive. `own` says that the play has it itself, and not its world; `over` that its time is over. */
export interface DirectiveView {
  type: "directive";
  directive_id: string;
  kind: "do" | "avoid" | "override" | "prohibit";
  for: string;
  text: string;
  priority: number;
  expires?: number | null;
  phrases: string[];
  tools: string[];
  own?: boolean;
  over?: boolean;
}

/** Directives, those of the highest priority first. `minute` is when it is in the story. */
export interface DirectivesListed {
  type: "directives_listed";
  minute: number;
  directives: DirectiveView[];
}

/** Whether the story moved on, and the plan of beats. */
export interface DirectorCompleted {
  type: "director_completed";
  result: DirectorResult;
  snapshot: Snapshot;
}

/** Whether the story moved on, and what the director planned then. */
export interface DirectorResult {
  previous_node_id: string;
  current_node_id: string;
  transitioned: boolean;
  response_plan: ResponsePlan;
}

/** Something that can be found out: who keeps it to themselves, where they are met, and what it is about. `truth` is told when they tell it, `purpose` is what a scene is for that is about it, and `means` are phrases by which a player sets out to have it told. */
export interface Discovery {
  discovery_id: string;
  place: string;
  subject: string;
  knower: string;
  knower_name: string;
  about: string;
  truth: string;
  purpose: string;
  hook?: string;
  means: string[];
}

/** What an outcome changed: a track from `before` to `after`, or a condition that came or went. */
export interface Effect {
  who: string;
  kind: "track" | "condition_added" | "condition_removed";
  name: string;
  before: number | null;
  after: number | null;
  lasting: boolean;
  sentence: string;
}

/** What an outcome does: to who acts or to who stands against it, when the check is of one of these `acts`. `change` is a formula that is added to a track; it knows `margin`, `stat` and `skill`. `adds` and `removes` are conditions. A `lasting` effect is proposed as canon, too. */
export interface EffectRule {
  levels: ("critical_success" | "success" | "partial" | "failure" | "critical_failure")[];
  acts?: string[];
  on?: "actor" | "opponent";
  track?: string | null;
  change?: string | null;
  adds?: string | null;
  removes?: string | null;
  lasting?: boolean;
}

export interface EntitiesListed {
  next_cursor?: string | null;
  type: "entities_listed";
  entities: EntityView[];
}

/** The entity that is left, and how many facts, relationships and events are about it now that were not. */
export interface EntitiesMerged {
  type: "entities_merged";
  world_id: string;
  entity: EntityView;
  moved: number;
}

/** Somebody or something. An `anchor` is there because the author says so. */
export interface EntityContent {
  kind?: "entity";
  entity_id: string;
  entity_kind: "character" | "faction" | "place" | "object" | "concept";
  name: string;
  aliases?: string[];
  description?: string;
  tags?: string[];
  anchor?: boolean;
}

export interface EntityView {
  type: "entity";
  entity_id: string;
  kind: "character" | "faction" | "place" | "object" | "concept";
  name: string;
  aliases: string[];
  description: string;
  tags: string[];
  change_id: string;
}

/** What went wrong, and in a sentence what to do next. */
export interface ErrorPayload {
  code: number;
  message: string;
  data?: Json;
}

/** Something that happened: who did it, to or with whom, where, and when. */
export interface EventContent {
  kind?: "event";
  what: string;
  who?: string[];
  where?: string | null;
  at?: number | null;
  known_to?: string[];
}

/** Something happened. */
export interface EventFrame {
  type: "event";
  body: TurnStarted | PlayerInputRecorded | KeeperApplied | StateOpRefused | CheckAsked | CheckResolved | IntentJudged | WishLeft | ChangeStaged | WorldAdvanced | ThreadChanged | ConflictChanged | SceneCompleted | Flashback | SocialBeat | DirectorCompleted | SessionCharacterCreated | SessionCharacterEnteredScene | SessionCharacterLeftScene | NarratorStarted | NarratorTextDelta | NarratorCompleted | ActorStarted | ActorThoughtDelta | ActorActionComplete | ActorDialogueDelta | ActorCompleted | AgentDegraded | StoryEnded | AgentReplyDelta | AgentOutcome | InkText | GeneratedText | InkChoices | InkInputRequested | Progress;
}

/** What a change rests on: a turn, a line, a roll, a text, somebody's word, a clock that is full, or a conflict that ended. `quote` are its words. */
export interface Evidence {
  type: "turn" | "message" | "roll" | "source" | "conversation" | "user" | "clock" | "conflict";
  ref: string;
  quote?: string;
}

/** `player_input` is what the player might say next: it calls lore to mind as if it were said. */
export interface ExplainContext {
  player_input?: string | null;
}

export interface ExplainTurn {
  turn_id: string;
}

/** What is written beside the lines: what characters only thought (authors), the choices that were on offer, and names and bookmarks of turns. */
export interface ExportIncludes {
  thoughts?: boolean;
  choices?: boolean;
  notes?: boolean;
}

/** Where a written play is downloaded from. */
export interface ExportPlace {
  resource_id: string;
  file_id: "file";
}

export interface ExportPrepared {
  type: "data_package_export_prepared";
  export_id: string;
  archive: ArchivePlace;
  contents: PackageContents;
}

/** `turn_id` writes the line that ends at that turn, which is the head unless told; with `after_turn_id` only what comes after that turn of the line. `in_parts` takes what one file holds, and refuses no play as too long. */
export interface ExportSession {
  format: "markdown" | "html" | "text" | "epub" | "sillytavern_jsonl" | "json";
  turn_id?: string | null;
  after_turn_id?: string | null;
  in_parts?: boolean;
  include?: ExportIncludes;
}

/** A session in the envelope stands for its world as its play sees it at its head; `layer` "world" leaves out what the play adds and replaces. */
export interface ExportWorld {
  world_id?: string;
  layer?: "world" | "play" | null;
  format?: "json" | "graphml" | "cypher" | "markdown";
}

/** Something that is true of a character. The character knows it, whoever else does. */
export interface Fact {
  known_by?: "everyone" | string[] | Until | null;
  secret?: boolean;
  text: string;
}

/** Something that is true of somebody: subject, predicate, object. Without `since` it was always so. */
export interface FactContent {
  kind?: "fact";
  subject: string;
  predicate: string;
  object: string;
  since?: number | null;
  until?: number | null;
  known_to?: string[];
}

/** `at` is a moment of story time, in minutes: only what was true then is listed. */
export interface FactsAsked {
  limit?: number | null;
  cursor?: string | null;
  world_id?: string;
  about?: string | null;
  at?: number | null;
}

/** Last: nothing of the turn is kept but the player's words. */
export interface FailedFrame {
  type: "failed";
  error: ErrorPayload;
}

/** The session is gone. Last. */
export interface FeedSessionDeleted {
  type: "session_deleted";
}

/** Where the session stands. First, unless the client names an event after which nothing was missed: read anew. */
export interface FeedSnapshot {
  type: "snapshot";
  head_turn_id: string;
  active_turn_id: string | null;
}

/** Whether somebody stands to somebody so: an axis `at_least` or `at_most` so far. The player is `player`. */
export interface FeelingTest {
  who: string;
  towards?: string;
  axis: "trust" | "respect" | "affinity" | "fear";
  at_least?: number | null;
  at_most?: number | null;
}

/** `kinds` are those to look for; those that the caller may not see are not looked for. All if it is not given. */
export interface Find {
  query: string;
  kinds?: ("story" | "session" | "turn" | "character" | "lorebook_entry" | "lorebook" | "story_resources" | "story_draft" | "schema" | "preset")[] | null;
  limit?: number;
}

/** Lines that have all words of the `query`, whatever their case and accents; words in quotes stand together. The newest are found first; `cursor` goes on with older ones. `turn_id` looks through the line that ends there. */
export interface FindLines {
  query: string;
  turn_id?: string | null;
  limit?: number | null;
  cursor?: string | null;
}

/** The turns whose other tellings are wanted. */
export interface FindSiblings {
  turn_ids: string[];
}

/** What comes to pass when a clock is full. `event` is what happened, in a few words; `notice` is what somebody notices of it, told as it stands, else the event itself. `where` is the place at which it is noticed, else everywhere. `known_to` are those who know of it, by id: nobody named means everybody. `changes` are what is true from then on. `starts` are clocks that run from then on, `pushes` what it adds to the pressure of others. */
export interface Firing {
  event: string;
  notice?: string | null;
  where?: string | null;
  known_to?: string[];
  changes?: (EntityContent | FactContent | RelationshipContent)[];
  starts?: string[];
  pushes?: { [key: string]: Json };
}

/** Something came back to somebody at once; `character_id` is `player` for the player, `text` is what is told. */
export interface Flashback {
  type: "flashback";
  character_id: string;
  character_name: string;
  text: string;
  emotion?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation" | null;
}

/** The scene of the past. It ends as every scene does; then the present goes on. */
export interface FlashbackBegun {
  type: "flashback_begun";
  scene: SceneLine;
}

/** Something that came back to somebody, as it was told. */
export interface FlashbackNote {
  character_id: string;
  character_name: string;
  text: string;
}

/** Which template of its world the play follows from now on; none with null. */
export interface FollowTemplate {
  template_id: string | null;
}

/** Work that followed the turn. `took_ms` adds up its attempts, as far as they were noted. */
export interface FollowerShown {
  kind: string;
  state: string;
  took_ms: number | null;
  outcome: string;
}

/** While `when` holds in a play, so much is added to a clock's pressure and opposition. With `stops` it is given up for good as soon as that holds. */
export interface ForceRule {
  when: Comparison | All | Any | Not;
  pressure?: number;
  opposition?: number;
  stops?: boolean;
}

export interface Fork {
  history?: "all" | "none" | number;
  turn_id?: string | null;
  display_name?: string | null;
}

/** A line in which the words were found. */
export interface FoundLine {
  message_id: string;
  turn_id: string;
  turn_index: number;
  kind: string;
  speaker_name: string;
  recorded_at_ms: number;
  excerpt: string;
  places: FoundPlace[];
}

export interface FoundMemory {
  memory: MemoryView;
  score: number;
  reasons: ReasonView[];
}

/** A model that could be used. `use` is the name by which it is chosen. */
export interface FoundModel {
  use: string;
  source: "environment" | "this machine" | "models folder";
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  model: string;
  models: string[];
  usable: boolean;
  latency_ms: number | null;
  problem: string;
}

/** Where in an excerpt a word stands: from this letter to before that one. */
export interface FoundPlace {
  start: number;
  end: number;
}

/** How free plays of a world begin: what is told first, where, with which lore, and what the player is made of. What is not said follows from the world: its description, the first place where somebody is met, no lore. */
export interface FreeStart {
  introduction?: string;
  place?: string | null;
  lorebook_ids?: string[];
  player_schema_id?: string | null;
}

/** What makes a story one of free play. */
export interface FreeWorld {
  discoveries: Discovery[];
}

export interface GameSystemDeleted {
  type: "game_system_deleted";
  system_id: string;
}

export interface GameSystemLine {
  type: "game_system_line";
  system_id: string;
  display_name: string;
  description: string;
  built_in: boolean;
}

/** A whole system. One that is `built_in` came with Fabula and cannot be changed; copy it under another id. */
export interface GameSystemView {
  type: "game_system";
  built_in: boolean;
  system_id: string;
  display_name: string;
  description: string;
  core: CoreMechanic;
  attributes: { [key: string]: Json };
  skills: { [key: string]: Json };
  tracks: { [key: string]: Json };
  conditions: { [key: string]: Json };
  difficulties: { [key: string]: number };
  effects: EffectRule[];
  risky: string[];
}

/** The built-in systems come first, on the first page. */
export interface GameSystemsListed {
  next_cursor?: string | null;
  type: "game_systems_listed";
  game_systems: GameSystemLine[];
}

/** Without a `seed` every call brings another plan; the same seed brings the same again. */
export interface GeneratePlan {
  resource_id: string;
  api_group_id?: string | null;
  preset_id?: string | null;
  seed?: number | null;
}

export interface GenerateStory {
  resource_id: string;
  display_name?: string | null;
  api_group_id?: string | null;
  preset_id?: string | null;
  common_variables?: CommonVariable[] | null;
  stream?: boolean;
}

/** What a `generate` wrote. */
export interface GeneratedText {
  type: "generated_text";
  text: string;
}

/** A turn by its `turn_id`, or the one with this `turn_index` on the session's own line. */
export interface GetTurn {
  turn_id?: string | null;
  turn_index?: number | null;
}

export interface GlobalConfig {
  type: "global_config";
  api_group_id: string | null;
  preset_id: string | null;
}

/** What somebody is after. `at` is where they are for it at which phase while they pursue it, instead of where they usually are; the exceptions of their schedule come first. */
export interface Goal {
  goal_id: string;
  text: string;
  strength?: number;
  rules?: GoalRule[];
  at?: { [key: string]: string };
}

/** While all that it names holds, a condition and a feeling, so much is added to the strength of a goal. */
export interface GoalRule {
  when?: Comparison | All | Any | Not | null;
  feeling?: FeelingTest | null;
  by: number;
  why: string;
}

/** What somebody is after: how strong that is now, and why it is stronger or weaker than at the beginning. */
export interface GoalView {
  character_id: string;
  goal_id: string;
  text: string;
  strength: number;
  stance: "given_up" | "held" | "pursued";
  reasons: string[];
}

/** A whole story as nodes; it begins at `start_node`. */
export interface Graph {
  start_node: string;
  nodes: Node[];
}

export interface GraphEdge {
  type: "graph_edge";
  id: string;
  from: string;
  to: string;
  kind: string;
  strength?: number | null;
  since?: number | null;
  until?: number | null;
  change_id: string;
}

export interface GraphNode {
  type: "graph_node";
  id: string;
  kind: string;
  name: string;
  has_cover: boolean;
  degree: number;
}

/** Nodes and what connects them; `left_out` counts the nodes that were too many. */
export interface GraphView {
  type: "canon_graph";
  world_id: string;
  nodes: GraphNode[];
  edges: GraphEdge[];
  left_out: number;
}

/** What one of a group rolled, and how that went by itself. */
export interface GroupRoll {
  who: string;
  roll: RollView;
  level: "critical_success" | "success" | "partial" | "failure" | "critical_failure";
}

/** A guest, and whether everyone in the scene sees it. */
export interface GuestOnStage {
  session_character_id: string;
  display_name: string;
  personality: string;
  style: string;
  system_prompt: string;
  created_at_ms: number;
  updated_at_ms: number;
  in_scene: boolean;
}

/** The session now stands at this turn: it was played, somebody went there, or it is a change by hand. */
export interface HeadMoved {
  type: "head_moved";
  turn_id: string;
  by: string | null;
}

export interface Health {
  status: "ok";
}

/** A role whose model failed; `stand_in` names who took its place, if anybody did. */
export interface HelpNote {
  agent: string;
  reason: string;
  stand_in?: string | null;
}

/** A role whose model failed, and who stood in for it, if anybody did. */
export interface HelpedNote {
  agent: string;
  reason: string;
  stand_in?: string;
}

/** `warnings` are what of it would cross a line of a world; it was taken in all the same. */
export interface ImportCommitted {
  type: "data_package_import_committed";
  import_id: string;
  contents: PackageContents;
  warnings?: BoundaryWarning[];
}

export interface ImportPrepared {
  type: "data_package_import_prepared";
  import_id: string;
  archive: ArchivePlace;
}

/** A session in the envelope stands for what its play sees: its world, and on top of that its own layer. */
export interface InWorld {
  limit?: number | null;
  cursor?: string | null;
  world_id?: string;
  about?: string | null;
}

export interface InkChecked {
  type: "ink_checked";
  ok: boolean;
  problems: InkProblem[];
  knots: InkKnot[];
  variables: InkVariable[];
  unreachable: string[];
  read_but_never_set: string[];
  set_but_never_read: string[];
  talks: InkTalk[];
  statistics: InkStatistics;
}

/** A choice on offer. */
export interface InkChoiceView {
  index: number;
  text: string;
  tags: string[];
}

/** The choices on offer: `[{index, text, tags}]`. */
export interface InkChoices {
  type: "ink_choices";
  choices: InkChoiceView[];
}

/** What the story waits for. */
export interface InkInput {
  kind: "choice" | "text" | "agent" | "continue" | "nothing";
  placeholder?: string;
  character?: string;
}

/** The story waits for the player, see below. */
export interface InkInputRequested {
  type: "ink_input_requested";
  kind: "choice" | "text" | "agent" | "continue" | "nothing";
  placeholder?: string | null;
  character?: string | null;
}

/** A knot or stitch; the text before the first knot has the empty name. */
export interface InkKnot {
  name: string;
  function: boolean;
  file: string | null;
  line: number;
  words: number;
  choices: number;
  leads_to: string[];
  reachable: boolean;
}

export interface InkLine {
  text: string;
  tags: string[];
}

/** What came of the player's words in a talk. */
export interface InkOutcome {
  outcome: "DIRECT_CONTINUE" | "BRIDGE_AND_CONTINUE" | "NEEDS_INPUT" | "INVALID_INPUT";
  reply: string;
  reason: string;
  bridge_text?: string;
  guidance?: string;
}

export interface InkProblem {
  severity: string;
  message: string;
  file: string | null;
  line: number;
  column: number;
}

export interface InkStatistics {
  words: number;
  choices: number;
  knots: number;
  endings: number;
}

/** A story that was published, with what its author may want to look at. `warnings` are what of it would cross a line of a world: a table that draws the same line is not told it. */
export interface InkStoryPublished {
  type: "story";
  kind: "ink";
  story_id: string;
  display_name: string;
  resource_id: string;
  graph: Graph;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  world?: StoryWorld | null;
  rules?: string | null;
  world_id?: string | null;
  free?: FreeWorld | null;
  source: string;
  files: { [key: string]: string };
  problems: InkProblem[];
  warnings?: BoundaryWarning[];
}

/** An Ink story. What graph stories have is there, too, with nothing in it: a graph of one node, empty names. */
export interface InkStoryView {
  type: "story";
  kind: "ink";
  story_id: string;
  display_name: string;
  resource_id: string;
  graph: Graph;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  world?: StoryWorld | null;
  rules?: string | null;
  world_id?: string | null;
  free?: FreeWorld | null;
  source: string;
  files: { [key: string]: string };
}

/** An `agent` that the story names: who talks, and where it leads. */
export interface InkTalk {
  character: string;
  target: string;
}

/** A line of the story. */
export interface InkText {
  type: "ink_text";
  text: string;
  tags: string[];
}

/** Where an Ink play stands, and what was told on the way there. */
export interface InkTurn {
  lines: InkLine[];
  choices: InkChoiceView[];
  input: InkInput | null;
  ended: boolean;
  outcome?: InkOutcome | null;
}

/** A completed turn of an Ink play. It has no beats: the list is for clients that read every kind of turn alike. */
export interface InkTurnResult {
  turn_id: string;
  turn_index: number;
  player_input: string;
  completed_beats: ({ [key: string]: Json })[];
  ink: InkTurn;
  snapshot: Snapshot;
  notes?: (RefusedNote | HelpedNote)[];
}

export interface InkVariable {
  name: string;
  file: string | null;
  line: number;
  reads: number;
  writes: number;
}

/** What the player wants cannot be done like that here: by which rule, why, and what would help (`lead`). `result` is `deny`, `ask`, `defer` or `analog`; what is allowed is not told. */
export interface IntentJudged {
  type: "intent_judged";
  rule: "axiom" | "technology" | "magic" | "absent_person" | "absent_thing" | "place" | "time" | "model" | "check_failed";
  result: "deny" | "ask" | "defer" | "analog";
  sentence: string;
  lead: string;
}

export interface ItemUndone {
  type: "building_item_undone";
  item_id: string;
  sentence: string;
}

/** A quest or lead as it stands. `moves` are the turns that moved it, the first one opened it. */
export interface JournalEntry {
  entry_id: string;
  kind: "quest" | "lead";
  title: string;
  text: string;
  status: "open" | "done" | "failed";
  moves: JournalMove[];
}

/** The journal at the session's head. `applied_version` is how far followers have written it, of `world_version` changes. Both are 0, and it is empty, where the story has no calendar. */
export interface JournalListed {
  type: "journal_listed";
  entries: JournalEntry[];
  world_version: number;
  applied_version: number;
}

/** A turn that moved an entry, and to what. */
export interface JournalMove {
  turn_id: string;
  turn_index: number;
  status: "open" | "done" | "failed";
}

/** A change and what becomes of it. */
export interface Judged {
  type: "canon_judged";
  change_id: string;
  verdict: Verdict;
}

/** The keeper's operations that were accepted; `phase` is `after_player_input`, at the end `after_turn_outputs`. */
export interface KeeperApplied {
  type: "keeper_applied";
  phase: "after_player_input" | "after_turn_outputs";
  update: StateUpdate;
  snapshot: Snapshot;
}

/** The keeper's operations that were applied, and its own words. */
export interface KeeperResult {
  update: StateUpdate;
  output: ModelOutput;
}

/** Somebody who knows: because it is about them (`took_part`), or because canon says that they know (`told`). */
export interface KnowerView {
  type: "knower";
  entity_id: string;
  name: string;
  how: "took_part" | "told";
  since?: number | null;
}

/** Who is known to know it; with `everybody` anybody else may know it, too. */
export interface KnowersListed {
  type: "knowers_listed";
  fact_id: string;
  world_id: string;
  everybody: boolean;
  knowers: KnowerView[];
}

export interface Knowledge {
  type: "knowledge";
  owner_id: string;
  known: KnownThing[];
}

/** What is true for the player of a session. `left_out` counts truths beyond those that are told. */
export interface KnownCanon {
  type: "known_canon";
  about: string[];
  entities: KnownEntity[];
  truths: Truth[];
  left_out: number;
  staged: StagedTruth[];
}

/** Somebody or something that the player has heard of. */
export interface KnownEntity {
  entity_id: string;
  kind: "character" | "faction" | "place" | "object" | "concept";
  name: string;
  description: string;
}

/** How somebody knows a thing: it `saw` it, was `told` it (by whom), or `concluded` it; and how sure it is. `evidence` are the lines or turns that it rests on, `against` the turns that spoke against it. */
export interface KnownThing {
  how: "saw" | "told" | "concluded";
  text: string;
  from_whom?: string | null;
  certainty: number;
  memory_id: string;
  turn_id?: string | null;
  evidence: string[];
  against?: string[];
}

/** Someone goes away. */
export interface LeaveScene {
  type: "leave_scene";
  session_character_id: string;
}

/** `next_cursor` is there while older lines were not looked at; a part may have found nothing, and more follow. */
export interface LinesFound {
  next_cursor?: string | null;
  type: "session_lines_found";
  query: string;
  messages: FoundLine[];
}

/** Something that an author would want to know about the graph before anyone plays it. */
export interface LintFinding {
  kind: "unreachable" | "dead_end" | "unknown_character" | "crowded" | "never_written" | "never_holds" | "never_taken" | "means_twice" | "many_ways";
  node_id: string;
  message: string;
}

/** `about` is a caller's role or agent, a token, a tool or method, a play or a world; `since` is a time in milliseconds. */
export interface ListAudit {
  limit?: number | null;
  cursor?: string | null;
  about?: string | null;
  since?: number;
}

/** Whose beliefs. */
export interface ListBeliefs {
  limit?: number | null;
  cursor?: string | null;
  owner_id?: string;
}

/** `collapse` shows turns in a row that nobody forked from, marked or stands at as runs. `limit` shows so many turns and runs, those nearest to the turn `around`, which is the head unless told. */
export interface ListBranches {
  collapse?: boolean;
  around?: string | null;
  limit?: number | null;
}

/** `about` keeps what is about an entity, from either side. A session in the envelope stands for its own layer. */
export interface ListChanges {
  limit?: number | null;
  cursor?: string | null;
  world_id?: string;
  status?: "pending" | "accepted" | "rejected" | "committed" | "undone" | null;
  kind?: "fact" | "entity" | "relationship" | "state" | "event" | "axiom" | null;
  about?: string | null;
}

/** `world_id` is left out where the envelope names a session. */
export interface ListClocks {
  world_id?: string;
}

/** The last so many. */
export interface ListCommits {
  limit?: number;
}

/** `world_id` is left out where the envelope names a session. */
export interface ListConflicts {
  world_id?: string;
}

/** `world_id` is left out where the envelope names a session. `for` keeps those of one agent or character. */
export interface ListDirectives {
  world_id?: string;
  for?: string | null;
}

/** `status` keeps only what is open, done or failed. */
export interface ListJournal {
  status?: "open" | "done" | "failed" | null;
}

export interface ListLorebookEntries {
  limit?: number | null;
  cursor?: string | null;
  lorebook_id: string;
}

/** Whose memories; `about` keeps those that have a word that begins so. */
export interface ListMemories {
  limit?: number | null;
  cursor?: string | null;
  owner_id?: string;
  kind?: "observation" | "reflection" | "summary" | "belief" | null;
  about?: string | null;
  order?: "newest" | "oldest";
}

/** Which lines are listed, and of which line of turns. `before` lists the lines before a message, newest first; `after` those after it; `around` a message with the lines on both sides. `turn_id` reads the line that ends at that turn, and moves no head. `order` says where a list begins that names no message. Of `before`, `after`, `around` and `cursor` one is given at most. */
export interface ListMessages {
  limit?: number | null;
  cursor?: string | null;
  before?: string | null;
  after?: string | null;
  around?: string | null;
  turn_id?: string | null;
  order?: "oldest" | "newest";
}

export interface ListModels {
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  api_key: string;
}

/** `of` is who feels it, by id; without it everybody's are listed. */
export interface ListRelations {
  of?: string | null;
}

/** A list may be read in parts: `limit` scenes, then on from `cursor`, the `next_cursor` of the part before. */
export interface ListScenes {
  limit?: number;
  cursor?: string | null;
}

/** Of one story, in one state, or both. */
export interface ListSessions {
  limit?: number | null;
  cursor?: string | null;
  query?: string | null;
  order?: "updated" | "created" | "name" | null;
  story_id?: string | null;
  status?: "open" | "ended" | null;
}

export interface ListTemplates {
  world_id: string;
}

/** `world_id` is left out where the envelope names a session. `status` keeps only those that stand so. */
export interface ListThreads {
  world_id?: string;
  status?: "waiting" | "open" | "advanced" | "resolved" | "abandoned" | null;
}

/** The turns whose notes are wanted; those that are not there have none. */
export interface ListTurnNotes {
  turn_ids: string[];
}

/** `bookmarked` true lists the turns with a bookmark; else those that only have a name are listed, too. */
export interface ListTurns {
  limit?: number | null;
  cursor?: string | null;
  bookmarked?: boolean;
}

/** `state` keeps only what waits, runs, or is dead: buried after all its tries failed. */
export interface ListUnfinished {
  limit?: number | null;
  cursor?: string | null;
  state?: "waiting" | "running" | "dead" | null;
}

/** Calls that were made for a draft are found under its id as `story_id`. */
export interface ListUsage {
  session_id?: string | null;
  story_id?: string | null;
  limit?: number | null;
  cursor?: string | null;
}

/** `state` keeps only what waits, runs, or is dead; `kind` only one kind of work. */
export interface ListWork {
  limit?: number | null;
  cursor?: string | null;
  state?: "waiting" | "running" | "dead" | null;
  kind?: string | null;
}

/** A list may be narrowed down to what has words that begin as those of `query` do, whatever their case and accents. `order` is that of the last change or the creation, newest first, or of the names; without it lists go by id. */
export interface Listing {
  limit?: number | null;
  cursor?: string | null;
  query?: string | null;
  order?: "updated" | "created" | "name" | null;
}

/** A loop. `nodes` are the steps at which it can be resumed, `drawing` is Mermaid. */
export interface LoopLine {
  name: string;
  sentence: string;
  nodes: string[];
  drawing: string;
}

/** A loop that runs, sleeps until the scene ends, or did run. `node` is the step it goes on at if it is resumed now, as its last checkpoint says; none where it is over. `attempt` counts the processes that held it. */
export interface LoopPlace {
  loop: string;
  thread_id: string;
  status: "running" | "committed" | "failed" | "cancelled" | "sleeping";
  node: string | null;
  attempt: number;
}

/** Where the loops of a play stand; none where nothing is being played. */
export interface LoopState {
  type: "loop_state";
  loops: LoopPlace[];
}

export interface LoopsListed {
  type: "loops_listed";
  loops: LoopLine[];
}

/** An entry of a lorebook that went into a prompt, and the word that called it up. */
export interface LoreShown {
  entry: string;
  because: string;
  word: string | null;
}

export interface LorebookDeleted {
  type: "lorebook_deleted";
  lorebook_id: string;
}

export interface LorebookEntriesListed {
  next_cursor?: string | null;
  type: "lorebook_entries_listed";
  lorebook_id: string;
  entries: LorebookEntryView[];
}

/** A piece of lore, the words that call it to mind, and who may know it. */
export interface LorebookEntry {
  known_by?: "everyone" | string[] | Until | null;
  secret?: boolean;
  entry_id: string;
  title: string;
  content: string;
  keywords?: string[];
  enabled?: boolean;
  always_include?: boolean;
  match?: "word" | "substring";
  order?: number;
  budget?: number | null;
  recursive?: boolean;
}

export interface LorebookEntryDeleted {
  type: "lorebook_entry_deleted";
  lorebook_id: string;
  entry_id: string;
}

export interface LorebookEntryView {
  type: "lorebook_entry";
  lorebook_id: string;
  entry_id: string;
  title: string;
  content: string;
  keywords: string[];
  enabled: boolean;
  always_include: boolean;
  match: "word" | "substring";
  order: number;
  budget?: number | null;
  recursive: boolean;
  known_by?: "everyone" | string[] | Until | null;
  secret?: boolean;
}

export interface LorebookView {
  type: "lorebook";
  lorebook_id: string;
  display_name: string;
  entries: LorebookEntry[];
}

export interface LorebooksListed {
  next_cursor?: string | null;
  type: "lorebooks_listed";
  lorebooks: LorebookView[];
}

/** `none`: nobody works it; `rare`: who does says by what means; `common`: only what is `beyond` is not done. */
export interface MagicCap {
  level?: "none" | "rare" | "common";
  beyond?: Beyond[];
  allowed?: string[];
}

/** What a character presents, and what it hides behind that. `touches` are words that come near to what is hidden, beside those of the hidden traits themselves. `integrity` is how firmly the mask sits when a play begins, from 1 (nothing shows) to 0. */
export interface Mask {
  presented: string[];
  hidden: string[];
  touches?: string[];
  integrity?: number;
}

/** A mask as it sits in a play. `shown` are the hidden traits that have come out; `mood` is its wearer's. */
export interface MaskView {
  type: "mask";
  character_id: string;
  presented: string[];
  hidden: string[];
  shown: string[];
  integrity: number;
  mood: string;
}

export interface MemoriesFound {
  type: "memories_found";
  found: FoundMemory[];
}

export interface MemoriesListed {
  next_cursor?: string | null;
  type: "memories_listed";
  memories: MemoryView[];
}

/** One thing that was said, done, told or thought. `heard_by` are the characters who noticed it, by id; nothing in lines from before that was kept. */
export interface MemoryEntry {
  speaker_id: string;
  speaker_name: string;
  kind: "player_input" | "narration" | "dialogue" | "thought" | "action";
  text: string;
  heard_by: string[] | null;
}

export interface MemoryForgotten {
  type: "memory_forgotten";
  memory_id: string;
}

/** A part of the score of a memory. */
export interface MemoryReason {
  part: string;
  score: number;
}

/** A memory that came to its owner's mind for the prompts of the turn, and why. */
export interface MemoryShown {
  memory_id: string;
  owner: string;
  text: string;
  score: number;
  reasons: MemoryReason[];
}

/** A memory. `text` is how it reads now, `original` how it was written; `told_by` is there for what was not seen. */
export interface MemoryView {
  type: "memory";
  memory_id: string;
  owner_id: string;
  kind: "observation" | "reflection" | "summary" | "belief";
  text: string;
  original: string;
  renditions: string[];
  speaker: string;
  people: string[];
  where: string;
  story_minute: number;
  created_at_ms: number;
  turn_id?: string | null;
  evidence: string[];
  importance: number;
  emotion?: string | null;
  valence: number;
  arousal: number;
  certainty: number;
  told_by?: string | null;
  pinned: boolean;
  recalls: number;
  fidelity: number;
}

/** `entity_id` is what is left; all that is known of `other_id` becomes known of it. */
export interface MergeEntities {
  world_id: string;
  entity_id: string;
  other_id: string;
  reason?: string;
}

export interface MessageDeleted {
  type: "session_message_deleted";
  message_id: string;
}

/** A line of a transcript. `turn_id` names the turn it was said in; `edited` says that it was corrected by hand. A transcript may have tens of thousands of lines, so none of it is written by Python code. */
export interface MessageLine {
  type: "session_message";
  message_id: string;
  kind: string;
  sequence: number;
  turn_index: number;
  recorded_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
  speaker_id: string;
  speaker_name: string;
  text: string;
  turn_id: string;
  edited: boolean;
}

export interface MessageShown {
  role: string;
  content: string;
}

/** One line by itself. `earlier_wordings` are those before it was corrected, oldest first: the first is as told. */
export interface MessageView {
  type: "session_message";
  message_id: string;
  kind: string;
  sequence: number;
  turn_index: number;
  recorded_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
  speaker_id: string;
  speaker_name: string;
  text: string;
  turn_id: string;
  edited: boolean;
  earlier_wordings?: Wording[];
}

/** Lines were added, corrected or struck out by hand. Of very many no ids are told: read the transcript anew. */
export interface MessagesChanged {
  type: "messages_changed";
  message_ids: string[];
}

/** Lines of a transcript; of very long ones a part, whatever the limit. `more_before` and `more_after` say on which side more lines stand; the one that `next_cursor` names is the last of this part. */
export interface MessagesListed {
  next_cursor?: string | null;
  type: "session_messages_listed";
  messages: MessageLine[];
  more_before?: boolean;
  more_after?: boolean;
}

/** What became of one question; `note` says what failed, or what to know. */
export interface ModelCheck {
  name: "stream" | "json" | "system_role";
  ok: boolean;
  latency_ms: number;
  note: string;
}

export interface ModelMessage {
  role: "assistant";
  content: string;
}

/** What a model said to the keeper's question. */
export interface ModelOutput {
  message: ModelMessage;
  model: string;
  finish_reason: string;
  usage: TokenUsage;
  structured_output: Json;
}

/** `rebound` are the groups that used it, and now use the understudy in its place. */
export interface ModelRemoved {
  type: "model_removed";
  api_id: string;
  rebound: string[];
}

/** `switched` is False when the model failed its test: then all is as before, and `test` says what failed. */
export interface ModelUsed {
  type: "model_used";
  switched: boolean;
  api_id: string;
  api_group_id: string;
  provider: "open_ai" | "local" | "understudy";
  base_url: string;
  model: string;
  test?: ApiTested | null;
}

export interface ModelsDetected {
  type: "models_detected";
  found: FoundModel[];
}

/** What is added to a roll, and where it comes from. */
export interface Modifier {
  source: string;
  value: number;
}

/** What began or happened `at` a moment, and `who` and what it is about. `change_id` is empty for scenes and plot threads, of which `ref` is the id. */
export interface MomentView {
  type: "timeline_moment";
  lane: "canon" | "agendas" | "scenes" | "threads";
  at: number;
  until?: number | null;
  change_id: string;
  ref?: string | null;
  kind: "fact" | "entity" | "relationship" | "state" | "event" | "axiom";
  sentence: string;
  who: string[];
}

export interface Month {
  name: string;
  days: number;
}

export interface NameApi {
  api_id: string;
}

export interface NameApiGroup {
  api_group_id: string;
}

export interface NameBuilding {
  building_id: string;
}

export interface NameCalendar {
  story_id: string;
}

export interface NameChange {
  change_id: string;
}

export interface NameCharacter {
  character_id: string;
}

export interface NameConflict {
  world_id?: string;
  conflict_id: string;
}

export interface NameDirective {
  world_id?: string;
  directive_id: string;
}

export interface NameDraft {
  draft_id: string;
}

export interface NameEntity {
  world_id?: string;
  entity_id: string;
}

/** `fact_id` is the id of the change that made the fact true; with a session also one of its play. */
export interface NameFact {
  fact_id: string;
}

export interface NameGameSystem {
  system_id: string;
}

export interface NameLorebook {
  lorebook_id: string;
}

export interface NameLorebookEntry {
  lorebook_id: string;
  entry_id: string;
}

export interface NameMask {
  character_id: string;
}

export interface NameMemory {
  memory_id: string;
}

export interface NameMessage {
  message_id: string;
}

export interface NameModel {
  api_id: string;
}

export interface NamePlayerProfile {
  player_profile_id: string;
}

export interface NamePreset {
  preset_id: string;
}

export interface NamePresetEntry {
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id: string;
  entry_id: string;
}

export interface NameSchema {
  schema_id: string;
}

export interface NameSessionCharacter {
  session_character_id: string;
}

/** `character_id` names a character of the play; without it the sheet is the player's. */
export interface NameSheet {
  character_id?: string | null;
}

export interface NameStory {
  story_id: string;
}

export interface NameStoryResources {
  resource_id: string;
}

export interface NameTemplate {
  world_id: string;
  template_id: string;
}

export interface NameToken {
  token_id: string;
}

export interface NameWork {
  id: string;
}

export interface NameWorld {
  world_id: string;
}

export interface NarratorBeat {
  type: "Narrator";
  purpose: "DescribeTransition" | "DescribeScene" | "DescribeResult";
}

/** The whole beat: `{text, raw_output}`. */
export interface NarratorCompleted {
  type: "narrator_completed";
  beat_index: number;
  purpose: "DescribeTransition" | "DescribeScene" | "DescribeResult";
  response: NarratorResponse;
}

/** The whole of a narrator's beat. */
export interface NarratorResponse {
  text: string;
  raw_output: string;
}

/** A beat of the narrator begins. */
export interface NarratorStarted {
  type: "narrator_started";
  beat_index: number;
  purpose: "DescribeTransition" | "DescribeScene" | "DescribeResult";
}

/** A piece of what the narrator tells. */
export interface NarratorTextDelta {
  type: "narrator_text_delta";
  beat_index: number;
  purpose: "DescribeTransition" | "DescribeScene" | "DescribeResult";
  delta: string;
}

/** A face that decides by itself, whatever the sum: on a kept die of this size. */
export interface Natural {
  size: number;
  face: number;
  level: "critical_success" | "success" | "partial" | "failure" | "critical_failure";
}

/** A scene: what is there, who is there, what it is for, and where it leads. `notes` tell of it what its description does not, each with who may know it. `difficulty` is one that the game system of the story names. The others matter where the story has a calendar: a turn here takes so many `minutes`, the `journey` here takes so many, it begins in a `phase` of the day, and nobody comes or goes by schedule where it `keeps_cast`. */
export interface Node {
  id: string;
  title: string;
  scene: string;
  goal: string;
  characters?: string[];
  transitions?: Transition[];
  on_enter_updates?: (SetCurrentNode | SetActiveCharacters | AddActiveCharacter | RemoveActiveCharacter | SetState | RemoveState | SetPlayerState | RemovePlayerState | SetCharacterState | RemoveCharacterState)[];
  notes?: SceneNote[];
  minutes?: number | null;
  journey?: number | null;
  phase?: string | null;
  keeps_cast?: boolean;
  difficulty?: string | null;
}

export interface Not {
  not: Comparison | All | Any | Not;
}

/** No parameters. */
export interface Nothing {
}

/** Something that came to pass off-screen: whose clock was full, what happened, and when in story time. */
export interface OffScreenEvent {
  clock_id: string;
  event: string;
  minute: number;
  where: string | null;
  known_to: string[];
}

export interface OpenBuilding {
  world_id: string;
}

/** With whom: one to four characters. In an `interview` an author asks one of them about itself, in a copy of the play, and nobody in the story notices. Without a session it is a play of its own, of the story `story_id` or of the first one in which all of them are. */
export interface OpenConversation {
  character_ids: string[];
  mode?: "talk" | "interview";
  story_id?: string | null;
}

/** An operation on the state: who wanted it (keeper, rule or story), and why it was refused. */
export interface OperationShown {
  op: { [key: string]: Json };
  by: string;
  accepted: boolean;
  reason?: string | null;
}

export interface OutboxDropped {
  type: "outbox_dropped";
  id: string;
}

export interface OutboxListed {
  next_cursor?: string | null;
  type: "outbox_listed";
  items: WorkItem[];
}

/** What is in a package. Worlds come with all that is true in them. */
export interface PackageContents {
  presets: PartContents;
  schemas: PartContents;
  lorebooks: PartContents;
  player_profiles: PartContents;
  characters: PartContents;
  story_resources: PartContents;
  stories: PartContents;
  game_systems: PartContents;
  worlds: PartContents;
}

/** A list may be read in parts: `limit` items, then on from `cursor`, the `next_cursor` of the part before. */
export interface Paging {
  limit?: number | null;
  cursor?: string | null;
}

export interface PartContents {
  ids: string[];
  count: number;
}

/** Boundaries of a world that counted until a moment. */
export interface PastBoundaries {
  until_ms: number;
  boundaries: Boundaries;
}

/** The entities on the way, the first and the last included; empty where there is none within six steps. */
export interface PathView {
  type: "canon_path";
  world_id: string;
  entities: string[];
  edges: GraphEdge[];
}

/** What an author says of somebody beside their schedule: how they stand to others, and what they are after. */
export interface Person {
  bonds?: { [key: string]: Json };
  goals?: Goal[];
}

/** A part of the day, from an hour on until the next phase begins. */
export interface Phase {
  name: string;
  from_hour: number;
}

export interface PinMemory {
  memory_id: string;
  pinned?: boolean;
}

/** What may be said at a place to which the scene leads. What is chosen of it depends on who is there then. */
export interface PlacePrepared {
  place: string;
  title: string;
  pieces: ScenePieceShown[];
}

export interface PlayerDescriptionUpdated {
  type: "player_description_updated";
  snapshot: Snapshot;
}

/** Everyone in the scene noticed the player's words. */
export interface PlayerInputRecorded {
  type: "player_input_recorded";
  entry: MemoryEntry;
  snapshot: Snapshot;
}

export interface PlayerProfileDeleted {
  type: "player_profile_deleted";
  player_profile_id: string;
}

export interface PlayerProfileView {
  type: "player_profile";
  player_profile_id: string;
  display_name: string;
  description: string;
}

export interface PlayerProfilesListed {
  next_cursor?: string | null;
  type: "player_profiles_listed";
  player_profiles: PlayerProfileView[];
}

/** How changes are judged, as data of a world. */
export interface Policy {
  authority?: { [key: string]: number };
  without_evidence?: number;
  accept_at?: number;
  reject_below?: number;
  mentions?: number;
  retcon?: ("source" | "gm" | "player" | "system")[];
}

export interface PolicyView {
  type: "canon_policy";
  world_id: string;
  policy: Policy;
}

export interface PrepareExport {
  preset_ids?: string[];
  schema_ids?: string[];
  lorebook_ids?: string[];
  player_profile_ids?: string[];
  character_ids?: string[];
  story_resource_ids?: string[];
  story_ids?: string[];
  game_system_ids?: string[];
  world_ids?: string[];
  include_dependencies?: boolean;
}

/** Who has the session open now, in the order of their names. `you` is the listener's own `seat_id`. */
export interface Presence {
  type: "presence";
  seats: Seat[];
  you: string;
}

/** The seven roles of a preset, all required. */
export interface PresetAgents {
  planner: AgentPreset;
  architect: AgentPreset;
  director: AgentPreset;
  actor: AgentPreset;
  narrator: AgentPreset;
  keeper: AgentPreset;
  replyer: AgentPreset;
}

export interface PresetDeleted {
  type: "preset_deleted";
  preset_id: string;
}

/** One piece of a prompt: a built-in text, a piece of context, or the author's own words. */
export interface PresetEntry {
  entry_id: string;
  display_name?: string;
  kind: "built_in_text" | "built_in_context_ref" | "custom_text";
  enabled?: boolean;
  order?: number;
  required?: boolean;
  text?: string | null;
  context_key?: string | null;
}

export interface PresetEntryDeleted {
  type: "preset_entry_deleted";
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id: string;
  entry_id: string;
}

export interface PresetEntryView {
  type: "preset_entry";
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id: string;
  entry: PresetEntry;
}

/** A part of a prompt that is sent as one block under one message role. */
export interface PresetModule {
  module_id: string;
  display_name?: string | null;
  message_role?: "system" | "user" | null;
  order?: number | null;
  entries?: PresetEntry[];
}

export interface PresetPromptPreview {
  type: "preset_prompt_preview";
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id?: string | null;
  architect_mode?: "graph" | "draft_init" | "draft_continue" | null;
  preview_kind: "template" | "runtime";
  message_role: "system" | "user" | "full";
  messages: PreviewMessage[];
  unresolved_context_keys: string[];
}

/** A preset without its texts; each agent tells how many modules and entries it has. */
export interface PresetSummary {
  type: "preset";
  preset_id: string;
  display_name: string;
  agents: { [key: string]: Json };
}

export interface PresetView {
  type: "preset";
  preset_id: string;
  display_name: string;
  agents: PresetAgents;
}

export interface PresetsListed {
  next_cursor?: string | null;
  type: "presets_listed";
  presets: PresetSummary[];
}

export interface PreviewEntry {
  entry_id: string;
  display_name: string;
  kind: string;
  order: number;
  source: "preset" | "synthetic";
  compiled_text: string;
}

export interface PreviewMessage {
  role: "system" | "user";
  modules: PreviewModule[];
}

export interface PreviewModule {
  module_id: string;
  display_name: string;
  order: number;
  entries: PreviewEntry[];
}

export interface PreviewRuntime {
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id?: string | null;
  architect_mode?: "graph" | "draft_init" | "draft_continue" | null;
  resource_id?: string | null;
  draft_id?: string | null;
  character_id?: string | null;
  actor_purpose?: "advance_goal" | "react_to_player" | "comment_on_scene" | null;
  narrator_purpose?: "describe_transition" | "describe_scene" | "describe_result" | null;
  keeper_phase?: "after_player_input" | "after_turn_outputs" | null;
  previous_node_id?: string | null;
  player_input?: string | null;
  reply_limit?: number | null;
}

export interface PreviewTemplate {
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id?: string | null;
  architect_mode?: "graph" | "draft_init" | "draft_continue" | null;
}

/** How far a long piece of work has come; `total` is 0 while nobody knows it. */
export interface Progress {
  type: "progress";
  done: number;
  total: number;
  label: string;
}

/** With `dry_run` nothing is written: the answer says what would become of each change. The oldest so many at once; promote again for the rest of a very long play. */
export interface Promote {
  dry_run?: boolean;
}

/** `authority` is on whose word it rests; nobody claims more than their own. */
export interface Proposal {
  content: EntityContent | FactContent | RelationshipContent | EventContent | StateContent | AxiomContent;
  evidence?: Evidence[];
  confidence?: number;
  authority?: "source" | "gm" | "player" | "system" | null;
}

/** `world_id` is left out where the envelope names a session: then the changes are the play's own. */
export interface Propose {
  world_id?: string;
  changes: Proposal[];
}

/** Something that the player may set out to do. Without `opens` it is open from the beginning. */
export interface Quest {
  quest_id: string;
  title: string;
  text?: string;
  opens?: QuestRule | null;
  done: QuestRule;
  fails?: QuestRule | null;
}

/** When something becomes true of a quest: a scene was entered, or a condition holds. One of both is enough. */
export interface QuestRule {
  nodes?: string[];
  condition?: Comparison | All | Any | Not | null;
}

/** A part of a score. */
export interface ReasonView {
  part: string;
  score: number;
}

/** The story so far in at most 150 words of its own. Empty where nothing happened. `from` is `summary` where its beginning was summed up before, and `understudy` where all of it was read now. */
export interface Recap {
  type: "recap";
  text: string;
  from: "summary" | "understudy";
}

/** `since_turn_id` is the turn that was read last: only what came after it is told again. */
export interface RecapSession {
  since_turn_id?: string | null;
}

export interface RecentSession {
  session_id: string;
  story_id: string;
  display_name: string;
  turn_index: number;
  updated_at_ms: number;
}

export interface RecentStory {
  story_id: string;
  display_name: string;
  resource_id: string;
  introduction: string;
  updated_at_ms: number;
}

/** What a model wanted to change and might not; `about` names it. */
export interface RefusedChange {
  about: string;
  reason: string;
}

/** Something that could not become true, and why. */
export interface RefusedItem {
  sentence: string;
  why: string;
}

/** An operation that was not applied, and why. */
export interface RefusedNote {
  op: SetCurrentNode | SetActiveCharacters | AddActiveCharacter | RemoveActiveCharacter | SetState | RemoveState | SetPlayerState | RemovePlayerState | SetCharacterState | RemoveCharacterState;
  reason: string;
}

/** Which turn to tell again, the last one if none is named, and a `hint` how: "shorter", "let her refuse". */
export interface Regenerate {
  key?: string | null;
  turn_id?: string | null;
  hint?: string | null;
}

/** A change of a relation: by how much, why, and with which turn on the line that is played. The turn is told by its number, so that the same play has the same state wherever it is played. */
export interface RelationStep {
  turn_index: number;
  deltas: Deltas;
  reason: string;
}

/** How `character_id` stands to somebody. `stands` is the same in words, empty while there is nothing to tell. `steps` are the last changes with their turns and reasons, oldest first; `collected` is what was too small to change anything yet. */
export interface RelationView {
  character_id: string;
  name: string;
  towards: string;
  towards_name: string;
  trust: number;
  respect: number;
  affinity: number;
  fear: number;
  stands: string;
  reason: string;
  collected: { [key: string]: number };
  steps: RelationStep[];
}

/** Relations at the head of a session, by who feels them; for authors also what everybody is after. */
export interface RelationsListed {
  type: "relations_listed";
  relations: RelationView[];
  goals?: GoalView[] | null;
}

/** How one stands to another; not mirrored. `strength` is from -1 to 1. */
export interface RelationshipContent {
  kind?: "relationship";
  subject: string;
  predicate: string;
  object: string;
  strength?: number;
  reason?: string;
  since?: number | null;
  until?: number | null;
  known_to?: string[];
}

export interface RemoveActiveCharacter {
  type: "RemoveActiveCharacter";
  character: string;
}

export interface RemoveCharacterState {
  type: "RemoveCharacterState";
  character: string;
  key: string;
}

export interface RemovePlayerState {
  type: "RemovePlayerState";
  key: string;
}

export interface RemoveState {
  type: "RemoveState";
  key: string;
}

export interface RenameSession {
  history?: "all" | "none" | number;
  display_name: string;
}

/** Other words in place of those of a turn. */
export interface Replay {
  key?: string | null;
  player_input?: string | null;
  choice?: number | null;
  turn_id: string;
}

/** What came of a check. `opposed` is the roll of who stood against it. In a group `roll` and `margin` are those of who acted, `group` those of the others, and `level` what they achieved together: what at least half of them reached. */
export interface Resolution {
  check: Check;
  roll: RollView;
  opposed: RollView | null;
  target: number | null;
  margin: number;
  level: "critical_success" | "success" | "partial" | "failure" | "critical_failure";
  effects: Effect[];
  group: GroupRoll[];
}

/** Who comes and goes in a turn, and who then tells, speaks and acts, in order. */
export interface ResponsePlan {
  role_actions: (CreateAndEnter | LeaveScene)[];
  beats: (NarratorBeat | ActorBeat)[];
}

/** `with` says who plays it this time in place of the session's models. */
export interface RetryTurn {
  key?: string | null;
  with?: "understudy" | null;
}

/** Judges what is pending; with `dry_run` nothing is written. A session in the envelope stands for its own layer. */
export interface Review {
  world_id?: string;
  dry_run?: boolean;
}

/** What a review found; in a dry run nothing of it was written. */
export interface Reviewed {
  type: "canon_reviewed";
  world_id: string;
  dry_run: boolean;
  version: number;
  accepted: number;
  rejected: number;
  pending: number;
  judged: Judged[];
}

/** `formula` is dice notation, such as `2d6+1`, `4d6kh3` or `4dF`; `reason` says what they are rolled for. */
export interface RollDice {
  formula: string;
  reason?: string;
}

/** A roll as it is shown: `raw` are all dice as they lie, `kept` those that count. */
export interface RollView {
  formula: string;
  dice: ShownDie[];
  raw: number[];
  kept: number[];
  total: number;
  critical: boolean;
  fumble: boolean;
}

/** The player's words; where an Ink story offers choices, the index of one. */
export interface RunTurn {
  key?: string | null;
  player_input?: string | null;
  choice?: number | null;
}

/** What goes on in the process that answers. */
export interface RunningHere {
  turns: number;
  work: number;
  model_calls: number;
  streams: number;
  games: number;
}

export interface RuntimeSnapshot {
  type: "runtime_snapshot";
  snapshot: Snapshot;
}

/** What the author says. With `stream` the steps are told while they are taken. */
export interface SayInBuilding {
  building_id: string;
  text: string;
  stream?: boolean;
}

/** What the player says. */
export interface SayInConversation {
  key?: string | null;
  text: string;
}

/** A scene has ended. `outcome` says how, `summary` what happened in it, in the words in which it was told. */
export interface SceneCompleted {
  type: "scene_completed";
  scene_id: string;
  title: string;
  outcome: "left" | "met" | "asked" | "turns" | "ended";
  summary: string;
}

/** The scene that has ended, and the one that began; none where the story is over. */
export interface SceneEnded {
  type: "scene_ended";
  scene_id: string;
  title: string;
  summary: string;
  story_ended: boolean;
  next_scene?: SceneLine | null;
}

/** A scene. Minutes are those of the story. What it came to is there when it has ended: `finalizing` until canon has what happened in it. `turn_id` is the turn that ended it. `purpose` is for authors, and for everybody in free play. */
export interface SceneLine {
  scene_id: string;
  status: "open" | "finalizing" | "completed";
  title: string;
  purpose?: string | null;
  place: string;
  participants: string[];
  began_turn: number;
  began_minute: number;
  ended_turn?: number | null;
  ended_minute?: number | null;
  outcome?: "left" | "met" | "asked" | "turns" | "ended" | null;
  summary?: string | null;
  turn_id?: string | null;
  flashback?: boolean;
}

/** The lore of the scene of a turn. `prepared` says whether the lore of the places ahead was made beforehand, by the follower of the turn; if not, the next turn works the same out itself. */
export interface SceneLoreShown {
  type: "scene_lore";
  place: string;
  title: string;
  began_with_turn: number;
  pieces: ScenePieceShown[];
  prepared: boolean;
  ahead: PlacePrepared[];
}

/** Something about a scene that its description does not tell. */
export interface SceneNote {
  known_by?: "everyone" | string[] | Until | null;
  secret?: boolean;
  text: string;
}

/** The scene that is being played. `number` counts the different scenes on the way here, this one included. */
export interface SceneOnStage {
  node_id: string;
  title: string;
  number: number;
}

/** A piece of a scene's lore. `source` and `source_id` are what it was made of, `why` says it in words. `known_to` are the only ones who know it, by id; `teller` is who would say it. */
export interface ScenePieceShown {
  kind: "feature" | "custom" | "gossip" | "tension" | "access";
  text: string;
  source: "lore" | "canon" | "event" | "conflict" | "relation" | "quest";
  source_id: string;
  why: string;
  known_to?: string[];
  teller?: string | null;
}

/** A completed turn of a scene play. One that was `cut` ended early; its last beat may be told in part. `notes` are there where something was refused or somebody helped out. `resolutions` are what the dice decided, where the play has a game system and something was rolled. `staged` are the changes of canon that it proposes, where its story belongs to a world. `flashback` is there where something came back to somebody, `social_beats` where it was a turn of a conversation. */
export interface SceneTurnResult {
  turn_id: string;
  turn_index: number;
  player_input: string;
  first_keeper: KeeperResult;
  director: DirectorResult;
  completed_beats: (CompletedNarratorBeat | CompletedActorBeat)[];
  second_keeper: KeeperResult;
  snapshot: Snapshot;
  notes?: (RefusedNote | HelpedNote)[];
  cut?: boolean;
  resolutions?: Resolution[];
  staged?: StagedNote[];
  flashback?: ToldFlashback;
  social_beats?: ToldSocialBeat[];
}

/** The newest first; the one that is being played stands before those that have ended. `campaign` is there in free play. */
export interface ScenesListed {
  type: "scenes_listed";
  scenes: SceneLine[];
  campaign?: Campaign | null;
  next_cursor?: string | null;
}

/** Where a character is at which phase, by the phases' names; exceptions come first, in their order. */
export interface Schedule {
  usual?: { [key: string]: string };
  exceptions?: ScheduleException[];
}

/** Where somebody is instead, when everything that it names fits: a phase, a weekday, a date, a condition. Without a `node_id` they are in no scene. */
export interface ScheduleException {
  phase?: string | null;
  weekday?: string | null;
  month?: string | null;
  day?: number | null;
  condition?: Comparison | All | Any | Not | null;
  node_id?: string | null;
}

/** Where a character of a story is at which phase; null where it has no schedule. `stays` are where it was in a play since which turn, oldest first, as far as followers have come. */
export interface ScheduleView {
  type: "schedule";
  story_id: string;
  character_id: string;
  schedule: Schedule | null;
  stays?: Stay[] | null;
}

export interface SchemaDeleted {
  type: "schema_deleted";
  schema_id: string;
}

/** One variable: its type, its value at the start, and the values that it may take. With `canon` a change of it is proposed as canon of the play. `known_by` says which characters know a variable of the world; without it everyone does. */
export interface SchemaField {
  value_type: "bool" | "int" | "float" | "string" | "array" | "object" | "null";
  default?: Json;
  description?: string | null;
  enum_values?: Json[] | null;
  canon?: CanonRule | null;
  known_by?: "everyone" | string[] | Until | null;
}

export interface SchemaView {
  type: "schema";
  schema_id: string;
  display_name: string;
  tags: string[];
  fields: { [key: string]: SchemaField };
  additional: boolean;
}

export interface SchemasListed {
  next_cursor?: string | null;
  type: "schemas_listed";
  schemas: SchemaView[];
}

export interface SearchFound {
  type: "search_found";
  hits: SearchHit[];
}

/** Something that was found, with a few words to tell it from others. A `turn` has its `session_id`, a `lorebook_entry` its `lorebook_id`, a `session` its `story_id`. */
export interface SearchHit {
  type: "search_hit";
  kind: "story" | "session" | "turn" | "character" | "lorebook_entry" | "lorebook" | "story_resources" | "story_draft" | "schema" | "preset";
  id: string;
  title: string;
  excerpt: string;
  session_id?: string | null;
  lorebook_id?: string | null;
  story_id?: string | null;
}

/** What is asked; `as_of_turn_id` asks what was known then. */
export interface SearchMemories {
  owner_id?: string;
  query: string;
  as_of_turn_id?: string | null;
  limit?: number;
}

/** Somebody who has the session open. `name` is what they call themselves, else the label of their token. */
export interface Seat {
  seat_id: string;
  name: string;
}

/** A section of the prompt of a role, and why it is there or not. Tokens are estimated. */
export interface SectionShown {
  agent: string;
  name: string;
  tokens: number;
  included: boolean;
  why: string;
}

/** A part of an actor's beat. */
export interface Segment {
  kind: "dialogue" | "thought" | "action";
  text: string;
}

/** `process` names the process that answers; `reason` says why it is not ready. */
export interface ServerStatus {
  type: "server_status";
  version: string;
  process: string;
  started_at_ms: number;
  uptime_s: number;
  ready: boolean;
  reason?: string | null;
  store: string;
  revision: string;
  bus: "local" | "postgres" | "redis";
  running: RunningHere;
  work: WorkState[];
}

/** A tree of turns. `runs` stand for the turns that are not listed; `left_out` counts turns and runs beyond the limit. */
export interface SessionBranches {
  type: "session_branches";
  session_id: string;
  head_turn_id: string;
  turns: BranchTurn[];
  heads: BranchHead[];
  runs?: TurnRun[];
  left_out?: number;
}

/** A guest was invented. */
export interface SessionCharacterCreated {
  type: "session_character_created";
  session_character: GuestOnStage;
  snapshot: Snapshot;
}

export interface SessionCharacterDeleted {
  type: "session_character_deleted";
  session_character_id: string;
}

/** A guest came in. */
export interface SessionCharacterEnteredScene {
  type: "session_character_entered_scene";
  session_character_id: string;
  snapshot: Snapshot;
}

/** A guest left. */
export interface SessionCharacterLeftScene {
  type: "session_character_left_scene";
  session_character_id: string;
  snapshot: Snapshot;
}

export interface SessionCharacterView {
  type: "session_character";
  session_character_id: string;
  display_name: string;
  personality: string;
  style: string;
  system_prompt: string;
  in_scene: boolean;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface SessionCharactersListed {
  next_cursor?: string | null;
  type: "session_characters_listed";
  session_characters: SessionCharacterView[];
}

export interface SessionConfig {
  type: "session_config";
  api_group_id: string;
  preset_id: string;
  token_budget?: number | null;
}

export interface SessionDeleted {
  type: "session_deleted";
  session_id: string;
}

/** The file waits at `archive` for half an hour, for whoever asked for it. Where it is one of several parts and not the last, the next one is asked for with `goes_on_after` as its `after_turn_id`. */
export interface SessionExportPrepared {
  type: "session_export_prepared";
  export_id: string;
  archive: ExportPlace;
  file_name: string;
  content_type: string;
  size_bytes: number;
  goes_on_after: string | null;
}

export interface SessionForked {
  type: "session_forked";
  session_id: string;
  story_id: string;
  display_name: string;
  player_profile_id: string | null;
  player_schema_id: string;
  api_group_id: string;
  preset_id: string;
  created_at_ms: number;
  updated_at_ms: number;
  turn_index: number;
  status: string;
  head_turn_id: string;
  active_turn_id?: string | null;
  state_hash: string;
  snapshot: Snapshot;
  history: MessageLine[];
  config: Config;
  scene: SceneOnStage;
  cast: CastMember[];
  ink?: { [key: string]: Json } | null;
  rules?: string | null;
  conversation?: Conversation | null;
  max_turns?: number | null;
}

/** `session_id` stands in the envelope; it is repeated here for clients that read only the result. */
export interface SessionStarted {
  type: "session_started";
  session_id: string;
  story_id: string;
  display_name: string;
  snapshot: Snapshot;
  player_profile_id: string | null;
  player_schema_id: string;
  api_group_id: string;
  preset_id: string;
  history: MessageLine[];
  created_at_ms: number;
  updated_at_ms: number;
  character_summaries: CharacterSummary[];
  config: Config;
  ink?: { [key: string]: Json } | null;
  rules?: string | null;
  max_turns?: number | null;
}

/** A session in short. `player_profile_id` is the profile of its head's turn, as in the whole session. `last_line` is the beginning of what was told or said last, with the name of who said it; empty where nothing was. */
export interface SessionSummary {
  type: "session_summary";
  session_id: string;
  story_id: string;
  display_name: string;
  player_profile_id: string | null;
  player_schema_id: string;
  api_group_id: string;
  preset_id: string;
  created_at_ms: number;
  updated_at_ms: number;
  turn_index: number;
  status: string;
  story_name: string;
  last_line: string;
  rules?: string | null;
  max_turns?: number | null;
}

/** A turn. `result` is what it answered when it was completed; `siblings` are all tellings of its place, itself among them and oldest first; `message_ids` are the messages that it said or changed. */
export interface SessionTurn {
  type: "session_turn";
  turn_id: string;
  parent_id: string | null;
  turn_index: number;
  kind: string;
  status: string;
  player_input: string;
  choice?: number | null;
  result: { [key: string]: Json } | null;
  message_ids: string[];
  siblings: Sibling[];
  usage: TurnUsage;
  name: string | null;
  bookmarked: boolean;
  created_at_ms: number;
  finished_at_ms?: number | null;
}

/** `types` are there when they were asked for; what an Ink story alone may change has none. */
export interface SessionVariables {
  type: "session_variables";
  custom: { [key: string]: Json };
  player_state: { [key: string]: Json };
  character_state: { [key: string]: { [key: string]: Json } };
  types?: VariableType[] | null;
}

/** A session with its transcript. `scene` and `cast` are what a player may know of the stage; `ink` tells what an Ink story waits for. `player_profile_id` names who the player was at the end of the head's turn: it belongs to the turn, as the name in prompts does, and follows backtrack, switch_branch, fork and regenerate. The profile may have been deleted since; null after the player was described by hand. `rules` is the game system of this play where it is not the story's. `conversation` is there while the player talks with somebody. */
export interface SessionView {
  type: "session";
  session_id: string;
  story_id: string;
  display_name: string;
  player_profile_id: string | null;
  player_schema_id: string;
  api_group_id: string;
  preset_id: string;
  created_at_ms: number;
  updated_at_ms: number;
  turn_index: number;
  status: string;
  head_turn_id: string;
  active_turn_id?: string | null;
  state_hash: string;
  snapshot: Snapshot;
  history: MessageLine[];
  config: Config;
  scene: SceneOnStage;
  cast: CastMember[];
  ink?: { [key: string]: Json } | null;
  rules?: string | null;
  conversation?: Conversation | null;
  max_turns?: number | null;
}

/** What was agreed upon, and the questions. `lines` are what must not happen, `veils` what is not shown; the boundaries of a play's world count beside them. */
export interface SessionZeroView {
  type: "session_zero";
  questions: { [key: string]: string };
  premise: string;
  themes: string[];
  lines: string[];
  veils: string[];
}

export interface SessionsListed {
  next_cursor?: string | null;
  type: "sessions_listed";
  sessions: SessionSummary[];
}

export interface SetActiveCharacters {
  type: "SetActiveCharacters";
  characters: string[];
}

export interface SetCharacterState {
  type: "SetCharacterState";
  character: string;
  key: string;
  value: Json;
}

export interface SetCurrentNode {
  type: "SetCurrentNode";
  node_id: string;
}

export interface SetPlayerProfile {
  history?: "all" | "none" | number;
  player_profile_id?: string | null;
}

export interface SetPlayerState {
  type: "SetPlayerState";
  key: string;
  value: Json;
}

export interface SetState {
  type: "SetState";
  key: string;
  value: Json;
}

/** A sheet with all stats of the game system; what was never written has the system's default. */
export interface SheetView {
  type: "sheet";
  system_id: string;
  character_id: string | null;
  stats: { [key: string]: Json };
}

/** `turn_id` is a turn of the play; else it is where the play stands. */
export interface ShowSceneLore {
  turn_id?: string | null;
}

/** `in_session_id` names a play of the story in which the character is to be found. */
export interface ShowSchedule {
  story_id: string;
  character_id: string;
  in_session_id?: string | null;
}

/** `history` is how much of the transcript is shown: all of it, none, or the newest lines, so many of them. Of a very long one its end is shown, about eight megabytes; what is before it can be listed in parts. */
export interface ShowSession {
  history?: "all" | "none" | number;
}

/** With `types` it is told, too, what each variable may be. */
export interface ShowVariables {
  types?: boolean;
}

/** One die: its size (`%` and `F` as they are written), what it showed, and whether it counts. */
export interface ShownDie {
  size: number | "%" | "F";
  shown: number[];
  kept: boolean;
}

/** One telling of a place in the story. `leaf_turn_id` is the newest end of a line that goes through it. */
export interface Sibling {
  turn_id: string;
  parent_id: string | null;
  turn_index: number;
  kind: string;
  status: string;
  label: string;
  state_hash: string | null;
  created_at_ms: number;
  name: string | null;
  bookmarked: boolean;
  preview: string | null;
  change: "world_moved" | "scene_began" | "scene_ended" | "past_began" | "present_again" | "story_ended" | "talk_began" | "talk_left" | "time_passed" | "dice_rolled" | null;
  about: string;
  leaf_turn_id: string;
}

/** The tellings of those turns that have more than one; the others are left out. */
export interface SiblingsFound {
  type: "session_turn_siblings";
  turns: TurnSiblings[];
}

export interface Since {
  world_id: string;
  version?: number;
  limit?: number;
}

/** What a character has learned: its rank is a number beside the attribute that it goes with. `words` are verbs and things by which a player's line is about it. */
export interface Skill {
  display_name: string;
  attribute: string;
  default?: number;
  modifier?: string;
  words?: string[];
}

/** What a turn leaves behind: enough to go on from there without reading the history. The last three are there only where the story has a calendar. `time` is the clock of the play. `world_version` counts the turns on this line after which followers had the world to change, `applied_version` how many of these they have applied; the latter is written nowhere, it is what a reader found out. */
export interface Snapshot {
  story_id: string;
  player_description: string;
  world_state: WorldState;
  turn_index: number;
  time: StoryTime | null;
  world_version: number | null;
  applied_version: number | null;
}

/** How a reply moved the way its speaker stands to somebody. `surface` is the feeling that shows; `inner`, the one that is felt, is told to authors only. */
export interface SocialBeat {
  type: "social_beat";
  character_id: string;
  towards: string;
  surface?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation" | null;
  inner?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation" | null;
  deltas: Deltas;
  reason: string;
}

/** A change that is proposed as canon. */
export interface StagedChange {
  change_id: string;
  sentence: string;
}

/** A change of canon that a turn proposes. */
export interface StagedNote {
  change_id: string;
  sentence: string;
}

/** Something that this play proposed. `result` is its verdict, `because` the sentence that decided. */
export interface StagedTruth {
  change_id: string;
  turn_id: string | null;
  kind: "fact" | "entity" | "relationship" | "state" | "event" | "axiom";
  sentence: string;
  status: "pending" | "accepted" | "rejected" | "committed" | "undone";
  result: "accept" | "reject" | "pending" | null;
  because: string;
}

/** Somebody who has a part in a conflict, and what they want of it. */
export interface Stakeholder {
  who: string;
  wants?: string;
}

/** How somebody stands to the player when a conversation ends. */
export interface StandsNow {
  character_id: string;
  towards: string;
  trust: number;
  respect: number;
  affinity: number;
  fear: number;
}

/** `stream` true answers with events of progress before the result. */
export interface StartDraft {
  resource_id: string;
  display_name?: string | null;
  api_group_id?: string | null;
  preset_id?: string | null;
  common_variables?: CommonVariable[] | null;
  stream?: boolean;
}

/** Names a story, or a world for free play in it. `seed` makes dice, chance and the telling repeatable: the same words get the same answers, with a model as far as it heeds seeds or its answers are kept. `rules` is a game system in place of the story's own, or `none`. `max_turns` is how many turns a scene of free play has at most. */
export interface StartSession {
  story_id?: string | null;
  world_id?: string | null;
  display_name?: string | null;
  player_profile_id?: string | null;
  api_group_id?: string | null;
  preset_id?: string | null;
  seed?: number | null;
  rules?: string | null;
  max_turns?: number | null;
}

/** First, always. */
export interface StartedFrame {
  type: "started";
}

/** A variable that changes with every scene: place, mood, health. It is applied, and not reviewed. */
export interface StateContent {
  kind?: "state";
  subject: string;
  key: string;
  value: Json;
}

/** An operation that the schemas do not allow; the turn goes on. */
export interface StateOpRefused {
  type: "state_op_refused";
  op: SetCurrentNode | SetActiveCharacters | AddActiveCharacter | RemoveActiveCharacter | SetState | RemoveState | SetPlayerState | RemovePlayerState | SetCharacterState | RemoveCharacterState;
  reason: string;
}

/** Operations that are applied in order. */
export interface StateUpdate {
  ops?: (SetCurrentNode | SetActiveCharacters | AddActiveCharacter | RemoveActiveCharacter | SetState | RemoveState | SetPlayerState | RemovePlayerState | SetCharacterState | RemoveCharacterState)[];
}

/** Where somebody has been since a turn; without a node, in no scene. */
export interface Stay {
  node_id: string | null;
  turn_id: string;
  turn_index: number;
}

/** One step of a verdict: the rule, what it found, and in one sentence why. */
export interface Step {
  rule: string;
  found: Json;
  sentence: string;
}

/** A step; `began_ms` counts from the beginning of the attempt it belongs to. */
export interface StepView {
  name: string;
  began_ms: number;
  took_ms: number;
}

export interface StoriesListed {
  next_cursor?: string | null;
  type: "stories_listed";
  stories: StorySummary[];
}

/** A date with a time; months and days are counted from 1. */
export interface StoryDate {
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
}

export interface StoryDeleted {
  type: "story_deleted";
  story_id: string;
}

export interface StoryDraftDeleted {
  type: "story_draft_deleted";
  draft_id: string;
}

export interface StoryDraftSummary {
  draft_id: string;
  display_name: string;
  resource_id: string;
  api_group_id: string;
  preset_id: string;
  planned_story: string;
  outline_sections: string[];
  next_section_index: number;
  total_sections: number;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  section_summaries: string[];
  status: "building" | "ready_to_finalize" | "finalized";
  final_story_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  type: "story_draft_summary";
  partial_node_count: number;
}

/** A draft in full; `lint` tells what is wrong with its graph so far. */
export interface StoryDraftView {
  draft_id: string;
  display_name: string;
  resource_id: string;
  api_group_id: string;
  preset_id: string;
  planned_story: string;
  outline_sections: string[];
  next_section_index: number;
  total_sections: number;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  section_summaries: string[];
  status: "building" | "ready_to_finalize" | "finalized";
  final_story_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  type: "story_draft";
  partial_graph: Graph;
  lint: LintFinding[];
}

export interface StoryDraftsListed {
  next_cursor?: string | null;
  type: "story_drafts_listed";
  drafts: StoryDraftSummary[];
}

/** The story is over; a scene play names the scene that has no way on. */
export interface StoryEnded {
  type: "story_ended";
  node_id?: string | null;
  title?: string | null;
}

export interface StoryGenerated {
  story_id: string;
  display_name: string;
  resource_id: string;
  graph: Graph;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  world?: StoryWorld | null;
  rules?: string | null;
  world_id?: string | null;
  free?: FreeWorld | null;
  type: "story_generated";
}

export interface StoryPlanned {
  type: "story_planned";
  resource_id: string;
  story_script: string;
}

export interface StoryResourcesCreated {
  resource_id: string;
  display_name: string;
  story_concept: string;
  character_ids: string[];
  player_schema_id_seed: string | null;
  world_schema_id_seed: string | null;
  lorebook_ids: string[];
  planned_story: string | null;
  type: "story_resources_created";
}

export interface StoryResourcesDeleted {
  type: "story_resources_deleted";
  resource_id: string;
}

export interface StoryResourcesListed {
  next_cursor?: string | null;
  type: "story_resources_listed";
  resources: StoryResourcesView[];
}

export interface StoryResourcesUpdated {
  resource_id: string;
  display_name: string;
  story_concept: string;
  character_ids: string[];
  player_schema_id_seed: string | null;
  world_schema_id_seed: string | null;
  lorebook_ids: string[];
  planned_story: string | null;
  type: "story_resources_updated";
}

export interface StoryResourcesView {
  resource_id: string;
  display_name: string;
  story_concept: string;
  character_ids: string[];
  player_schema_id_seed: string | null;
  world_schema_id_seed: string | null;
  lorebook_ids: string[];
  planned_story: string | null;
  type: "story_resources";
}

/** A story in short. Ink stories have neither resource nor schemas: those fields are empty. `plays` are those that the caller reaches. `words` are about those that its author wrote into its scenes. */
export interface StorySummary {
  type: "story_summary";
  kind: "graph" | "ink";
  story_id: string;
  display_name: string;
  resource_id: string;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  created_at_ms: number;
  updated_at_ms: number;
  plays: number;
  words?: number | null;
}

/** A preset story. `forbidden` are phrases that do not belong into it. */
export interface StoryTemplate {
  template_id: string;
  title: string;
  premise?: string;
  flexibility?: "strict" | "guided" | "loose";
  acts: TemplateAct[];
  forbidden?: string[];
}

/** A moment of a play: `minutes` since it began, and what they read as in the calendar of its world. `weekday` is empty in a world without weekdays. */
export interface StoryTime {
  minutes: number;
  year: number;
  month: string;
  day: number;
  weekday: string;
  hour: number;
  minute: number;
  phase: string;
}

/** A story as a player meets it. How many scenes and endings it has tells how long it is, and nothing of them. `pinned` are the names of the variables that the stage shows. `plays` are those that the caller reaches. Ink stories have no cast, and neither scenes nor endings that could be counted. */
export interface StoryTitlePage {
  type: "story_title_page";
  story_id: string;
  kind: "graph" | "ink";
  display_name: string;
  introduction: string;
  cast: CastName[];
  pinned: string[];
  words?: number | null;
  scenes?: number | null;
  endings?: number | null;
  plays: number;
  created_at_ms: number;
  updated_at_ms: number;
}

export interface StoryView {
  story_id: string;
  display_name: string;
  resource_id: string;
  graph: Graph;
  world_schema_id: string;
  player_schema_id: string;
  introduction: string;
  common_variables: CommonVariable[];
  world?: StoryWorld | null;
  rules?: string | null;
  world_id?: string | null;
  free?: FreeWorld | null;
  type: "story";
}

/** What a story says about time. A story without one has no clock, and its plays cost nothing more. `people` is how its people stand to each other when a play begins, and what they are after. */
export interface StoryWorld {
  calendar?: Calendar;
  schedules?: { [key: string]: Json };
  quests?: Quest[];
  people?: { [key: string]: Json };
}

/** The data of one `event: message`. */
export interface StreamMessage {
  message_type: "stream";
  request_id: string;
  session_id?: string;
  sequence: number;
  frame: StartedFrame | EventFrame | CompletedFrame | FailedFrame;
}

export interface SuggestReplies {
  limit?: number | null;
}

export interface SuggestedReplies {
  type: "suggested_replies";
  replies: SuggestedReply[];
}

/** Something that the player might say or do. */
export interface SuggestedReply {
  reply_id: string;
  text: string;
}

/** `from_ms` is the first moment that counts, `to_ms` the first that does not; without them, all calls do. */
export interface SumUpUsage {
  by: "day" | "model" | "agent" | "session" | "story";
  from_ms?: number;
  to_ms?: number;
}

export interface SwitchBranch {
  history?: "all" | "none" | number;
  turn_id: string;
}

export interface TaggedLine {
  text: string;
  tags: string[];
}

/** `level` is the newest that there is. */
export interface TechnologyCap {
  level?: "stone" | "ancient" | "medieval" | "gunpowder" | "industrial" | "modern" | "future" | null;
  beyond?: Beyond[];
  allowed?: string[];
}

/** A part of the story. The next one begins when its required beats were reached. */
export interface TemplateAct {
  act_id: string;
  title: string;
  beats: TemplateBeat[];
}

/** Something that has to happen. It is due once its `trigger` applies, and without one as soon as the required beats before it were reached. It is reached with one of its `outcomes`; a beat without any is reached when its people meet at one of its places. */
export interface TemplateBeat {
  beat_id: string;
  title: string;
  text?: string;
  trigger?: QuestRule | null;
  people?: string[];
  places?: string[];
  outcomes?: TemplateOutcome[];
  may_be_skipped?: boolean;
}

/** How far a play has come in the template that it follows, and what was against it, the newest last. Without a template there is nothing to tell; without an `act_id` its last act is over. */
export interface TemplateChecked {
  type: "story_template_checked";
  template_id?: string | null;
  act_id?: string | null;
  beats: BeatView[];
  violations: TemplateViolation[];
}

export interface TemplateDeleted {
  type: "story_template_deleted";
  template_id: string;
}

/** One of the ways in which a beat can end: when the rule applies, it has. */
export interface TemplateOutcome {
  outcome_id: string;
  text?: string;
  when: QuestRule;
}

/** A template. `missing` are whom and what it needs and the canon of its world does not have, in sentences. */
export interface TemplateView {
  type: "story_template";
  world_id: string;
  template: StoryTemplate;
  missing: string[];
}

/** Something that was against the template, in a sentence for its author. */
export interface TemplateViolation {
  against: "forbidden_phrase" | "missing_person" | "wrong_place" | "out_of_order";
  severity: "error" | "warning" | "note";
  turn_index: number;
  sentence: string;
  beat_id?: string | null;
}

export interface TemplatesListed {
  type: "story_templates_listed";
  templates: TemplateView[];
}

export interface Thought {
  beat_index: number;
  speaker_id: string;
  text: string;
}

/** The turn moved a plot thread: to which status, and why. Players are not told which one, nor why. */
export interface ThreadChanged {
  type: "thread_changed";
  thread_id: string;
  title: string;
  status: "waiting" | "open" | "advanced" | "resolved" | "abandoned";
  why: string;
}

/** A turn that moved a thread: to what, when in story time, and why. */
export interface ThreadMove {
  status: "waiting" | "open" | "advanced" | "resolved" | "abandoned";
  turn_index: number;
  minute: number;
  why: string;
}

/** A thread as it is written, and where it stands. `owed` says that it foreshadows something that is neither paid nor dropped yet; `urgency` is how much it asks for its turn, from 0 to 1. `moves` are the turns that moved it: the first set it up, and of one that is resolved the last paid it off. `own` says that the play made it itself. */
export interface ThreadView {
  type: "thread";
  thread_id: string;
  title: string;
  text: string;
  status: "waiting" | "open" | "advanced" | "resolved" | "abandoned";
  priority: number;
  urgency: number;
  owed: boolean;
  foreshadows?: boolean;
  about?: string[];
  quest_id?: string | null;
  clock_id?: string | null;
  on_full: "open" | "advanced" | "resolved" | "abandoned";
  set_up?: QuestRule | null;
  pay_off?: QuestRule | null;
  drop?: QuestRule | null;
  deadline?: number | null;
  lasts?: number | null;
  moves: ThreadMove[];
  own?: boolean;
}

/** Threads, the most urgent first, and the arc that follows from them and from the clocks. */
export interface ThreadsListed {
  type: "threads_listed";
  minute: number;
  arc: Arc;
  threads: ThreadView[];
}

/** What a track does when it falls to a number or rises to it: a condition comes, or goes. */
export interface Threshold {
  at: number;
  falling?: boolean;
  condition: string;
  removes?: boolean;
}

/** Moments in their order; `lanes` are the entities that they are about. */
export interface TimelineListed {
  next_cursor?: string | null;
  type: "timeline_listed";
  moments: MomentView[];
  lanes: GraphNode[];
}

/** `token` is what its owner sends. It is told this once and kept nowhere. */
export interface TokenCreated {
  type: "token_created";
  token_id: string;
  role: "admin" | "author" | "player";
  label: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
  token: string;
}

export interface TokenUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** A token, never its secret. */
export interface TokenView {
  type: "token";
  token_id: string;
  role: "admin" | "author" | "player";
  label: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
}

export interface TokensListed {
  next_cursor?: string | null;
  type: "tokens_listed";
  tokens: TokenView[];
}

/** Something that came back to somebody in the turn, as it was told. */
export interface ToldFlashback {
  character_id: string;
  character_name: string;
  text: string;
  emotion?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation";
}

/** How a reply moved the way its speaker stands to somebody; `inner` is there for authors. */
export interface ToldSocialBeat {
  character_id: string;
  towards: string;
  surface?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation";
  inner?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation";
  deltas: Deltas;
  reason: string;
}

/** All calls that were asked for added up, not only those of this page. */
export interface Totals {
  calls: number;
  failed: number;
  memo_hits: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** A resource that is spent and regained: hit points, stress, harm. */
export interface Track {
  display_name: string;
  start?: number;
  least?: number;
  most?: number;
  thresholds?: Threshold[];
}

/** A way on to another node; without a condition it is always open. Higher priority is tried first. `means` are phrases by which players mean it, beside what its condition and the goal of its scene say. */
export interface Transition {
  to: string;
  condition?: Comparison | All | Any | Not | null;
  priority?: number;
  means?: string[] | null;
}

/** Something from before the play that a character cannot forget, and the words that bring it back. `text` is what it lives through again, and only its own actor is told. `told` is what the player is told then; without it only that something came back. */
export interface Trauma {
  text: string;
  triggers: string[];
  told?: string | null;
  emotion?: "joy" | "trust" | "fear" | "surprise" | "sadness" | "disgust" | "anger" | "anticipation";
}

/** Something that is true now. `known_to` are the names of those who know it, if not everybody may. */
export interface Truth {
  change_id: string;
  kind: "fact" | "entity" | "relationship" | "state" | "event" | "axiom";
  sentence: string;
  about: string[];
  known_to: string[];
}

/** Either the `api_id` of an api that is kept, or one that is not, field by field. `seconds` is how long each question may take. */
export interface TryApi {
  api_id?: string | null;
  provider?: "open_ai" | "local" | "understudy" | null;
  base_url?: string;
  api_key?: string;
  model?: string;
  seconds?: number;
}

export interface TurnAccepted {
  type: "turn_stream_accepted";
}

/** A turn began; `GET /sessions/{session_id}/events` tells it. `by` is the id of the token that began it, if any. */
export interface TurnBegan {
  type: "turn_began";
  turn_id: string;
  by: string | null;
}

/** `kept` says that what was told so far is now the turn. */
export interface TurnCancelled {
  type: "turn_cancelled";
  turn_id: string;
  kept: boolean;
}

export interface TurnCompleted {
  type: "turn_completed";
  result: SceneTurnResult | InkTurnResult;
}

/** The notes of a turn. `scene` is the node that was entered; `lines` are those of an Ink story, where one has tags; `outcome` is what came of words in a talk; `rolls` are what the dice decided; `flashback` is what came back to somebody. */
export interface TurnNotes {
  turn_id: string;
  changes?: VariableChange[];
  refused?: RefusedChange[];
  helped?: HelpNote[];
  thoughts?: Thought[];
  scene?: string | null;
  outcome?: string | null;
  lines?: TaggedLine[];
  rolls?: Resolution[];
  flashback?: FlashbackNote | null;
}

/** `scenes` has the titles of the scenes that are named in the notes. */
export interface TurnNotesListed {
  type: "session_turn_notes";
  turns: TurnNotes[];
  scenes: { [key: string]: string };
}

/** A turn ended: `committed`, `cut`, `failed` or `cancelled`. */
export interface TurnOver {
  type: "turn_over";
  turn_id: string;
  status: "committed" | "cut" | "failed" | "cancelled";
}

/** Turns in a row that nobody forked from, marked or stands at; `parent_id` is the turn above the first. */
export interface TurnRun {
  first_turn_id: string;
  last_turn_id: string;
  count: number;
  parent_id: string | null;
}

/** A turn, and all tellings of its place. */
export interface TurnSiblings {
  turn_id: string;
  siblings: Sibling[];
}

/** The turn began; a choice stands in `player_input` by its text. */
export interface TurnStarted {
  type: "turn_started";
  next_turn_index: number;
  player_input: string;
}

/** What happened in a turn. Of a turn from before traces were kept, or whose trace is gone, `kept` is false. What only authors may know is left out for players: all from `calls` on. `checks`, `verdicts`, `minds`, `social_beats`, `relations` and `conflicts` are there where the turn noted some. */
export interface TurnTraceView {
  type: "turn_trace";
  turn_id: string;
  trace_id: string;
  turn_index: number;
  status: string;
  kept: boolean;
  attempts: number;
  took_ms: number | null;
  steps: StepView[];
  followers: FollowerShown[];
  calls?: CallShown[] | null;
  sections?: SectionShown[] | null;
  lore?: LoreShown[] | null;
  memories?: MemoryShown[] | null;
  degraded?: DegradedShown[] | null;
  operations?: OperationShown[] | null;
  plan?: { [key: string]: Json } | null;
  checks?: ({ [key: string]: Json })[] | null;
  verdicts?: ({ [key: string]: Json })[] | null;
  minds?: ({ [key: string]: Json })[] | null;
  social_beats?: ({ [key: string]: Json })[] | null;
  relations?: ({ [key: string]: Json })[] | null;
  conflicts?: ({ [key: string]: Json })[] | null;
}

/** The model calls of one turn, added up. */
export interface TurnUsage {
  calls: number;
  failed: number;
  memo_hits: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface TurnsListed {
  next_cursor?: string | null;
  type: "session_turns_listed";
  turns: BranchTurn[];
}

export interface Undo {
  change_id: string;
  reason?: string;
}

export interface UndoInBuilding {
  item_id: string;
  reason?: string;
}

/** Nobody until the condition holds; then those who are named, or everyone. */
export interface Until {
  until: Comparison | All | Any | Not;
  then?: string[] | null;
}

export interface UpdateApi {
  api_id: string;
  display_name?: string | null;
  provider?: "open_ai" | "local" | "understudy" | null;
  base_url?: string | null;
  api_key?: string | null;
  model?: string | null;
}

export interface UpdateApiGroup {
  api_group_id: string;
  display_name?: string | null;
  bindings?: Bindings | null;
}

/** What is left out stays as it is; an empty list takes it away, and so does the rating `none`. A line is a word, a few words that mean something together in one sentence, a phrase in quotes, or the name of a category: `categories` are names for many words. */
export interface UpdateBoundaries {
  world_id?: string;
  lines?: string[] | null;
  veils?: string[] | null;
  rating?: "everyone" | "teen" | "mature" | "adult" | "none" | null;
  categories?: { [key: string]: string[] } | null;
}

/** `calendar` takes the place of the one before; what it does not name is as in our own. Null removes it, with all schedules and quests: no time passes then. */
export interface UpdateCalendar {
  story_id: string;
  calendar: Calendar | null;
}

export interface UpdateCharacter {
  character_id: string;
  content: ContentDraft;
}

/** What is not given stays. In a play, of a clock that its world has, only how it stands can be set: `filled`, `pressure`, `opposition` and `status`; a clock that is `dropped` moves no more. */
export interface UpdateClock {
  world_id?: string;
  clock_id: string;
  name?: string | null;
  agenda?: string | null;
  owner?: string | null;
  segments?: number | null;
  filled?: number | null;
  pressure?: number | null;
  opposition?: number | null;
  every?: number | null;
  status?: "waiting" | "active" | "fired" | "dropped" | null;
  rules?: ForceRule[] | null;
  fires?: Firing | null;
}

export interface UpdateConfig {
  api_group_id?: string | null;
  preset_id?: string | null;
  token_budget?: number | null;
}

/** What is not given stays. In a play only `intensity` and `momentum` can be set; its phase follows with the next turn. */
export interface UpdateConflict {
  world_id?: string;
  conflict_id: string;
  title?: string | null;
  stakes?: string | null;
  stakeholders?: Stakeholder[] | null;
  intensity?: number | null;
  momentum?: number | null;
  drift?: number | null;
  patience?: number | null;
  every?: number | null;
  where?: string[] | null;
  known_to?: string[] | null;
  signs?: { [key: string]: string } | null;
  pushes?: ConflictPush[] | null;
  moves?: ConflictMove[] | null;
  outcomes?: ConflictOutcome[] | null;
}

export interface UpdateDraftGraph {
  draft_id: string;
  partial_graph: Graph;
}

/** What is not given stays as it is. */
export interface UpdateEntity {
  world_id: string;
  entity_id: string;
  name?: string | null;
  aliases?: string[] | null;
  description?: string | null;
  tags?: string[] | null;
  reason?: string;
}

export interface UpdateGameSystem {
  system_id: string;
  display_name?: string | null;
  description?: string | null;
  core?: CoreMechanic | null;
  attributes?: { [key: string]: Json } | null;
  skills?: { [key: string]: Json } | null;
  tracks?: { [key: string]: Json } | null;
  conditions?: { [key: string]: Json } | null;
  difficulties?: { [key: string]: number } | null;
  effects?: EffectRule[] | null;
  risky?: string[] | null;
}

export interface UpdateInk {
  story_id: string;
  display_name?: string | null;
  source?: string | null;
  files?: { [key: string]: string } | null;
}

export interface UpdateLorebook {
  lorebook_id: string;
  display_name?: string | null;
}

export interface UpdateLorebookEntry {
  type: "lorebook_entry";
  lorebook_id: string;
  entry_id: string;
  title?: string | null;
  content?: string | null;
  keywords?: string[] | null;
  enabled?: boolean | null;
  always_include?: boolean | null;
  match?: "word" | "substring" | null;
  order?: number | null;
  budget?: number | null;
  recursive?: boolean | null;
  known_by?: "everyone" | string[] | Until | null;
  secret?: boolean | null;
}

/** How firmly the mask is to sit from now on: 1 shows nothing, below a quarter it may break. */
export interface UpdateMask {
  character_id: string;
  integrity: number;
}

/** What is to be different; a text is a new rendition, the original stays. */
export interface UpdateMemory {
  memory_id: string;
  text?: string | null;
  importance?: number | null;
  certainty?: number | null;
}

export interface UpdateMessage {
  message_id: string;
  kind: "player_input" | "narration" | "dialogue" | "action";
  speaker_id: string;
  speaker_name: string;
  text: string;
}

export interface UpdatePlayerDescription {
  player_description: string;
}

export interface UpdatePlayerProfile {
  player_profile_id: string;
  display_name?: string | null;
  description?: string | null;
}

/** `policy` takes the place of the one before; verdicts that were given stay. */
export interface UpdatePolicy {
  world_id: string;
  policy: Policy;
}

export interface UpdatePreset {
  preset_id: string;
  display_name?: string | null;
  agents?: PresetAgents | null;
}

export interface UpdatePresetEntry {
  preset_id: string;
  agent: "planner" | "architect" | "director" | "actor" | "narrator" | "keeper" | "replyer";
  module_id: string;
  entry_id: string;
  display_name?: string | null;
  text?: string | null;
  enabled?: boolean | null;
  order?: number | null;
}

/** `schedule` takes the place of the one before; null removes it. */
export interface UpdateSchedule {
  story_id: string;
  character_id: string;
  schedule: Schedule | null;
}

export interface UpdateSchema {
  schema_id: string;
  display_name?: string | null;
  tags?: string[] | null;
  fields?: { [key: string]: SchemaField } | null;
  additional?: boolean | null;
}

export interface UpdateSessionCharacter {
  session_character_id: string;
  display_name: string;
  personality: string;
  style: string;
  system_prompt: string;
}

/** `stats` are those that change, by name. */
export interface UpdateSheet {
  character_id?: string | null;
  stats: { [key: string]: Json };
}

/** `world` is what the story says about time: calendar, schedules and quests, all at once. `rules` is the id of the game system that it is played by, or `none`. `world_id` names the world whose canon its plays build upon. */
export interface UpdateStory {
  story_id: string;
  display_name?: string | null;
  common_variables?: CommonVariable[] | null;
  world?: StoryWorld | null;
  rules?: string | null;
  world_id?: string | null;
}

export interface UpdateStoryGraph {
  story_id: string;
  graph: Graph;
}

export interface UpdateStoryResources {
  resource_id: string;
  display_name?: string | null;
  story_concept?: string | null;
  character_ids?: string[] | null;
  player_schema_id_seed?: string | null;
  world_schema_id_seed?: string | null;
  lorebook_ids?: string[] | null;
  planned_story?: string | null;
}

/** The template as a whole; it is made, or put in the place of the one with its id. */
export interface UpdateTemplate {
  world_id: string;
  template: StoryTemplate;
}

/** What is not given stays. A `thread_id` that is not there yet makes a thread; it needs a `title`. `status` moves it, in a play, by hand, and `why` says why. In a play, of a thread that its world has, only `status`, `priority` and `deadline` can be set. */
export interface UpdateThread {
  world_id?: string;
  thread_id: string;
  status?: "waiting" | "open" | "advanced" | "resolved" | "abandoned" | null;
  why?: string;
  title?: string | null;
  text?: string | null;
  priority?: number | null;
  foreshadows?: boolean | null;
  about?: string[] | null;
  quest_id?: string | null;
  clock_id?: string | null;
  on_full?: "open" | "advanced" | "resolved" | "abandoned" | null;
  set_up?: QuestRule | null;
  pay_off?: QuestRule | null;
  drop?: QuestRule | null;
  deadline?: number | null;
  lasts?: number | null;
}

/** What is left out stays as it is; an empty `name` takes the name away. */
export interface UpdateTurn {
  turn_id: string;
  name?: string | null;
  bookmarked?: boolean | null;
}

export interface UpdateVariables {
  update: StateUpdate;
}

export interface UpdateWorld {
  world_id: string;
  display_name?: string | null;
  description?: string | null;
  genre?: string | null;
  tone?: string | null;
  game_system_id?: string | null;
  free?: FreeStart | null;
  caps?: Caps | null;
}

export interface UsageListed {
  next_cursor?: string | null;
  type: "usage_listed";
  calls: CallView[];
  totals: Totals;
}

/** The calls of one day (as `2026-11-17`, of UTC), model, role, session or story; "" is what belongs to none. */
export interface UsageRow {
  calls: number;
  failed: number;
  memo_hits: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  name: string;
}

/** `totals` are all calls of that time, also where `rows` are only those that cost most. */
export interface UsageSummary {
  type: "usage_summary";
  by: "day" | "model" | "agent" | "session" | "story";
  rows: UsageRow[];
  totals: Totals;
}

/** `name` is looked up as above; without one the first usable model is taken. Or say address and model. `anyway` takes a model that failed its test. */
export interface UseModel {
  name?: string;
  base_url?: string;
  api_key?: string;
  model?: string;
  api_id?: string;
  anyway?: boolean;
  seconds?: number;
}

/** A variable that a turn changed. A value that was not there, or is gone, is null. */
export interface VariableChange {
  scope: "world" | "player" | "character";
  owner: string;
  key: string;
  before: Json;
  after: Json;
  by: "after_player_input" | "after_turn_outputs" | "entering" | "story";
}

/** What a variable may be, as its schema says; `enum_values` are all that it may be, where it has them. */
export interface VariableType {
  scope: "world" | "player" | "character";
  owner: string;
  key: string;
  value_type: "bool" | "int" | "float" | "string" | "array" | "object" | "null";
  enum_values?: Json[] | null;
}

/** Variables were changed by hand. */
export interface VariablesChanged {
  type: "variables_changed";
}

/** What becomes of a change, and every step that led there. `retcons` are changes whose facts it replaces. */
export interface Verdict {
  result: "accept" | "reject" | "pending";
  weight: number;
  steps: Step[];
  contradicts: string[];
  retcons: string[];
  critical: boolean;
}

/** A refusal: who called (`caller` is a role or an agent), what for, about what, and why not. */
export interface ViolationView {
  type: "violation";
  at_ms: number;
  caller: string;
  token_id?: string | null;
  what: string;
  why: "not_listed" | "unknown_tool" | "out_of_reach" | "check_failed" | "role" | "boundary" | "feasibility" | "prohibited";
  about: string;
  sentence: string;
}

/** What the player wished of the telling, out of character, cannot be followed by rule, and no model tells the turn; `sentence` says so. It is no part of the story. */
export interface WishLeft {
  type: "wish_left";
  sentence: string;
}

/** How a line read before it was corrected by hand; `updated_at_ms` is when it was worded so. */
export interface Wording {
  kind: string;
  speaker_id: string;
  speaker_name: string;
  text: string;
  updated_at_ms: number;
}

/** A piece of work. `subject` is what it is about (of a turn and of what follows it, the session), `owner` who holds it, `trace_id` the turn behind it, if any. `error` says why its last try failed. */
export interface WorkItem {
  type: "work_item";
  id: string;
  kind: string;
  subject: string;
  trace_id: string;
  state: string;
  owner: string;
  tries: number;
  due_at_ms: number;
  created_at_ms: number;
  updated_at_ms: number;
  error?: string | null;
}

export interface WorkListed {
  next_cursor?: string | null;
  type: "work_listed";
  work: WorkItem[];
}

/** Work of one kind in one state, of all servers together. `age_ms` is how long ago the oldest was due. */
export interface WorkState {
  kind: string;
  state: string;
  count: number;
  age_ms: number;
}

/** A scene ended, and the world beyond it moved for so many minutes. Players are told of `events` that everybody everywhere knows. */
export interface WorldAdvanced {
  type: "world_advanced";
  minutes: number;
  events: OffScreenEvent[];
}

/** The world so many `minutes` later; `minute` is when it is now. `events` are what came to pass, in their order, and `change_ids` what was proposed to canon because of it. */
export interface WorldAdvancedView {
  type: "world_advanced";
  dry_run: boolean;
  minutes: number;
  minute: number;
  moves: ClockMoveView[];
  events: OffScreenEvent[];
  change_ids: string[];
}

export interface WorldDeleted {
  type: "world_deleted";
  world_id: string;
}

/** A world as a text of some format; `file_name` is what a file of it might be called. */
export interface WorldExported {
  type: "world_exported";
  world_id: string;
  format: "json" | "graphml" | "cypher" | "markdown";
  file_name: string;
  media_type: string;
  version: number;
  entities: number;
  edges: number;
  text: string;
}

/** All volatile state of a play. */
export interface WorldState {
  current_node: string;
  active_characters: string[];
  custom: { [key: string]: Json };
  player_state: { [key: string]: Json };
  character_state: { [key: string]: { [key: string]: Json } };
  actor_shared_history: MemoryEntry[];
  actor_private_memory: { [key: string]: MemoryEntry[] };
}

/** A world. `version` counts the changes of its canon that were committed or undone. `minute` is when it is in it: plays begin then. `story_id` is there in the private world of one story. `free` says how free plays of it begin, `caps` how far its technology and magic go. */
export interface WorldView {
  type: "world";
  world_id: string;
  display_name: string;
  description: string;
  genre: string;
  tone: string;
  game_system_id?: string | null;
  policy: Policy;
  version: number;
  minute: number;
  story_id?: string | null;
  free?: FreeStart | null;
  caps?: Caps | null;
}

export interface WorldsListed {
  next_cursor?: string | null;
  type: "worlds_listed";
  worlds: WorldView[];
}

export type SceneEvent =
  | TurnStarted
  | PlayerInputRecorded
  | KeeperApplied
  | StateOpRefused
  | CheckAsked
  | CheckResolved
  | IntentJudged
  | WishLeft
  | ChangeStaged
  | WorldAdvanced
  | ThreadChanged
  | ConflictChanged
  | SceneCompleted
  | Flashback
  | SocialBeat
  | DirectorCompleted
  | SessionCharacterCreated
  | SessionCharacterEnteredScene
  | SessionCharacterLeftScene
  | NarratorStarted
  | NarratorTextDelta
  | NarratorCompleted
  | ActorStarted
  | ActorThoughtDelta
  | ActorActionComplete
  | ActorDialogueDelta
  | ActorCompleted
  | AgentDegraded
  | StoryEnded;

export type InkEvent =
  | TurnStarted
  | AgentDegraded
  | AgentReplyDelta
  | AgentOutcome
  | InkText
  | GeneratedText
  | InkChoices
  | InkInputRequested
  | StoryEnded;

/** Events of the session feed. */
export type FeedEvent =
  | FeedSnapshot
  | TurnBegan
  | TurnOver
  | HeadMoved
  | MessagesChanged
  | VariablesChanged
  | ConfigChanged
  | CanonCommitted
  | FeedSessionDeleted
  | Presence;

export type StreamEvent = SceneEvent | InkEvent | Progress;

export type StreamFrame = StartedFrame | EventFrame | CompletedFrame | FailedFrame;

export type NoParams = Record<string, never>;

/** Every method; `session` says whether the envelope names one. */
export interface Methods {
  /** Tells who the caller is here, and what this server has beyond the basics. */
  "access.whoami": { params: NoParams; result: Caller; session: false };
  /** Adds an api. Its key is encrypted and never shown again. */
  "api.create": { params: CreateApi; result: ApiView; session: false };
  /** Removes an api that no group uses, and its key. */
  "api.delete": { params: NameApi; result: ApiDeleted; session: false };
  /** Shows an api, its key masked. */
  "api.get": { params: NameApi; result: ApiView; session: false };
  /** Lists all apis by id. Players see of a key only whether there is one. */
  "api.list": { params: Paging; result: ApisListed; session: false };
  /** Asks an address which models it offers; nothing is kept. */
  "api.list_models": { params: ListModels; result: ApiModelsListed; session: false };
  /** Asks a model real questions (streamed, as JSON, with a system role) and measures its pace; nothing is kept. */
  "api.test": { params: TryApi; result: ApiTested; session: false };
  /** Changes an api; fields that are not given stay as they are. A new address needs the key again, "" removes it. */
  "api.update": { params: UpdateApi; result: ApiView; session: false };
  /** Adds a group; every bound api must exist. */
  "api_group.create": { params: CreateApiGroup; result: ApiGroupView; session: false };
  /** Removes a group that no draft or session uses. */
  "api_group.delete": { params: NameApiGroup; result: ApiGroupDeleted; session: false };
  /** Shows a group. */
  "api_group.get": { params: NameApiGroup; result: ApiGroupView; session: false };
  /** Lists all groups by id. */
  "api_group.list": { params: Paging; result: ApiGroupsListed; session: false };
  /** Changes a group; fields that are not given stay as they are. */
  "api_group.update": { params: UpdateApiGroup; result: ApiGroupView; session: false };
  /** Lists who tried to do what they may not, newest first. */
  "audit.list": { params: ListAudit; result: AuditListed; session: false };
  /** Writes the whole store, as it is at one moment, into a new file in the folder of backups of this server. */
  "backup.create": { params: NoParams; result: BackupView; session: false };
  /** Lists the backups in the folder of this server, oldest first. */
  "backup.list": { params: Paging; result: BackupsListed; session: false };
  /** Lists what somebody in a play takes to be true at the session's head, what changed last first. */
  "belief.list": { params: ListBeliefs; result: BeliefsListed; session: true };
  /** Shows what must not happen and what is not shown: at a table, or in the stories of a world. */
  "boundary.get": { params: AskBoundaries; result: BoundariesView; session: false };
  /** Sets what must not happen and what is not shown, from the next turn on: at a table, or in a world. */
  "boundary.update": { params: UpdateBoundaries; result: BoundariesView; session: false };
  /** Tells what was added in a building, and what is still missing in the world. */
  "building.close": { params: NameBuilding; result: BuildingClosed; session: false };
  /** Begins to build a world by talking; the architect asks a first question. */
  "building.open": { params: OpenBuilding; result: BuildingView; session: false };
  /** Says something about a world; what it says is true from now on, and each item can be undone. */
  "building.say": { params: SayInBuilding; result: BuildingView; session: false };
  /** Takes an item that was added out of canon again. */
  "building.undo": { params: UndoInBuilding; result: ItemUndone; session: false };
  /** Shows a story's calendar. */
  "calendar.get": { params: NameCalendar; result: CalendarView; session: false };
  /** Gives a story a calendar, so that time passes in its plays, or takes it away. */
  "calendar.update": { params: UpdateCalendar; result: CalendarView; session: false };
  /** Lists the turns of a play at which canon is committed, newest first, and which are still finalizing. */
  "canon.commits": { params: ListCommits; result: CommitsListed; session: true };
  /** Decides upon a change that is pending. What is impossible stays impossible: a critical contradiction blocks. */
  "canon.decide": { params: Decide; result: ChangeView; session: false };
  /** Shows a change with its verdict, step by step. */
  "canon.get": { params: NameChange; result: ChangeView; session: false };
  /** Shows the part of the knowledge graph around an entity, of a world or of what a play sees of it. */
  "canon.graph": { params: AskGraph; result: GraphView; session: false };
  /** Tells what is true in the world of a play as far as its player may know it, and what the play proposed. */
  "canon.known": { params: AskKnown; result: KnownCanon; session: true };
  /** Lists changes of a world, or of a play as far as they hang on the line of its head, in their order. */
  "canon.list": { params: ListChanges; result: ChangesListed; session: false };
  /** Finds how two entities are connected, in a world or in what a play sees of it. */
  "canon.path": { params: AskPath; result: PathView; session: false };
  /** Shows by which policy changes of a world's canon are judged. */
  "canon.policy.get": { params: NameWorld; result: PolicyView; session: false };
  /** Changes that policy, for what is judged from now on. */
  "canon.policy.update": { params: UpdatePolicy; result: PolicyView; session: false };
  /** Judges what became canon in a play once more, and commits to its world what the policy accepts. */
  "canon.promote": { params: Promote; result: Reviewed; session: true };
  /** Proposes changes of a world's canon, or of a play's own; they wait for a review or a decision. */
  "canon.propose": { params: Propose; result: ChangesProposed; session: false };
  /** Judges what is pending in a world, or in a play at its head, and commits what the world's policy accepts. */
  "canon.review": { params: Review; result: Reviewed; session: false };
  /** Tells what became true, or ceased to be, after a version of a world's canon. */
  "canon.since": { params: Since; result: CanonSince; session: false };
  /** Takes a change out of canon; it is kept and marked, and what it had replaced is true again. */
  "canon.undo": { params: Undo; result: ChangeView; session: false };
  /** Tells who knows of a fact, a relationship or an event, and how; with a session, as its play sees it. */
  "canon.who_knows": { params: NameFact; result: KnowersListed; session: false };
  /** Adds a character; its schema must exist. */
  "character.create": { params: CreateCharacter; result: CharacterCreated; session: false };
  /** Removes a character that no story resource uses, and its cover. */
  "character.delete": { params: NameCharacter; result: CharacterDeleted; session: false };
  /** Shows a character. */
  "character.get": { params: NameCharacter; result: CharacterView; session: false };
  /** Lists characters in short, by id or `order`. `query` finds words of names, tags, folders and personalities. */
  "character.list": { params: Listing; result: CharactersListed; session: false };
  /** Replaces a character's content; its cover stays. */
  "character.update": { params: UpdateCharacter; result: CharacterView; session: false };
  /** Adds an agenda to a world, or to a play alone. */
  "clock.create": { params: CreateClock; result: ClockView; session: false };
  /** Lists the agendas of a world, or of a play as they stand at its head, with the odds of their next chance. */
  "clock.list": { params: ListClocks; result: ClocksListed; session: false };
  /** Changes an agenda of a world, or how it stands in a play. */
  "clock.update": { params: UpdateClock; result: ClockView; session: false };
  /** The api group and preset that are taken when none is named. */
  "config.get_global": { params: NoParams; result: GlobalConfig; session: false };
  /** Adds a conflict to a world; plays that are under way have it from their next turn on. */
  "conflict.create": { params: CreateConflict; result: ConflictDetailView; session: false };
  /** Shows a conflict with its rules: what pushes it, who moves, and how it may end. */
  "conflict.get": { params: NameConflict; result: ConflictDetailView; session: false };
  /** Lists the conflicts of a world, or of a play as they stand at its head, with what moved them and what is due. */
  "conflict.list": { params: ListConflicts; result: ConflictsListed; session: false };
  /** Changes a conflict of a world, or how it stands in a play. */
  "conflict.update": { params: UpdateConflict; result: ConflictDetailView; session: false };
  /** Leaves the conversation that is under way: sums it up, and proposes as canon what moved far. */
  "conversation.close": { params: NoParams; result: ConversationClosed; session: true };
  /** Opens a conversation with one to four characters. */
  "conversation.open": { params: OpenConversation; result: ConversationOpened; session: false };
  /** Says something in the conversation that is under way; the answer is a stream of events, as that of a turn. */
  "conversation.say": { params: SayInConversation; result: TurnAccepted; session: true };
  /** Counts, the default binding, and the stories and sessions that changed last; of sessions, the caller's own. */
  "dashboard.get": { params: NoParams; result: Dashboard; session: false };
  /** Writes the named resources, and what they depend on, into an archive that waits to be downloaded. */
  "data_package.export_prepare": { params: PrepareExport; result: ExportPrepared; session: false };
  /** Takes all resources of an uploaded archive in, or none of them. */
  "data_package.import_commit": { params: CommitImport; result: ImportCommitted; session: false };
  /** Opens a place to which an archive can be uploaded; it stays open for 30 minutes. */
  "data_package.import_prepare": { params: NoParams; result: ImportPrepared; session: false };
  /** Tells an agent, a character or everyone to do or to leave something, in a world or in a play alone. */
  "directive.create": { params: CreateDirective; result: DirectiveView; session: false };
  /** Takes a directive back: from a world, or from the play that has it. */
  "directive.delete": { params: NameDirective; result: DirectiveDeleted; session: false };
  /** Lists what agents and characters are told to do and to leave, in a world or a play. */
  "directive.list": { params: ListDirectives; result: DirectivesListed; session: false };
  /** Shows an entity of a world's canon, or of what a play sees of it. */
  "entity.get": { params: NameEntity; result: EntityView; session: false };
  /** Lists the entities of a world's canon, or of what a play sees of it. */
  "entity.list": { params: InWorld; result: EntitiesListed; session: false };
  /** Makes one entity of two: the other's names become aliases, and what is true of it moves. */
  "entity.merge": { params: MergeEntities; result: EntitiesMerged; session: false };
  /** Describes an entity of canon anew; what it was called before is kept. */
  "entity.update": { params: UpdateEntity; result: EntityView; session: false };
  /** Lists facts: all, or those about an entity or at a moment; of a world, or of what a play sees of it. */
  "fact.list": { params: FactsAsked; result: ChangesListed; session: false };
  /** Adds a system; its formulas, bands and names are checked first. */
  "game_system.create": { params: CreateGameSystem; result: GameSystemView; session: false };
  /** Removes a system that nothing uses. */
  "game_system.delete": { params: NameGameSystem; result: GameSystemDeleted; session: false };
  /** Shows a system, built in or not. */
  "game_system.get": { params: NameGameSystem; result: GameSystemView; session: false };
  /** Lists the built-in systems, then those that authors wrote, by id. */
  "game_system.list": { params: Paging; result: GameSystemsListed; session: false };
  /** Changes a system; parts that are not given stay as they are. */
  "game_system.update": { params: UpdateGameSystem; result: GameSystemView; session: false };
  /** Looks an Ink source through: problems, knots, variables, what is never reached, and its size. */
  "ink.check": { params: CheckInk; result: InkChecked; session: false };
  /** Lists the quests and leads of a play with the turns that moved them, in the order in which they opened. */
  "journal.list": { params: ListJournal; result: JournalListed; session: true };
  /** Lists the loops with their pictures, as Mermaid. */
  "loop.list": { params: NoParams; result: LoopsListed; session: false };
  /** Tells at which step a turn of a play stands. */
  "loop.state": { params: AskLoop; result: LoopState; session: true };
  /** Adds a lorebook, perhaps with its first entries. */
  "lorebook.create": { params: CreateLorebook; result: LorebookView; session: false };
  /** Removes a lorebook that no story resource uses. */
  "lorebook.delete": { params: NameLorebook; result: LorebookDeleted; session: false };
  /** Shows a lorebook with all entries. */
  "lorebook.get": { params: NameLorebook; result: LorebookView; session: false };
  /** Lists lorebooks, by id or `order`. `query` finds words of names and ids, and of titles and keywords. */
  "lorebook.list": { params: Listing; result: LorebooksListed; session: false };
  /** Renames a lorebook. */
  "lorebook.update": { params: UpdateLorebook; result: LorebookView; session: false };
  /** Adds an entry at the end of a lorebook. */
  "lorebook_entry.create": { params: CreateLorebookEntry; result: LorebookEntryView; session: false };
  /** Removes an entry. */
  "lorebook_entry.delete": { params: NameLorebookEntry; result: LorebookEntryDeleted; session: false };
  /** Shows one entry. */
  "lorebook_entry.get": { params: NameLorebookEntry; result: LorebookEntryView; session: false };
  /** Lists a lorebook's entries in the author's order. */
  "lorebook_entry.list": { params: ListLorebookEntries; result: LorebookEntriesListed; session: false };
  /** Changes an entry; fields that are not given stay as they are. */
  "lorebook_entry.update": { params: UpdateLorebookEntry; result: LorebookEntryView; session: false };
  /** Shows what a character presents and hides, and how firmly its mask sits where the session stands. */
  "mask.get": { params: NameMask; result: MaskView; session: true };
  /** Sets how firmly a mask sits in a play; going back undoes it. Traits are changed with the character. */
  "mask.update": { params: UpdateMask; result: MaskView; session: true };
  /** Gives somebody a memory at the session's head. */
  "memory.add": { params: AddMemory; result: MemoryView; session: true };
  /** Forgets a memory for good: it never comes up again, on any branch. What was told stays in the transcript. */
  "memory.delete": { params: NameMemory; result: MemoryForgotten; session: true };
  /** Shows one memory: as it was written, how it reads now, and what it is known by. */
  "memory.get": { params: NameMemory; result: MemoryView; session: true };
  /** Tells what somebody knows about something: what it saw, was told by whom, or concluded, and how sure it is. */
  "memory.knows": { params: AskKnowledge; result: Knowledge; session: true };
  /** Lists what somebody in a play remembers at the session's head, the newest first. */
  "memory.list": { params: ListMemories; result: MemoriesListed; session: true };
  /** Pins a memory, which then never fades, or lets go of it. */
  "memory.pin": { params: PinMemory; result: MemoryView; session: true };
  /** Finds what a question brings back to somebody, with the reasons, the strongest first. */
  "memory.search": { params: SearchMemories; result: MemoriesFound; session: true };
  /** Corrects a memory. It is found by its new text from then on; the original stays readable. */
  "memory.update": { params: UpdateMemory; result: MemoryView; session: true };
  /** Looks for models that could be used: in the environment, on the usual ports of this machine, and GGUF files. */
  "model.detect": { params: NoParams; result: ModelsDetected; session: false };
  /** Forgets an api and its key; groups that used it use the understudy from now on. */
  "model.remove": { params: NameModel; result: ModelRemoved; session: false };
  /** Tests a model and, if it passes, lets new stories and plays use it; one that fails changes nothing. */
  "model.use": { params: UseModel; result: ModelUsed; session: false };
  /** Gives work up that waits or was buried; what the turn itself told stays as it is. */
  "outbox.drop": { params: NameWork; result: OutboxDropped; session: false };
  /** Lists what follows turns and is not done, oldest first; what was done is not listed. */
  "outbox.list": { params: ListUnfinished; result: OutboxListed; session: false };
  /** Tries work again that was buried, as if it had never been tried. */
  "outbox.retry": { params: NameWork; result: WorkItem; session: false };
  /** Adds a profile. A player's is their own; an author's or admin's is for everybody to play as. */
  "player_profile.create": { params: CreatePlayerProfile; result: PlayerProfileView; session: false };
  /** Removes a profile that no session uses. */
  "player_profile.delete": { params: NamePlayerProfile; result: PlayerProfileDeleted; session: false };
  /** Shows a profile. */
  "player_profile.get": { params: NamePlayerProfile; result: PlayerProfileView; session: false };
  /** Lists the caller's profiles and those of the house, by id; an admin sees all. */
  "player_profile.list": { params: Paging; result: PlayerProfilesListed; session: false };
  /** Changes a profile; fields that are not given stay as they are. */
  "player_profile.update": { params: UpdatePlayerProfile; result: PlayerProfileView; session: false };
  /** Adds a preset; what it does not say is taken from the built-in prompts. */
  "preset.create": { params: CreatePreset; result: PresetView; session: false };
  /** Removes a preset that no draft or session uses. */
  "preset.delete": { params: NamePreset; result: PresetDeleted; session: false };
  /** Shows a preset with all modules and texts. */
  "preset.get": { params: NamePreset; result: PresetView; session: false };
  /** Lists presets without their texts, by id or `order`. `query` finds words of names and ids. */
  "preset.list": { params: Listing; result: PresetsListed; session: false };
  /** Changes a preset; `agents` is replaced whole. */
  "preset.update": { params: UpdatePreset; result: PresetView; session: false };
  /** Adds the author's own text to a module of a role's prompt. */
  "preset_entry.create": { params: CreatePresetEntry; result: PresetEntryView; session: false };
  /** Removes one of the author's own texts. */
  "preset_entry.delete": { params: NamePresetEntry; result: PresetEntryDeleted; session: false };
  /** Changes an entry; of a built-in one only its order and whether it is enabled. */
  "preset_entry.update": { params: UpdatePresetEntry; result: PresetEntryView; session: false };
  /** Shows exactly what a role would be sent now, for a resource, a draft or the session in the envelope. */
  "preset_preview.runtime": { params: PreviewRuntime; result: PresetPromptPreview; session: false };
  /** Shows a role's prompt as a preset writes it, with placeholders for the context. */
  "preset_preview.template": { params: PreviewTemplate; result: PresetPromptPreview; session: false };
  /** Lists how people stand to each other, and why. Players are told how others stand to them, and nothing of those */
  "relation.list": { params: ListRelations; result: RelationsListed; session: true };
  /** Lists who stands how to whom, in a world or in what a play sees of it. */
  "relationship.list": { params: InWorld; result: ChangesListed; session: false };
  /** Lists the scenes on the line of a session, the newest first. */
  "scene.list": { params: ListScenes; result: ScenesListed; session: true };
  /** Shows the schedule of a character in a story, on wish with where it was and is in one of its plays. */
  "schedule.get": { params: ShowSchedule; result: ScheduleView; session: false };
  /** Says where a character of a story is at which phase of the day. */
  "schedule.update": { params: UpdateSchedule; result: ScheduleView; session: false };
  /** Adds a schema; defaults must fit their types and enums. */
  "schema.create": { params: CreateSchema; result: SchemaView; session: false };
  /** Removes a schema that nothing uses. */
  "schema.delete": { params: NameSchema; result: SchemaDeleted; session: false };
  /** Shows a schema; to players without what its fields stand for and say of the world. */
  "schema.get": { params: NameSchema; result: SchemaView; session: false };
  /** Lists schemas, by id or `order`. `query` finds words of names, ids, tags and fields. */
  "schema.list": { params: Listing; result: SchemasListed; session: false };
  /** Changes a schema; fields that are not given stay as they are. */
  "schema.update": { params: UpdateSchema; result: SchemaView; session: false };
  /** Finds what has, for each word of the query, a word that begins with it; the best first. */
  "search.find": { params: Find; result: SearchFound; session: false };
  /** Tells how the server that answers is, and how much work waits, runs or was buried on all of them. */
  "server.status": { params: NoParams; result: ServerStatus; session: false };
  /** Returns to the state after an earlier turn, exactly; the line that is left stays as a branch. */
  "session.backtrack": { params: Backtrack; result: SessionView; session: true };
  /** Shows the tree: every finished turn with its parent, or an outline of it, and where sessions stand. */
  "session.branches": { params: ListBranches; result: SessionBranches; session: true };
  /** Stops the turn in flight; its words are kept, and can be played again, or with `keep` what was told is the turn. */
  "session.cancel_turn": { params: CancelTurn; result: TurnCancelled; session: true };
  /** Removes a session; its turns go too, unless another session was forked from them. */
  "session.delete": { params: NoParams; result: SessionDeleted; session: true };
  /** Ends the scene of a free play; the world moves on, and the next scene begins. */
  "session.end_scene": { params: NoParams; result: SceneEnded; session: true };
  /** Tells what the next prompts would be made of, what would be left out and why; no text is shown. */
  "session.explain_context": { params: ExplainContext; result: ContextExplained; session: true };
  /** Tells what happened in a turn and why; players are told its steps and what followed it, authors all of it. */
  "session.explain_turn": { params: ExplainTurn; result: TurnTraceView; session: true };
  /** Writes a play down as Markdown, a web page, plain text, a book or a chat; the file waits to be downloaded. */
  "session.export_prepare": { params: ExportSession; result: SessionExportPrepared; session: true };
  /** Finds what was said in a play by its words, newest first. */
  "session.find": { params: FindLines; result: LinesFound; session: true };
  /** Begins a scene of the past in a free play; the present waits until it ends. */
  "session.flashback": { params: BeginFlashback; result: FlashbackBegun; session: true };
  /** Moves a session on to the story's graph as it is now; refused when its scene is no longer there. */
  "session.follow_story": { params: ShowSession; result: SessionView; session: true };
  /** Makes a new session of the caller's that goes on from a turn of this one; both share what came before. */
  "session.fork": { params: Fork; result: SessionForked; session: true };
  /** Shows a session with its snapshot and its transcript, or the end of it. */
  "session.get": { params: ShowSession; result: SessionView; session: true };
  /** Shows which models and prompts a session uses, and its token budget if it has one. */
  "session.get_config": { params: NoParams; result: SessionConfig; session: true };
  /** Shows the snapshot at the session's head. */
  "session.get_runtime_snapshot": { params: NoParams; result: RuntimeSnapshot; session: true };
  /** Shows the variables of world, player and characters. */
  "session.get_variables": { params: ShowVariables; result: SessionVariables; session: true };
  /** Lists the caller's sessions and those they were invited to, in short; an admin sees all. */
  "session.list": { params: ListSessions; result: SessionsListed; session: false };
  /** Tells what happened so far in a play, or since a turn, in sentences of the play itself. */
  "session.recap": { params: RecapSession; result: Recap; session: true };
  /** Plays a turn's words once more, as a sibling of that turn; the old one stays as a branch. */
  "session.regenerate": { params: Regenerate; result: TurnAccepted; session: true };
  /** Says something else in place of a turn's words, as a sibling of that turn; the old one stays as a branch. */
  "session.replay": { params: Replay; result: TurnAccepted; session: true };
  /** Plays the words of the last failed or cancelled turn again, with the understudy if that is asked for. */
  "session.retry_turn": { params: RetryTurn; result: TurnAccepted; session: true };
  /** Rolls dice and writes the roll into the transcript; going back takes it back, and the same dice fall again. */
  "session.roll": { params: RollDice; result: DiceRolled; session: true };
  /** Plays one turn with the player's words; the answer is a stream of events. */
  "session.run_turn": { params: RunTurn; result: TurnAccepted; session: true };
  /** Tells what is said and felt in the scene of a play, why, and what is prepared for the places that it leads to. */
  "session.scene_lore": { params: ShowSceneLore; result: SceneLoreShown; session: true };
  /** Lets the player be someone else from here on: name and description change, variables stay. */
  "session.set_player_profile": { params: SetPlayerProfile; result: SessionView; session: true };
  /** Suggests what the player might say or do next; nothing of it is kept. */
  "session.suggest_replies": { params: SuggestReplies; result: SuggestedReplies; session: true };
  /** Goes on from any completed turn of the tree. */
  "session.switch_branch": { params: SwitchBranch; result: SessionView; session: true };
  /** Renames a session. */
  "session.update": { params: RenameSession; result: SessionView; session: true };
  /** Chooses other models or prompts for the turns to come, or limits the tokens; a budget of 0 lifts the limit. */
  "session.update_config": { params: UpdateConfig; result: SessionConfig; session: true };
  /** Describes the player anew by hand; the session is no longer bound to a profile, and the player has no name. */
  "session.update_player_description": { params: UpdatePlayerDescription; result: PlayerDescriptionUpdated; session: true };
  /** Changes variables by hand; all operations must be allowed by the schemas, or none is applied. */
  "session.update_variables": { params: UpdateVariables; result: SessionVariables; session: true };
  /** Brings a guest into the play by hand. */
  "session_character.create": { params: CreateSessionCharacter; result: SessionCharacterView; session: true };
  /** Removes a guest with its variables and memories; turns before this one still know it. */
  "session_character.delete": { params: NameSessionCharacter; result: SessionCharacterDeleted; session: true };
  /** Lets a guest enter the scene. */
  "session_character.enter_scene": { params: NameSessionCharacter; result: SessionCharacterView; session: true };
  /** Shows a guest. */
  "session_character.get": { params: NameSessionCharacter; result: SessionCharacterView; session: true };
  /** Lets a guest leave the scene. */
  "session_character.leave_scene": { params: NameSessionCharacter; result: SessionCharacterView; session: true };
  /** Lists all guests of a play. */
  "session_character.list": { params: Paging; result: SessionCharactersListed; session: true };
  /** Rewrites a guest. */
  "session_character.update": { params: UpdateSessionCharacter; result: SessionCharacterView; session: true };
  /** Adds a line to the transcript; the roles see it from the next turn on. */
  "session_message.create": { params: CreateMessage; result: MessageView; session: true };
  /** Strikes a line out; the roles no longer see it. Going back before this change brings it back. */
  "session_message.delete": { params: NameMessage; result: MessageDeleted; session: true };
  /** Shows one line of the transcript; one that was corrected by hand with the words it had before. */
  "session_message.get": { params: NameMessage; result: MessageView; session: true };
  /** Lists the transcript of the session's own line, or of another one, whole or in parts. */
  "session_message.list": { params: ListMessages; result: MessagesListed; session: true };
  /** Rewrites a line; the roles see the new words wherever they still see that line. */
  "session_message.update": { params: UpdateMessage; result: MessageView; session: true };
  /** Shows one turn: what was said, what it answered, its other tellings, and what it cost. */
  "session_turn.get": { params: GetTurn; result: SessionTurn; session: true };
  /** Lists the turns that were bookmarked or named, oldest first. */
  "session_turn.list": { params: ListTurns; result: TurnsListed; session: true };
  /** Tells what turns changed, and on whose word; thoughts only to whoever may see them. */
  "session_turn.notes": { params: ListTurnNotes; result: TurnNotesListed; session: true };
  /** Finds the other tellings of some turns, each with the newest end of the lines that go through it. */
  "session_turn.siblings": { params: FindSiblings; result: SiblingsFound; session: true };
  /** Names or bookmarks a turn; this is written beside the story, and going back does not undo it. */
  "session_turn.update": { params: UpdateTurn; result: SessionTurn; session: true };
  /** Shows what was agreed upon for a play or a world, and the three questions. */
  "session_zero.get": { params: AskSessionZero; result: SessionZeroView; session: false };
  /** Sets what was agreed upon: for a play from this turn on, or for a world and the plays that begin in it. */
  "session_zero.update": { params: AnswerSessionZero; result: SessionZeroView; session: false };
  /** Shows the sheet of the player, or of somebody in the play. */
  "sheet.get": { params: NameSheet; result: SheetView; session: true };
  /** Writes stats on a sheet by hand; going back takes that back like any other change. */
  "sheet.update": { params: UpdateSheet; result: SheetView; session: true };
  /** Adds a copy of a story under an id of its own; cast and lore are shared with the first one. */
  "story.copy": { params: CopyStory; result: StoryView | InkStoryView; session: false };
  /** Adds a story that its author wrote by hand. */
  "story.create": { params: CreateStory; result: StoryGenerated; session: false };
  /** Publishes a story written in Ink; errors in its source refuse it, each with its line. */
  "story.create_ink": { params: CreateInk; result: InkStoryPublished; session: false };
  /** Removes a story that no session plays. */
  "story.delete": { params: NameStory; result: StoryDeleted; session: false };
  /** Plans and builds a whole story in one go; a failure leaves nothing behind. */
  "story.generate": { params: GenerateStory; result: StoryGenerated; session: false };
  /** Writes a plan for a story resource; it is shown, not kept. */
  "story.generate_plan": { params: GeneratePlan; result: StoryPlanned; session: false };
  /** Shows a story: its graph, or of an Ink story its source and files. */
  "story.get": { params: NameStory; result: StoryView | InkStoryView; session: false };
  /** Lists stories without their graphs, by id or `order`. `query` finds words of titles and introductions. */
  "story.list": { params: Listing; result: StoriesListed; session: false };
  /** Starts a new play of a story, or free play in a world; an Ink story is told up to its first stop. */
  "story.start_session": { params: StartSession; result: SessionStarted; session: false };
  /** Shows what a player may know of a story before it begins: introduction, cast by name, how long it is. */
  "story.summary": { params: NameStory; result: StoryTitlePage; session: false };
  /** Renames a story, or changes its pinned variables or what it says about time. */
  "story.update": { params: UpdateStory; result: StoryView; session: false };
  /** Replaces a story's graph. Sessions that are under way keep the graph they started with. */
  "story.update_graph": { params: UpdateStoryGraph; result: StoryView; session: false };
  /** Publishes another version of an Ink story; plays go on where their place still exists unchanged. */
  "story.update_ink": { params: UpdateInk; result: InkStoryPublished; session: false };
  /** Builds the next section of a draft. */
  "story_draft.continue": { params: ContinueDraft; result: StoryDraftView; session: false };
  /** Removes a draft; schemas that were made for it go too, unless it became a story. */
  "story_draft.delete": { params: NameDraft; result: StoryDraftDeleted; session: false };
  /** Makes a story of a draft that has all its sections; asked again, it answers the same story. */
  "story_draft.finalize": { params: NameDraft; result: StoryGenerated; session: false };
  /** Shows a draft with its graph so far, and what lint finds in it. */
  "story_draft.get": { params: NameDraft; result: StoryDraftView; session: false };
  /** Lists drafts without their graphs, by id or `order`. `query` finds words of names and introductions. */
  "story_draft.list": { params: Listing; result: StoryDraftsListed; session: false };
  /** Starts a draft: plans the story if it has no plan, and builds the first section. */
  "story_draft.start": { params: StartDraft; result: StoryDraftView; session: false };
  /** Replaces the graph of a draft that is not a story yet; the next section is built upon it. */
  "story_draft.update_graph": { params: UpdateDraftGraph; result: StoryDraftView; session: false };
  /** Adds what a story is made from; the server names it. */
  "story_resources.create": { params: CreateStoryResources; result: StoryResourcesCreated; session: false };
  /** Removes a story resource that no story or draft uses. */
  "story_resources.delete": { params: NameStoryResources; result: StoryResourcesDeleted; session: false };
  /** Shows a story resource. */
  "story_resources.get": { params: NameStoryResources; result: StoryResourcesView; session: false };
  /** Lists story resources, by id or `order`. `query` finds words of names and concepts. */
  "story_resources.list": { params: Listing; result: StoryResourcesListed; session: false };
  /** Changes a story resource; fields that are not given stay, an empty plan or seed is cleared. */
  "story_resources.update": { params: UpdateStoryResources; result: StoryResourcesUpdated; session: false };
  /** Tells how far a play has come in its story template, what is due, and what was against it. */
  "story_template.check": { params: NoParams; result: TemplateChecked; session: true };
  /** Takes a story template out of a world; plays that follow it go on without. */
  "story_template.delete": { params: NameTemplate; result: TemplateDeleted; session: false };
  /** Lets a play follow a template of its world from now on, or none; it is a turn, so going back undoes it. */
  "story_template.follow": { params: FollowTemplate; result: TemplateChecked; session: true };
  /** Lists the story templates of a world, each with what the world lacks for it. */
  "story_template.list": { params: ListTemplates; result: TemplatesListed; session: false };
  /** Writes a story template into a world, new or in the place of the one with its id. */
  "story_template.update": { params: UpdateTemplate; result: TemplateView; session: false };
  /** Lists the plot threads of a world, or of a play as they stand at its head, with its arc and tension. */
  "thread.list": { params: ListThreads; result: ThreadsListed; session: false };
  /** Writes a plot thread into a world, or moves it in a play by hand. */
  "thread.update": { params: UpdateThread; result: ThreadView; session: false };
  /** Lists what began or happened in a world, or in what a play sees of it, by its moment of story time. */
  "timeline.list": { params: AskTimeline; result: TimelineListed; session: false };
  /** Makes a token of a role; its secret is in this answer and nowhere else. */
  "token.create": { params: CreateToken; result: TokenCreated; session: false };
  /** Lists all tokens, the revoked ones too, oldest first. */
  "token.list": { params: Paging; result: TokensListed; session: false };
  /** Revokes a token; servers that run refuse it within seconds. */
  "token.revoke": { params: NameToken; result: TokenView; session: false };
  /** Lists model calls with their tokens and times, oldest first, and adds them up. */
  "usage.list": { params: ListUsage; result: UsageListed; session: false };
  /** Adds model calls up by day, model, role, session or story: the newest days, or else what cost most, first. */
  "usage.summary": { params: SumUpUsage; result: UsageSummary; session: false };
  /** Ends work that waits or runs, on whichever server; a turn keeps its words, and can be tried again. */
  "work.cancel": { params: NameWork; result: WorkItem; session: false };
  /** Lists the work of all servers that is not done, oldest first; what was done is not listed. */
  "work.list": { params: ListWork; result: WorkListed; session: false };
  /** Lets time pass in a world, or in a play, and its agendas move; a dry run shows odds and outcome. */
  "world.advance": { params: AdvanceWorld; result: WorldAdvancedView; session: false };
  /** Adds a world. */
  "world.create": { params: CreateWorld; result: WorldView; session: false };
  /** Removes a world of which nothing was proposed yet; what really happened is not deleted. */
  "world.delete": { params: NameWorld; result: WorldDeleted; session: false };
  /** Writes what is true in a world, or in what a play sees of it, as JSON, GraphML, Cypher or Markdown. */
  "world.export": { params: ExportWorld; result: WorldExported; session: false };
  /** Shows a world. */
  "world.get": { params: NameWorld; result: WorldView; session: false };
  /** Lists worlds by id. */
  "world.list": { params: Paging; result: WorldsListed; session: false };
  /** Changes a world; what is not given stays as it is. */
  "world.update": { params: UpdateWorld; result: WorldView; session: false };
}

/** Methods that answer with the turn stream. */
export type TurnMethod =
  | "conversation.say"
  | "session.regenerate"
  | "session.replay"
  | "session.retry_turn"
  | "session.run_turn";

/** Methods that take `stream: true`. */
export type ProgressMethod =
  | "building.say"
  | "data_package.import_commit"
  | "story.generate"
  | "story_draft.continue"
  | "story_draft.start";
