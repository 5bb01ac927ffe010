import { afterEach, describe, expect, it, vi } from "vitest";
import { beginTurn, reduceAll, type Told } from "../play/frames";
import recorded from "../play/recorded/scene.json";
import { followTurn, playTurn, type Happening, type Patience, type TurnRequest } from "./feed";

const TOLD = recorded as unknown as Told[];
const REQUEST: TurnRequest = { sessionId: "session_1", method: "session.run_turn", params: { player_input: "Hello", key: "k1" } };

type Step = { frames: Told[]; cut?: boolean } | "down" | { status: number; error?: { code: number; message: string } };

/** A server that answers one request after the other as it is told to; it keeps what it was asked. */
function server(steps: Step[]): { path: string; lastId: string | null; body: string }[] {
  const asked: { path: string; lastId: string | null; body: string }[] = [];
  vi.stubGlobal("fetch", (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    asked.push({ path, lastId: headers.get("last-event-id"), body: String(init.body ?? "") });
    const step = steps.shift() ?? "down";
    if (step === "down") return Promise.reject(new TypeError("network"));
    if ("status" in step) {
      const body = step.error === undefined ? null : JSON.stringify({ error: step.error });
      return Promise.resolve(new Response(body, { status: step.status, headers: { "content-type": "application/json" } }));
    }
    const text = step.frames.map(({ id, ...message }) => `id: ${id}\nevent: message\ndata: ${JSON.stringify(message)}\n\n`).join("");
    let sent = false;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!sent) controller.enqueue(new TextEncoder().encode(text));
        else if (step.cut === true) controller.error(new TypeError("network"));
        else controller.close();
        sent = true;
      },
    });
    return Promise.resolve(new Response(stream, { headers: { "content-type": "text/event-stream" } }));
  });
  return asked;
}

/** Time that passes as fast as it is asked to. */
function hasty(): Patience & { waited: number[] } {
  const waited: number[] = [];
  let now = 0;
  return {
    waited,
    now: () => now,
    pause: (ms) => {
      waited.push(ms);
      now += Number.isFinite(ms) ? ms : 0;
      return Promise.resolve();
    },
  };
}

async function all(happenings: AsyncGenerator<Happening>, most = 200): Promise<Happening[]> {
  const told: Happening[] = [];
  for await (const one of happenings) {
    told.push(one);
    if (told.length >= most) break;
  }
  return told;
}

function play(patience: Patience = hasty()): AsyncGenerator<Happening> {
  return playTurn(REQUEST, patience, new AbortController().signal);
}

function turnOf(happenings: Happening[]): ReturnType<typeof reduceAll> {
  return reduceAll(
    beginTurn("Hello", null),
    happenings.flatMap((one) => (one.kind === "told" ? [one.told] : [])),
  );
}

afterEach(() => vi.unstubAllGlobals());

describe("a turn over a network that breaks", () => {
  it("is told as it comes", async () => {
    server([{ frames: TOLD }]);
    const happened = await all(play());
    expect(happened.every((one) => one.kind === "told")).toBe(true);
    expect(turnOf(happened).status).toBe("completed");
  });

  it("is whole wherever the line was cut, and asks on after the last frame", async () => {
    const whole = reduceAll(beginTurn("Hello", null), TOLD);
    for (let cut = 1; cut < TOLD.length; cut++) {
      const asked = server([{ frames: TOLD.slice(0, cut), cut: true }, { frames: TOLD.slice(cut) }]);
      const happened = await all(play());
      expect(turnOf(happened)).toEqual(whole);
      expect(asked[1]).toMatchObject({ path: "/sessions/session_1/events", lastId: TOLD[cut - 1]?.id });
      expect(happened.filter((one) => one.kind === "lost")).toEqual([{ kind: "lost", heard: true }]);
      expect(happened.filter((one) => one.kind === "found")).toHaveLength(1);
    }
  });

  it("sends the same words with the same key when the line broke before the first frame", async () => {
    const asked = server(["down", "down", { frames: TOLD }]);
    const happened = await all(play());
    expect(happened[0]).toEqual({ kind: "lost", heard: false });
    expect(new Set(asked.map((one) => one.body)).size).toBe(1);
    expect(asked[2]?.body).toContain('"key":"k1"');
    expect(turnOf(happened).status).toBe("completed");
  });

  it("waits ever longer, never much more than ten seconds, and gives up after two minutes", async () => {
    server([]);
    const patience = hasty();
    const happened: Happening[] = [];
    for await (const one of play(patience)) {
      happened.push(one);
      if (one.kind === "given_up") break;
    }
    expect(happened.map((one) => one.kind)).toEqual(["lost", "given_up"]);
    expect(patience.waited[0]).toBe(0);
    expect(Math.max(...patience.waited)).toBeLessThan(12_000);
  });

  it("tries again when it is asked to after it gave up", async () => {
    const steps: Step[] = Array.from({ length: 40 }, () => "down" as const);
    server([...steps, { frames: TOLD }]);
    const happened = await all(play());
    expect(happened.some((one) => one.kind === "given_up")).toBe(true);
    expect(turnOf(happened).status).toBe("completed");
  });

  it.each([
    [{ status: 409, error: { code: 40909, message: "A turn is running." } }, "refused"],
    [{ status: 404, error: { code: 40404, message: "No such session." } }, "gone"],
    [{ status: 401, error: { code: 40101, message: "Who is there?" } }, "door"],
    [{ status: 204 }, "over"],
  ] as const)("is over at %j", async (step, kind) => {
    server([step]);
    expect((await all(play())).map((one) => one.kind)).toEqual([kind]);
  });

  it("passes over a server that is just being started again", async () => {
    server([{ frames: TOLD.slice(0, 4), cut: true }, { status: 502 }, "down", { frames: TOLD.slice(4) }]);
    expect(turnOf(await all(play())).status).toBe("completed");
  });

  it("follows a turn that runs already from its beginning", async () => {
    const asked = server([{ frames: TOLD }]);
    const happened = await all(followTurn("session_1", "", hasty(), new AbortController().signal));
    expect(asked[0]).toMatchObject({ path: "/sessions/session_1/events", lastId: null });
    expect(turnOf(happened).status).toBe("completed");
  });

  it("says nothing more once it was let go", async () => {
    server([{ frames: TOLD.slice(0, 2), cut: true }, { frames: TOLD.slice(2) }]);
    const end = new AbortController();
    const happened: Happening[] = [];
    for await (const one of playTurn(REQUEST, hasty(), end.signal)) {
      happened.push(one);
      if (one.kind === "lost") end.abort();
    }
    expect(happened.at(-1)?.kind).toBe("lost");
  });
});
