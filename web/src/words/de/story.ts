/** Worte der Titelseite einer Geschichte. */

import type { Words } from "../en";

export const story: Words["story"] = {
  cast: "Die Besetzung",
  begin: "Beginnen",
  beginAgain: "Ein neues Spiel beginnen",
  more: "Wer du bist, Modelle, Startwert",
  profile: "Du spielst",
  profileNone: "Dich selbst, ohne Profil",
  models: "Es erzählen",
  modelsDefault: "Die üblichen Modelle des Hauses",
  seed: "Startwert",
  seedHint: "Mit derselben Zahl fallen die Würfel wieder gleich. Leer lassen für den Zufall.",
  seedProblem: "Ein Startwert ist eine ganze Zahl.",
  name: "Name dieses Spiels",
  nameHint: "Nur, um es wiederzufinden. Leer lassen für den Titel der Geschichte.",
  plays: "Deine Spiele dieser Geschichte",
  kindGraph: "Eine Geschichte in Szenen",
  kindInk: "Eine Geschichte in Ink",
  scenes: (count) => (count === 1 ? "1 Szene" : `${count} Szenen`),
  endings: (count) => (count === 1 ? "1 Ende" : `${count} Enden`),
  words: (count) => `${count} Wörter`,
  gone: "Diese Geschichte gibt es nicht",
  goneText: "Vielleicht wurde sie entfernt. Im Regal stehen die, die es gibt.",
  starting: "Die erste Seite wird aufgeschlagen …",
};
