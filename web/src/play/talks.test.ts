import { describe, expect, it } from "vitest";
import { talksOf } from "./talks";
import { turnsOf, type Line } from "./transcript";

let number = 0;
function lines(turn: number, said: string | null, ...answers: [string, string][]): Line[] {
  const line = (kind: string, speaker: string, text: string): Line => ({
    message_id: `m${(number += 1)}`, kind, turn_index: turn, speaker_id: speaker, speaker_name: speaker, text,
    turn_id: `t${turn}`, created_at_ms: 1, updated_at_ms: 1,
  }); // prettier-ignore
  return [...(said === null ? [] : [line("player_input", "You", said)]), ...answers.map(([who, text]) => line(who === "" ? "narration" : "dialogue", who, text))];
}

describe("talks", () => {
  const turns = turnsOf([
    ...lines(0, null, ["", "Rain."]),
    ...lines(1, "Talk to the guard", ["", "He looks up."]),
    ...lines(2, "Hello.", ["Guard", "Hm."]),
    ...lines(3, "Who are you?", ["Guard", "A guard."]),
    ...lines(4, "And you?", ["Cook", "A cook."]),
    ...lines(5, "Go in", ["", "The gate opens."]),
    ...lines(6, "Hello again.", ["Guard", "Hm."]),
  ]);

  it("are turns in a row in which one and the same answers, where there are at least two", () => {
    expect(talksOf(turns)).toEqual([{ id: "t2", name: "Guard", turnIds: ["t2", "t3"], messages: 4 }]);
  });

  it("are none where nobody is talked with", () => expect(talksOf(turns.slice(0, 2))).toEqual([]));
});
