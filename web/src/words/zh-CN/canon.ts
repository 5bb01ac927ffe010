/** 正典面板的文字：这局游戏的世界里什么是真的。 */

import type { Words } from "../en";

export const canon: Words["canon"] = {
  around: "此时此地",
  reading: "正在查找……",
  none: "关于这个还一无所知。",
  empty: "关于这个世界还一无所知。留存下来的事会在游玩时记在这里。",
  leftOut: (count) => `另有 ${count} 条较早的没有显示。`,
  kinds: { character: "人物", faction: "势力", place: "地点", object: "物品", concept: "概念" },
  staged: "本局新增",
  status: { pending: "尚未裁定", accepted: "已接受", committed: "现已为真", rejected: "被拒绝", undone: "已撤回" },
  inText: "在文中",
  everything: "也显示只有别人知道的",
  knownTo: (names) => `只有${names}知道`,
  why: "为什么",
  word: (who, confidence) => `依据${who}的说法，可信度 ${confidence}。`,
  authorities: { source: "原作", gm: "主持人", player: "玩家", system: "引擎" },
  evidence: { turn: "一个回合", message: "一行文字", roll: "一次掷骰", source: "一个来源", conversation: "一段对话", user: "某人的说法", clock: "一个时钟", conflict: "一场冲突" },
  decided: (reason) => `裁定：${reason}`,
};
