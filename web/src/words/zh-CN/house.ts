/** Words of the house: what an operator sees. */

import type { Words } from "../en";

export const house: Words["house"] = {
  title: "House",
  text: "What runs here, who tells the stories, and what it has used.",
  status: "Is everything well?",
};
