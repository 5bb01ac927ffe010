/** Words of the house: what an operator sees. */

export const house = {
  title: "House",
  text: "What runs here, who tells the stories, and what it has used.",
  status: "Is everything well?",
};
