/**
 * The stories and plays that this reader sees, shared by the shelf, the story page and the palette.
 *
 * What was fetched is shown at once and asked for again each time a page opens, so that going back to the shelf never
 * shows an empty page. Of plays only the newest are held; older ones come page by page.
 */

import { call, type Problem } from "../protocol/rpc";
import type { SessionSummary, StorySummary } from "../protocol/protocol.gen";
import { askAgain } from "./caller.svelte";

const STORIES = 200;
const PLAYS = 24;

let stories = $state.raw<readonly StorySummary[] | null>(null);
let plays = $state.raw<readonly SessionSummary[] | null>(null);
let cursor = $state<string | null>(null);
let problem = $state.raw<Problem | null>(null);

export const library = {
  /** Null until they were fetched once. */
  get stories(): readonly StorySummary[] | null {
    return stories;
  },
  /** Newest first. */
  get plays(): readonly SessionSummary[] | null {
    return plays;
  },
  /** Whether there are older plays than those held. */
  get hasMore(): boolean {
    return cursor !== null;
  },
  get problem(): Problem | null {
    return problem;
  },
  storyOf(id: string): StorySummary | undefined {
    return stories?.find((story) => story.story_id === id);
  },
};

export async function refreshLibrary(): Promise<void> {
  const [told, played] = await Promise.all([
    call("story.list", { limit: STORIES }),
    call("session.list", { order: "updated", limit: PLAYS }),
  ]);
  if (told.ok && played.ok) {
    stories = told.value.stories;
    plays = played.value.sessions;
    cursor = played.value.next_cursor ?? null;
    problem = null;
    return;
  }
  problem = told.ok ? (played.ok ? null : played.problem) : told.problem;
  if (problem !== null) askAgain(problem);
}

/** Fetches the next older plays. */
export async function morePlays(): Promise<Problem | null> {
  if (cursor === null) return null;
  const played = await call("session.list", { order: "updated", limit: PLAYS, cursor });
  if (!played.ok) return played.problem;
  const known = new Set((plays ?? []).map((play) => play.session_id));
  plays = [...(plays ?? []), ...played.value.sessions.filter((play) => !known.has(play.session_id))];
  cursor = played.value.next_cursor ?? null;
  return null;
}

/** The newest plays of one story. */
export async function playsOf(story_id: string): Promise<readonly SessionSummary[]> {
  const played = await call("session.list", { story_id, order: "updated", limit: PLAYS });
  return played.ok ? played.value.sessions : [];
}
