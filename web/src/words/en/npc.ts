/** Words of the page for trying an NPC. */

export const npc = {
  title: "Try an NPC",
};
