import { existsSync, readFileSync, readdirSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { PrepareOptions } from "../../contracts/backend.ts";
import { failure } from "../../model/error-codes.ts";
import { runTool } from "./run-tool.ts";
import type { VmCache } from "./vm-cache.ts";

const FETCHED = "kernels/debian-12-cloud";
const PACKAGE = "linux-image-cloud-amd64";

/** A kernel for machines, with its modules. */
export interface Kernel {
  readonly version: string;
  readonly image: string;
  /** Below `lib/modules`. */
  readonly modules: string;
}

/** The kernel in the folder that `CLOCHE_VM_KERNEL` names, or Debian's for clouds, which is fetched once. */
export async function ensureKernel(
  cache: VmCache,
  { signal, progress }: PrepareOptions,
  given = process.env["CLOCHE_VM_KERNEL"],
): Promise<Kernel> {
  if (given) return findKernel(given);
  const folder = await cache.make(
    FETCHED,
    async (path) => {
      progress?.({ step: "fetching a kernel" });
      await fetchKernel(path, signal);
    },
    { signal },
  );
  return findKernel(folder);
}

/** The same, when it need not be fetched. */
export function presentKernel(cache: VmCache, given = process.env["CLOCHE_VM_KERNEL"]): Kernel | undefined {
  const folder = given || cache.path(FETCHED);
  return existsSync(folder) ? findKernel(folder) : undefined;
}

/** The newest kernel in an unpacked package: `boot/vmlinuz-VERSION` and `lib/modules/VERSION`. */
export function findKernel(folder: string): Kernel {
  const boot = join(folder, "boot");
  const images = existsSync(boot) ? readdirSync(boot).filter((name) => name.startsWith("vmlinuz-")) : [];
  const image = images.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  if (image === undefined) {
    throw failure("BACKEND_UNAVAILABLE", `There is no kernel boot/vmlinuz-VERSION in "${folder}"`, {
      hint: "Unset CLOCHE_VM_KERNEL, or set it to a folder with an unpacked kernel package, and then run `cloche daemon stop`",
    });
  }
  const version = image.slice("vmlinuz-".length);
  return { version, image: join(boot, image), modules: join(folder, "lib/modules", version) };
}

async function fetchKernel(path: string, signal: AbortSignal | undefined): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o755 });
  const fetch = (name: string) =>
    runTool({ argv: ["apt-get", "-qq", "download", name], package: "apt", cwd: path, signal });
  await fetch(PACKAGE);
  const [meta = ""] = await packages(path);
  const depends = await runTool({
    argv: ["dpkg-deb", "--field", join(path, meta), "Depends"],
    package: "dpkg",
    signal,
  });
  const image = /linux-image-[\w.-]+/.exec(depends)?.[0];
  if (image === undefined) throw failure("BACKEND_UNAVAILABLE", `The package ${PACKAGE} names no kernel`);
  await fetch(image);
  for (const name of await packages(path)) {
    await runTool({ argv: ["dpkg-deb", "--extract", join(path, name), path], package: "dpkg", signal });
    await rm(join(path, name));
  }
}

const packages = async (path: string): Promise<string[]> =>
  (await readdir(path)).filter((name) => name.endsWith(".deb"));

/** The files of modules in the order in which they have to be loaded; what is built into the kernel needs none. */
export function moduleFiles({ modules, version }: Kernel, wanted: readonly string[]): string[] {
  const files = new Map<string, string>();
  for (const name of existsSync(modules) ? readdirSync(modules, { recursive: true, encoding: "utf8" }) : [])
    if (name.endsWith(".ko")) files.set(moduleName(name), join(modules, name));
  const list = join(modules, "modules.builtin");
  const builtin = new Set(
    existsSync(list) ? readFileSync(list, "utf8").split("\n").filter(Boolean).map(moduleName) : [],
  );
  const order: string[] = [];
  const add = (name: string): void => {
    const file = files.get(name);
    if (file === undefined) {
      if (builtin.has(name)) return;
      throw failure("BACKEND_UNAVAILABLE", `The kernel ${version} has no module "${name}", which machines need`, {
        hint: `Unset CLOCHE_VM_KERNEL to use Debian's ${PACKAGE}, or give a kernel that has it, and then run \`cloche daemon stop\``,
      });
    }
    if (order.includes(file)) return;
    for (const needed of dependenciesOf(file)) add(needed);
    order.push(file);
  };
  for (const name of wanted) add(name);
  return order;
}

const moduleName = (path: string): string => (path.split("/").at(-1) ?? "").replace(/\.ko.*$/, "").replaceAll("-", "_");

/** What the module itself says: `depends=a,b` between two zero bytes. */
function dependenciesOf(file: string): string[] {
  const content = readFileSync(file);
  const marker = Buffer.from("\0depends=");
  const at = content.indexOf(marker);
  if (at < 0) return [];
  const from = at + marker.length;
  return content
    .subarray(from, content.indexOf(0, from))
    .toString("latin1")
    .split(",")
    .filter(Boolean)
    .map((name) => name.replaceAll("-", "_"));
}
