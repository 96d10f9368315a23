import { isClocheError } from "../../base/errors.ts";
import type { ProcessInfo } from "../../guest/process.ts";
import type { Redactor } from "../../policy/redactor.ts";
import type { LiveWorkspace } from "../live-workspace.ts";
import { findServiceProcess } from "./service-process.ts";

export interface LogText {
  readonly text: string;
  /** Whether older bytes are lost. */
  readonly dropped: boolean;
}

export interface LogTexts {
  readonly stdout: LogText;
  readonly stderr: LogText;
}

const GONE: LogText = { text: "", dropped: true };

/** All that the guest keeps of a service's output as of now, without secrets. The process may go on meanwhile. */
export async function readServiceLog(live: LiveWorkspace, serviceName: string): Promise<LogTexts> {
  const info = await findServiceProcess(await live.guest(), serviceName);
  if (!info) return { stdout: GONE, stderr: GONE };
  const rings = await readRings(live, info);
  const { redactor } = live.secrets;
  const isRunning = info.exit === undefined;
  return {
    stdout: {
      text: showLog(rings.stdout.bytes(), rings.stdout.dropped, isRunning, redactor),
      dropped: rings.stdout.dropped,
    },
    stderr: {
      text: showLog(rings.stderr.bytes(), rings.stderr.dropped, isRunning, redactor),
      dropped: rings.stderr.dropped,
    },
  };
}

/** The last lines; `cut` tells whether there were more. */
export function tailLines(text: string, count: number): { text: string; cut: boolean } {
  let at = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let left = count; left > 0; left--) {
    if (at <= 0) return { text, cut: false };
    at = text.lastIndexOf("\n", at - 1);
    if (at < 0) return { text, cut: false };
  }
  return { text: text.slice(at + 1), cut: true };
}

/** The last bytes, from the beginning of a character on. */
export function tailBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let from = Math.max(0, bytes.length - maxBytes);
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from++;
  return bytes.subarray(from).toString();
}

/**
 * What can be shown of a log. A secret whose beginning was dropped, or whose end is not written yet, cannot be recognised: as much as may be a part
 * of one is left out at both ends.
 */
export function showLog(bytes: Buffer, dropped: boolean, isRunning: boolean, redactor: Redactor): string {
  const end = bytes.length - (isRunning ? redactor.openEnd(bytes) : 0);
  if (!dropped) return redactor.bytes(bytes.subarray(0, end)).toString();
  let from = redactor.openStart(bytes);
  for (const span of redactor.find(bytes)) if (span.start < from) from = Math.max(from, span.end);
  const text = redactor.bytes(bytes.subarray(Math.min(from, end), end)).toString();
  return text.slice(text.indexOf("\n") + 1); // half a line is none
}

/** One channel as it is read. */
class Ring {
  readonly #parts: Buffer[] = [];
  readonly #end: number;
  #next: number;
  dropped: boolean;

  constructor({ start, end }: { start: number; end: number }) {
    this.#next = start;
    this.#end = end;
    this.dropped = start > 0;
  }

  get complete(): boolean {
    return this.#next >= this.#end;
  }

  add(offset: number, data: Buffer): void {
    if (offset > this.#next) {
      // It was overwritten before it could be read: what lies before the gap is the older part.
      this.#parts.length = 0;
      this.dropped = true;
    }
    this.#parts.push(Buffer.from(data));
    this.#next = offset + data.length;
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

async function readRings(live: LiveWorkspace, info: ProcessInfo): Promise<{ stdout: Ring; stderr: Ring }> {
  const rings = { stdout: new Ring(info.stdout), stderr: new Ring(info.stderr) };
  const isComplete = () => rings.stdout.complete && rings.stderr.complete;
  if (isComplete()) return rings;
  const visit = (await live.guest()).attach(info.process, { stdout: info.stdout.start, stderr: info.stderr.start });
  try {
    for await (const { channel, offset, data } of visit.output()) {
      // A channel that has all that there was when it began takes no more, whatever the process prints meanwhile.
      if (!rings[channel].complete) rings[channel].add(offset, data);
      if (isComplete()) break;
    }
  } catch (error) {
    // Forgotten meanwhile, by a new start of that name: what was read is what there is.
    if (!isClocheError(error) || error.code !== "COMMAND_NOT_FOUND") throw error;
  } finally {
    visit.detach();
  }
  return rings;
}
