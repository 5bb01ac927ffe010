/** Words of the page for trying an NPC. */

import type { Words } from "../en";

export const npc: Words["npc"] = {
  title: "Try an NPC",
};
