import type { EchoMask, MaskingStream } from "../../policy/egress/echo-mask.ts";
import { InjectionFound, type Watch } from "./incoming-watch.ts";
import { FrameReader, POLICY_VIOLATION, PROTOCOL_ERROR, frame } from "./web-socket-frames.ts";

const CLOSE = 8;
const MAX_CONTROL = 125;

/** Where they go, and what is looked for in them. */
interface IncomingWay {
  readonly echo: EchoMask;
  readonly watch: Watch;
  /** False when it is to wait. */
  readonly write: (bytes: Buffer) => boolean;
  /** `injection`: words that are meant for a model were found. */
  readonly onEnd: (code: number, injection: InjectionFound | undefined) => void;
}

/**
 * Frames on their way in, where something is looked for in them: each message is read over as many frames as it comes in, and a frame between two parts of a message hides nothing.
 * Whoever gets a message has it when it is whole, so that what may be a part of a credential waits for the rest.
 */
export class IncomingFrames {
  readonly #way: IncomingWay;
  readonly #reader: FrameReader;
  #opcode = 0;
  #isFinal = true;
  #control: Buffer[] = [];
  #message: { mask: MaskingStream | null; opcode: number } | undefined;
  #isTaken = true;
  #isOver = false;

  constructor(way: IncomingWay) {
    this.#way = way;
    this.#reader = new FrameReader({
      head: ({ opcode, isFinal, reserved, mask, length }) => {
        const isControl = opcode >= CLOSE;
        if (reserved !== 0 || mask || (isControl && (length > MAX_CONTROL || !isFinal)))
          throw new Error("no frame that there is");
        this.#opcode = opcode;
        if (isControl) return;
        if ((opcode === 0) !== (this.#message !== undefined)) throw new Error("a message in a message");
        this.#isFinal = isFinal;
        this.#message ??= { mask: way.echo.isEmpty ? null : way.echo.stream(), opcode };
      },
      payload: (bytes, isLast) => this.#payload(bytes, isLast),
    });
  }

  /** False when it is to wait. */
  take(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    this.#isTaken = true;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#isOver = true;
      const injection = error instanceof InjectionFound ? error : undefined;
      this.#way.onEnd(injection ? POLICY_VIOLATION : PROTOCOL_ERROR, injection);
    }
    return this.#isTaken;
  }

  #payload(bytes: Buffer, isLast: boolean): void {
    if (this.#opcode >= CLOSE) this.#takeControl(bytes, isLast);
    else this.#takePart(bytes, isLast && this.#isFinal);
  }

  #takeControl(bytes: Buffer, isLast: boolean): void {
    this.#control.push(bytes);
    if (!isLast) return;
    const payload = Buffer.concat(this.#control.splice(0));
    this.#watch(payload);
    this.#write(frame(this.#opcode, Buffer.from(this.#way.echo.text(payload.toString("latin1")), "latin1")));
  }

  #takePart(part: Buffer, isEnd: boolean): void {
    const message = this.#message;
    if (!message) throw new Error("no message");
    this.#watch(part);
    const { mask } = message;
    const bytes = mask ? Buffer.concat([mask.push(part), ...(isEnd ? [mask.end()] : [])]) : part;
    if (bytes.length > 0 || isEnd) {
      this.#write(frame(message.opcode, bytes, { isFinal: isEnd }));
      message.opcode = 0; // what follows goes on with it
    }
    if (isEnd) this.#message = undefined;
  }

  /** SECURITY: what comes with such words ends there, over a WebSocket as in any answer (G-53) */
  #watch(bytes: Buffer): void {
    if (bytes.length > 0) this.#way.watch?.(bytes);
  }

  #write(bytes: Buffer): void {
    this.#isTaken = this.#way.write(bytes);
  }
}
