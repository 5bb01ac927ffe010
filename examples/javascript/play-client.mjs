// Plays a story over Socket.IO on the terminal: words appear as the storyteller says them.
//
//     npm install socket.io-client
//     node examples/javascript/play-client.mjs
//
// FABULA_URL is the address of the server (http://127.0.0.1:8420), FABULA_TOKEN an access token if it asks for one, and
// FABULA_SESSION the session to play; without it a session of the first story is started.

import { createInterface } from "node:readline";
import { randomUUID } from "node:crypto";
import { io } from "socket.io-client";

const url = process.env.FABULA_URL ?? "http://127.0.0.1:8420";
const token = process.env.FABULA_TOKEN ?? "";

/** One session. What is said under one request_id is played once, however often it had to be sent. */
class Player {
  constructor(sessionId) {
    this.sessionId = sessionId;
    this.socket = io(url, { auth: token ? { token } : {}, transports: ["websocket"] });
    this.socket.on("connect_error", (error) => console.error(`[${error.data?.code ?? "?"}] ${error.message}`));
    this.socket.on("new_token", ({ token }) => process.stdout.write(token));
  }

  /** Plays a turn; resolves to its whole text. After a broken connection the same request is sent again. */
  say(words) {
    const beat = { request_id: randomUUID(), session_id: this.sessionId, input: words };
    const send = () => this.socket.emit("storybeat", beat);
    return new Promise((resolve) => {
      const end = (text) => {
        this.socket.off("connect", send).off("done", done).off("error", failed);
        resolve(text);
      };
      const done = (data) => data.request_id === beat.request_id && (process.stdout.write("\n\n"), end(data.full_text));
      const failed = (data) => (console.error(`\n[${data.code}] ${data.message}`), end(""));
      this.socket.on("done", done).on("error", failed).on("connect", send);
      if (this.socket.connected) send();
    });
  }

  close() {
    this.socket.close();
  }
}

/** A call of JSON-RPC, for all that is not played. */
async function call(method, params = {}) {
  const headers = { "content-type": "application/json", ...(token ? { authorization: `Bearer ${token}` } : {}) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "1", method, params });
  const answer = await (await fetch(`${url}/rpc`, { method: "POST", headers, body })).json();
  if (answer.error) throw new Error(answer.error.message);
  return answer.result;
}

async function aSession() {
  if (process.env.FABULA_SESSION) return process.env.FABULA_SESSION;
  const { stories } = await call("story.list");
  if (!stories.length) throw new Error("There is no story yet: install the samples, or write one.");
  return (await call("story.start_session", { story_id: stories[0].story_id })).session_id;
}

const player = new Player(await aSession());
for await (const words of createInterface({ input: process.stdin })) {
  if (!words.trim()) break;
  await player.say(words);
}
player.close();
