/** Turns over a network that may break at any moment: begin one, follow it to its end, lose nothing, say nothing twice.
 *
 *  1. The words are posted with a key, under which the server plays them once.
 *  2. If the stream breaks, it is asked for again after the last frame that came, after half a second, then ever later.
 *  3. If it broke before the first frame, the words are posted again with the same key where the server answers.
 *  4. After two minutes without an answer the page stops trying by itself. */

import type { StreamMessage } from "./protocol.gen";
import { CODES, envelope, problemOf, reach, type Problem } from "./rpc";
import { eventsOf, type ServerEvent, type Told } from "./sse";

export interface TurnRequest {
  sessionId: string;
  method: "session.run_turn" | "session.retry_turn" | "session.regenerate" | "session.replay";
  params: Record<string, unknown>;
}

export type Happening =
  | { kind: "told"; told: Told }
  /** Refused before anything was told: nothing happened. */
  | { kind: "refused"; problem: Problem }
  /** The line broke. `heard` says whether the server is known to have the words. */
  | { kind: "lost"; heard: boolean }
  | { kind: "found" }
  /** The turn is over, and its frames are forgotten: read the play anew. */
  | { kind: "over" }
  | { kind: "gone"; problem: Problem }
  | { kind: "door"; problem: Problem }
  /** Two minutes without an answer. */
  | { kind: "given_up" };

/** Waits as the world does; tests bring their own. */
export interface Patience {
  now(): number;
  /** Resolves after a while, or sooner when the network comes back. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

const GIVE_UP_MS = 120_000;
const PAUSES_MS = [0, 500, 1000, 2000, 4000, 8000, 10_000];

type Opened =
  | { kind: "stream"; body: ReadableStream<Uint8Array> }
  | { kind: "over" }
  | { kind: "unreachable" }
  | { kind: "problem"; problem: Problem };

/** Begins a turn, and tells what happens until it is over or the signal ends it. */
export async function* playTurn(request: TurnRequest, patience: Patience, signal: AbortSignal): AsyncGenerator<Happening, void, void> {
  const body = envelope(request.method, request.params, request.sessionId);
  yield* follow(request.sessionId, patience, signal, () => post(body, signal), "");
}

/** Follows the turn that runs already, from its beginning or after a frame. */
export async function* followTurn(sessionId: string, lastId: string, patience: Patience, signal: AbortSignal): AsyncGenerator<Happening, void, void> {
  yield* follow(sessionId, patience, signal, () => resume(sessionId, lastId, signal), lastId);
}

async function* follow(
  sessionId: string,
  patience: Patience,
  signal: AbortSignal,
  begin: () => Promise<Opened>,
  from: string,
): AsyncGenerator<Happening, void, void> {
  let lastId = from;
  let lost = false;
  let tries = 0;
  let since = patience.now();
  for (;;) {
    const opened = lastId === "" || lastId === from ? await begin() : await resume(sessionId, lastId, signal);
    if (signal.aborted) return;
    if (opened.kind === "over") return yield { kind: "over" };
    if (opened.kind === "problem" && !isPassing(opened.problem)) return yield refusal(opened.problem);
    if (opened.kind === "stream") {
      try {
        for await (const event of eventsOf(opened.body)) {
          if (signal.aborted) return;
          const told = toldIn(event);
          if (told === null) continue;
          if (lost) yield { kind: "found" };
          [lost, tries, since] = [false, 0, patience.now()];
          lastId = told.id;
          yield { kind: "told", told };
          if (told.frame.type === "completed" || told.frame.type === "failed") return;
        }
      } catch {
        // The line broke: asked for again below.
      }
      if (signal.aborted) return;
    }
    if (!lost) yield { kind: "lost", heard: lastId !== "" };
    lost = true;
    if (patience.now() - since > GIVE_UP_MS) {
      yield { kind: "given_up" };
      since = patience.now();
      await patience.pause(Number.POSITIVE_INFINITY, signal);
    } else await patience.pause(jittered(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 0), signal);
    tries += 1;
    if (signal.aborted) return;
  }
}

function jittered(ms: number): number {
  return ms * (0.85 + Math.random() * 0.3);
}

/** A server that stops or is full answers so for a moment. */
function isPassing(problem: Problem): boolean {
  return problem.kind === "garbled" || problem.code === 50301;
}

function refusal(problem: Problem): Happening {
  if (problem.kind === "door") return { kind: "door", problem };
  return problem.code === CODES.notFound ? { kind: "gone", problem } : { kind: "refused", problem };
}

async function post(body: string, signal: AbortSignal): Promise<Opened> {
  return openedBy(await reach("/rpc", { method: "POST", headers: { "content-type": "application/json" }, body, signal, patience: 0 }));
}

async function resume(sessionId: string, lastId: string, signal: AbortSignal): Promise<Opened> {
  const headers: Record<string, string> = lastId === "" ? {} : { "last-event-id": lastId };
  return openedBy(await reach(`/sessions/${encodeURIComponent(sessionId)}/events`, { headers, signal, patience: 0 }));
}

async function openedBy(reached: Awaited<ReturnType<typeof reach>>): Promise<Opened> {
  if (!reached.ok) return { kind: "unreachable" };
  const response = reached.value;
  if (response.status === 204) return { kind: "over" };
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (streams && response.body !== null) return { kind: "stream", body: response.body };
  return { kind: "problem", problem: await problemOf(response) };
}

function toldIn(event: ServerEvent): Told | null {
  if (event.event !== "message" || event.id === "") return null;
  const message = JSON.parse(event.data) as StreamMessage;
  return { id: event.id, sequence: message.sequence, frame: message.frame };
}

/** What a session's feed tells of others: who began and ended turns, moved the head, changed lines, came and went. */
export interface FeedEvent {
  type: string;
  [name: string]: unknown;
}

/** Reads the feed of a session until the signal ends it; a server that has none ends it at once. With a `seat` the others
 *  see us there. */
export async function* followFeed(sessionId: string, patience: Patience, signal: AbortSignal, who: Record<string, string> = {}): AsyncGenerator<FeedEvent, void, void> {
  let lastId = "";
  let tries = 0;
  while (!signal.aborted) {
    const headers: Record<string, string> = lastId === "" ? {} : { "last-event-id": lastId };
    const place = `/sessions/${encodeURIComponent(sessionId)}/feed?${new URLSearchParams(who).toString()}`;
    const opened = await openedBy(await reach(place, { headers, signal, patience: 0 }));
    if (opened.kind === "problem" && !isPassing(opened.problem)) return;
    if (opened.kind === "over") return;
    if (opened.kind === "stream") {
      if (tries > 0) yield { type: "reconnected" };
      try {
        for await (const event of eventsOf(opened.body)) {
          tries = 0;
          if (event.id !== "") lastId = event.id;
          const told = JSON.parse(event.data) as FeedEvent;
          yield { ...told, type: typeof told.type === "string" ? told.type : event.event };
        }
      } catch {
        // The line broke: asked for again below.
      }
    }
    if (signal.aborted) return;
    tries += 1;
    await patience.pause(jittered(PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? 10_000), signal);
  }
}

/** The world's patience: timers, and the browser's word that the network or the reader is back. */
export function worldlyPatience(): Patience & { tryNow(): void } {
  const waiting = new Set<() => void>();
  const wake = (): void => [...waiting].forEach((go) => go());
  const onReturn = (): void => {
    if (document.visibilityState === "visible") wake();
  };
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", onReturn);
  return {
    now: () => performance.now(),
    tryNow: wake,
    pause: (ms, signal) =>
      new Promise((resolve) => {
        const go = (): void => {
          waiting.delete(go);
          clearTimeout(timer);
          signal.removeEventListener("abort", go);
          resolve();
        };
        const timer = Number.isFinite(ms) ? setTimeout(go, ms) : undefined;
        waiting.add(go);
        signal.addEventListener("abort", go);
        if (signal.aborted) go();
      }),
  };
}
