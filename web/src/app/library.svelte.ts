/**
 * The stories and plays that this reader sees, shared by the shelf, the story page and the palette.
 *
 * What was fetched is shown at once and asked for again each time a page opens, so that going back to the shelf never
 * shows an empty page.
 */

import { call, type Problem } from "../protocol/rpc";
import type { SessionSummary, StorySummary } from "../protocol/protocol.gen";
import { askAgain } from "./caller.svelte";

/** A play in short; the last line is told by servers that keep it beside the play. */
export type Play = SessionSummary & { last_line?: string | null };

const MOST = 200;

let stories = $state.raw<readonly StorySummary[] | null>(null);
let plays = $state.raw<readonly Play[] | null>(null);
let problem = $state.raw<Problem | null>(null);

export const library = {
  /** Null until they were fetched once. */
  get stories(): readonly StorySummary[] | null {
    return stories;
  },
  /** Newest first. */
  get plays(): readonly Play[] | null {
    return plays;
  },
  get problem(): Problem | null {
    return problem;
  },
  storyOf(id: string): StorySummary | undefined {
    return stories?.find((story) => story.story_id === id);
  },
  playsOf(story_id: string): Play[] {
    return (plays ?? []).filter((play) => play.story_id === story_id);
  },
};

export async function refreshLibrary(): Promise<void> {
  const [told, played] = await Promise.all([call("story.list", { limit: MOST }), call("session.list", { limit: MOST })]);
  for (const answer of [told, played]) {
    if (!answer.ok) {
      problem = answer.problem;
      askAgain(answer.problem);
      return;
    }
  }
  if (told.ok) stories = told.value.stories;
  if (played.ok) plays = [...played.value.sessions].sort((a, b) => b.updated_at_ms - a.updated_at_ms);
  problem = null;
}
