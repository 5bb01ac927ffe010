/** Words of the stage. */

import type { Words } from "../en";
import { stage as english } from "../en/stage";

export const stage: Words["stage"] = { ...english };
