/** How the house is, in sentences with what to do next. Pure but for the words. */

import type { Tellers } from "../../app/teller";
import type { Caller, Dashboard, UsageListed } from "../../protocol/protocol.gen";
import { list, w } from "../../words/words.svelte";

export type Tone = "good" | "waits" | "broken" | "plain";

export interface StatusLine {
  id: string;
  tone: Tone;
  text: string;
  next?: string;
}

export interface Ready {
  status: string;
  reason?: string;
  store?: string;
}

interface Known {
  dashboard: Pick<Dashboard, "counts">;
  tellers: Tellers;
  ready: Ready;
  caller: Pick<Caller, "tokens_required" | "version"> | null;
  usage: UsageListed["totals"] | null;
}

export function sentencesOf({ dashboard, tellers, ready, caller, usage }: Known): StatusLine[] {
  const words = w().house.says;
  const { stories_total, sessions_total, characters_total } = dashboard.counts;
  const broken = tellers.apis.filter((api) => api.api_key_problem);
  return [
    ready.status === "ready"
      ? { id: "store", tone: "good", text: words.store(ready.store ?? "") }
      : { id: "store", tone: "broken", text: words.notReady(ready.reason ?? ready.status), next: words.notReadyNext },
    tellers.names.length > 0
      ? { id: "teller", tone: "good", text: words.teller(list(tellers.names)) }
      : { id: "teller", tone: "waits", text: words.understudy, next: words.understudyNext },
    ...broken.map((api): StatusLine => ({ id: `key-${api.api_id}`, tone: "broken", text: words.key(api.display_name, api.api_key_problem ?? ""), next: words.keyNext })),
    stories_total > 0
      ? { id: "shelf", tone: "good", text: words.shelf(stories_total, sessions_total, characters_total) }
      : { id: "shelf", tone: "waits", text: words.shelfEmpty, next: words.shelfEmptyNext },
    ...(usage !== null && usage.failed > 0
      ? [{ id: "failed", tone: usage.failed * 10 > usage.calls ? ("broken" as const) : ("waits" as const), text: words.failed(usage.failed, usage.calls), next: words.failedNext }]
      : []),
    caller?.tokens_required
      ? { id: "door", tone: "good", text: words.doorClosed }
      : { id: "door", tone: "plain", text: words.doorOpen, next: words.doorOpenNext },
  ];
}
