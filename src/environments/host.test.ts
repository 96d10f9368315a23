import { createHostDefinition } from "./host.ts";
import { ETC_ALLOWLIST } from "./host-allowlist.ts";
import { FILES, LINKS } from "./system-files.ts";
import { walkTree } from "../base/walk-tree.ts";
import { currentIdMap } from "../base/id-map.ts";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let folder: string;
let root: string;
let rootfs: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cloche-host-"));
  root = join(folder, "host");
  rootfs = join(folder, "rootfs");
  mkdirSync(rootfs);
  for (const path of ["usr/bin", "opt", "etc/ssl/certs", "etc/ssl/private", "etc/fonts", "etc/python3.99"]) {
    mkdirSync(join(root, path), { recursive: true, mode: 0o755 });
  }
  symlinkSync("usr/bin", join(root, "bin"));
  put("etc/services", "http 80/tcp\n");
  put("etc/ssl/certs/ca.pem", "-----BEGIN CERTIFICATE-----\n");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string, mode = 0o644): void {
  writeFileSync(join(root, path), text);
  chmodSync(join(root, path), mode);
}

async function build(definition = createHostDefinition({ root, hidden: [] })): Promise<string[]> {
  const idMap = currentIdMap();
  await definition.build({ rootfs, scratch: folder, idMap, progress: () => undefined, signal: undefined });
  return below(rootfs);
}

async function below(top: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of walkTree(top)) paths.push(path.slice(top.length + 1));
  return paths;
}

describe("environment host", () => {
  it("has the host's links at the top, mount points and the user agent", async () => {
    await build();
    expect(readlinkSync(join(rootfs, "bin"))).toBe("usr/bin");
    for (const path of ["workspace", "proc", "dev", "tmp", "run", "sys", "usr", "opt"]) {
      expect(lstatSync(join(rootfs, path)).isDirectory(), path).toBe(true);
    }
    expect(lstatSync(join(rootfs, "tmp")).mode & 0o7777).toBe(0o1777);
    expect(readFileSync(join(rootfs, "etc/passwd"), "utf8")).toContain("\nagent:x:1000:1000:agent:/home/agent:");
    expect(readFileSync(join(rootfs, "etc/resolv.conf"), "utf8")).toBe("");
    const { uid, gid } = lstatSync(join(rootfs, "home/agent"));
    expect({ uid, gid }).toEqual(currentIdMap().toHost(1000, 1000));
    expect(lstatSync(join(rootfs, "etc/services")).uid).toBe(currentIdMap().toHost(0, 0).uid);
  });

  it("shows folders at the top as they are where /usr is not merged", async () => {
    mkdirSync(join(root, "sbin"));
    const definition = createHostDefinition({ root, hidden: [] });
    expect(definition.hostFolders().shown).toEqual(["/sbin", "/usr", "/opt"]);
    await build(definition);
    expect(lstatSync(join(rootfs, "sbin")).isDirectory()).toBe(true);
  });

  it("G-01: takes from /etc what is public and on the list, and nothing else", async () => {
    put("etc/shadow", "root:hash\n", 0o644);
    put("etc/gitconfig", "[url]\n");
    put("etc/protocols", "readable by its owner only\n", 0o600);
    put("etc/fonts/group-only", "x", 0o640);
    put("etc/ssl/private/server.pem", "x");
    put("etc/ssl/certs/server.key", "x");
    put("etc/ssl/certs/both.pem", "-----BEGIN PRIVATE KEY-----\n");
    put("etc/python3.99/db_password", "x");
    mkdirSync(join(root, "etc/fonts/closed"), { mode: 0o700 });
    put("etc/fonts/closed/file", "x");
    execFileSync("mkfifo", ["-m", "644", join(root, "etc/fonts/pipe")]);
    symlinkSync("../shadow", join(root, "etc/fonts/link"));
    const taken = (await build()).filter((path) => path.startsWith("etc/") && !(path in FILES) && !(path in LINKS));
    expect(taken.sort()).toEqual(
      ["group", "passwd", "fonts", "fonts/link", "python3.99", "services", "ssl", "ssl/certs", "ssl/certs/ca.pem"]
        .map((path) => `etc/${path}`)
        .sort(),
    );
    expect(readlinkSync(join(rootfs, "etc/fonts/link"))).toBe("../shadow");
  });

  it("G-01: has of this very host nothing beyond the list and nothing that is not public", async () => {
    const paths = (await build(createHostDefinition())).filter((path) => path.startsWith("etc/"));
    const allowed = ETC_ALLOWLIST.map((entry) => `etc/${entry}`);
    const own = new Set([...Object.keys(FILES), ...Object.keys(LINKS), "etc/passwd", "etc/group"]);
    expect(paths.length).toBeGreaterThan(own.size);
    for (const path of paths.filter((one) => !own.has(one))) {
      const listed = allowed.some((entry) =>
        entry.endsWith("*")
          ? path.startsWith(entry.slice(0, -1))
          : path === entry || path.startsWith(`${entry}/`) || entry.startsWith(`${path}/`),
      );
      expect(listed, path).toBe(true);
      const stats = lstatSync(`/${path}`);
      if (!stats.isSymbolicLink()) expect(stats.mode & 0o004, path).toBe(0o004);
      expect(stats.isFile() || stats.isDirectory() || stats.isSymbolicLink(), path).toBe(true);
    }
  });

  it("has another digest when a file that it copies changes, and only then", async () => {
    let time = 0;
    const definition = createHostDefinition({ root, hidden: [], now: () => (time += 10_000) });
    const first = await definition.digest();
    expect(await definition.digest()).toBe(first);
    put("etc/gitconfig", "not copied\n");
    expect(await definition.digest()).toBe(first);
    put("etc/services", "http 81/tcp\n");
    const second = await definition.digest();
    expect(second).not.toBe(first);
    put("etc/services", "http 80/tcp\n");
    expect(await definition.digest()).toBe(first);
  });
});
