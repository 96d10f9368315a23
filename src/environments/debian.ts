import { findAptSources } from "./apt-sources.ts";
import { runBuildCommand } from "./build-process.ts";
import { digestOf, type BuildContext, type EnvironmentDefinition } from "./definition.ts";
import { NO_HOST_FOLDERS } from "./host-folders.ts";
import { unpackRootfs } from "./rootfs-tar.ts";
import { requireSubordinateIds } from "./subordinate-ids.ts";
import type { IdMap } from "../base/id-map.ts";
import type { ReportProgress } from "../model/progress.ts";
import { execFile } from "node:child_process";
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const SUITE = "bookworm";
const BASE = [
  "bash",
  "ca-certificates",
  "curl",
  "diffutils",
  "findutils",
  "git",
  "grep",
  "less",
  "patch",
  "perl",
  "procps",
  "python3",
  "sed",
];
const BUILD = [...BASE, "build-essential", "file", "pkg-config", "python3-venv", "unzip", "xz-utils", "zip"];

export function debianDefinitions(env: NodeJS.ProcessEnv = process.env): EnvironmentDefinition[] {
  return [
    createDebianDefinition({
      name: "debian:12",
      description: "Debian 12 with curl, git, perl and python3",
      packages: BASE,
      env,
    }),
    createDebianDefinition({
      name: "debian:12-build",
      description: "debian:12 with compilers and Python's tools",
      packages: BUILD,
      env,
    }),
  ];
}

export interface DebianOptions {
  readonly name: string;
  readonly description: string;
  readonly packages: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Lines of package sources; those of the host when not given. */
  readonly sources?: string;
}

/** Built by mmdebstrap from the distribution's packages, from the mirror that the host itself uses. */
export function createDebianDefinition(options: DebianOptions): EnvironmentDefinition {
  const { name, description, packages } = options;
  return {
    name,
    description,
    packages,
    hostFolders: () => NO_HOST_FOLDERS,
    digest: () => Promise.resolve(digestOf("debian", SUITE, name, packages)),
    requireBuildable,
    build: (context) => buildDebian(context, options),
  };
}

async function requireBuildable(idMap: IdMap): Promise<void> {
  if (idMap.kind === "single") await requireSubordinateIds();
}

async function buildDebian(context: BuildContext, { packages, env, sources: given }: DebianOptions): Promise<void> {
  const { scratch, idMap, signal, progress } = context;
  const asRoot = idMap.kind === "shifted";
  await requireBuildable(idMap);
  const sources = given ?? (await findAptSources(SUITE));
  const sourcesFile = join(scratch, "sources.list");
  const tar = join(scratch, "rootfs.tar");
  await writeFile(sourcesFile, sources, { mode: 0o600 });
  await using input = await open(sourcesFile, "r");
  await using output = await open(tar, "wx", 0o600);
  const options = [
    `--mode=${asRoot ? "root" : "unshare"}`,
    "--variant=minbase",
    "--format=tar",
    ...(packages.length > 0 ? [`--include=${packages.join(",")}`] : []),
    // The host may use a mirror that stands still; that is its own choice to make.
    ...((await ignoresValidUntil(env)) ? ['--aptopt=Acquire::Check-Valid-Until "false"'] : []),
  ];
  // Archive and sources go through descriptors: the ids that the tool works under cannot open a file in the user's home, and
  // SECURITY: the address of a mirror may hold a password, which has no place in an argument list (G-01)
  await runBuildCommand({
    argv: ["mmdebstrap", ...options, SUITE, "-", ...(sources === "" ? [] : ["-"])],
    env: { ...childEnv(env), ...(asRoot && { TMPDIR: scratch }) },
    stdin: input.fd,
    stdout: output.fd,
    onLine: progressLines(progress),
    signal,
    packages: "mmdebstrap",
  });
  await unpackRootfs(tar, context, childEnv(env));
  for (const path of TRACES) await rm(join(context.rootfs, path), { recursive: true, force: true });
}

/** What tells of the host or of the day of the build. The package sources may hold a password, and nothing can be installed without a network. */
const TRACES = [
  ...["sources.list", "sources.list.d", "auth.conf", "auth.conf.d", "apt.conf.d/99mmdebstrap"].map(
    (name) => `etc/apt/${name}`,
  ),
  ...[
    "etc/machine-id",
    "var/lib/dbus/machine-id",
    "var/lib/apt/lists",
    "var/cache/apt",
    "var/log/apt",
    "var/log/dpkg.log",
  ],
  ...["var/log/bootstrap.log", "var/log/alternatives.log"],
];

/** What the tool says, in words for a user, with the share of the work that is done by then. */
const STEPS: readonly (readonly [RegExp, string, number])[] = [
  [/^I: running apt-get update/, "reading package lists", 0.02],
  [/^I: downloading packages/, "downloading packages", 0.1],
  [/^I: extracting archives/, "unpacking essential packages", 0.3],
  [/^I: installing essential packages/, "installing essential packages", 0.4],
  [/^I: installing remaining packages/, "installing packages", 0.55],
  [/^I: (cleaning|creating tarball)/, "packing", 0.85],
];

function progressLines(progress: ReportProgress): (line: string) => void {
  let last = "";
  return (line) => {
    const found = STEPS.find(([pattern]) => pattern.test(line));
    if (!found || found[1] === last) return;
    last = found[1];
    progress({ step: found[1], fraction: found[2] });
  };
}

async function ignoresValidUntil(env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)("apt-config", ["dump", "Acquire::Check-Valid-Until"], {
      env: childEnv(env),
    });
    return /"(false|0|no)"/i.test(stdout);
  } catch {
    return false; // no apt on this host, so it has no opinion either
  }
}

/** Only what the tools need: nothing of the caller's environment gets into a build. */
function childEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = ["HOME", "USER", "http_proxy", "https_proxy", "no_proxy"].flatMap((name) =>
    env[name] ? [[name, env[name]]] : [],
  );
  const path = `${env["PATH"] ?? "/usr/bin:/bin"}:/usr/sbin:/sbin`;
  return {
    ...(Object.fromEntries(kept) as NodeJS.ProcessEnv),
    PATH: path,
    LC_ALL: "C.UTF-8",
    DEBIAN_FRONTEND: "noninteractive",
  };
}
