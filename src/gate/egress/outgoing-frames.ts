import type { Duplex } from "node:stream";
import type { BodyScan } from "../../policy/dlp/detector.ts";
import { isViolation } from "../../policy/dlp/finding.ts";
import type { ModelTalk } from "../../policy/egress/model-talk.ts";
import type { Admitted } from "./admission.ts";
import { Denied } from "./denial.ts";
import { FrameReader, POLICY_VIOLATION, PROTOCOL_ERROR, frame } from "./web-socket-frames.ts";

/** So much of a message is looked at before a part of it goes on. */
const PART = 64 * 1024;
const CLOSE = 8;

/** Where they go, and what else is to be known. */
interface OutgoingWay {
  /** Of a model's WebSocket. */
  readonly talk: Pick<ModelTalk, "send" | "sent"> | undefined;
  /** Undefined when a message may go on at once. Rejects with `Denied`. */
  readonly afford: () => Promise<void> | undefined;
  /** What was held goes on. */
  readonly onReady: () => void;
  /** `told`: what the sandbox is to hear. */
  readonly onEnd: (code: number, told: Denied | undefined) => void;
}

/** Frames on their way out: each message is looked at whole, over as many frames as it comes in. */
export class OutgoingFrames {
  readonly #admitted: Admitted;
  readonly #upstream: Duplex;
  readonly #way: OutgoingWay;
  readonly #reader: FrameReader;
  #opcode = 0;
  #isFinal = true;
  #isControl = false;
  /** Of a control frame. */
  #control: Buffer[] = [];
  #message: { scan: BodyScan | null; opcode: number; isBegun: boolean; parts: Uint8Array[]; size: number } | undefined;
  #isOver = false;
  #isHeld = false;

  constructor(admitted: Admitted, upstream: Duplex, way: OutgoingWay) {
    this.#admitted = admitted;
    this.#upstream = upstream;
    this.#way = way;
    const isHeld = () => this.#isHeld;
    this.#reader = new FrameReader({
      head: (head) => this.#head(head),
      payload: (bytes, isLast) => this.#payload(bytes, isLast),
      get isHeld() {
        return isHeld();
      },
    });
  }

  /** While a message waits, nothing behind it goes on. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** False when it is to wait. */
  take(chunk: Buffer): boolean {
    if (this.#isOver) return true;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      this.#end(error);
    }
    return !this.#isHeld && !this.#upstream.writableNeedDrain;
  }

  #end(error: unknown): void {
    this.#isOver = true;
    const told = error instanceof Denied ? error : undefined;
    this.#way.onEnd(told || error instanceof Leak ? POLICY_VIOLATION : PROTOCOL_ERROR, told);
  }

  #head({
    isFinal,
    opcode,
    reserved,
    mask,
    length,
  }: {
    isFinal: boolean;
    opcode: number;
    reserved: number;
    mask: Buffer | undefined;
    length: number;
  }): void {
    this.#isControl = opcode >= CLOSE;
    const isKnown = [0, 1, 2, 8, 9, 10].includes(opcode);
    // SECURITY: a frame that may be read in another way is none (G-41)
    if (!isKnown || reserved !== 0 || !mask || (this.#isControl && (length > 125 || !isFinal)))
      throw new Error("no frame that there is");
    this.#opcode = opcode;
    if (this.#isControl) return;
    if ((opcode === 0) !== (this.#message !== undefined)) throw new Error("a message in a message");
    this.#isFinal = isFinal;
    if (opcode !== 0) this.#message = { scan: this.#newMessageScan(), opcode, isBegun: false, parts: [], size: 0 };
  }

  #newScan(place: "message" | "control", mode: "find" | "redact"): BodyScan | null {
    const { inForce, policy, request } = this.#admitted;
    const { outbound } = inForce;
    if (!outbound) return null;
    return outbound.body({
      mode,
      place,
      memory: policy.memory(request.place.host, outbound),
    });
  }

  #newMessageScan(): BodyScan | null {
    return this.#newScan("message", this.#redacts ? "redact" : "find");
  }

  get #redacts(): boolean {
    return this.#admitted.inForce.route.dlp.outbound_on_match === "redact";
  }

  #payload(bytes: Buffer, isLast: boolean): void {
    if (this.#isControl) this.#takeControl(bytes, isLast);
    else this.#takeMessage(bytes, isLast && this.#isFinal);
  }

  #takeControl(bytes: Buffer, isLast: boolean): void {
    this.#control.push(bytes);
    if (!isLast) return;
    const payload = Buffer.concat(this.#control.splice(0));
    // SECURITY: many pings may carry together what none of them has (G-50)
    const scan = this.#newScan("control", "find");
    scan?.push(payload);
    scan?.end();
    const findings = scan?.findings ?? [];
    this.#admitted.record.found(findings);
    if (findings.some(isViolation)) throw new Leak();
    this.#upstream.write(frame(this.#opcode, payload, { isMasked: true }));
  }

  #takeMessage(part: Buffer, isEnd: boolean): void {
    const message = this.#message;
    if (!message) throw new Error("no message");
    const { scan } = message;
    const before = scan?.findings.length ?? 0;
    const ready = scan ? [...scan.push(part), ...(isEnd ? scan.end() : [])] : [part];
    if (scan) this.#judge(scan.findings.slice(before));
    message.parts.push(...ready);
    message.size += ready.reduce((sum, { length }) => sum + length, 0);
    if (!isEnd && message.size < PART) return;
    const payload = Buffer.concat(message.parts.splice(0));
    message.size = 0;
    this.#way.talk?.send(payload);
    const bytes = frame(message.isBegun ? 0 : message.opcode, payload, { isFinal: isEnd, isMasked: true });
    message.isBegun = true;
    if (!isEnd) {
      this.#upstream.write(bytes);
      return;
    }
    this.#message = undefined;
    const more = this.#way.afford();
    if (more) this.#hold(bytes, more);
    else this.#finish(bytes);
  }

  /** SECURITY: the last of a message goes out when the run may use more, and not before: without it nobody can answer (G-131) */
  #hold(last: Buffer, more: Promise<void>): void {
    this.#isHeld = true;
    more.then(
      () => {
        this.#isHeld = false;
        this.#finish(last);
        this.take(Buffer.alloc(0));
        this.#way.onReady();
      },
      (error: unknown) => {
        this.#isHeld = false;
        this.#end(error);
        this.#way.onReady();
      },
    );
  }

  #finish(last: Buffer): void {
    if (this.#upstream.writable) this.#upstream.write(last);
    this.#way.talk?.sent();
  }

  #judge(findings: BodyScan["findings"]): void {
    this.#admitted.record.found(findings);
    if (!this.#redacts && findings.some(isViolation)) throw new Leak();
  }
}

class Leak extends Error {}
