import { afterEach, describe, expect, it, vi } from "vitest";
import { ask, call, CODES } from "./rpc";

const answers = (body: string, init: ResponseInit = {}) => vi.stubGlobal("fetch", vi.fn(async () => new Response(body, init)));
afterEach(() => vi.unstubAllGlobals());

describe("a call", () => {
  it("answers the result", async () => {
    answers('{"jsonrpc":"2.0","id":"1","result":{"type":"stories_listed","stories":[]}}');
    expect(await call("story.list", {})).toEqual({ ok: true, value: { type: "stories_listed", stories: [] } });
  });

  it("sends the session in the envelope", async () => {
    answers('{"result":{}}');
    await call("session.get", {}, { session_id: "s1" });
    const [, init] = vi.mocked(fetch).mock.calls[0] ?? [];
    expect(JSON.parse(String(init?.body))).toMatchObject({ jsonrpc: "2.0", method: "session.get", session_id: "s1", params: {} });
  });

  it.each([
    ['{"jsonrpc":"2.0","id":"1","error":{"code":40404,"message":"No such story."}}', 404, "refused", CODES.notFound, "No such story."],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":40101,"message":"Send a token."}}', 401, "door", CODES.tokenNeeded, "Send a token."],
    ['{"code":40909,"message":"Busy."}', 409, "refused", CODES.conflict, "Busy."],
    ["<html>502</html>", 502, "garbled", 0, "status 502"],
    ["<html>fine</html>", 200, "garbled", 0, "could not be read"],
    ["null", 200, "garbled", 0, "could not be read"],
  ])("tells the problem in %s", async (body, status, kind, code, sentence) => {
    answers(body, { status });
    const answered = await call("story.list", {});
    expect(answered).toMatchObject({ ok: false, problem: { kind, code } });
    if (!answered.ok) expect(answered.problem.sentence).toContain(sentence);
  });

  it("says that the server does not answer", async () => {
    vi.stubGlobal("fetch", vi.fn(async () => Promise.reject(new TypeError("failed"))));
    expect(await call("story.list", {})).toMatchObject({ ok: false, problem: { kind: "unreachable" } });
  });

  it("says nothing to a caller that has left", async () => {
    vi.stubGlobal("fetch", vi.fn(async () => Promise.reject(new DOMException("", "AbortError"))));
    const left = AbortSignal.abort();
    expect(await call("story.list", {}, { signal: left })).toEqual({ ok: false, problem: { kind: "left", code: 0, sentence: "" } });
  });

  it("tells how long to wait", async () => {
    answers('{"code":42900,"message":"Slow down."}', { status: 429, headers: { "retry-after": "7" } });
    expect(await ask("/rpc")).toMatchObject({ ok: false, problem: { retryAfterS: 7 } });
  });

  it("takes an empty answer as one", async () => {
    vi.stubGlobal("fetch", vi.fn(async () => new Response(null, { status: 204 })));
    expect(await ask("/leave", { method: "POST" })).toEqual({ ok: true, value: { status: 204, body: null } });
  });
});
