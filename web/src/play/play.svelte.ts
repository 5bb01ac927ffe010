/** A play on the stage: everything the page shows, and everything that can be done to it.
 *
 *  The thinking is in pure modules (`frames`, `transcript`, `tree`, `composer`); this one holds the state, speaks to the
 *  server and puts what comes back in its place. Frames are collected and applied once per animation frame. Finished
 *  turns are never changed, so that only the turn that is being told is drawn again. */

import { keep, kept } from "../app/keeping";
import { seat } from "../app/seat.svelte";
import { followFeed, followTurn, playTurn, worldlyPatience, type FeedEvent, type Happening, type TurnRequest } from "../protocol/feed";
import type { CommonVariable, InkChoiceView, InkTurn, JournalEntry, Json, Presence, Seat, SessionView, StateUpdate, SuggestedReply, TurnNotes, VariableType, WorldState } from "../protocol/protocol.gen";
import { call, CODES, type Problem } from "../protocol/rpc";
import { boxOf, inManner, isAftermath, isUnderWay, mannerOf, next, rest, type Composer, type Manner, type Signal, type Waits } from "./composer";
import { withNotes } from "./notes";
import { beginTurn, changes, reduceAll, type Change, type LiveTurn, type Note, type Told } from "./frames";
import { AT_FIRST, before, EMPTY_WINDOW, refreshed, turnOfLive, turnsOf, withLines, withNewer, withOlder, withTurn, type Line, type Turn, type Window } from "./transcript";
import { buildTree, EMPTY_TREE, isBelow, newestLeaf, siblings, turnOf, type Tree, type TreeTurn } from "./tree";

/** Lines that are read at once; a turn of a scene has about four. */
export const LINES_AT_FIRST = 240;
const LINES_MORE = 160;
const LINES_AFTER_A_TURN = 40;

/** Turns and runs of the tree that are shown: those nearest to the head. */
const MOST_OF_A_TREE = 400;
/** How many animation frames text may be late at an even pace: 400 ms. */
const FRAMES_LATE = 24;
const PREVIOUSLY_AFTER_MS = 12 * 3_600_000;
/** Notes are asked for together, as many as come into view in a moment. */
const NOTES_AT_ONCE = 24;
const NOTES_WAIT_MS = 60;

/** A story as the stage shows it. */
export interface StoryOnStage {
  story_id: string;
  display_name: string;
  introduction: string;
  common_variables: readonly CommonVariable[];
}

/** Why the words could not be played, and whether it was the player's own wish. */
export interface Failure {
  kind: "stopped" | "failed";
  problem: Problem | null;
}

/** A line that was struck out in this visit, and where going back would bring it from. */
export interface Struck {
  line: Line;
  /** The head before it was struck out: going there brings it back. */
  from: string;
  turnId: string;
}

export interface PlayHooks {
  /** The player's words were taken: place them, and hold still. */
  onPlaced?: () => void;
  /** Frames were applied. */
  onTold?: (before: LiveTurn | null, now: LiveTurn) => void;
  onFinished?: (turn: Turn) => void;
  onMoved?: (turnIndex: number, undo: () => void) => void;
  onLost?: (seconds: number) => void;
  onProblem?: (problem: Problem) => void;
}

export class Play {
  readonly sessionId: string;
  hooks: PlayHooks = {};
  /** The reader's choice: words appear at an even pace instead of as they arrive. */
  evenPace = false;

  status = $state<"opening" | "open" | "gone" | "trouble">("opening");
  trouble = $state.raw<Problem | null>(null);
  session = $state.raw<SessionView | null>(null);
  window = $state.raw<Window>(EMPTY_WINDOW);
  live = $state.raw<LiveTurn | null>(null);
  composer = $state.raw<Composer>(rest({ kind: "free" }));
  choices = $state.raw<readonly InkChoiceView[]>([]);
  /** What the story says to help, under the box. */
  guidance = $state("");
  /** Why words did not leave, under the box. */
  refusal = $state.raw<Problem | null>(null);
  failure = $state.raw<Failure | null>(null);
  tree = $state.raw<Tree>(EMPTY_TREE);
  /** Another line that is being read; the head stays where it is. */
  looking = $state.raw<{ turnId: string; window: Window } | null>(null);
  suggestions = $state.raw<readonly SuggestedReply[]>([]);
  suggesting = $state(false);
  struck = $state.raw<readonly Struck[]>([]);
  /** The others who have this play open. */
  others = $state.raw<readonly Seat[]>([]);
  /** What variables may be; read when they are looked at. */
  types = $state.raw<readonly VariableType[]>([]);
  /** What changed in the last turn, for the state panel. */
  lastChanges = $state.raw<readonly Note[]>([]);
  /** When the line broke, and whether the page still tries by itself. */
  lostSince = $state<number | null>(null);
  gaveUp = $state(false);
  busy = $state(false);
  draft = $state("");
  manner = $state<Manner>("say");
  isOpening = $derived(this.status === "opening");
  turnIndex = $derived(this.live?.turnIndex ?? this.session?.turn_index ?? 0);
  box = $derived(boxOf(this.composer));
  shown = $derived(this.looking?.window ?? this.window);
  /** Whether the story has a clock, and with it a journal. */
  keepsTime = $derived((this.session?.snapshot.time ?? null) !== null);
  journal = $state.raw<readonly JournalEntry[]>([]);
  /** Counts how often the canon of this play was judged while we watched. */
  canonVersion = $state(0);
  isInk = $derived(this.session?.ink !== undefined && this.session.ink !== null);

  /** The story's title page: name, introduction, the variables that its author pinned. */
  story = $state.raw<StoryOnStage | null>(null);
  variables = $derived<readonly CommonVariable[]>(this.story?.common_variables ?? []);
  /** "Previously", after a long pause. */
  recap = $state<string | null>(null);
  /** The place of the turn that is being told; it keeps it when it is finished, so that nothing is drawn anew. */
  slot = $state("slot:0");
  language = $derived<string | undefined>(undefined);

  #patience = worldlyPatience();
  #closed = new AbortController();
  #turn: AbortController | null = null;
  #waiting: Told[] = [];
  #frame = 0;
  #sent: { words: string; manner: Manner } | null = null;
  #aside: Window | null = null;
  #visited: string[] = [];
  #keyed: { asked: string; key: string } | null = null;
  #loading = false;
  /** Turns that were told while we watched, with what no transcript keeps: notes, thoughts, scenes. */
  #witnessed = new Map<string, Turn>();
  /** What the server kept of turns that we did not watch. */
  #noted = new Map<string, TurnNotes>();
  #wanted = new Set<string>();
  #listening: AbortController | null = null;
  #slots = new Map<string, string>();
  #slotCount = 0;
  #scenes = $state.raw<ReadonlyMap<string, string>>(new Map());

  constructor(sessionId: string) {
    this.sessionId = sessionId;
    this.draft = kept(this.#draftName) ?? "";
  }

  get #draftName(): string {
    return `fabula.draft.${this.sessionId}`;
  }

  get state(): WorldState | null {
    return this.live?.state ?? this.session?.snapshot.world_state ?? null;
  }

  /** Somebody's name by id. */
  nameOf(id: string): string {
    const found = this.session?.cast?.find((one) => one.id === id);
    return found?.name ?? id;
  }

  sceneTitle(nodeId: string): string {
    return this.#scenes.get(nodeId) ?? "";
  }

  slotOf(turnId: string): string {
    return this.#slots.get(turnId) ?? turnId;
  }

  #newSlot(): void {
    this.#slotCount += 1;
    this.slot = `slot:${this.#slotCount}`;
  }

  // ---- opening and leaving

  /** Opens the play; answers how to leave it. */
  open(): () => void {
    void this.reload().then(() => {
      void this.#readStory();
      void this.readRecap();
      void this.#listen();
    });
    return () => {
      this.#closed.abort();
      this.#turn?.abort();
      cancelAnimationFrame(this.#frame);
    };
  }

  /** Reads the play anew, as it stands on the server. */
  async reload(lines = LINES_AT_FIRST): Promise<void> {
    const answered = await call("session.get", { history: lines }, this.#named());
    if (this.#closed.signal.aborted) return;
    if (!answered.ok) {
      this.trouble = answered.problem;
      if (answered.problem.code === CODES.notFound) this.status = "gone";
      else if (this.status === "opening") this.status = "trouble";
      this.hooks.onProblem?.(answered.problem);
      return;
    }
    this.trouble = null;
    this.#take(answered.value, lines);
    this.status = "open";
    void this.readTree();
    const { active_turn_id: active } = answered.value;
    if (active && this.#turn === null) void this.#followOther();
  }

  async #readStory(): Promise<void> {
    const story_id = this.session?.story_id;
    if (story_id === undefined) return;
    const { signal } = this.#closed;
    const answered = await call("story.summary", { story_id }, { signal });
    if (!answered.ok) return;
    const { display_name, introduction } = answered.value;
    this.story = { story_id, display_name, introduction, common_variables: [] };
    // The names of variables stand in the list only.
    const listed = await call("story.list", { query: display_name, limit: 20 }, { signal });
    const found = listed.ok ? listed.value.stories.find((story) => story.story_id === story_id) : undefined;
    if (found !== undefined) this.story = { ...this.story, common_variables: found.common_variables };
  }

  /** Turns of lines, with what was seen of them live. */
  #turnsOf(lines: readonly Line[]): Turn[] {
    return turnsOf(lines).map((turn) => {
      const seen = this.#witnessed.get(turn.turnId);
      if (seen !== undefined) return withLines(seen, turn.lines);
      const noted = this.#noted.get(turn.turnId);
      return noted === undefined ? turn : withNotes(turn, noted);
    });
  }

  /** A turn comes into view: what the server noted of it is read, with that of others that do. */
  wantNotes(turnId: string): void {
    if (turnId === "" || this.#witnessed.has(turnId) || this.#noted.has(turnId)) return;
    if (this.#wanted.size === 0) setTimeout(() => void this.#readNotes(), NOTES_WAIT_MS);
    this.#wanted.add(turnId);
  }

  async #readNotes(): Promise<void> {
    while (this.#wanted.size > 0 && !this.#closed.signal.aborted) {
      const turn_ids = [...this.#wanted].slice(0, NOTES_AT_ONCE);
      const answered = await call("session_turn.notes", { turn_ids }, this.#named());
      const found = answered.ok ? answered.value.turns : [];
      for (const id of turn_ids) {
        this.#wanted.delete(id);
        if (answered.ok) this.#noted.set(id, found.find((one) => one.turn_id === id) ?? { turn_id: id });
      }
      if (answered.ok && Object.keys(answered.value.scenes).length > 0) this.#scenes = new Map([...this.#scenes, ...Object.entries(answered.value.scenes)]);
      if (found.length > 0) this.#show(this.#noteIn(this.shown, found));
    }
  }

  #noteIn(window: Window, found: readonly TurnNotes[]): Window {
    const notes = new Map(found.map((one) => [one.turn_id, one]));
    const turns = window.turns.map((turn) => {
      const own = notes.get(turn.turnId);
      return own === undefined ? turn : withNotes(turn, own);
    });
    return { ...window, turns };
  }

  #take(session: SessionView, lines: number): void {
    const { history, ...rest_ } = session;
    if (session.scene && session.scene.title !== "" && this.#scenes.get(session.scene.node_id) !== session.scene.title)
      this.#scenes = new Map([...this.#scenes, [session.scene.node_id, session.scene.title]]);
    this.session = { ...rest_, history: [] };
    const turns = this.#turnsOf(history as readonly Line[]);
    const hasOlder = history.length >= lines;
    const newest = this.window.turns.length === 0 ? turns.slice(-AT_FIRST) : turns;
    this.window = refreshed(this.window, newest, hasOlder || newest.length < turns.length);
    this.#rest(waitsOf(session));
    this.choices = inkOf(session)?.choices ?? [];
    this.#visit(session.head_turn_id);
  }

  /** The box follows what the story waits for, unless something is under way. */
  #rest(waits: Waits): void {
    const { state } = this.composer;
    if (isUnderWay(state) || state === "reconnecting" || isAftermath(state) || state === "looking" || state === "others")
      this.composer = { ...this.composer, waits };
    else this.composer = rest(waits);
  }

  #visit(turnId: string): void {
    this.#visited = [turnId, ...this.#visited.filter((one) => one !== turnId)].slice(0, 100);
  }

  #named(): { session_id: string; signal: AbortSignal } {
    return { session_id: this.sessionId, signal: this.#closed.signal };
  }

  #signal(signal: Signal, waits?: Waits): void {
    this.composer = waits === undefined ? next(this.composer, signal) : next(this.composer, signal, waits);
  }

  // ---- the player's turn

  writeDraft(words: string): void {
    this.draft = words;
    keep(this.#draftName, words === "" ? null : words);
    if (words !== "") this.suggestions = [];
    this.refusal = null;
  }

  /** Plays the words of the box. */
  async say(words = this.draft, manner = this.manner): Promise<void> {
    const asked = this.composer.waits.kind === "free" ? inManner(words, manner) : words.trim();
    const mayBeSilent = this.composer.waits.kind === "text";
    if (asked === "" && !mayBeSilent) return;
    this.#sent = { words, manner };
    await this.#run("session.run_turn", { player_input: asked }, asked);
  }

  async choose(choice: InkChoiceView): Promise<void> {
    this.#sent = null;
    await this.#run("session.run_turn", { choice: choice.index }, choice.text);
  }

  /** Plays the words of the last failed or stopped turn again. */
  async again(standIn: "understudy" | null = null): Promise<void> {
    const said = this.live?.said ?? this.#sent?.words ?? "";
    await this.#run("session.retry_turn", standIn === null ? {} : { with: standIn }, said);
  }

  /** Tells a turn once more, beside the telling that is there; without a turn, the last one. */
  async tellAgain(turnId: string | null = null, hint = ""): Promise<void> {
    const turn = turnId === null ? this.lastPlayed() : this.window.turns.find((one) => one.turnId === turnId);
    if (turn === undefined) return;
    const isLast = turn === this.lastPlayed();
    const params = { ...(isLast ? {} : { turn_id: turn.turnId }), ...(hint === "" ? {} : { hint }) };
    await this.#run("session.regenerate", params, turn.said?.text ?? "", turn.turnId);
  }

  /** Other words at the place of a turn, as another line. */
  async sayDifferently(turnId: string, words: string): Promise<void> {
    await this.#run("session.replay", { turn_id: turnId, player_input: words }, words, turnId);
  }

  lastPlayed(): Turn | undefined {
    return [...this.window.turns].reverse().find((turn) => turn.said !== null);
  }

  /** After a stop or a failure: the words are the player's again. */
  dismiss(): void {
    if (this.#aside !== null) this.window = this.#aside;
    this.#aside = null;
    this.live = null;
    this.failure = null;
    this.#signal("dismiss");
  }

  async #run(method: TurnRequest["method"], params: Record<string, unknown>, said: string, replaces?: string): Promise<void> {
    if (next(this.composer, "send") === this.composer) return;
    this.#signal("send");
    this.failure = null;
    this.refusal = null;
    this.guidance = "";
    this.suggestions = [];
    const talkingTo = this.composer.waits.kind === "agent" ? this.composer.waits.character : "";
    this.#newSlot();
    this.live = beginTurn(said, this.session?.snapshot.world_state ?? null, talkingTo);
    this.#waiting = [];
    if (replaces !== undefined) {
      this.#aside ??= this.window;
      this.window = before(this.window, replaces);
    }
    this.hooks.onPlaced?.();
    const request: TurnRequest = { sessionId: this.sessionId, method, params: { ...params, key: this.#keyFor(method, params) } };
    const turn = (this.#turn = new AbortController());
    for await (const happening of playTurn(request, this.#patience, turn.signal)) {
      if (this.#turn !== turn) return;
      this.#happen(happening);
    }
    if (this.#turn === turn) this.#turn = null;
  }

  /** The same words sent again are the same turn, until one of them was told. */
  #keyFor(method: string, params: Record<string, unknown>): string {
    const asked = JSON.stringify([method, params]);
    if (this.#keyed?.asked !== asked) this.#keyed = { asked, key: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` };
    return this.#keyed.key;
  }

  /** Follows a turn that runs already: after a reload, or somebody else's. */
  async #followOther(): Promise<void> {
    const turn = (this.#turn = new AbortController());
    this.#newSlot();
    this.live = beginTurn("", this.session?.snapshot.world_state ?? null, inkOf(this.session)?.input?.character ?? "");
    this.composer = { ...this.composer, state: "telling" };
    this.hooks.onPlaced?.();
    for await (const happening of followTurn(this.sessionId, "", this.#patience, turn.signal)) {
      if (this.#turn !== turn) return;
      this.#happen(happening);
    }
    if (this.#turn === turn) this.#turn = null;
  }

  #happen(happening: Happening): void {
    if (happening.kind === "told") {
      this.#waiting.push(happening.told);
      const last = happening.told.frame.type === "completed" || happening.told.frame.type === "failed";
      if (last) this.#apply(true);
      else if (this.#frame === 0) this.#schedule();
      return;
    }
    this.#apply(true);
    switch (happening.kind) {
      case "refused":
        return this.#refused(happening.problem);
      case "door":
      case "gone":
        this.trouble = happening.problem;
        if (happening.kind === "gone") this.status = "gone";
        this.hooks.onProblem?.(happening.problem);
        return this.#refused(happening.problem);
      case "lost":
        this.lostSince = Date.now();
        this.gaveUp = false;
        if (!happening.heard) this.#giveWordsBack();
        return this.#signal("lose");
      case "found":
        this.lostSince = null;
        this.gaveUp = false;
        return this.#signal("find");
      case "given_up":
        this.gaveUp = true;
        return;
      case "over":
        return void this.#overElsewhere();
    }
  }

  /** One write per animation frame; a hidden page has none, and is written now and then. */
  #schedule(): void {
    if (document.visibilityState === "hidden") {
      this.#frame = -1;
      setTimeout(() => this.#apply(), 250);
    } else this.#frame = requestAnimationFrame(() => this.#apply());
  }

  /** Applies what came since the last frame; at an even pace a part of it, so that nothing is later than 400 ms. */
  #apply(all = false): void {
    this.#frame = 0;
    if (this.live === null || this.#waiting.length === 0) return;
    const earlier = this.live;
    const evenly = this.evenPace && !all && document.visibilityState !== "hidden";
    const count = evenly ? Math.ceil(this.#waiting.length / FRAMES_LATE) : this.#waiting.length;
    const now = reduceAll(earlier, this.#waiting.splice(0, count));
    if (this.#waiting.length > 0) this.#schedule();
    if (now === earlier) return;
    this.live = now;
    if (earlier.status === "sending" && now.status !== "sending") this.#heard();
    if (now.outcome !== null && earlier.outcome === null && leadsOn(now.outcome.outcome)) this.#signal("bridge");
    this.hooks.onTold?.(earlier, now);
    if (now.status === "completed") this.#finish(now);
    else if (now.status === "failed") this.#fail(now);
  }

  /** The words are safe: only now the box is emptied. */
  #heard(): void {
    this.#signal("begun");
    if (this.#sent !== null && this.draft === this.#sent.words) this.writeDraft("");
  }

  #finish(live: LiveTurn): void {
    const turn = turnOfLive(live);
    this.#slots.set(live.turnId, this.slot);
    this.#witnessed.set(live.turnId, turn);
    this.#aside = null;
    this.#keyed = null;
    this.window = withTurn(this.window, turn);
    this.live = null;
    this.lostSince = null;
    this.lastChanges = live.notes.filter((note) => note.kind !== "helped" && note.kind !== "flashback" && note.kind !== "wish");
    const waits = live.ended ? ({ kind: "ended" } as const) : waitsOfInput(live.input, this.isInk);
    this.choices = live.choices;
    this.guidance = live.outcome?.guidance ?? "";
    if (live.outcome?.outcome === "INVALID_INPUT" && this.#sent !== null && this.draft === "") this.writeDraft(this.#sent.words);
    this.#sent = null;
    this.#signal("over", waits);
    this.hooks.onFinished?.(turn);
    void this.#settle();
  }

  /** Brings in what only the server knows of the turn: ids of lines, the scene, the cast, its place in the tree. */
  async #settle(): Promise<void> {
    await this.reload(LINES_AFTER_A_TURN);
  }

  #fail(live: LiveTurn): void {
    const error = live.error;
    const problem: Problem | null =
      error === null ? null : { kind: "refused", code: error.code, sentence: error.message, ...(error.data === undefined ? {} : { data: error.data }) };
    this.failure = { kind: "failed", problem };
    this.lostSince = null;
    this.#keyed = null;
    this.#giveWordsBack();
    this.#signal("fail");
  }

  #refused(problem: Problem): void {
    this.refusal = problem;
    this.live = null;
    this.lostSince = null;
    this.#keyed = null;
    if (this.#aside !== null) this.window = this.#aside;
    this.#aside = null;
    this.#giveWordsBack();
    this.#signal("refuse");
    // Somebody else may have moved the play, or plays: look again.
    if (problem.code === CODES.conflict) void this.reload(LINES_AFTER_A_TURN);
  }

  #giveWordsBack(): void {
    if (this.#sent !== null && this.draft === "") this.writeDraft(this.#sent.words);
    if (this.#sent !== null) this.manner = this.#sent.manner;
  }

  async #overElsewhere(): Promise<void> {
    this.live = null;
    this.#turn = null;
    this.lostSince = null;
    this.#aside = null;
    this.composer = { ...this.composer, state: "telling" };
    const before = this.session?.turn_index ?? 0;
    await this.reload();
    this.#signal("over");
    this.composer = rest(this.composer.waits);
    if ((this.session?.turn_index ?? 0) === before) this.#giveWordsBack();
  }

  tryNow(): void {
    this.gaveUp = false;
    this.#patience.tryNow();
  }

  // ---- stopping

  /** Stops the turn: the page freezes at once, and the words come back. */
  async stop(): Promise<void> {
    if (!isUnderWay(this.composer.state) && this.composer.state !== "reconnecting") return;
    const turn = this.#turn;
    this.#apply(true);
    this.#turn = null;
    turn?.abort();
    this.failure = { kind: "stopped", problem: null };
    this.lostSince = null;
    this.#giveWordsBack();
    this.#signal("stop");
    const answered = await call("session.cancel_turn", {}, this.#named());
    this.#keyed = null;
    // It was told to its end before it could be stopped: then it is part of the story.
    if (!answered.ok && answered.problem.code === CODES.conflict) {
      this.failure = null;
      this.live = null;
      this.#aside = null;
      this.#signal("dismiss");
      await this.reload();
    } else if (!answered.ok) this.hooks.onProblem?.(answered.problem);
  }

  /** Ends the turn here, and keeps what was told of it; the stream then ends as that of any other turn. */
  async keepThis(): Promise<void> {
    const answered = await call("session.cancel_turn", { keep: true }, this.#named());
    if (!answered.ok && answered.problem.code !== CODES.conflict) this.hooks.onProblem?.(answered.problem);
  }

  // ---- the tree

  async readTree(): Promise<void> {
    const answered = await call("session.branches", { collapse: true, limit: MOST_OF_A_TREE }, this.#named());
    if (answered.ok) this.tree = buildTree(answered.value.turns, answered.value.runs);
  }

  tellingsOf(turnId: string): readonly TreeTurn[] {
    return siblings(this.tree, turnId);
  }

  /** Changes to the telling before or after that of a turn, and to where its line was left. */
  async toTelling(turnId: string, step: -1 | 1): Promise<boolean> {
    const all = this.tellingsOf(turnId);
    const at = all.findIndex((one) => one.turn_id === turnId);
    const to = all[at + step];
    if (at < 0 || to === undefined) return false;
    const leaf = newestLeaf(this.tree, to.turn_id, this.#visited);
    return await this.goTo(leaf, { quietly: true });
  }

  /** Moves the head. */
  async goTo(turnId: string, { quietly = false } = {}): Promise<boolean> {
    if (this.busy || isUnderWay(this.composer.state)) return false;
    this.busy = true;
    const from = this.session?.head_turn_id ?? "";
    const answered = await call("session.switch_branch", { turn_id: turnId, history: LINES_AT_FIRST }, this.#named());
    this.busy = false;
    if (!answered.ok) {
      this.hooks.onProblem?.(answered.problem);
      return false;
    }
    this.#arrive(answered.value);
    if (!quietly) this.hooks.onMoved?.(answered.value.turn_index, () => void this.goTo(from, { quietly: true }));
    return true;
  }

  async goBack(turns = 1): Promise<void> {
    if (this.busy || isUnderWay(this.composer.state)) return;
    this.busy = true;
    const from = this.session?.head_turn_id ?? "";
    const answered = await call("session.backtrack", { turns, history: LINES_AT_FIRST }, this.#named());
    this.busy = false;
    if (!answered.ok) return this.hooks.onProblem?.(answered.problem);
    this.#arrive(answered.value);
    this.hooks.onMoved?.(answered.value.turn_index, () => void this.goTo(from, { quietly: true }));
  }

  /** The play stands elsewhere: what is not on this line leaves the page. */
  #arrive(session: SessionView): void {
    this.looking = null;
    this.live = null;
    this.failure = null;
    this.#aside = null;
    this.suggestions = [];
    this.struck = [];
    this.window = EMPTY_WINDOW;
    this.composer = rest(waitsOf(session));
    this.#take(session, LINES_AT_FIRST);
    void this.readTree();
  }

  /** Reads another line without moving there. */
  async look(turnId: string): Promise<void> {
    if (turnId === this.session?.head_turn_id) return this.lookBack();
    const turns = await this.readLine(turnId);
    if (turns === null) return;
    this.looking = { turnId, window: { turns: turns.slice(-AT_FIRST), hasOlder: turns.length > AT_FIRST, hasNewer: false } };
    this.#signal("look");
  }

  lookBack(): void {
    this.looking = null;
    this.#signal("return");
  }

  /** The newest turns of a line, to be read beside another. */
  async readLine(turnId: string): Promise<readonly Turn[] | null> {
    const listed = await call("session_message.list", { turn_id: turnId, order: "newest", limit: LINES_AT_FIRST }, this.#named());
    if (listed.ok) return this.#turnsOf(inOrder(listed.value.messages));
    this.hooks.onProblem?.(listed.problem);
    return null;
  }

  /** Whether a turn that the tree lists is on the current line. */
  isOnLine(turnId: string): boolean {
    return isBelow(this.tree, this.session?.head_turn_id ?? "", turnId);
  }

  async bookmark(turnId: string, name: string | null, bookmarked = true): Promise<void> {
    const answered = await call("session_turn.update", { turn_id: turnId, name: name ?? "", bookmarked }, this.#named());
    if (!answered.ok) this.hooks.onProblem?.(answered.problem);
    await this.readTree();
  }

  /** A new play that goes on from a turn; answers its id. */
  async fork(turnId: string, name: string | null = null): Promise<string | null> {
    const answered = await call("session.fork", { turn_id: turnId, ...(name === null ? {} : { display_name: name }), history: "none" }, this.#named());
    if (answered.ok) return answered.value.session_id;
    this.hooks.onProblem?.(answered.problem);
    return null;
  }

  bookmarked(turnId: string): TreeTurn | undefined {
    const turn = turnOf(this.tree, turnId);
    return turn?.bookmarked === true ? turn : undefined;
  }

  // ---- lines

  async correct(line: Line, text: string): Promise<boolean> {
    const { message_id, kind, speaker_id, speaker_name } = line;
    const from = this.session?.head_turn_id ?? "";
    const answered = await call(
      "session_message.update",
      { message_id, kind: kind as "narration", speaker_id, speaker_name, text },
      this.#named(),
    );
    if (!answered.ok) {
      this.hooks.onProblem?.(answered.problem);
      return false;
    }
    this.undoable = { what: "corrected", from, at: Date.now() };
    await this.#readTurn(line.turn_id);
    return true;
  }

  /** What the last change by hand can be taken back to. */
  undoable = $state.raw<{ what: "corrected" | "variable"; from: string; at: number } | null>(null);

  async undo(): Promise<void> {
    const last = this.undoable;
    this.undoable = null;
    if (last !== null) await this.goTo(last.from, { quietly: true });
  }

  async strike(line: Line): Promise<void> {
    const from = this.session?.head_turn_id ?? "";
    const answered = await call("session_message.delete", { message_id: line.message_id }, this.#named());
    if (!answered.ok) return this.hooks.onProblem?.(answered.problem);
    this.struck = [...this.struck, { line, from, turnId: line.turn_id }];
    await this.#readTurn(line.turn_id, line.message_id);
  }

  /** Brings a struck line back: the last one by going back before it, an earlier one by writing it again. */
  async bringBack(struck: Struck): Promise<void> {
    const left = this.struck.filter((one) => one !== struck);
    if (this.struck.at(-1) === struck) {
      const moved = await this.goTo(struck.from, { quietly: true });
      if (moved) this.struck = left;
      return;
    }
    const { kind, speaker_id, speaker_name, text } = struck.line;
    const answered = await call("session_message.create", { kind: kind as "narration", speaker_id, speaker_name, text }, this.#named());
    if (!answered.ok) return this.hooks.onProblem?.(answered.problem);
    this.struck = left;
    await this.reload();
  }

  /** Reads the end of the page anew after a change by hand. */
  async #readTurn(turnId: string, without?: string): Promise<void> {
    const at = this.window.turns.find((turn) => turn.turnId === turnId);
    if (at !== undefined && without !== undefined) {
      const [turn] = turnsOf(at.lines.filter((line) => line.message_id !== without));
      if (turn === undefined) this.window = { ...this.window, turns: this.window.turns.filter((one) => one !== at) };
      else this.window = withTurn(this.window, { ...turn, notes: at.notes });
    }
    const first = at?.lines[0];
    const lines =
      first === undefined || without === first.message_id
        ? null
        : await call("session_message.list", { around: first.message_id, limit: 60 }, this.#named());
    if (lines?.ok) {
      const fresh = turnsOf(inOrder(lines.value.messages)).find((turn) => turn.turnId === turnId);
      const known = this.window.turns.find((turn) => turn.turnId === turnId);
      if (fresh !== undefined) this.window = withTurn(this.window, { ...fresh, notes: known?.notes ?? [], strayed: known?.strayed ?? false });
    }
    await this.reload(LINES_AFTER_A_TURN);
  }

  // ---- the window

  async loadOlder(): Promise<void> {
    const first = this.shown.turns[0]?.lines[0];
    if (this.#loading || first === undefined || !this.shown.hasOlder) return;
    this.#loading = true;
    const along = this.looking === null ? {} : { turn_id: this.looking.turnId };
    const listed = await call("session_message.list", { before: first.message_id, limit: LINES_MORE, ...along }, this.#named());
    this.#loading = false;
    if (!listed.ok) return;
    const lines = inOrder(listed.value.messages);
    this.#show(withOlder(this.shown, this.#turnsOf(lines), listed.value.more_before ?? lines.length >= LINES_MORE));
  }

  async loadNewer(): Promise<void> {
    const last = this.shown.turns.at(-1)?.lines.at(-1);
    if (this.#loading || last === undefined || !this.shown.hasNewer) return;
    this.#loading = true;
    const along = this.looking === null ? {} : { turn_id: this.looking.turnId };
    const listed = await call("session_message.list", { after: last.message_id, limit: LINES_MORE, ...along }, this.#named());
    this.#loading = false;
    if (!listed.ok) return;
    const lines = inOrder(listed.value.messages);
    this.#show(withNewer(this.shown, this.#turnsOf(lines), listed.value.more_after ?? lines.length >= LINES_MORE));
  }

  /** Shows the place of a line that is not on the page. */
  async loadAround(messageId: string): Promise<string | null> {
    const listed = await call("session_message.list", { around: messageId, limit: LINES_AT_FIRST }, this.#named());
    if (!listed.ok) {
      this.hooks.onProblem?.(listed.problem);
      return null;
    }
    const lines = inOrder(listed.value.messages);
    this.#show({ turns: this.#turnsOf(lines), hasOlder: listed.value.more_before ?? true, hasNewer: listed.value.more_after ?? true });
    return lines.find((line) => line.message_id === messageId)?.turn_id ?? null;
  }

  /** The first turns of the play. */
  async loadBeginning(): Promise<void> {
    const listed = await call("session_message.list", { limit: LINES_MORE }, this.#named());
    if (!listed.ok) return this.hooks.onProblem?.(listed.problem);
    const lines = inOrder(listed.value.messages);
    this.#show({ turns: this.#turnsOf(lines), hasOlder: false, hasNewer: listed.value.more_after ?? lines.length >= LINES_MORE });
  }

  async loadEnd(): Promise<void> {
    if (!this.window.hasNewer) return;
    this.window = EMPTY_WINDOW;
    await this.reload();
  }

  #show(window: Window): void {
    if (this.looking === null) this.window = window;
    else this.looking = { ...this.looking, window };
  }

  // ---- reading comforts

  /** "Previously": asked for, or after a pause of half a day. */
  async readRecap(asked = false): Promise<void> {
    const session = this.session;
    if (session === null || (!asked && Date.now() - session.updated_at_ms < PREVIOUSLY_AFTER_MS)) return;
    const answered = await call("session.recap", {}, this.#named());
    if (answered.ok) this.recap = answered.value.text === "" ? null : answered.value.text;
    else if (asked) this.hooks.onProblem?.(answered.problem);
  }

  // ---- the box's helpers

  async suggest(): Promise<void> {
    if (this.suggesting) return;
    this.suggesting = true;
    const answered = await call("session.suggest_replies", { limit: 3 }, { ...this.#named(), patience: 90_000 });
    this.suggesting = false;
    if (answered.ok) this.suggestions = answered.value.replies;
    else this.hooks.onProblem?.(answered.problem);
  }

  /** Brings the player's last words back to be said differently. */
  recall(): { turnId: string; words: string; manner: Manner } | null {
    const turn = this.lastPlayed();
    return turn?.said ? { turnId: turn.turnId, ...mannerOf(turn.said.text) } : null;
  }

  async become(profileId: string | null): Promise<void> {
    const answered = await call("session.set_player_profile", { player_profile_id: profileId, history: LINES_AFTER_A_TURN }, this.#named());
    if (answered.ok) this.#take(answered.value, LINES_AFTER_A_TURN);
    else this.hooks.onProblem?.(answered.problem);
  }

  async rename(name: string): Promise<boolean> {
    const answered = await call("session.update", { display_name: name, history: LINES_AFTER_A_TURN }, this.#named());
    if (answered.ok) this.#take(answered.value, LINES_AFTER_A_TURN);
    else this.hooks.onProblem?.(answered.problem);
    return answered.ok;
  }

  /** Rolls dice; the roll becomes a line. Answers its sentence. */
  async roll(formula: string, reason: string): Promise<string | null> {
    const answered = await call("session.roll", { formula, reason }, this.#named());
    if (!answered.ok) {
      this.hooks.onProblem?.(answered.problem);
      return null;
    }
    await this.reload(LINES_AFTER_A_TURN);
    return answered.value.sentence;
  }

  async readJournal(): Promise<void> {
    const answered = await call("journal.list", {}, this.#named());
    if (answered.ok) this.journal = answered.value.entries;
  }

  /** Reads what variables may be. */
  async readTypes(): Promise<void> {
    const answered = await call("session.get_variables", { types: true }, this.#named());
    if (answered.ok) this.types = answered.value.types ?? [];
  }

  /** The values that a variable may have, where its schema lists them. */
  valuesOf(change: Pick<Change, "scope" | "owner" | "name">): readonly Json[] | null {
    const found = this.types.find((one) => one.scope === change.scope && one.owner === change.owner && one.key === change.name);
    return found?.enum_values ?? null;
  }

  /** Changes a variable by hand; it becomes a turn that can be undone. */
  async setVariable(change: Change, value: Json): Promise<Problem | null> {
    const from = this.session?.head_turn_id ?? "";
    const before = this.state;
    const answered = await call("session.update_variables", { update: operationFor(change, value) }, this.#named());
    if (!answered.ok) return answered.problem;
    await this.reload(LINES_AFTER_A_TURN);
    this.undoable = { what: "variable", from, at: Date.now() };
    const after = this.state;
    const made = after === null ? [] : changes(before, after);
    this.lastChanges = made.map((one): Note => ({ kind: "changed", at: "", by: "hand", change: one }));
    return null;
  }

  // ---- others

  async #listen(): Promise<void> {
    const listening = (this.#listening = new AbortController());
    const stop = (): void => listening.abort();
    this.#closed.signal.addEventListener("abort", stop);
    const who = { seat: seat.id, ...(seat.name === "" ? {} : { name: seat.name }) };
    for await (const event of followFeed(this.sessionId, this.#patience, listening.signal, who)) this.#hear(event);
    this.#closed.signal.removeEventListener("abort", stop);
  }

  /** We have another name: come in again under it. */
  announceMyself(): void {
    this.#listening?.abort();
    if (!this.#closed.signal.aborted) void this.#listen();
  }

  /** Events are hints: what they are about is read anew, unless this page did it itself. */
  #hear(event: FeedEvent): void {
    const mine = this.#turn !== null || isUnderWay(this.composer.state) || this.busy;
    const { head_turn_id: head } = this.session ?? {};
    switch (event.type) {
      case "snapshot":
        if (mine) return;
        if (event["active_turn_id"]) this.#others(String(event["active_turn_id"]));
        else if (event["head_turn_id"] !== head) void this.#refresh();
        return;
      case "turn_began":
        if (!mine) this.#others(String(event["turn_id"]));
        return;
      case "head_moved":
        if (!mine && event["turn_id"] !== head) void this.#refresh();
        return;
      case "messages_changed":
      case "variables_changed":
      case "config_changed":
        if (!mine) void this.#refresh();
        return;
      case "presence":
        this.others = (event as unknown as Presence).seats.filter((one) => one.seat_id !== event["you"]);
        return;
      case "canon_committed":
        this.canonVersion += 1;
        return;
      case "session_deleted":
        this.status = "gone";
        return;
    }
  }

  /** Somebody else plays: their turn is told here, too. News of a turn that we saw to its end come late. */
  #others(turnId: string): void {
    if (this.#witnessed.has(turnId) || isAftermath(this.composer.state) || this.looking !== null) return;
    void this.#followOther();
  }

  /** Reads the end anew; a head that moved to another line brings that line. */
  async #refresh(): Promise<void> {
    const head = this.session?.head_turn_id;
    const answered = await call("session.get", { history: LINES_AT_FIRST }, this.#named());
    if (!answered.ok || this.#turn !== null) return;
    if (answered.value.head_turn_id === head) return this.#take(answered.value, LINES_AT_FIRST);
    const { looking, struck } = this;
    this.#arrive(answered.value);
    this.looking = looking;
    this.struck = struck;
  }
}

/** What the play waits for. */
export function waitsOf(session: SessionView): Waits {
  const ink = inkOf(session);
  if (session.status === "ended" || ink?.ended === true) return { kind: "ended" };
  return waitsOfInput(ink?.input ?? null, ink !== null);
}

function waitsOfInput(input: InkTurn["input"], isInk: boolean): Waits {
  switch (input?.kind) {
    case "choice":
      return { kind: "choice" };
    case "text":
      return { kind: "text", placeholder: input.placeholder ?? "" };
    case "agent":
      return { kind: "agent", character: input.character ?? "" };
    case "continue":
      return { kind: "continue" };
    default:
      return isInk ? { kind: "ended" } : { kind: "free" };
  }
}

export function inkOf(session: SessionView | null): InkTurn | null {
  return (session?.ink as unknown as InkTurn | null | undefined) ?? null;
}

function leadsOn(outcome: string): boolean {
  return outcome === "BRIDGE_AND_CONTINUE" || outcome === "DIRECT_CONTINUE";
}

/** Lines come newest first where they were asked for backwards. */
function inOrder(lines: readonly Line[]): Line[] {
  const [first, last] = [lines[0], lines.at(-1)];
  const sequence = (line: Line | undefined): number => (line as unknown as { sequence?: number } | undefined)?.sequence ?? 0;
  return sequence(first) > sequence(last) ? [...lines].reverse() : [...lines];
}

function operationFor(change: Change, value: Json): StateUpdate {
  const { name: key, owner: character } = change;
  switch (change.scope) {
    case "world":
      return { ops: [{ type: "SetState", key, value }] };
    case "player":
      return { ops: [{ type: "SetPlayerState", key, value }] };
    case "character":
      return { ops: [{ type: "SetCharacterState", character, key, value }] };
  }
}
