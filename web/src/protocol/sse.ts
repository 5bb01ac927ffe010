/** Splits a body of server-sent events into events, wherever the network cuts it.
 *
 *  Lines end with LF, and an empty line ends an event. Comments and unknown fields are passed over, and an event whose
 *  last line did not come is never told: the stream broke there, and is asked for again. */

import type { StreamFrame } from "./protocol.gen";

/** One frame of a turn, with the id under which it can be asked for again. */
export interface Told {
  id: string;
  sequence: number;
  frame: StreamFrame;
}

export interface ServerEvent {
  /** What kind of event; "message" where none was named. */
  event: string;
  /** The id that was named last, as `Last-Event-ID` wants it; empty before the first. */
  id: string;
  data: string;
}

export class EventSplitter {
  #decoder = new TextDecoder();
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id = "";

  /** The events that these bytes complete. */
  push(bytes: Uint8Array): ServerEvent[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    const events: ServerEvent[] = [];
    for (const line of lines) {
      const event = this.#take(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (event !== null) events.push(event);
    }
    return events;
  }

  #take(line: string): ServerEvent | null {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    else if (field === "id") this.#id = value;
    return null;
  }

  #end(): ServerEvent | null {
    const told = this.#data.length > 0 ? { event: this.#event || "message", id: this.#id, data: this.#data.join("\n") } : null;
    this.#event = "";
    this.#data = [];
    return told;
  }
}

/** The events of a body, as they arrive. Whoever stops reading lets go of the connection. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, void> {
  const splitter = new EventSplitter();
  const reader = body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield* splitter.push(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
