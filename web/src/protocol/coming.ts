/** Methods that the stage speaks and that the server is about to have. Each leaves this file when it has them. */

export {};

declare module "./protocol.gen" {
  interface Methods {
    "session.replay": { params: Record<string, unknown>; result: unknown; session: true };
  }
}
