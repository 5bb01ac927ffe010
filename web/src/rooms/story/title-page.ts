/** What a title page shows beyond the story's summary. */

import { caller } from "../../app/caller.svelte";
import { call } from "../../protocol/rpc";

export interface Member {
  id: string;
  name: string;
  /** The address of the portrait, where there is one. */
  src: string | null;
}

/** The cast of a story in the order of its scenes. Stories are read by authors; a player meets the cast on the stage. */
export async function castOf(story_id: string): Promise<Member[]> {
  if (!caller.may("author")) return [];
  const [story, characters] = await Promise.all([call("story.get", { story_id }), call("character.list", { limit: 200 })]);
  if (!story.ok || !characters.ok || "source" in story.value) return [];
  const order = [...new Set(story.value.graph.nodes.flatMap((node) => node.characters ?? []))];
  return order.flatMap((id) => {
    const found = characters.value.characters.find((character) => character.character_id === id);
    return found ? [{ id, name: found.name, src: found.cover_file_name ? coverOf(id, 96) : null }] : [];
  });
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
