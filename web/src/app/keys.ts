/**
 * The keyboard: one table of what keys do, pure.
 *
 * `where` says when a key counts. `anywhere`: also while somebody writes; such a key needs Ctrl, Alt or a named key.
 * `text`: only while the focus is in no field, so that single letters never swallow what is typed. `box`: only in the
 * composer. Rooms bind functions to these ids (`keyboard.svelte.ts`); readers may choose other keys in /app/me.
 */

export type Where = "anywhere" | "text" | "box";

export interface KeySpec {
  keys: readonly string[];
  where: Where;
  room: "app" | "stage";
}

export const KEYS = {
  palette: { keys: ["Ctrl+K"], where: "anywhere", room: "app" },
  cheat_sheet: { keys: ["?", "Ctrl+/"], where: "text", room: "app" },
  shelf: { keys: ["Alt+Shift+S"], where: "anywhere", room: "app" },
  search: { keys: ["/"], where: "text", room: "app" },

  send: { keys: ["Enter"], where: "box", room: "stage" },
  new_line: { keys: ["Shift+Enter"], where: "box", room: "stage" },
  stop: { keys: ["Escape"], where: "anywhere", room: "stage" },
  previous_telling: { keys: ["ArrowLeft"], where: "text", room: "stage" },
  next_telling: { keys: ["ArrowRight"], where: "text", room: "stage" },
  say_differently: { keys: ["ArrowUp"], where: "box", room: "stage" },
  tell_again: { keys: ["Ctrl+Enter"], where: "anywhere", room: "stage" },
  go_on: { keys: ["Alt+Enter"], where: "anywhere", room: "stage" },
  next_turn: { keys: ["J", "PageDown"], where: "text", room: "stage" },
  previous_turn: { keys: ["K", "PageUp"], where: "text", room: "stage" },
  edit_turn: { keys: ["E"], where: "text", room: "stage" },
  bookmark_turn: { keys: ["B"], where: "text", room: "stage" },
  why_turn: { keys: ["Y"], where: "text", room: "stage" },
  tree: { keys: ["T"], where: "text", room: "stage" },
  cast: { keys: ["C"], where: "text", room: "stage" },
  state: { keys: ["S"], where: "text", room: "stage" },
  notes: { keys: ["N"], where: "text", room: "stage" },
  world: { keys: ["W"], where: "text", room: "stage" },
  canon: { keys: ["L"], where: "text", room: "stage" },
  fold_left: { keys: ["["], where: "text", room: "stage" },
  fold_right: { keys: ["]"], where: "text", room: "stage" },
  immersive: { keys: ["F"], where: "text", room: "stage" },
  go_to_turn: { keys: ["G"], where: "text", room: "stage" },
  suggest: { keys: ["Alt+R"], where: "anywhere", room: "stage" },
  find_in_play: { keys: ["Ctrl+Shift+F"], where: "anywhere", room: "stage" },
  back_one_turn: { keys: ["Ctrl+Alt+Z"], where: "anywhere", room: "stage" },
} as const satisfies Record<string, KeySpec>;

export type KeyId = keyof typeof KEYS;
export type KeyChoices = Partial<Record<KeyId, readonly string[]>>;

export const KEY_IDS = Object.keys(KEYS) as KeyId[];

type Pressed = Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey">;

/** "Ctrl+Shift+F", "?", "ArrowLeft", or nothing for a lone modifier. Command counts as Ctrl. */
export function comboOf(pressed: Pressed): string | null {
  const { key } = pressed;
  if (["Control", "Alt", "Shift", "Meta", "AltGraph", "Dead", "Process", "Unidentified"].includes(key)) return null;
  const letter = key.length === 1;
  const name = key === " " ? "Space" : letter ? key.toUpperCase() : key;
  // Shift is part of what a sign is ("?" needs it on most keyboards), but tells apart letters and named keys.
  const withShift = pressed.shiftKey && (!letter || /\p{L}/u.test(key));
  const parts = [pressed.ctrlKey || pressed.metaKey ? "Ctrl" : "", pressed.altKey ? "Alt" : "", withShift ? "Shift" : ""];
  return [...parts.filter(Boolean), name].join("+");
}

/** Whether somebody may be writing here. */
export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  const field = target.closest("input, textarea, select, [contenteditable]");
  if (field === null) return false;
  return !(field instanceof HTMLInputElement && ["checkbox", "radio", "button", "range", "color", "submit"].includes(field.type));
}

/** The keys of an id: the reader's, else ours. */
export function keysOf(id: KeyId, chosen: KeyChoices): readonly string[] {
  return chosen[id] ?? KEYS[id].keys;
}

/** Which id a press means, among those that are bound now. */
export function idFor(combo: string, inField: boolean, bound: ReadonlySet<KeyId>, chosen: KeyChoices): KeyId | null {
  for (const id of KEY_IDS) {
    if (!bound.has(id) || !keysOf(id, chosen).includes(combo)) continue;
    if (KEYS[id].where === "anywhere" || (KEYS[id].where === "text" && !inField)) return id;
  }
  return null;
}

/** Pairs of ids that would answer to the same press in the same place. */
export function clashes(chosen: KeyChoices): [KeyId, KeyId, string][] {
  const found: [KeyId, KeyId, string][] = [];
  KEY_IDS.forEach((one, index) => {
    for (const other of KEY_IDS.slice(index + 1)) {
      const places = [KEYS[one].where, KEYS[other].where];
      if (places.includes("box") && places.includes("text")) continue;
      for (const key of keysOf(one, chosen)) if (keysOf(other, chosen).includes(key)) found.push([one, other, key]);
    }
  });
  return found;
}

/** Why a key cannot be chosen for an id: it would swallow letters, or belongs to the browser. */
export function unfit(id: KeyId, combo: string): "letter" | "browser" | null {
  if (["Ctrl+R", "Ctrl+W", "Ctrl+T", "Ctrl+N", "Ctrl+S", "Ctrl+P", "Tab", "Shift+Tab", "Backspace"].includes(combo)) return "browser";
  const lone = !/^(Ctrl|Alt)\+/.test(combo) && /^(Shift\+)?(.|Space)$/u.test(combo);
  return KEYS[id].where !== "text" && lone ? "letter" : null;
}

/** A key as it is printed: "Ctrl" "Shift" "F", arrows as arrows. */
export function printed(combo: string): string[] {
  const SIGNS: Record<string, string> = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", PageDown: "PgDn", PageUp: "PgUp" };
  if (combo === "+") return ["+"];
  return combo.split(/\+(?=.)/).map((part) => SIGNS[part] ?? part);
}
