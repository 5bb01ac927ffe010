/** What a screen reader is told: one polite and one assertive region for the whole app, one text after the other. */

const GAP_MS = 400;

let polite = $state("");
let assertive = $state("");
const waiting: string[] = [];
let timer: ReturnType<typeof setTimeout> | null = null;

export const announcer = {
  get polite(): string {
    return polite;
  },
  get assertive(): string {
    return assertive;
  },
};

/** Says something when the screen reader has time; texts queue and each is said once. */
export function announce(text: string): void {
  const words = text.trim();
  if (words === "" || waiting.at(-1) === words) return;
  waiting.push(words);
  if (timer === null) next();
}

/** Interrupts: failures, a lost connection. */
export function alertNow(text: string): void {
  assertive = "";
  queueMicrotask(() => (assertive = text.trim()));
}

function next(): void {
  const words = waiting.shift();
  if (words === undefined) {
    timer = null;
    return;
  }
  // The same words twice in a row are a change only if the region differs: a space that nobody hears.
  polite = words === polite ? `${words} ` : words;
  timer = setTimeout(next, GAP_MS);
}
