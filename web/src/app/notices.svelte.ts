/** Notices: one stack, newest last. A notice that offers something stays until it is used or sent away. */

import { alertNow, announce } from "./announcer.svelte";

export type NoticeTone = "plain" | "good" | "waits" | "broken";

export interface Notice {
  id: number;
  tone: NoticeTone;
  text: string;
  action?: { label: string; run: () => void };
}

const STAYS_MS = 7_000;
const MOST = 4;

let stack = $state.raw<readonly Notice[]>([]);
let lastId = 0;

export const notices = {
  get all(): readonly Notice[] {
    return stack;
  },
};

/** Shows a notice; answers how to take it away. The same text again takes the place of the old one. */
export function notify(text: string, more: { tone?: NoticeTone; action?: Notice["action"]; stays?: boolean } = {}): () => void {
  const { tone = "plain", action, stays = false } = more;
  const notice: Notice = { id: ++lastId, tone, text, ...(action ? { action } : {}) };
  stack = [...stack.filter((other) => other.text !== text), notice].slice(-MOST);
  (tone === "broken" ? alertNow : announce)(text);
  if (!stays && tone !== "broken") setTimeout(() => dismiss(notice.id), action ? STAYS_MS * 2 : STAYS_MS);
  return () => dismiss(notice.id);
}

export function dismiss(id: number): void {
  stack = stack.filter((notice) => notice.id !== id);
}
