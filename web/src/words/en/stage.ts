/** Words of the stage. */

export const stage = {
  title: "Stage",
};
