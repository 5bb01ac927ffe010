/** 试角色页面的文字。 */

import type { Words } from "../en";

export const npc: Words["npc"] = {
  title: "试一个角色",
  text: "浏览器里的一个极小的游戏：它告诉服务器角色是谁，你像玩家那样与它说话。",
  connecting: "正在连接……",
  connected: "已连接。",
  lost: "未连接；正在重试。",
  speaking: (model) => `正在说话（${model}）。`,
  interrupted: (reason) => `被打断（${reason}）。`,
  listening: "正在听。",
  talk: "对话",
  empty: "还没有人说话。像你游戏里的玩家那样问点什么：",
  words: "你的话",
  wordsHint: "在它说话时开口，就会打断它。",
  say: "说",
  stop: "停下它",
  cut: "（被打断）",
  who: "它是谁",
  state: "JSON 状态",
  stateHint: "你的游戏对 get_agent_state 的回答。随时可改；下一回合就会用上。",
  noJson: (problem) => `这不是 JSON，因此沿用上一个正确的状态：${problem}`,
  noObject: "应当是一个对象。",
  frames: "消息帧",
  chunks: "显示片段",
};
