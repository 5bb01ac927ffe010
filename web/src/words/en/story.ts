/** Words of a story's title page. */

export const story = {
  cast: "The cast",
  begin: "Begin",
  beginAgain: "Begin a new play",
  more: "Who you are, models, seed",
  profile: "You play as",
  profileNone: "Yourself, without a profile",
  models: "Told by",
  modelsDefault: "The house's usual models",
  seed: "Seed",
  seedHint: "A number makes the dice fall the same way again. Leave it empty for chance.",
  seedProblem: "A seed is a whole number.",
  name: "Name of this play",
  nameHint: "Only to find it again. Leave it empty for the story's own title.",
  plays: "Your plays of this story",
  kindGraph: "A story of scenes",
  kindInk: "A story in Ink",
  gone: "There is no such story",
  goneText: "It may have been removed. The shelf has those that are there.",
  starting: "Opening the first page…",
};
