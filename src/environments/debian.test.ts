import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { currentIdMap } from "../base/id-map.ts";
import { silentLog } from "../base/log.ts";
import { createDebianDefinition } from "./debian.ts";
import { createEnvironments } from "./environments.ts";

const SOURCES = "deb http://user:s3cret@127.0.0.1:1/ bookworm main\n";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-debian-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// Everybody on the host can read the arguments of a process, but only while it runs: this one writes them down.
it("G-01 the password of a package mirror is in no argument and in no error", async () => {
  const program = join(folder, "mmdebstrap");
  const script = `#!/bin/sh
printf '%s\\n' "$@" > ${folder}/arguments
for argument; do last=$argument; done
[ "$last" = - ] && cat > ${folder}/input
echo "E: Failed to fetch http://user:s3cret@127.0.0.1:1/dists/bookworm/InRelease" >&2
exit 1
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"] ?? ""}` };
  const debian = createDebianDefinition({ name: "d", description: "", packages: [], env, sources: SOURCES });
  const environments = createEnvironments({
    cachePath: join(folder, "cache"),
    idMap: currentIdMap(),
    log: silentLog,
    definitions: [debian],
  });
  const error: unknown = await environments.ensure("d", {}).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "ENVIRONMENT_BUILD_FAILED",
    message: expect.stringContaining("http://127.0.0.1:1/dists") as string,
  });
  expect(JSON.stringify([error, String(error)])).not.toContain("s3cret");
  expect(readFileSync(join(folder, "arguments"), "utf8")).not.toContain("s3cret");
  expect(readFileSync(join(folder, "input"), "utf8")).toBe(SOURCES);
});
