import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { currentIdMap } from "../../src/base/id-map.ts";
import { removeTree } from "../../src/base/remove-tree.ts";
import { guestProgram } from "../../src/walls/guest-program.ts";
import { idMapArguments } from "../../src/walls/id-map-arguments.ts";
import { builtDebian } from "./built-debian.ts";
import { type CliResult, runProcess } from "./installation.ts";

const ENTER = fileURLToPath(new URL("minimal-root.sh", import.meta.url));
const NAMESPACES = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--ipc"];
/** How this machine finds names. */
const NETWORK_FILES = ["/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf"];
/** What npm is told here of its registry and of the way there. */
const NPM_SETTINGS = ["registry", "proxy", "https-proxy", "noproxy"];
const AUTHORITIES = "/node/authorities.crt";

/** A small Debian of its own, with Node.js and npm and with nothing that builds programs. It has the host's network, and no process outlives a command. Needs root. */
export class MinimalRoot implements AsyncDisposable {
  readonly #folder: string;
  readonly #npm: string;
  readonly #env: readonly string[];

  private constructor(folder: string, npm: string, env: readonly string[]) {
    this.#folder = folder;
    this.#npm = npm;
    this.#env = env;
  }

  static async make(): Promise<MinimalRoot> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "cl-root-")));
    const rootfs = join(await builtDebian(), "rootfs");
    // Packed as the sandbox's root, who sees the owners as they are in a system.
    const mapped = [guestProgram(), "mapped", ...idMapArguments(currentIdMap()), "--in", rootfs, "--"];
    const copy = 'root=$1; shift; "$@" tar --create --file - . | tar --extract --numeric-owner --directory "$root"';
    await run("sh", "-c", copy, "sh", folder, ...mapped);
    for (const file of NETWORK_FILES) if (existsSync(file)) copyFileSync(file, join(folder, file));
    mkdirSync(join(folder, "node/bin"), { recursive: true });
    mkdirSync(join(folder, "node/npm"));
    writeFileSync(join(folder, "node/bin/node"), "");
    for (const name of ["npm", "npx"]) symlinkSync(`../npm/bin/${name}-cli.js`, join(folder, "node/bin", name));
    const npm = dirname(dirname(realpathSync((await run("sh", "-c", "command -v npm")).trim())));
    return new MinimalRoot(folder, npm, await npmSettings(folder));
  }

  /** A path in it, as the host sees it. */
  path(path: string): string {
    return join(this.#folder, path);
  }

  /** Runs a shell script in it, as its root. */
  async run(script: string): Promise<CliResult> {
    const env = ["env", "-i", "HOME=/root", "PATH=/node/bin:/usr/sbin:/usr/bin:/sbin:/bin", ...this.#env];
    return await runProcess("unshare", [...NAMESPACES, ENTER, ...env, "sh", "-ec", script], {
      env: { ...process.env, ROOT: this.#folder, NODE: process.execPath, NPM: this.#npm },
      timeoutMs: 120_000,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeTree(this.#folder);
  }
}

async function npmSettings(folder: string): Promise<string[]> {
  const set = JSON.parse(await run("npm", "config", "list", "--json")) as Record<string, unknown>;
  const given = NPM_SETTINGS.flatMap((name) =>
    typeof set[name] === "string" ? [`npm_config_${name}=${set[name]}`] : [],
  );
  const authorities = set["cafile"];
  if (typeof authorities !== "string" || !existsSync(authorities)) return given;
  copyFileSync(authorities, join(folder, AUTHORITIES));
  return [...given, `npm_config_cafile=${AUTHORITIES}`];
}

async function run(program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProcess(program, args, { timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`${program}: ${stderr}`);
  return stdout;
}
