import { describe, expect, it } from "vitest";
import type { ContentRecord } from "./builtin.ts";
import { decodeMany, type FileFound } from "./many-files.ts";
import type { GuestEntry } from "./records.ts";

const entry = (type: GuestEntry["type"] = "file"): ContentRecord => ({
  kind: "entry",
  entry: {
    type,
    mode: 0o644,
    size: 3,
    mtimeNs: 0n,
    path: "",
    pathBytes: Buffer.alloc(0),
    linkTarget: null,
    linkTargetBytes: Buffer.alloc(0),
  },
});
const bytes = (text: string): ContentRecord => ({ kind: "bytes", data: Buffer.from(text) });
const END: ContentRecord = { kind: "file-end" };
const DONE: ContentRecord = { kind: "done", bytes: 0 };

async function decode(records: readonly ContentRecord[], count: number, maxBytes = 4): Promise<string[]> {
  const told: string[] = [];
  const wanted = Array.from({ length: count }, (_, index) => ({ path: `f${index}`, maxBytes }));
  const shown = (found: FileFound) => ("content" in found ? found.content.toString() : `errno ${found.errno}`);
  // eslint-disable-next-line @typescript-eslint/require-await -- records are a stream
  const stream = async function* () {
    yield* records;
  };
  for await (const found of decodeMany(stream(), wanted)) told.push(shown(found));
  return told;
}

const refusal = async (records: readonly ContentRecord[], count: number): Promise<unknown> =>
  await decode(records, count).catch((error: unknown) => (error as { code?: unknown }).code);

describe("decodeMany", () => {
  it("gives one answer for each file, also after one that cannot be read to its end", async () => {
    const broken: ContentRecord = { kind: "unreadable", errno: 5 };
    const records = [entry(), bytes("a"), bytes("bc"), END, entry(), bytes("x"), broken, entry(), END, DONE];
    expect(await decode(records, 3)).toEqual(["abc", "errno 5", ""]);
  });

  it("G-10: takes no more than was asked for, and nothing out of its place", async () => {
    const whole = [entry(), bytes("a"), END];
    expect(await refusal([entry(), bytes("abc"), bytes("de"), END, DONE], 1)).toBe("GUEST_PROTOCOL");
    expect(await refusal([...whole, DONE], 2)).toBe("GUEST_PROTOCOL");
    expect(await refusal([...whole, ...whole, DONE], 1)).toBe("GUEST_PROTOCOL");
    expect(await refusal([bytes("a"), END, DONE], 1)).toBe("GUEST_PROTOCOL");
    expect(await refusal([entry("symlink"), bytes("a"), END, DONE], 1)).toBe("GUEST_PROTOCOL");
    expect(await refusal([entry(), entry(), END, DONE], 1)).toBe("GUEST_PROTOCOL");
    expect(await refusal([END, DONE], 1)).toBe("GUEST_PROTOCOL");
    expect(await decode([...whole, DONE], 1)).toEqual(["a"]);
  });
});
