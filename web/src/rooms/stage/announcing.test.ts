import { describe, expect, it } from "vitest";
import { beginTurn, reduce, type LiveTurn, type Told } from "../../play/frames";
import { stage as words } from "../../words/en/stage";
import { spokenBetween, spokenRoll, statOf, yourTurn } from "./announcing";

const RECORDED = import.meta.glob<Told[]>("../../play/recorded/*.json", { eager: true, import: "default" });

function hear(name: string): string[] {
  const told = RECORDED[`../../play/recorded/${name}.json`] ?? [];
  let live: LiveTurn = beginTurn("…", null);
  const heard: string[] = [];
  for (const one of told) {
    const now = reduce(live, one);
    heard.push(...spokenBetween(live, now, words, (id) => id));
    live = now;
  }
  return [...heard, yourTurn(live, words.spoken)];
}

describe("what is read aloud", () => {
  it("is each finished piece once, and then whose turn it is; never a part of a word", () => {
    const [narration, speech, turn, ...more] = hear("scene");
    expect(narration).toMatch(/^Somewhere a bell rings; .* and the rain goes on\.$/);
    expect(speech).toMatch(/^Mara: nods at \w+ You speak of \w+, friend\.$/);
    expect([turn, ...more]).toEqual(["Your turn."]);
  });

  it("leaves thoughts unsaid", () => {
    expect(hear("scene").join(" ")).not.toContain("I wonder");
  });

  it.each([
    ["ink-bridge", "Your turn: 1 choices."],
    ["ink-needs-input", "Your turn: say something to Guard."],
    ["ink-end", "The story is over."],
  ])("ends %s with %j", (name, last) => {
    expect(hear(name).at(-1)).toBe(last);
  });

  it("tells a reply once, however many pieces it came in", () => {
    expect(hear("ink-needs-input").filter((text) => text.startsWith("Guard:"))).toEqual(["Guard: Eleven winters, and no end of rain."]);
  });

  it("tells a roll in a sentence: what for, what fell, against what, and what it means", () => {
    const resolution = { check: { forced: null }, roll: { total: 14 }, level: "success" } as never;
    const roll = { kind: "rolled", at: "", checkId: "c1", stat: "sleight_of_hand", target: 12, resolution, sentence: "" } as const;
    expect(spokenRoll(roll, words.roll)).toBe("Sleight of hand: 14 against 12, success.");
    expect(spokenRoll({ ...roll, target: null }, words.roll)).toBe("Sleight of hand: 14, success.");
    expect(statOf({ stat: "" }, words.roll)).toBe("A roll");
    const before = beginTurn("I climb.", null);
    const now: LiveTurn = { ...before, notes: [roll] };
    expect(spokenBetween(before, now, words, (id) => id)).toEqual(["Sleight of hand: 14 against 12, success."]);
    expect(spokenBetween(now, now, words, (id) => id)).toEqual([]);
  });
});
