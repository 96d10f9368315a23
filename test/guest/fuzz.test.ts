import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { duplexPair } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isClocheError } from "../../src/base/errors.ts";
import { GuestClient } from "../../src/guest/client.ts";
import { ERROR_CODES } from "../../src/model/error-codes.ts";
import { fuzzSession } from "./fuzz-session.ts";
import { createMutator } from "./mutate.ts";
import { RealGuest, shell } from "./real-guest.ts";

const CORPUS = new URL("corpus/", import.meta.url);
const CASES_PER_FILE = 1200;
/** A case takes milliseconds; one that takes this long hangs. */
const CASE_DEADLINE_MS = 30_000;

let unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  unhandled = [];
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
});
afterEach(() => {
  process.off("unhandledRejection", note);
  process.off("uncaughtException", note);
});

/** The guest's bytes of one session, and its results. */
async function record(layers: boolean): Promise<{ bytes: Buffer; results: PromiseSettledResult<unknown>[] }> {
  await using guest = await RealGuest.start(layers);
  const setup = await guest.client();
  const script = "mkdir folder; echo content > folder/file; ln -s folder/file link; : > \"$(printf 'o\\377\\n')\"";
  expect((await shell(setup, script, { cwd: guest.workspace })).exit.code).toBe(0);
  const socket = await guest.socket();
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  const client = await GuestClient.connect(socket);
  const results = await fuzzSession(client);
  client.close();
  return { bytes: Buffer.concat(chunks), results };
}

/** HELLO first, because the session starts after it; then the rest in the chunks given; then the end. */
async function replay(chunks: readonly Buffer[]): Promise<string[]> {
  const [host, guest] = duplexPair();
  guest.resume();
  const [hello = Buffer.alloc(0), ...rest] = chunks;
  const connecting = GuestClient.connect(host, { timeoutMs: CASE_DEADLINE_MS });
  if (hello.length > 0) guest.write(hello);
  if (rest.length === 0) guest.end();
  // a HELLO that is cut needs more bytes before it is whole
  const client = await Promise.race([connecting, tick()]).catch((error: unknown) => [codeOf(error)]);
  if (client === undefined) {
    guest.end();
    return connecting.then(
      (late) => [closeLate(late)],
      (error: unknown) => [codeOf(error)],
    );
  }
  if (Array.isArray(client)) return client;
  const session = fuzzSession(client);
  for (const chunk of rest) if (chunk.length > 0) guest.write(chunk);
  guest.end();
  const results = await session;
  const closed = await client.closed;
  const codes = results.flatMap((result) => (result.status === "rejected" ? [codeOf(result.reason)] : []));
  return [...codes, closed ? closed.code : "CLOSED"];
}

function closeLate(client: GuestClient): string {
  client.close();
  return "CLOSED";
}

async function tick(): Promise<undefined> {
  for (let turn = 0; turn < 8; turn++) await new Promise((resolve) => setImmediate(resolve));
  return undefined;
}

function codeOf(error: unknown): string {
  if (isClocheError(error)) return error.code;
  throw error;
}

async function withDeadline<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It hangs: ${what}`)), CASE_DEADLINE_MS);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const HELLO_BYTES = 37;
const corpus = () => readdirSync(CORPUS).filter((name) => name.endsWith(".bin"));

describe("the corpus", () => {
  // after a change of the protocol: CLOCHE_RECORD_CORPUS=1 npx vitest run --project sandbox test/guest/fuzz.test.ts
  if (process.env["CLOCHE_RECORD_CORPUS"]) {
    it("is recorded anew", async () => {
      for (const layers of [false, true]) {
        const { bytes } = await record(layers);
        writeFileSync(new URL(layers ? "layers.bin" : "plain.bin", CORPUS), bytes);
      }
    });
  }

  it("is small and replays to the end of every operation", async () => {
    expect(corpus()).toEqual(["layers.bin", "plain.bin"]);
    for (const name of corpus()) {
      const bytes = readFileSync(new URL(name, CORPUS));
      expect(bytes.length).toBeLessThan(100_000);
      const codes = await replay([bytes.subarray(0, HELLO_BYTES), bytes.subarray(HELLO_BYTES)]);
      expect(codes.filter((code) => code === "GUEST_PROTOCOL")).toEqual([]);
      expect(codes.at(-1)).toBe("SANDBOX_LOST");
      // nothing was cut off: only what the session makes fail has failed, besides `changes` where no layers are
      expect(codes.slice(0, -1).filter((code) => code === "SANDBOX_LOST")).toEqual([]);
    }
  });

  it("is what the guest program says today, up to its numbers", async () => {
    const { results } = await record(true);
    const failed = results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []));
    const bytes = readFileSync(new URL("layers.bin", CORPUS));
    const codes = await replay([bytes.subarray(0, HELLO_BYTES), bytes.subarray(HELLO_BYTES)]);
    expect(codes).toHaveLength(failed.length + 1);
  });
});

describe("a guest that sends mutated frames", () => {
  it.each(["layers.bin", "plain.bin"])(
    "ends in a result or an error of the list, never in a hang: %s",
    async (name) => {
      const original = readFileSync(new URL(name, CORPUS));
      const mutator = createMutator(0xc10c4e, original);
      const seen = new Map<string, number>();
      const started = process.memoryUsage();
      for (let number = 0; number < CASES_PER_FILE; number++) {
        const chunks = mutator.next();
        const codes = await withDeadline(`case ${number} of ${name}`, replay(chunks));
        for (const code of codes) seen.set(code, (seen.get(code) ?? 0) + 1);
      }
      const known = new Set<string>([...Object.keys(ERROR_CODES), "CLOSED"]);
      expect([...seen.keys()].filter((code) => !known.has(code))).toEqual([]);
      // the mutations reach both ends, or they test nothing
      expect(seen.get("GUEST_PROTOCOL")).toBeGreaterThan(100);
      expect(seen.get("SANDBOX_LOST")).toBeGreaterThan(100);
      expect(unhandled).toEqual([]);
      globalThis.gc?.();
      expect(process.memoryUsage().arrayBuffers - started.arrayBuffers).toBeLessThan(64_000_000);
    },
    60_000,
  );

  it("and arbitrary bytes, with and without a HELLO before them", async () => {
    const hello = readFileSync(new URL("plain.bin", CORPUS)).subarray(0, HELLO_BYTES);
    const mutator = createMutator(7, hello);
    for (let number = 0; number < 500; number++) {
      const noise = mutator.noise();
      const codes = await withDeadline(`noise ${number}`, replay(number % 2 ? [hello, noise] : [noise]));
      for (const code of codes) expect(["GUEST_PROTOCOL", "SANDBOX_LOST", "GUEST_VERSION"]).toContain(code);
    }
    expect(unhandled).toEqual([]);
  });
});
