import { describe, expect, it } from "vitest";
import { withNotes } from "./notes";
import { turnsOf, withLines, type Line, type Turn } from "./transcript";

function line(id: string, kind: string, text: string, speaker = "narrator"): Line {
  return { message_id: id, kind, turn_index: 1, speaker_id: speaker, speaker_name: speaker, text, turn_id: "t1", created_at_ms: 1, updated_at_ms: 1 };
}
const LINES = [line("m1", "player_input", "Hello."), line("m2", "narration", "Rain.\n\nA bell."), line("m3", "dialogue", "Hm.", "mara")];
const [TURN] = turnsOf(LINES) as [Turn];
const changed = { scope: "world", owner: "", key: "oil", before: 2, after: null } as const;

describe("notes that the server kept", () => {
  it("stand beside the line they belong to", () => {
    const turn = withNotes(TURN, {
      turn_id: "t1",
      changes: [
        { ...changed, by: "after_player_input" },
        { ...changed, by: "after_turn_outputs" },
      ],
      refused: [{ about: "gate", reason: "no" }],
      helped: [{ agent: "actor", reason: "it failed", stand_in: "understudy" }],
    });
    expect(turn.notes.map((note) => [note.kind, note.at])).toEqual([
      ["changed", ""],
      ["changed", "m3"],
      ["refused", "m3"],
      ["helped", "m3"],
    ]);
    expect(turn.notes[0]).toMatchObject({ change: { name: "oil", from: 2, to: undefined } });
  });

  it("bring the scene that was entered, and thoughts to their thinker", () => {
    const turn = withNotes(TURN, { turn_id: "t1", scene: "garden", thoughts: [{ beat_index: 1, speaker_id: "mara", text: "Odd." }], changes: [{ ...changed, by: "entering" }] });
    expect(turn.pieces.map((piece) => piece.kind)).toEqual(["scene", "narration", "speech"]);
    expect(turn.pieces[2]).toMatchObject({ parts: [{ kind: "thought", text: "Odd." }, { kind: "dialogue" }] });
    expect(turn.notes[0]?.at).toBe("scene:garden");
  });

  it("give lines their tags, as long as the lines read as they were told", () => {
    const lines = [
      { text: "Rain.", tags: ["clear"] },
      { text: "A bell.", tags: [] },
    ];
    const tagged = withNotes(TURN, { turn_id: "t1", lines, outcome: "INVALID_INPUT" });
    expect(tagged.pieces[0]).toMatchObject({ tags: [["clear"], []] });
    expect(tagged.strayed).toBe(true);
    expect(withLines(tagged, LINES).pieces[0]).toMatchObject({ tags: [["clear"], []] });
    expect(withLines(tagged, [LINES[0]!, line("m2", "narration", "Snow."), LINES[2]!]).pieces[0]).not.toHaveProperty("tags");
    expect(withNotes(turnsOf([line("m2", "narration", "Snow.")])[0]!, { turn_id: "t1", lines }).pieces[0]).not.toHaveProperty("tags");
  });

  it("change nothing where there are none, and are the same when given twice", () => {
    expect(withNotes(TURN, { turn_id: "t1" })).toEqual(TURN);
    const kept = { turn_id: "t1", scene: "garden", thoughts: [{ beat_index: 1, speaker_id: "mara", text: "Odd." }], changes: [{ ...changed, by: "entering" as const }] };
    expect(withNotes(withNotes(TURN, kept), kept)).toEqual(withNotes(TURN, kept));
  });

  it("show a roll beside the player's words, and its line of the transcript no more", () => {
    const resolution = { check: { check_id: "c1", skill: "athletics", stat: null }, target: 12, level: "success" } as never;
    const [turn] = turnsOf([LINES[0]!, line("m9", "action", "Athletics: 14 against 12, success.", "player"), LINES[1]!]) as [Turn];
    expect(turn.pieces).toHaveLength(2);
    const noted = withNotes(turn, { turn_id: "t1", rolls: [resolution] });
    expect(noted.notes).toMatchObject([{ kind: "rolled", at: "", checkId: "c1", stat: "athletics", target: 12 }]);
    expect(noted.pieces.map((piece) => piece.key)).toEqual(["m2"]);
    expect(withLines(noted, turn.lines).pieces.map((piece) => piece.key)).toEqual(["m2"]);
  });
});
