import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { Cloche } from "../../src/sdk/cloche.ts";
import { type BundledProgram, bundleProgram } from "./bundled-program.ts";

export interface ScriptedClient {
  readonly sdk: Cloche;
  /** What the daemons of this test have noted. */
  notes(): string[];
}

/** For each test a client of its own home, whose daemon is the scripted one. */
export function useScriptedClient(): ScriptedClient {
  let program: BundledProgram;
  let folder: string;
  let sdk: Cloche;
  beforeAll(async () => {
    program = await bundleProgram("test/fixtures/scripted-daemon.ts");
  });
  afterAll(() => program.remove());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cloche-sdk-"));
    sdk = new Cloche({
      home: join(folder, "home"),
      cache: join(folder, "cache"),
      env: { PATH: process.env["PATH"] },
      daemonProgram: program.entry,
    });
  });
  afterEach(async () => {
    await sdk.stopDaemon();
    await sdk.close();
    rmSync(folder, { recursive: true });
  });
  return {
    get sdk() {
      return sdk;
    },
    notes: () => {
      const file = join(folder, "home", "notes");
      return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    },
  };
}
