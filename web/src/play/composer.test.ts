import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  boxOf,
  inManner,
  isResting,
  MANNERS,
  mannerOf,
  next,
  primaryOf,
  rest,
  type Box,
  type Composer,
  type Primary,
  type Signal,
  type StateName,
  type Waits,
} from "./composer";

const FREE: Waits = { kind: "free" };
const TALK: Waits = { kind: "agent", character: "Guard" };
const CHOICE: Waits = { kind: "choice" };
const ENDED: Waits = { kind: "ended" };
const ALL_WAITS: Waits[] = [FREE, TALK, CHOICE, ENDED, { kind: "text", placeholder: "Name?" }, { kind: "continue" }];
const SIGNALS: Signal[] = [
  "send", "begun", "bridge", "over", "stop", "fail", "refuse", "lose", "find", "unsent", "others_begin", "others_end",
  "look", "return", "dismiss",
]; // prettier-ignore
const STATES: StateName[] = [
  "free", "choice", "text", "agent", "continue", "sending", "telling", "bridging", "stopped", "failed", "reconnecting",
  "others", "looking", "ended",
]; // prettier-ignore

/** The table of the design: state, what the play waits for, the box, the button. */
const LOOKS: [StateName, Waits, Box, Primary][] = [
  ["free", FREE, "open", "send"],
  ["choice", CHOICE, "folded", "send"],
  ["text", { kind: "text", placeholder: "Name?" }, "open", "answer"],
  ["agent", TALK, "open", "say"],
  ["continue", { kind: "continue" }, "open", "do"],
  ["sending", FREE, "locked", "stop"],
  ["sending", TALK, "locked", "stop"],
  ["telling", FREE, "draft", "stop"],
  ["telling", TALK, "locked", "stop"],
  ["telling", CHOICE, "locked", "stop"],
  ["bridging", TALK, "closed", "none"],
  ["stopped", FREE, "open", "again"],
  ["failed", TALK, "open", "again"],
  ["reconnecting", FREE, "draft", "stop"],
  ["reconnecting", TALK, "locked", "stop"],
  ["others", FREE, "draft", "wait"],
  ["looking", FREE, "closed", "go_there"],
  ["ended", ENDED, "closed", "begin_again"],
];

describe("the box", () => {
  it.each(LOOKS)("in %s (%j) is %s, and its button says %s", (state, waits, box, primary) => {
    expect([boxOf({ state, waits }), primaryOf({ state, waits })]).toEqual([box, primary]);
  });
});

/** The table of the machine: from, the signals, to. */
const ROADS: [string, Waits, [Signal, Waits?][], StateName][] = [
  ["a scene's turn", FREE, [["send"], ["begun"], ["over", FREE]], "free"],
  ["a refusal before the stream", FREE, [["send"], ["refuse"]], "free"],
  ["a failed turn", FREE, [["send"], ["begun"], ["fail"]], "failed"],
  ["a failed turn, played again", FREE, [["send"], ["begun"], ["fail"], ["send"], ["begun"], ["over", FREE]], "free"],
  ["other words after a failure", FREE, [["send"], ["begun"], ["fail"], ["dismiss"]], "free"],
  ["a stopped turn", FREE, [["send"], ["begun"], ["stop"]], "stopped"],
  ["a turn stopped before it began", FREE, [["send"], ["stop"]], "stopped"],
  ["a lost line that is found", FREE, [["send"], ["begun"], ["lose"], ["find"], ["over", FREE]], "free"],
  ["a lost line whose turn is over", FREE, [["send"], ["begun"], ["lose"], ["over", FREE]], "free"],
  ["words that never arrived", FREE, [["send"], ["lose"], ["unsent"]], "free"],
  ["a choice that ends the story", CHOICE, [["send"], ["begun"], ["over", ENDED]], "ended"],
  ["a talk that goes on", TALK, [["send"], ["begun"], ["over", TALK]], "agent"],
  ["a talk that leads over", TALK, [["send"], ["begun"], ["bridge"], ["over", CHOICE]], "choice"],
  ["somebody else's turn", FREE, [["others_begin"], ["others_end", FREE]], "free"],
  ["another line, and back", FREE, [["look"], ["return"]], "free"],
  ["nothing is sent after the end", ENDED, [["send"]], "ended"],
  ["nothing is sent while looking", FREE, [["look"], ["send"]], "looking"],
  ["nothing is sent twice", FREE, [["send"], ["send"], ["begun"], ["send"]], "telling"],
];

describe("the machine", () => {
  it.each(ROADS)("%s", (_, waits, signals, state) => {
    const end = signals.reduce<Composer>((at, [signal, now]) => next(at, signal, now), rest(waits));
    expect(end.state).toBe(state);
  });

  it("rests in the state of what the play waits for", () => {
    for (const waits of ALL_WAITS) expect(rest(waits).state).toBe(waits.kind);
  });

  it("never shuts the player out: from anywhere a finished turn brings the box back", () => {
    for (const state of STATES.filter((one) => !["looking", "stopped", "failed"].includes(one)))
      for (const waits of ALL_WAITS) expect(isResting(next({ state, waits }, "over", FREE).state)).toBe(true);
  });

  it("keeps no message in flight open to a second one", () => {
    fc.assert(
      fc.property(fc.constantFrom(...ALL_WAITS), fc.array(fc.constantFrom(...SIGNALS), { maxLength: 20 }), (waits, signals) => {
        let at = rest(waits);
        for (const signal of signals) {
          const before = at;
          at = next(at, signal);
          if (signal === "send" && at.state === "sending" && before.state !== "sending")
            expect(isResting(before.state) || before.state === "stopped" || before.state === "failed").toBe(true);
          if (at.state === "sending") expect(boxOf(at)).toBe("locked");
        }
      }),
    );
  });
});

describe("manners of speaking", () => {
  it.each([
    ["say", "Good evening.", "Good evening."],
    ["do", "I nod.", "*I nod.*"],
    ["tell", "Night falls.", "[Night falls.]"],
    ["aside", "shorter please", "((shorter please))"],
    ["do", "*I nod.*", "*I nod.*"],
    ["aside", "((so))", "((so))"],
  ] as const)("%s %j is sent as %j", (manner, words, sent) => {
    expect(inManner(words, manner)).toBe(sent);
  });

  it("are read back as they were meant", () => {
    for (const manner of MANNERS) expect(mannerOf(inManner("I look up", manner))).toEqual({ manner, words: "I look up" });
    expect(mannerOf("*one* and *two*")).toEqual({ manner: "say", words: "*one* and *two*" });
  });
});
