/** Words of the stage. */

import type { Words } from "../en";

export const stage: Words["stage"] = {
  title: "Stage",
};
