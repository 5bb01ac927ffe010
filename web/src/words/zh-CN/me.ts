/** Words of the room where readers settle how they read. */

import type { Words } from "../en";

export const me: Words["me"] = {
  title: "Me",
  text: "How you read and play. Everything here is kept in this browser only.",
  reading: "Reading",
  sample: "Sample",
  playing: "Playing",
  language: "Language",
  languageSystem: "As the browser",
  keys: "Keys",
  keysText: "Press Change, then the keys you want. Single letters work while you read, never while you write.",
  action: "What it does",
  keyColumn: "Keys",
  change: "Change",
  changeOf: (what: string) => `Change the keys for: ${what}`,
  press: "Press a key…",
  pressFor: (what: string) => `Press the keys for “${what}”. Esc leaves them as they are.`,
  reset: "Reset",
  resetOf: (what: string) => `Reset the keys for: ${what}`,
  resetAll: "All keys as they were",
  changed: (what: string, keys: string) => `“${what}” answers to ${keys} now.`,
  clash: (keys: string, other: string) => `${keys} is taken by “${other}”. Choose another, or change that one first.`,
  unfitLetter: "A single letter would be swallowed while you write. Add Ctrl or Alt.",
  unfitBrowser: "Your browser needs these keys itself. Choose others.",
  who: "Who you are here",
  roles: { player: "You may play.", author: "You may play and write.", admin: "You keep this house: you may do everything." },
  noToken: "This house asks nobody for a token.",
  version: (version: string) => `Fabula ${version}`,
};
