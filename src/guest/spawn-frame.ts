import { failure } from "../model/error-codes.ts";
import { startFrame } from "./codec.ts";
import { HEADER_BYTES, HOST, MAX_SPAWN_PAYLOAD, SPAWN_FLAG } from "./frame-types.ts";

export interface Rlimit {
  readonly resource: number;
  readonly soft: number | bigint;
  readonly hard: number | bigint;
}

export interface SpawnSpec {
  /** Bytes for names that are not UTF-8. */
  readonly argv: readonly (string | Uint8Array)[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user: { readonly uid: number; readonly gid: number };
  /** A terminal of this size instead of pipes; all output is on stdout. */
  readonly pty?: { readonly cols: number; readonly rows: number } | undefined;
  /** Whether stdin is open; else it is `/dev/null`. */
  readonly stdin?: boolean | undefined;
  /** Stays in the guest's table after its end, until `forget`. */
  readonly keep?: boolean | undefined;
  /** A full ring drops its oldest bytes instead of making the process wait. */
  readonly dropOldest?: boolean | undefined;
  readonly ringBytes?: number | undefined;
  /** 0 or absent: none. */
  readonly timeoutMs?: number | undefined;
  /** Between TERM and KILL at the time-out. */
  readonly graceMs?: number | undefined;
  /** Comes back in the process list. */
  readonly tag?: string | undefined;
  readonly rlimits?: readonly Rlimit[] | undefined;
  /** The environment has secrets: no other command can look into this one, where commands have a user of their own. */
  readonly hasSecrets?: boolean | undefined;
  /** argv names a builtin of the guest program. */
  readonly builtin?: boolean | undefined;
}

const DEFAULT_GRACE_MS = 2000;
const MAX_RING_BYTES = 16 * 1024 * 1024;
const FIXED_BYTES = 32;

/** Throws INVALID_ARGUMENT for what the protocol cannot carry. */
export function spawnFrame(stream: number, spec: SpawnSpec, credit: number): Buffer {
  const tag = text(spec.tag ?? "", "tag");
  const cwd = text(spec.cwd, "working directory");
  if (spec.argv.length === 0) throw failure("INVALID_ARGUMENT", "Cannot run a command without a name");
  const argv = spec.argv.map((argument) => text(argument, "argument"));
  const env = Object.entries(spec.env).map(([name, value]) => variable(name, value));
  const rlimits = spec.rlimits ?? [];
  const size = FIXED_BYTES + strBytes([tag, cwd]) + 4 + strBytes(argv) + 4 + strBytes(env) + 4 + rlimits.length * 20;
  if (size > MAX_SPAWN_PAYLOAD) {
    throw failure("INVALID_ARGUMENT", "Cannot run the command: its arguments and environment are larger than 4 MiB");
  }
  const writer = new SpawnWriter(startFrame(HOST.SPAWN, stream, size));
  writer.u32(flagsOf(spec));
  writer.u32(uint(spec.user.uid, "uid", 0xffff_ffff));
  writer.u32(uint(spec.user.gid, "gid", 0xffff_ffff));
  writer.u32(uint(spec.timeoutMs ?? 0, "time-out", 0xffff_ffff));
  writer.u32(uint(spec.graceMs ?? DEFAULT_GRACE_MS, "grace", 0xffff_ffff));
  writer.u16(uint(spec.pty?.cols ?? 0, "number of columns", 0xffff));
  writer.u16(uint(spec.pty?.rows ?? 0, "number of rows", 0xffff));
  writer.u32(uint(spec.ringBytes ?? 0, "ring size", MAX_RING_BYTES));
  writer.u32(credit);
  writer.str(tag);
  writer.str(cwd);
  writer.list(argv);
  writer.list(env);
  writer.u32(rlimits.length);
  for (const { resource, soft, hard } of rlimits) {
    writer.u32(uint(resource, "resource", 0xffff_ffff));
    writer.u64(soft);
    writer.u64(hard);
  }
  return writer.frame;
}

function flagsOf(spec: SpawnSpec): number {
  return (
    (spec.pty ? SPAWN_FLAG.PTY : 0) |
    (spec.builtin ? SPAWN_FLAG.BUILTIN : 0) |
    (spec.keep ? SPAWN_FLAG.KEEP : 0) |
    (spec.dropOldest ? SPAWN_FLAG.DROP : 0) |
    (spec.stdin ? SPAWN_FLAG.STDIN : 0) |
    (spec.hasSecrets ? SPAWN_FLAG.SECRETS : 0)
  );
}

/** Gives `value` back when it is a whole number from 0 to `max`. */
export function uint(value: number, what: string, max: number): number {
  if (Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw failure("INVALID_ARGUMENT", `The ${what} ${value} is not a whole number from 0 to ${max}`);
}

function text(value: string | Uint8Array, what: string): Uint8Array {
  const bytes = typeof value === "string" ? Buffer.from(value, "utf8") : value;
  if (bytes.includes(0)) throw failure("INVALID_ARGUMENT", `Cannot run the command: its ${what} has a NUL`);
  return bytes;
}

function variable(name: string, value: string): Uint8Array {
  if (name !== "" && !name.includes("=")) return text(`${name}=${value}`, "environment");
  throw failure("INVALID_ARGUMENT", `Cannot run the command: "${name}" is no name of a variable`);
}

function strBytes(items: readonly Uint8Array[]): number {
  return items.reduce((sum, item) => sum + 4 + item.length, 0);
}

class SpawnWriter {
  readonly frame: Buffer;
  #at = HEADER_BYTES;

  constructor(frame: Buffer) {
    this.frame = frame;
  }

  u16(value: number): void {
    this.#at = this.frame.writeUInt16LE(value, this.#at);
  }

  u32(value: number): void {
    this.#at = this.frame.writeUInt32LE(value, this.#at);
  }

  u64(value: number | bigint): void {
    this.#at = this.frame.writeBigUInt64LE(BigInt(value), this.#at);
  }

  str(bytes: Uint8Array): void {
    this.u32(bytes.length);
    this.frame.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  list(items: readonly Uint8Array[]): void {
    this.u32(items.length);
    for (const item of items) this.str(item);
  }
}
