import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beginTurn, reduceAll, type Told } from "./frames";
import { before, EMPTY_WINDOW, MOST, refreshed, turnOfLive, turnsOf, withLines, withNewer, withOlder, withTurn, type Line, type Window } from "./transcript";
import scene from "./recorded/scene.json";

function line(n: number, turn: number, more: Partial<Line> = {}): Line {
  return {
    message_id: `m${String(n).padStart(5, "0")}`,
    kind: "narration",
    turn_index: turn,
    speaker_id: "narrator",
    speaker_name: "Narrator",
    text: `line ${n}`,
    turn_id: `t${String(turn).padStart(5, "0")}`,
    created_at_ms: 1,
    updated_at_ms: 1,
    ...more,
  };
}

/** A transcript with two lines for each turn. */
function transcript(turns: number): Line[] {
  return Array.from({ length: turns * 2 }, (_, n) => line(n, Math.floor(n / 2), n % 2 === 0 ? { kind: "player_input", speaker_name: "You" } : {}));
}

function idsOf(window: Window): string[] {
  return window.turns.flatMap((turn) => turn.lines.map((one) => one.message_id));
}

describe("turns of lines", () => {
  it("put what somebody says and does in a row together", () => {
    const mira = { speaker_id: "mira", speaker_name: "Mira" };
    const [turn] = turnsOf([
      line(0, 1, { kind: "player_input", text: "Hello" }),
      line(1, 1, { kind: "action", ...mira }),
      line(2, 1, { kind: "dialogue", ...mira }),
      line(3, 1),
    ]);
    expect(turn?.said?.text).toBe("Hello");
    expect(turn?.pieces.map((piece) => piece.kind)).toEqual(["speech", "narration"]);
  });

  it("mark a line that was corrected", () => {
    const [turn] = turnsOf([line(0, 1, { kind: "player_input", updated_at_ms: 5 })]);
    expect(turn?.said?.edited).toBe(true);
  });
});

describe("a turn that was seen live", () => {
  const live = reduceAll(beginTurn("Good evening, Mara.", null), scene as unknown as Told[]);
  const told = turnOfLive(live);
  const mara = { speaker_id: "mara", speaker_name: "Mara" };
  const texts = told.pieces.flatMap((piece) => (piece.kind === "narration" ? [piece.text] : piece.kind === "speech" ? piece.parts.map((part) => part.text) : []));
  const lines = [
    line(0, 1, { kind: "player_input", text: live.said }),
    line(1, 1, { text: texts[0] ?? "" }),
    line(2, 1, { kind: "action", text: texts[2] ?? "", ...mara }),
    line(3, 1, { kind: "dialogue", text: texts[3] ?? "", ...mara }),
  ];

  it("gets the ids of its lines, and keeps its keys and thoughts", () => {
    const kept = withLines(told, lines);
    expect(kept.pieces.map((piece) => piece.key)).toEqual(told.pieces.map((piece) => piece.key));
    const speech = kept.pieces[1];
    expect(speech?.kind === "speech" && speech.parts.map((part) => [part.kind, part.messageId])).toEqual([
      ["thought", undefined],
      ["action", "m00002"],
      ["dialogue", "m00003"],
    ]);
    expect(kept.said?.messageId).toBe("m00000");
  });

  it("is what its lines say where both do not fit", () => {
    const struck = withLines(told, lines.slice(0, 2));
    expect(struck.pieces.map((piece) => piece.kind)).toEqual(["narration"]);
    expect(struck.lines).toHaveLength(2);
  });
});

describe("the window", () => {
  const lines = transcript(400);
  const newest: Window = { turns: turnsOf(lines.slice(-120)), hasOlder: true, hasNewer: false };

  it("grows upwards, and drops its far end beyond its bound", () => {
    let window = newest;
    for (let end = lines.length - 120; end > 0; end -= 80)
      window = withOlder(window, turnsOf(lines.slice(Math.max(0, end - 80), end)), end > 80);
    expect(window.turns).toHaveLength(MOST);
    expect(window.hasOlder).toBe(false);
    expect(window.hasNewer).toBe(true);
    expect(idsOf(window)[0]).toBe("m00000");
  });

  it("is a part of the transcript without gaps, however pages cut it", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 90 })), { maxLength: 20 }), (steps) => {
        let [from, to] = [300, 360];
        let window: Window = { turns: turnsOf(lines.slice(from, to)), hasOlder: true, hasNewer: true };
        for (const [older, count] of steps) {
          const ids = idsOf(window);
          [from, to] = [lines.findIndex((one) => one.message_id === ids[0]), lines.findIndex((one) => one.message_id === ids.at(-1)) + 1];
          if (older) window = withOlder(window, turnsOf(lines.slice(Math.max(0, from - count), from)), from - count > 0);
          else window = withNewer(window, turnsOf(lines.slice(to, to + count)), to + count < lines.length);
          const shown = idsOf(window);
          const start = lines.findIndex((one) => one.message_id === shown[0]);
          expect(shown).toEqual(lines.slice(start, start + shown.length).map((one) => one.message_id));
          expect(window.turns.length).toBeLessThanOrEqual(MOST);
          expect(new Set(window.turns.map((turn) => turn.turnId)).size).toBe(window.turns.length);
        }
      }),
    );
  });

  it("takes the end anew without losing what is above it", () => {
    const fresh = turnsOf([...lines.slice(-9), line(900, 400)]);
    const window = refreshed(newest, fresh, true);
    expect(idsOf(window)).toEqual([...lines.slice(-120), line(900, 400)].map((one) => one.message_id));
  });

  it("takes what is given where it knows nothing of it", () => {
    const fresh = turnsOf(lines.slice(0, 10));
    expect(refreshed(EMPTY_WINDOW, fresh, false)).toEqual({ turns: fresh, hasOlder: false, hasNewer: false });
    expect(idsOf(refreshed(newest, fresh, false))).toEqual(lines.slice(0, 10).map((one) => one.message_id));
  });

  it("ends before a turn that is told again, and takes the new telling", () => {
    const cut = before(newest, "t00398");
    expect(cut.turns.at(-1)?.turnId).toBe("t00397");
    const [turn] = turnsOf([line(901, 398, { turn_id: "t00500" })]);
    expect(withTurn(cut, turn!).turns.at(-1)?.turnId).toBe("t00500");
  });
});

describe("a window that is read anew", () => {
  it("keeps the turns that read as before, so that they are not drawn again", () => {
    const window: Window = { turns: turnsOf(transcript(5)), hasOlder: false, hasNewer: false };
    const again = transcript(5).map((one, n) => (n === 7 ? { ...one, text: "other words", updated_at_ms: 9 } : one));
    const now = refreshed(window, turnsOf(again), false);
    expect(now.turns.map((turn, n) => turn === window.turns[n])).toEqual([true, true, true, false, true]);
  });
});
