/**
 * How this reader likes to read ("Aa"): values, their choices, and how they reach the style sheet.
 *
 * Only what differs from the default is kept, as plain words; `boot.js` puts the same words on the root element
 * before the first paint.
 */

export const CHOICES = {
  paper: ["system", "day", "lamp", "night"],
  face: ["book", "clear", "system"],
  size: ["0", "1", "2", "3", "4", "5"],
  measure: ["narrow", "middle", "wide"],
  leading: ["tight", "middle", "loose"],
  justify: ["no", "yes"],
  motion: ["system", "none"],
  margin: ["all", "rolls", "none"],
  rolls: ["folded", "open"],
  thoughts: ["folded", "hidden"],
  pace: ["arriving", "even"],
  scroll: ["still", "follow"],
  announce: ["beats", "end", "nothing"],
  enter: ["system", "sends", "breaks"],
  suggest: ["no", "yes"],
  language: ["system", "en", "de", "zh-CN", "pseudo"],
} as const;

export type Choices = typeof CHOICES;
export type Reading = { [Name in keyof Choices]: Choices[Name][number] };

export const DEFAULTS: Reading = {
  paper: "system",
  face: "book",
  size: "2",
  measure: "middle",
  leading: "middle",
  justify: "no",
  motion: "system",
  margin: "all",
  rolls: "folded",
  thoughts: "folded",
  pace: "arriving",
  scroll: "still",
  announce: "beats",
  enter: "system",
  suggest: "no",
  language: "system",
};

/** What the style sheet reads as `data-…` of the root element; boot.js has the same list. */
export const SHOWN = ["paper", "face", "size", "measure", "leading", "justify", "motion"] as const;

export const KEPT_AS = "fabula.reading";

/** Settings from what a browser kept: anything unknown falls back to its default. */
export function readingFrom(kept: string | null): Reading {
  const found: Record<string, unknown> = parsed(kept);
  const entries = Object.entries(DEFAULTS).map(([name, usual]) => {
    const choices: readonly string[] = CHOICES[name as keyof Choices];
    const value = found[name];
    return [name, typeof value === "string" && choices.includes(value) ? value : usual];
  });
  return Object.fromEntries(entries) as Reading;
}

/** What is worth keeping: the differences from the defaults. */
export function keptFrom(reading: Reading): string {
  const own = Object.entries(reading).filter(([name, value]) => value !== DEFAULTS[name as keyof Reading]);
  return JSON.stringify(Object.fromEntries(own));
}

/** Puts the settings on the root element, as boot.js does at the start. */
export function showReading(root: HTMLElement, reading: Reading): void {
  for (const name of SHOWN) {
    if (reading[name] === DEFAULTS[name]) delete root.dataset[name];
    else root.dataset[name] = reading[name];
  }
}

function parsed(kept: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(kept ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
