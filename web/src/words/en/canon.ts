/** Words of the panel that tells what is true in the world of a play. */

export const canon = {
  around: "Here and now",
  reading: "Looking it up…",
  none: "Nothing is known of this yet.",
  empty: "Nothing is known of this world yet. What lasts is written down here while you play.",
  leftOut: (count: number) => `${count} older ones are not shown.`,
  kinds: { character: "People", faction: "Factions", place: "Places", object: "Things", concept: "Ideas" },
  staged: "What this play adds",
  status: { pending: "not judged yet", accepted: "accepted", committed: "true now", rejected: "refused", undone: "taken back" },
  inText: "In the text",
  everything: "Also what only others know",
  knownTo: (names: string) => `Known to ${names} alone`,
  why: "Why",
  word: (who: string, confidence: number) => `On the word of ${who}, with a confidence of ${confidence}.`,
  authorities: { source: "the source", gm: "the game master", player: "a player", system: "the engine" },
  evidence: { turn: "A turn", message: "A line", roll: "A roll", source: "A source", conversation: "A talk", user: "Somebody's word", clock: "A clock", conflict: "A conflict" },
  decided: (reason: string) => `Decided: ${reason}`,
};
