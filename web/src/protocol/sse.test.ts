import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventSplitter, eventsOf, type ServerEvent } from "./sse";

const STREAM = [
  "event: ack\ndata: {\"result\":1}\n\n",
  ": still here\n\n",
  "id: turn_a:0\nevent: message\ndata: {\"text\":\"Grüße, 世界 🜁\"}\n\n",
  "id: turn_a:1\nevent: message\ndata:one\ndata: two\n\n",
  "retry: 10\nid: turn_a:2:last\ndata: {}\n\n",
].join("");
const EVENTS: ServerEvent[] = [
  { event: "ack", id: "", data: '{"result":1}' },
  { event: "message", id: "turn_a:0", data: '{"text":"Grüße, 世界 🜁"}' },
  { event: "message", id: "turn_a:1", data: "one\ntwo" },
  { event: "message", id: "turn_a:2:last", data: "{}" },
];
const BYTES = new TextEncoder().encode(STREAM);

function split(...pieces: Uint8Array[]): ServerEvent[] {
  const splitter = new EventSplitter();
  return pieces.flatMap((piece) => splitter.push(piece));
}

describe("the splitter of server-sent events", () => {
  it("tells the same events at whichever byte the stream is cut", () => {
    for (let at = 0; at <= BYTES.length; at++) expect(split(BYTES.slice(0, at), BYTES.slice(at))).toEqual(EVENTS);
  });

  it("tells the same events byte by byte", () => {
    expect(split(...[...BYTES].map((byte) => Uint8Array.of(byte)))).toEqual(EVENTS);
  });

  it("tells the same events in any pieces", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: BYTES.length }), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), BYTES.length];
        expect(split(...at.slice(1).map((end, n) => BYTES.slice(at[n], end)))).toEqual(EVENTS);
      }),
    );
  });

  it("never tells an event that was cut off", () => {
    for (let at = 0; at < BYTES.length; at++) {
      const told = split(BYTES.slice(0, at));
      expect(EVENTS.slice(0, told.length)).toEqual(told);
    }
  });

  it("reads a body to its end", async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < BYTES.length; at += 7) controller.enqueue(BYTES.slice(at, at + 7));
        controller.close();
      },
    });
    const told: ServerEvent[] = [];
    for await (const event of eventsOf(body)) told.push(event);
    expect(told).toEqual(EVENTS);
  });
});
