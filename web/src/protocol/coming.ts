/** Methods that the stage speaks and that the server is about to have. Each leaves this file when it has them. */

import type { ArchivePlace, MessageLine } from "./protocol.gen";

declare module "./protocol.gen" {
  interface Methods {
    "session.find": { params: { query: string; limit?: number }; result: { messages: MessageLine[] }; session: true };
    "session.export_prepare": { params: { format: string; turn_id?: string; include?: Record<string, boolean> }; result: { archive: ArchivePlace }; session: true };
    "session.recap": { params: { since_turn_id?: string }; result: { text: string; from: string }; session: true };
    "session.replay": { params: Record<string, unknown>; result: unknown; session: true };
  }
}
