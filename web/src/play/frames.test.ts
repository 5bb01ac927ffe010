import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beginTurn, changes, reduce, reduceAll, type LiveTurn, type Told } from "./frames";

const RECORDED = import.meta.glob<Told[]>("./recorded/*.json", { eager: true, import: "default" });
const STREAMS = Object.entries(RECORDED).map(([path, told]) => ({ name: path.replace(/.*\/|\.json/g, ""), told }));

function streamOf(name: string): Told[] {
  const found = STREAMS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no such recording: ${name}`);
  return found.told;
}

function play(told: readonly Told[]): LiveTurn {
  return reduceAll(beginTurn("…", null), told);
}

function toldAnew(told: readonly Told[], attempt = 2): Told[] {
  return told.map((one) => ({ ...one, id: one.id.replace(":", `~${attempt}:`) }));
}

/** What is read and acted on, without ids of frames. */
function page({ attempt, lastId, sequence, ...rest }: LiveTurn): Partial<LiveTurn> {
  return rest;
}

describe.each(STREAMS)("the recorded turn $name", ({ told }) => {
  const whole = play(told);

  it("ends as its last frame says", () => {
    expect(whole.status).toBe(told.at(-1)?.frame.type);
  });

  it("is the same from every resume point, with every overlap", () => {
    for (let left = 0; left <= told.length; left++)
      for (let from = 0; from <= left; from++) {
        const seen = reduceAll(beginTurn("…", null), told.slice(0, left));
        expect(reduceAll(seen, told.slice(from))).toEqual(whole);
      }
  });

  it("does not change when frames come twice", () => {
    expect(play(told.flatMap((one) => [one, one]))).toEqual(whole);
    expect(reduceAll(whole, told)).toBe(whole);
  });

  it("starts over where it is told anew, after any prefix, and ignores what comes late of the first attempt", () => {
    const anew = toldAnew(told);
    for (let cut = 0; cut <= told.length; cut++) {
      const again = reduceAll(play(told.slice(0, cut)), anew);
      expect(page(again)).toEqual(page(whole));
      expect(reduceAll(again, told)).toBe(again);
    }
  });

  it("never takes back a word that was shown, but for its last frame", () => {
    let shown = "";
    for (const one of told.slice(0, -1).reduce<LiveTurn[]>((all, t) => [...all, reduce(all.at(-1)!, t)], [beginTurn("", null)])) {
      const text = textOf(one);
      expect(text.startsWith(shown)).toBe(true);
      shown = text;
    }
  });

  it("is whole after its last frame alone", () => {
    const last = told.at(-1)!;
    if (last.frame.type !== "completed") return;
    expect(textOf(play([last]))).toBe(textOf(whole));
    expect(play([last]).choices).toEqual(whole.choices);
    expect(play([last]).input).toEqual(whole.input);
  });

  it("is the same in whatever pieces it is resumed", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: told.length }), { maxLength: 6 }), (marks) => {
        let live = beginTurn("…", null);
        let seen = 0;
        for (const mark of marks) {
          live = reduceAll(live, told.slice(Math.min(mark, seen), mark));
          seen = Math.max(seen, mark);
        }
        expect(reduceAll(live, told.slice(0))).toEqual(whole);
      }),
    );
  });
});

function textOf(live: LiveTurn): string {
  return live.pieces
    .map((piece) => {
      if (piece.kind === "narration") return piece.text;
      return piece.kind === "speech" ? piece.parts.map((part) => part.text).join("|") : "";
    })
    .filter((text) => text !== "")
    .join("\n");
}

describe("the pieces of a turn", () => {
  it("tells narration and speech in the order of the beats", () => {
    const live = play(streamOf("scene"));
    expect(live.pieces.map((piece) => piece.kind)).toEqual(["narration", "speech"]);
    const speech = live.pieces[1]!;
    expect(speech.kind === "speech" && [speech.speaker, ...speech.parts.map((part) => part.kind)]).toEqual([
      "Mara",
      "thought",
      "action",
      "dialogue",
    ]);
  });

  it("notes a refused operation with its reason, beside the player's words", () => {
    const [note] = play(streamOf("scene-refused")).notes;
    expect(note).toMatchObject({ kind: "refused", at: "", about: "gate_open" });
    expect(note?.kind === "refused" && note.reason).toContain("moves the story");
  });

  it("notes a variable that changed with its old value, and the scene that was entered by it", () => {
    const live = play(streamOf("scene-moves-on"));
    expect(live.notes.filter((note) => note.kind === "changed")).toEqual([
      {
        kind: "changed",
        at: "",
        by: "after_player_input",
        change: { scope: "world", owner: "", name: "gate_open", from: false, to: true },
      },
    ]);
    expect(live.pieces[0]).toEqual({ kind: "scene", key: "scene:garden", nodeId: "garden" });
  });

  it("lets a guest come in before it speaks", () => {
    const live = play(streamOf("scene-guest"));
    expect(live.pieces.map((piece) => piece.kind)).toEqual(["direction", "speech"]);
  });

  it("notes who helped out", () => {
    expect(play(streamOf("scene-degraded")).notes[0]).toMatchObject({ kind: "helped", agent: "director" });
  });

  it("keeps what was shown of a turn that failed, and the server's sentence", () => {
    const live = play(streamOf("scene-failed"));
    expect(textOf(live)).toBe("The tale breaks ");
    expect(live.error?.code).toBe(50001);
    expect(live.said).toBe("I listen.");
  });

  it.each([
    ["ink-needs-input", ["speech"], "agent"],
    ["ink-invalid-input", ["speech"], "agent"],
    ["ink-bridge", ["speech", "narration", "narration"], "choice"],
    ["ink-direct", ["narration"], "choice"],
    ["ink-end", ["narration", "end"], undefined],
  ])("tells %s as %j and then waits for %s", (name, kinds, waits) => {
    const live = play(streamOf(name));
    expect(live.pieces.map((piece) => piece.kind)).toEqual(kinds);
    expect(live.input?.kind).toBe(waits);
  });

  it("finds no change where the state before is not known", () => {
    const state = play(streamOf("scene")).state!;
    expect(changes(null, state)).toEqual([]);
    expect(changes(state, state)).toEqual([]);
  });

  it("passes over frames and events that it does not know", () => {
    const live = play(streamOf("scene").slice(0, 3));
    const strange = { id: `${live.attempt}:99`, sequence: 99, frame: { type: "event", body: { type: "dream" } } };
    expect(page(reduce(live, strange as unknown as Told))).toEqual(page(live));
    const odd = { id: `${live.attempt}:99`, sequence: 99, frame: { type: "sigh" } };
    expect(page(reduce(live, odd as unknown as Told))).toEqual(page(live));
  });
});

describe("a roll", () => {
  const check = { check_id: "c1", actor: "player", act: "climb", deed: "climb", stat: null, skill: "athletics", target: 12, opponent: null, edge: "none", modifiers: [{ source: "strength", value: 2 }], forced: null, because: "a climb" } as const;
  const roll = { formula: "1d20+2", dice: [{ size: 20, shown: [12], kept: true }], raw: [12], kept: [12], total: 14, critical: false, fumble: false };
  const resolution = { check: { ...check, modifiers: [...check.modifiers] }, roll, opposed: null, target: 12, margin: 2, level: "success", effects: [] } as const;
  const told = (n: number, body: object): Told => ({ id: `t1:${n}`, sequence: n, frame: { type: "event", body } as never });
  const asked = told(1, { type: "check_asked", check_id: "c1", actor: "player", stat: "athletics", target: 12, modifiers: [] });
  const resolved = told(2, { type: "check_resolved", check_id: "c1", resolution, sentence: "Athletics: 14 against 12, success." });

  it("stands beside the player's words from when it is asked for, and once", () => {
    const waiting = play([asked]);
    expect(waiting.notes).toMatchObject([{ kind: "rolled", at: "", stat: "athletics", target: 12, resolution: null }]);
    const lies = play([asked, resolved]);
    expect(lies.notes).toMatchObject([{ kind: "rolled", resolution: { margin: 2 }, sentence: "Athletics: 14 against 12, success." }]);
    expect(play([asked, resolved, asked, resolved]).notes).toEqual(lies.notes);
  });

  it("is there although its own frames were missed", () => {
    expect(play([resolved]).notes).toHaveLength(1);
  });
});
