import { chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GuestClient } from "../../src/guest/client.ts";
import { GuestFiles } from "../../src/guest/files.ts";
import { AGENT, RealGuest, shell } from "./real-guest.ts";

let guest: RealGuest;
let client: GuestClient;
let files: GuestFiles;
beforeAll(async () => {
  guest = await RealGuest.start(true, ({ baseline }) => {
    for (const folder of ["folder", "folder/inner", "gone"]) {
      mkdirSync(join(baseline, folder));
      chownSync(join(baseline, folder), AGENT.uid, AGENT.gid);
    }
    for (const file of ["same", "edited", "mode", "moved", "kind", "folder/inner/deep", "gone/a", "gone/b"]) {
      writeFileSync(join(baseline, file), `${file}\n`, { mode: 0o644 });
      chownSync(join(baseline, file), AGENT.uid, AGENT.gid);
    }
    symlinkSync("same", join(baseline, "link"));
    lchownSync(join(baseline, "link"), AGENT.uid, AGENT.gid);
  });
  client = await guest.client();
  files = new GuestFiles(client, AGENT);
});
afterAll(async () => {
  await guest[Symbol.asyncDispose]();
});

const inShell = (script: string) => shell(client, script, { cwd: guest.workspace });
const shown = async () =>
  (await files.changes()).map(
    ({ status, oldType, newType, path }) => `${status} ${oldType ?? "-"} ${newType ?? "-"} ${path}`,
  );

describe("changes()", () => {
  it("says that the layers are there", () => {
    expect(client.hello.hasLayers).toBe(true);
  });

  it("are none at first, nor after reading and rewriting the same", async () => {
    expect(await shown()).toEqual([]);
    await inShell("cat same folder/inner/deep >/dev/null; touch same; cp edited x; cat x > edited; rm x");
    expect(await shown()).toEqual([]);
  });

  it("are what differs from the baseline, sorted", async () => {
    const { exit, stderr } = await inShell(
      `set -e
      echo more >> edited; chmod 755 mode; mv moved renamed; rm kind; ln -s same kind; rm -r gone
      mkdir -p new/sub; echo x > new/sub/file; echo y > folder/added; ln -sf edited link; printf odd > "$(printf 'o\\377')"`,
    );
    expect([exit.code, stderr]).toEqual([0, ""]);
    const found = await shown();
    expect(found.filter((line) => !/ directory | directory$/.test(line))).toEqual([
      "modified file file edited",
      "added - file folder/added",
      "deleted file - gone/a",
      "deleted file - gone/b",
      "type_changed file symlink kind",
      "modified symlink symlink link",
      "modified file file mode",
      "deleted file - moved",
      "added - file new/sub/file",
      "added - file o\ufffd",
      "added - file renamed",
    ]);
    const edited = (await files.changes()).find(({ path }) => path === "edited");
    expect(edited).toMatchObject({ oldSize: 7, newSize: 12, oldMode: 0o644, newMode: 0o644 });
    const odd = (await files.changes()).find(({ path }) => path === "o\ufffd");
    expect(odd?.pathBytes).toEqual(Buffer.from([0x6f, 0xff]));
  });

  it("read old content from the baseline and cannot write it", async () => {
    const { content } = await files.readAll("baseline", "edited", { maxBytes: 100 });
    expect(content.toString()).toBe("edited\n");
    for (const root of ["baseline", "upper"] as const) {
      await expect(files.write(root, "edited", Buffer.from("x"))).rejects.toMatchObject({ code: "FILE_FAILED" });
      await expect(files.remove(root, "edited")).rejects.toMatchObject({ code: "FILE_FAILED" });
    }
  });

  it("are refused when there are more than asked for", async () => {
    await expect(files.changes({ maxEntries: 3 })).rejects.toMatchObject({ code: "TOO_MANY_ENTRIES" });
  });

  it("see a folder that was removed and made again as what is in it", async () => {
    await inShell("rm -r folder; mkdir folder; echo z > folder/other");
    const found = (await shown()).filter((line) => line.includes("folder"));
    expect(found).toEqual(["deleted file - folder/inner/deep", "added - file folder/other"]);
  });
});
