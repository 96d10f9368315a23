/** How long the gate waits for others. */
export interface Patience {
  /** For the first bytes in a tunnel, and then for a handshake. */
  readonly helloMs: number;
  /** From a request to the last byte of its answer's head. A model may think for long before its first word. */
  readonly headMs: number;
  /** Between two parts of an answer. */
  readonly silenceMs: number;
  /** For the second side of a WebSocket, after the first one has ended. */
  readonly halfClosedMs: number;
}

export const PATIENCE: Patience = {
  helloMs: 30_000,
  headMs: 15 * 60_000,
  silenceMs: 15 * 60_000,
  halfClosedMs: 10_000,
};
