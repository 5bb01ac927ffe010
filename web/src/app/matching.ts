/** How well a text answers to what somebody typed: by whole words first, then beginnings, then letters in order. Pure. */

/** 0 when it does not; higher is better. */
export function matchOf(text: string, query: string): number {
  const wanted = folded(query);
  if (wanted === "") return 1;
  const words = folded(text);
  if (words === wanted) return 100;
  if (words.startsWith(wanted)) return 90;
  const parts = wanted.split(" ");
  if (parts.every((part) => words.split(/[\s\-–—:·]+/).some((word) => word.startsWith(part)))) return 80;
  if (parts.every((part) => words.includes(part))) return 60;
  return wanted.length > 1 && inOrder(words, wanted) ? 20 : 0;
}

/** The best matches, in order; equal ones keep the order they came in. `least` 60 leaves out letters that are only in order. */
export function best<Item>(items: readonly Item[], query: string, textOf: (item: Item) => string, limit: number, least = 1): Item[] {
  return items
    .map((item, index) => ({ item, index, score: matchOf(textOf(item), query) }))
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, limit)
    .map(({ item }) => item);
}

/** Lower case, without accents and with single spaces: "Élan" answers to "elan". */
export function folded(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase().trim().replace(/\s+/g, " ");
}

function inOrder(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters.replaceAll(" ", "")) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
