/** Methods that the stage speaks and that the server is about to have. Each leaves this file when it has them. */

export interface FoundLine {
  message_id: string;
  turn_index: number;
  speaker_name: string;
  excerpt: string;
  places: { start: number; end: number }[];
}

declare module "./protocol.gen" {
  interface Methods {
    "session.find": { params: { query: string; limit?: number }; result: { messages: FoundLine[] }; session: true };
    "session.export_prepare": { params: { format: string; turn_id?: string; include?: Record<string, boolean> }; result: { archive: { resource_id: string; file_id: string } }; session: true };
    "session.recap": { params: { since_turn_id?: string }; result: { text: string; from: string }; session: true };
    "session.replay": { params: Record<string, unknown>; result: unknown; session: true };
  }
}
