import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, type FSWatcher, openSync, watch } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { errnoOf, isClocheError, messageOf } from "../base/errors.ts";
import { ownProgram } from "../base/own-program.ts";
import { daemonLog, daemonSocket, type Places } from "../base/paths.ts";
import { makePrivateFolder } from "../base/private-folder.ts";
import { openSocketAddress } from "../base/unix-path.ts";
import { failure, type ErrorDocument } from "../model/error-codes.ts";
import { toClocheError } from "./answer.ts";
import { daemonEnvironment } from "./daemon-environment.ts";
import { deferred } from "./deferred.ts";

export interface DaemonStart {
  readonly places: Places;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Another file than the built daemon, for tests. */
  readonly program: string | undefined;
}

/** What the daemon exits with when another one holds the store. */
const EXIT_HELD = 75;
/** For the one that was started here: it takes up every workspace before it is ready. */
const READY_DEADLINE_MS = 30_000;
/** For another one that is starting or ending. */
const OTHER_DEADLINE_MS = 15_000;
/** How long another one may take to listen before we try to be the one. */
const OTHER_PATIENCE_MS = 500;
/** Between two looks at a folder that cannot be watched. */
const UNWATCHED_PAUSE_MS = 20;

/** Returns when a daemon listens in this home: the one started here, or one that was quicker. */
export async function startDaemon(start: DaemonStart): Promise<void> {
  const { places } = start;
  makeHome(places.home);
  const changes = watchFolder(places.home);
  try {
    const deadline = Date.now() + OTHER_DEADLINE_MS;
    for (;;) {
      if ((await spawnDaemon(start)) === "ready") return;
      // The other one is about to listen, or about to let go.
      const patience = Date.now() + OTHER_PATIENCE_MS;
      while (Date.now() < patience) {
        const changed = changes.next(patience - Date.now());
        if (await listens(places.home)) return;
        await changed;
      }
      if (Date.now() > deadline) {
        throw unreachable(`Another daemon holds "${places.home}" and does not answer`);
      }
    }
  } finally {
    changes.close();
  }
}

function makeHome(home: string): void {
  try {
    // SECURITY: what is in the home is the user's alone (G-14)
    makePrivateFolder(home);
  } catch (error) {
    if (isClocheError(error)) throw error;
    throw homeFailure(home, error);
  }
}

function homeFailure(home: string, error: unknown): Error {
  if (errnoOf(error) === "ENOSPC") return failure("DISK_FULL", `No space left for "${home}"`, { cause: error });
  return failure("DAEMON_UNREACHABLE", `Cannot use the cloche home "${home}": ${messageOf(error)}`, {
    hint: "Set CLOCHE_HOME to a folder you can write to",
    cause: error,
  });
}

/** Beside this file once built; from the sources it is the build's too. */
function builtProgram(): string {
  const fromSource = import.meta.url.endsWith(".ts");
  const place = new URL(fromSource ? "../../dist/daemon/main.js" : "../daemon/main.js", import.meta.url);
  const program = fileURLToPath(place);
  if (existsSync(program)) return program;
  throw failure("DAEMON_UNREACHABLE", `Cannot start the daemon: "${program}" is missing`, {
    hint: "Install the package again; in a checkout, run `make build`",
  });
}

async function spawnDaemon(start: DaemonStart): Promise<"ready" | "held"> {
  const program = start.program ?? builtProgram();
  const child = spawnDetached(start, program);
  const outcome = deferred<"ready" | "held">();
  const fail = (message: string) => outcome.reject(unreachable(message));
  const timer = setTimeout(fail, READY_DEADLINE_MS, `The daemon was not ready in ${READY_DEADLINE_MS / 1000} seconds`);
  child.once("error", (error) => fail(`Cannot start the daemon: ${error.message}`));
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.startsWith("ready\n")) outcome.resolve("ready");
  });
  // `close` comes after everything that was said.
  child.once("close", (code, signal) => {
    if (code === EXIT_HELD) outcome.resolve("held");
    const reason = reasonOf(said);
    if (reason) outcome.reject(reason);
    else fail(`The daemon ended at its start (${signal ?? `exit code ${code ?? 0}`})`);
  });
  try {
    return await outcome.promise;
  } finally {
    clearTimeout(timer);
    child.stdout?.destroy();
    child.unref();
  }
}

function spawnDetached({ places: { home, cache }, env }: DaemonStart, program: string): ChildProcess {
  let log: number;
  try {
    log = openSync(daemonLog(home), "a", 0o600);
  } catch (error) {
    throw homeFailure(home, error);
  }
  try {
    const [starter = "", ...words] = withoutCore([process.execPath, program, "--home", home, "--cache", cache]);
    return spawn(starter, words, {
      detached: true,
      stdio: ["ignore", "pipe", log],
      // Another folder would keep its file system from being unmounted.
      cwd: "/",
      env: daemonEnvironment(env),
    });
  } finally {
    closeSync(log);
  }
}

/** A daemon of a damaged package can still say what is wrong with it. It starts no gate, so it gets no token. */
function withoutCore(words: readonly string[]): readonly string[] {
  try {
    return [ownProgram(), "without-core", ...words];
  } catch {
    return words;
  }
}

/** A daemon that cannot start says why in its one line. */
function reasonOf(said: string): Error | undefined {
  try {
    return toClocheError(JSON.parse(said) as ErrorDocument);
  } catch {
    return undefined;
  }
}

function unreachable(message: string): Error {
  return failure("DAEMON_UNREACHABLE", message);
}

function listens(home: string): Promise<boolean> {
  return new Promise((resolve) => {
    let address;
    try {
      address = openSocketAddress(daemonSocket(home));
    } catch {
      resolve(false);
      return;
    }
    const { path, release } = address;
    const socket = connect({ path });
    const answer = (yes: boolean) => {
      release();
      socket.destroy();
      resolve(yes);
    };
    socket.once("connect", () => answer(true)).once("error", () => answer(false));
  });
}

interface FolderChanges {
  /** Resolves at the next change, or after that time. Ask before looking, so that no change falls between. */
  next(timeoutMs: number): Promise<void>;
  close(): void;
}

function watchFolder(folder: string): FolderChanges {
  let tell: () => void = () => undefined;
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, () => tell());
    // The deadline still holds when the folder can no longer be watched.
    watcher.on("error", () => tell());
  } catch {
    // The user's inotify instances are all in use: looking now and then does as well.
  }
  return {
    next: (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, watcher ? timeoutMs : Math.min(timeoutMs, UNWATCHED_PAUSE_MS));
        tell = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    close: () => watcher?.close(),
  };
}
