/** Who is looking: the role decides which rooms are shown. The server decides anew at every call. */

import { ask, call, type Answer, type Problem } from "../protocol/rpc";
import type { Caller } from "../protocol/protocol.gen";

export type Role = Caller["role"];

const RANK: Record<Role, number> = { player: 0, author: 1, admin: 2 };

let who = $state.raw<Caller | null>(null);
let trouble = $state.raw<Problem | null>(null);

export const caller = {
  /** Null until the server has answered. */
  get now(): Caller | null {
    return who;
  },
  get trouble(): Problem | null {
    return trouble;
  },
  may(role: Role): boolean {
    return who !== null && RANK[who.role] >= RANK[role];
  },
  has(feature: string): boolean {
    return who?.features.includes(feature) ?? false;
  },
};

/** Asks who we are; `trouble` tells what stands in the way. */
export async function meet(): Promise<void> {
  const answered = await call("access.whoami", {});
  who = answered.ok ? answered.value : null;
  trouble = answered.ok ? null : answered.problem;
}

/** Changes a token for a cookie that only this server's pages can use; scripts never see it again. */
export async function enter(token: string): Promise<Answer<null>> {
  const answered = await ask("/enter", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token }) });
  if (!answered.ok) return answered;
  await meet();
  return { ok: true, value: null };
}

/** Gives the cookie back. */
export async function leave(): Promise<Answer<null>> {
  const answered = await ask("/leave", { method: "POST" });
  if (!answered.ok) return answered;
  await meet();
  return { ok: true, value: null };
}

/** The door again: a token that worked may be revoked while the app is open. */
export function askAgain(problem: Problem): void {
  if (problem.kind !== "door") return;
  who = null;
  trouble = problem;
}
