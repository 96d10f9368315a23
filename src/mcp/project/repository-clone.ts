import { spawn } from "node:child_process";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { removeTree } from "../../base/remove-tree.ts";
import { makeWorkFolder } from "../../base/work-folder.ts";
import { failure } from "../../model/error-codes.ts";
import type { LongCallOptions } from "../../sdk/options.ts";

const SAID_BYTES = 4096;

/**
 * A clean clone in the cloche home, made when the first workspace needs it and kept as long as the server runs. What a server left that was killed is
 * removed by the next, or by the next daemon.
 */
export class RepositoryClone implements AsyncDisposable {
  readonly #url: string;
  readonly #ref: string | undefined;
  readonly #home: string;
  #made: Promise<string> | undefined;
  #root: string | undefined;

  constructor(url: string, ref: string | undefined, home: string) {
    for (const [name, value] of [["repo_url", url] as const, ["repo_ref", ref] as const]) {
      // SECURITY: an argument of git that starts with a dash is an option, and some options run programs (G-13)
      if (value === "" || value?.startsWith("-")) {
        throw failure("USAGE", `"${value}" is no ${name}`, {
          hint: "Give a URL that git can clone, and a branch, tag or commit",
        });
      }
    }
    this.#url = url;
    this.#ref = ref;
    this.#home = home;
  }

  /** The folder of the clone. One that failed is tried again by the next call. */
  async folder(options: LongCallOptions): Promise<string> {
    this.#made ??= this.#clone(options).catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return await this.#made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#made?.catch(() => undefined);
    if (this.#root !== undefined) await removeTree(this.#root);
    this.#root = undefined;
  }

  async #clone({ signal, onProgress }: LongCallOptions): Promise<string> {
    if (this.#root !== undefined) await removeTree(this.#root);
    this.#root = await makeWorkFolder(this.#home, "clone");
    const folder = join(this.#root, "repository");
    const shown = withoutCredentials(this.#url);
    onProgress?.({ step: `cloning ${shown}` });
    const clone = [
      "clone",
      "--quiet",
      "--no-checkout",
      "--no-recurse-submodules",
      "--template=",
      "--",
      this.#url,
      folder,
    ];
    await runGit(clone, `Cannot clone "${shown}"`, signal);
    const checkout = [
      "-C",
      folder,
      "checkout",
      "--quiet",
      "--detach",
      "--no-recurse-submodules",
      this.#ref ?? "HEAD",
      "--",
    ];
    await runGit(
      await this.#resolvable(folder, checkout, signal),
      `Cannot check out "${this.#ref ?? "HEAD"}" of "${shown}"`,
      signal,
    );
    return folder;
  }

  /** A branch that is not the default one is known by its remote name only. */
  async #resolvable(folder: string, checkout: string[], signal: AbortSignal | undefined): Promise<string[]> {
    if (this.#ref === undefined) return checkout;
    const remote = `refs/remotes/origin/${this.#ref}`;
    try {
      await runGit(
        ["-C", folder, "rev-parse", "--quiet", "--verify", "--end-of-options", `${remote}^{commit}`],
        "",
        signal,
      );
      return checkout.with(-2, remote);
    } catch {
      return checkout; // a tag or a commit
    }
  }
}

/** For people and for records. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/i, "$1");
}

/** Rejects with the last line that git said. */
async function runGit(args: readonly string[], problem: string, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = spawn("git", [...settings(), ...args], {
      cwd: "/",
      stdio: ["ignore", "ignore", "pipe"],
      env: environment(),
      signal,
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-SAID_BYTES)));
    child.once("error", (error) => {
      if (signal?.aborted) reject(failure("CANCELLED", "The clone was cancelled"));
      else if (errnoOf(error) === "ENOENT")
        reject(failure("SEED_INVALID", "Cannot clone: git is missing", { hint: "Install git" }));
      else reject(error);
    });
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(cloneFailure(problem, said));
    });
  });
}

function cloneFailure(problem: string, said: string): Error {
  const line =
    said
      .trim()
      .split("\n")
      .findLast((one) => /^(fatal|error):/.test(one)) ?? "git failed";
  return failure("SEED_INVALID", `${problem}: ${withoutCredentials(line.replace(/^(fatal|error): /, ""))}`, {
    hint: "Check the URL, the ref and your access with `git ls-remote URL`",
  });
}

/** The user's own configuration counts, for credentials and proxies; what would run something of the repository does not. */
function settings(): string[] {
  // SECURITY: no hook, monitor or submodule of a repository that nobody trusts yet runs on the host (G-13)
  const forced = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "init.templateDir="];
  return forced.flatMap((setting) => ["-c", setting]);
}

function environment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LFS_SKIP_SMUDGE: "1",
    // SECURITY: `ext::` and its like are commands, not addresses (G-13)
    GIT_ALLOW_PROTOCOL: "file:git:http:https:ssh",
  };
}
