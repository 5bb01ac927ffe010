/** Worte der Tafel, die sagt, was in der Welt einer Partie wahr ist. */

import type { Words } from "../en";

export const canon: Words["canon"] = {
  around: "Hier und jetzt",
  reading: "Wird nachgesehen …",
  none: "Davon ist noch nichts bekannt.",
  empty: "Von dieser Welt ist noch nichts bekannt. Was bleibt, wird hier beim Spielen aufgeschrieben.",
  leftOut: (count) => `${count} ältere werden nicht gezeigt.`,
  kinds: { character: "Personen", faction: "Parteien", place: "Orte", object: "Dinge", concept: "Ideen" },
  staged: "Was diese Partie hinzufügt",
  status: { pending: "noch nicht beurteilt", accepted: "angenommen", committed: "jetzt wahr", rejected: "abgelehnt", undone: "zurückgenommen" },
  inText: "Im Text",
  everything: "Auch, was nur andere wissen",
  knownTo: (names) => `Nur ${names} bekannt`,
  why: "Warum",
  word: (who, confidence) => `Auf das Wort ${who}, mit einer Gewissheit von ${confidence}.`,
  authorities: { source: "der Quelle", gm: "der Spielleitung", player: "einer spielenden Person", system: "der Maschine" },
  evidence: { turn: "Ein Zug", message: "Eine Zeile", roll: "Ein Wurf", source: "Eine Quelle", conversation: "Ein Gespräch", user: "Jemandes Wort", clock: "Eine Uhr", conflict: "Ein Konflikt" },
  decided: (reason) => `Entschieden: ${reason}`,
};
