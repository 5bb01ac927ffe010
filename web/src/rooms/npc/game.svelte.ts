/** A very small game: it answers state requests over `/ws`, shows what is said, and confirms what was played. */

import type { Json } from "../../protocol/protocol.gen";
import { w } from "../../words/words.svelte";

export const AGENT = "npc";
const MOST_FRAMES = 300;
const MOST_LINES = 200;

export const START = {
  spec: {
    name: "Mara",
    role: "a smith in Oakford",
    personality: "Gruff but fair.",
    goals: ["finish the sword for the captain"],
    knowledge: ["The old bridge fell into the river last spring.", "The captain drinks at the Red Boar every evening."],
    relationships: [{ id: "captain", name: "The captain", description: "pays late, but pays" }],
    mood: "tired",
  },
  world: { location: "the smithy", time: "late afternoon", inventory: ["a dagger", "a bag of nails"] },
  player: { id: "player", name: "Stranger" },
};

/** What may be asked first: in the language of the character above, who answers to them without a model, too. */
export const QUESTIONS = ["Who are you?", "What happened to the old bridge?", "Where is the captain?"] as const;

export interface Line {
  id: number;
  /** Who or what: the player's words, or the tag that the NPC used. */
  tag: string;
  about: string;
  text: string;
  cut: boolean;
}

export interface Shown {
  id: number;
  arrow: "→" | "←";
  text: string;
}

interface Frame {
  type: string;
  [name: string]: Json | undefined;
}

interface Tag {
  id: Json | undefined;
  tag: string;
  attrs: Json;
  line: Line;
  status: "partial" | "played";
}

export class Game {
  lines = $state<Line[]>([]);
  frames = $state.raw<readonly Shown[]>([]);
  status = $state(w().npc.connecting);
  problem = $state("");
  source = $state(JSON.stringify(START, null, 2));
  showChunks = $state(false);

  #socket: WebSocket | null = null;
  #turn: { id: Json | undefined; tags: Tag[] } | null = null;
  #connection: string | null = null;
  #retryMs = 500;
  #state: Record<string, Json> = START as unknown as Record<string, Json>;
  #last = 0;
  #over = false;

  open(): () => void {
    this.#connect();
    return () => {
      this.#over = true;
      this.#socket?.close();
    };
  }

  say(text: string): void {
    this.#add({ tag: "mine", about: "", text });
    const player = (this.#current().player ?? {}) as Record<string, Json>;
    this.#send({ type: "interaction_event", agent_id: AGENT, event_type: "player_speech", text, source: { ...player, kind: "player" } });
  }

  stop(): void {
    this.#send({ type: "cancel_turn", agent_id: AGENT });
  }

  #connect(): void {
    if (this.#over) return;
    this.status = w().npc.connecting;
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`);
    this.#socket = socket;
    socket.onopen = () => this.#send({ type: "hello", protocol: 1, client: "npc-page", ...(this.#connection ? { resume: this.#connection } : {}) });
    socket.onmessage = (event) => this.#receive(JSON.parse(String(event.data)) as Frame);
    socket.onclose = () => {
      if (this.#over) return;
      this.status = w().npc.lost;
      setTimeout(() => this.#connect(), this.#retryMs);
      this.#retryMs = Math.min(this.#retryMs * 2, 10_000);
    };
  }

  #send(frame: Frame): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify(frame));
    this.#show("→", frame);
  }

  #receive(frame: Frame): void {
    if (frame.type !== "agent_tag_chunk" || this.showChunks) this.#show("←", frame);
    switch (frame.type) {
      case "welcome":
        this.#connection = String(frame.connection_id);
        // What was being said when the connection was lost is over: it is confirmed as far as it was heard.
        this.#confirm("interrupted");
        this.#retryMs = 500;
        this.status = w().npc.connected;
        return;
      case "get_agent_state":
        this.#send({ type: "agent_state_snapshot", agent_id: frame.agent_id ?? AGENT, request_id: frame.request_id, ...this.#current() });
        return;
      case "agent_turn_started":
        this.#turn = { id: frame.turn_id, tags: [] };
        this.status = w().npc.speaking(String(frame.model));
        return;
      case "agent_tag_open": {
        const attrs = (frame.attrs ?? {}) as Record<string, Json>;
        const tag = String(frame.tag);
        const line = this.#add({ tag, about: tag === "say" ? "" : `${tag} ${Object.values(attrs).join(" ")}`.trim(), text: "" });
        this.#turn?.tags.push({ id: frame.tag_id, tag, attrs, line, status: "partial" });
        return;
      }
      case "agent_tag_chunk": {
        const open = this.#tag(frame);
        if (open) open.line.text += String(frame.text);
        return;
      }
      case "agent_tag_close": {
        const open = this.#tag(frame);
        if (open) open.status = "played";
        return;
      }
      case "agent_turn_interrupted":
        if (this.#turn?.id === frame.turn_id) {
          const open = this.#turn?.tags.find((tag) => tag.id === frame.open_tag_id);
          if (open) open.line.cut = true;
          this.#confirm("interrupted");
        }
        this.status = w().npc.interrupted(String(frame.reason));
        return;
      case "agent_turn_finished":
        this.#confirm("completed");
        this.status = w().npc.listening;
        return;
      case "error":
        this.status = String(frame.message);
    }
  }

  #tag(frame: Frame): Tag | undefined {
    return this.#turn?.tags.find((tag) => tag.id === frame.tag_id);
  }

  #confirm(status: string): void {
    if (this.#turn === null) return;
    const tags = this.#turn.tags.map(({ tag, attrs, line, status: played }) => ({ tag, attrs, text: line.text, status: played }));
    this.#send({ type: "agent_turn_result", agent_id: AGENT, turn_id: this.#turn.id, status, tags });
    this.#turn = null;
  }

  #current(): Record<string, Json> {
    try {
      const found: unknown = JSON.parse(this.source);
      if (typeof found !== "object" || found === null || Array.isArray(found)) throw new Error(w().npc.noObject);
      this.#state = found as Record<string, Json>;
      this.problem = "";
    } catch (problem) {
      this.problem = w().npc.noJson(problem instanceof Error ? problem.message : "");
    }
    return this.#state;
  }

  #add(line: Omit<Line, "id" | "cut">): Line {
    this.lines.push({ id: ++this.#last, cut: false, ...line });
    if (this.lines.length > MOST_LINES) this.lines.shift();
    // The proxy in the list, so that what is added later is shown.
    return this.lines[this.lines.length - 1] as Line;
  }

  #show(arrow: Shown["arrow"], frame: Frame): void {
    this.frames = [...this.frames, { id: ++this.#last, arrow, text: JSON.stringify(frame) }].slice(-MOST_FRAMES);
  }
}
