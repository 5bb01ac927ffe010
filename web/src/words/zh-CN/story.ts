/** 故事扉页的文字。 */

import type { Words } from "../en";

export const story: Words["story"] = {
  cast: "登场角色",
  begin: "开始",
  beginAgain: "开始新的游玩",
  more: "你是谁、模型、种子",
  profile: "你扮演",
  profileNone: "你自己，不用资料",
  models: "讲述者",
  modelsDefault: "本馆常用的模型",
  seed: "种子",
  seedHint: "同一个数字会让骰子再次这样落下。留空则随机。",
  seedProblem: "种子是一个整数。",
  name: "这次游玩的名字",
  nameHint: "只为方便再找到它。留空则用故事的标题。",
  plays: "你对这个故事的游玩",
  kindGraph: "分场景的故事",
  kindInk: "Ink 故事",
  scenes: (count) => `${count} 场`,
  endings: (count) => `${count} 个结局`,
  words: (count) => `${count} 词`,
  gone: "没有这个故事",
  goneText: "它可能已被移除。书架上有现存的故事。",
  starting: "正在翻开第一页……",
};
