/** Worte der Seite, auf der man eine Figur ausprobiert. */

import type { Words } from "../en";

export const npc: Words["npc"] = {
  title: "Eine Figur ausprobieren",
  text: "Ein sehr kleines Spiel in deinem Browser: Es sagt dem Server, wer die Figur ist, und du sprichst mit ihr wie jemand, der spielt.",
  connecting: "Die Verbindung wird aufgebaut …",
  connected: "Verbunden.",
  lost: "Nicht verbunden; es wird wieder versucht.",
  speaking: (model) => `Sie spricht (${model}).`,
  interrupted: (reason) => `Unterbrochen (${reason}).`,
  listening: "Sie hört zu.",
  talk: "Gespräch",
  empty: "Noch hat niemand etwas gesagt. Frag etwas, wie es jemand in deinem Spiel täte:",
  words: "Deine Worte",
  wordsHint: "Sprich, während sie spricht, und du unterbrichst sie.",
  say: "Sagen",
  stop: "Anhalten",
  cut: "(unterbrochen)",
  who: "Wer sie ist",
  state: "Zustand als JSON",
  stateHint: "Was dein Spiel auf get_agent_state antwortet. Ändere es jederzeit; der nächste Zug nimmt es.",
  noJson: (problem) => `Das ist kein JSON, darum gilt der letzte gute Zustand: ${problem}`,
  noObject: "Ein Objekt wurde erwartet.",
  frames: "Nachrichten",
  chunks: "Auch Teilstücke zeigen",
};
