import boot from "../boot.js?raw";
import { expect, test } from "vitest";
import { LINES_AT_FIRST } from "../play/play.svelte";
import { takeAhead } from "./ahead";

const there = globalThis as { fabulaAhead?: unknown[] };

function asked(answer: Promise<Response>, at = Date.now()): void {
  there.fabulaAhead = [{ method: "session.get", params: '{"history":240}', session: "s1", at, answer }];
}

test("an answer that was asked for ahead is taken once, by the call that is the same", async () => {
  asked(Promise.resolve(new Response("{}")));
  expect(await takeAhead("session.get", { history: 40 }, "s1")).toBeNull();
  expect(await takeAhead("session.get", { history: 240 }, "s2")).toBeNull();
  expect(await takeAhead("session.get", { history: 240 }, "s1")).toBeInstanceOf(Response);
  expect(await takeAhead("session.get", { history: 240 }, "s1")).toBeNull();
});

test("a refusal, a lost connection and what is old are asked for again", async () => {
  asked(Promise.resolve(new Response("{}", { status: 401 })));
  expect(await takeAhead("session.get", { history: 240 }, "s1")).toBeNull();
  asked(Promise.reject(new TypeError("lost")));
  expect(await takeAhead("session.get", { history: 240 }, "s1")).toBeNull();
  asked(Promise.resolve(new Response("{}")), Date.now() - 60_000);
  expect(await takeAhead("session.get", { history: 240 }, "s1")).toBeNull();
});

test("what is asked for before the app is loaded is what the stage then asks for", () => {
  expect(boot).toContain(`LINES_AT_FIRST = ${LINES_AT_FIRST};`);
});
