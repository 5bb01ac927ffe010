/** What a title page shows beyond the story's words. */

import type { StoryTitlePage } from "../../protocol/protocol.gen";
import { number, w } from "../../words/words.svelte";

/** How long a story is, as far as that is known. */
export function factsOf(page: Pick<StoryTitlePage, "kind" | "scenes" | "endings" | "words">): string[] {
  const words = w().story;
  return [
    page.kind === "ink" ? words.kindInk : words.kindGraph,
    ...(page.scenes ? [words.scenes(page.scenes)] : []),
    ...(page.endings ? [words.endings(page.endings)] : []),
    ...(page.words ? [words.words(number(page.words))] : []),
  ];
}

export function coverOf(character_id: string, side: 96 | 320 | 960): string {
  return `/download/${encodeURIComponent(`character:${character_id}`)}/cover?side=${side}`;
}

/** A seed as it was typed: a whole number, nothing, or something else. */
export function seedFrom(typed: string): number | null | "wrong" {
  const text = typed.trim();
  if (text === "") return null;
  const number = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(number) ? number : "wrong";
}
