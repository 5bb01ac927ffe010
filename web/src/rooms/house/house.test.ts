import { describe, expect, it } from "vitest";
import type { Tellers } from "../../app/teller";
import type { ApiTested, ApiView } from "../../protocol/protocol.gen";
import { sentencesOf } from "./status";
import { verdictOf } from "./verdict";

const counts = { characters_total: 8, characters_with_cover: 8, story_resources_total: 2, stories_total: 4, sessions_total: 1 };
const alone: Tellers = { apis: [], used: new Set(), names: [] };
const known = { dashboard: { counts }, tellers: alone, ready: { status: "ready", store: "sqlite" }, caller: { tokens_required: true, version: "1" }, usage: null };
const tones = (given: Partial<Parameters<typeof sentencesOf>[0]>) =>
  Object.fromEntries(sentencesOf({ ...known, ...given }).map(({ id, tone }) => [id, tone]));

describe("the house", () => {
  it("is well with a model, and waits for one without", () => {
    expect(tones({})).toEqual({ store: "good", teller: "waits", shelf: "good", door: "good" });
    expect(tones({ tellers: { ...alone, names: ["qwen"] } })).toMatchObject({ teller: "good" });
  });

  it("says what is broken, and what to do next", () => {
    const api = { api_id: "a", display_name: "Cloud", api_key_problem: "OPENAI_API_KEY is not set." } as ApiView;
    const usage = { calls: 10, failed: 5, memo_hits: 0, prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const said = sentencesOf({ ...known, ready: { status: "not ready", reason: "The disk is full." }, tellers: { ...alone, apis: [api] }, usage });
    const broken = said.filter(({ tone }) => tone === "broken");
    expect(broken.map(({ id }) => id)).toEqual(["store", "key-a", "failed"]);
    for (const sentence of broken) expect(sentence.next).toBeTruthy();
    expect(said[0]?.text).toContain("The disk is full.");
  });

  it("has a next step for everything that waits", () => {
    const said = sentencesOf({ ...known, dashboard: { counts: { ...counts, stories_total: 0 } }, ready: { status: "migrating" } });
    for (const { tone, next } of said) if (tone === "waits") expect(next).toBeTruthy();
    expect(tones({ caller: { tokens_required: false, version: "1" } })).toMatchObject({ door: "plain" });
  });
});

describe("the verdict on a model", () => {
  const tested: ApiTested = {
    type: "api_tested",
    provider: "open_ai",
    base_url: "",
    model: "m",
    ok: true,
    checks: [
      { name: "stream", ok: true, latency_ms: 1, note: "" },
      { name: "json", ok: true, latency_ms: 1, note: "" },
    ],
    first_word_ms: 420.4,
    tokens_per_second: 38,
    slow: false,
    problem: "",
  };

  it("is one line", () => {
    expect(verdictOf(tested)).toBe("First word after 420 ms, 38 tokens a second, streams, keeps to JSON");
    expect(verdictOf({ ...tested, slow: true })).toMatch(/slow: players will wait$/);
  });

  it("is the server's sentence where it failed", () => {
    expect(verdictOf({ ...tested, ok: false, problem: "The key was refused." })).toBe("The key was refused.");
    expect(verdictOf({ ...tested, ok: false, checks: [{ name: "json", ok: false, latency_ms: 1, note: "It wrote prose." }] })).toBe("It wrote prose.");
  });
});
