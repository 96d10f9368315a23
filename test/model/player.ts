import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ClocheError } from "../../src/base/errors.ts";
import type { Cloche } from "../../src/sdk/cloche.ts";
import { removeModel } from "./remove-model.ts";
import {
  changesBetween,
  differences,
  lookAt,
  LOOK,
  makeSource,
  passesLink,
  type Picture,
  PlainFolder,
  putScript,
  readLook,
  type Seen,
  writeScript,
} from "./plain-folder.ts";
import { SHELL_PRELUDE } from "./shell-words.ts";
import type { Member, Step } from "./steps.ts";

export interface Wall {
  readonly backend: string;
  readonly environment: string;
}

/** Plays steps on a workspace and on a plain folder, and tells when the two are not the same. */
export class Player implements AsyncDisposable {
  readonly #sdk: Cloche;
  readonly #walls: readonly Wall[];
  readonly #folder: string;
  readonly #model: PlainFolder;
  #wall: Wall | undefined;
  #id = "";
  #running = false;
  #count = 0;

  private constructor(sdk: Cloche, walls: readonly Wall[], folder: string, baseline: readonly Member[]) {
    this.#sdk = sdk;
    this.#walls = walls;
    this.#wall = walls[0];
    this.#folder = folder;
    this.#model = new PlainFolder(join(folder, "model"), baseline);
  }

  /** On the first of the walls; `folder` is new, and goes with the player. */
  static async start(
    sdk: Cloche,
    walls: readonly Wall[],
    folder: string,
    baseline: readonly Member[],
  ): Promise<Player> {
    mkdirSync(folder, { mode: 0o755 });
    const player = new Player(sdk, walls, folder, baseline);
    const seed = player.#new("seed");
    makeSource(seed, baseline, 0);
    const made = await sdk.createWorkspace({ ...walls[0], seed_path: seed });
    player.#id = made.workspace_id;
    player.#running = true;
    await player.#check();
    return player;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sdk.deleteWorkspace(this.#id);
    await removeModel(this.#folder);
  }

  /** Throws when the workspace is not what the folder is. */
  async play(step: Step): Promise<void> {
    await this.#perform(step);
    if (this.#running) await this.#check();
  }

  async #perform(step: Step): Promise<void> {
    const needsNothing = ["stop", "start", "snapshot", "forget", "reset", "fork", "move", "new-daemon"];
    if (!needsNothing.includes(step.verb)) await this.#ensureRunning();
    switch (step.verb) {
      case "exec":
        this.#model.exec(step.script);
        await this.#sh(SHELL_PRELUDE + step.script);
        return;
      case "write":
        await this.#write(step.path, step.text, step.mode);
        return;
      case "patch":
        await this.#patch(step.script);
        return;
      case "push":
        await this.#push(step.dest, step.members, step.many);
        return;
      case "snapshot":
        await this.#snapshot(step.name, step.live);
        return;
      case "forget":
        await agree(this.#model.has(step.name), this.#sdk.deleteSnapshot(this.#id, step.name), ["SNAPSHOT_NOT_FOUND"]);
        if (this.#model.has(step.name)) await this.#model.forget(step.name);
        return;
      case "reset":
        await this.#reset(step.name);
        return;
      case "fork":
        await this.#fork(step.name, step.stay);
        return;
      case "move":
        await this.#move(step.to);
        return;
      case "stop":
        await this.#stop();
        return;
      case "start":
        await this.#ensureRunning();
        return;
      case "export":
        await this.#export(step.path);
        return;
      case "diff":
        await this.#diff();
        return;
      case "new-daemon":
        await this.#sdk.stopDaemon();
    }
  }

  async #ensureRunning(): Promise<void> {
    if (!this.#running) await this.#sdk.startWorkspace(this.#id);
    this.#running = true;
  }

  async #write(path: string, text: string, mode: number | undefined): Promise<void> {
    // A link may be followed or refused: that has tests of its own.
    if (!isUtf8(path) || passesLink(this.#model.current, path)) return;
    const done = await this.#model.attempt(writeScript(path, text, mode));
    const call = this.#sdk.writeWorkspaceFile(this.#id, utf8(path), { text, ...(mode !== undefined && { mode }) });
    await agree(done, call, ["FILE_WRONG_TYPE", "FILE_FAILED"]);
  }

  async #patch(script: string): Promise<void> {
    const patch = await this.#model.patchOf(script);
    if (patch === undefined) return;
    const done = await this.#model.attempt(`git apply --whitespace=nowarn - <<'THE-END'\n${patch}THE-END\n`);
    if (done) await this.#sdk.applyWorkspacePatch(this.#id, { patch });
  }

  async #push(dest: string, members: readonly Member[], many: number): Promise<void> {
    if (!isUtf8(dest) || passesLink(this.#model.current, dest)) return;
    const source = this.#new("push");
    makeSource(source, members, many);
    const done = await this.#model.attempt(putScript(dest, members, many));
    const call = this.#sdk.pushWorkspaceSync(this.#id, source, dest === "" ? {} : { dest: utf8(dest) });
    await agree(done, call, ["FILE_WRONG_TYPE", "FILE_FAILED"]);
    await removeModel(source);
  }

  async #snapshot(name: string, wantsLive: boolean): Promise<void> {
    const live = wantsLive && this.#running && this.#wall?.backend === "vm";
    const isNew = !this.#model.has(name);
    await agree(isNew, this.#sdk.createSnapshot(this.#id, name, { live }), ["SNAPSHOT_EXISTS"]);
    if (isNew) this.#model.save(name);
  }

  async #reset(name: string | undefined): Promise<void> {
    const known = name === undefined || this.#model.has(name);
    const options = name === undefined ? {} : { snapshot: name };
    await agree(known, this.#sdk.resetWorkspace(this.#id, options), ["SNAPSHOT_NOT_FOUND"]);
    if (!known) return;
    await this.#model.restore(name);
    this.#running = true;
  }

  /** The fork is looked at; then one of the two goes. */
  async #fork(name: string | undefined, stay: boolean): Promise<void> {
    const known = name === undefined || this.#model.has(name);
    const options = name === undefined ? {} : { snapshot: name };
    const made = await agree(known, this.#sdk.forkWorkspace(this.#id, options), ["SNAPSHOT_NOT_FOUND"]);
    if (!made) return;
    const before = name === undefined ? undefined : this.#new("before");
    if (before !== undefined) {
      execFileSync("cp", ["-a", this.#model.current, before]);
      await this.#model.restore(name);
    }
    await this.#check(made.workspace_id);
    if (stay) {
      await this.#sdk.deleteWorkspace(made.workspace_id);
      if (before !== undefined) await this.#model.replace(before);
      return;
    }
    if (before !== undefined) await removeModel(before);
    await this.#goOnWith(made.workspace_id);
  }

  async #move(to: number): Promise<void> {
    const wall = this.#walls[to % this.#walls.length];
    const made = await this.#sdk.createWorkspace({ ...wall, from_workspace: this.#id });
    await this.#check(made.workspace_id);
    await this.#goOnWith(made.workspace_id);
    this.#wall = wall;
  }

  async #goOnWith(id: string): Promise<void> {
    await this.#sdk.deleteWorkspace(this.#id);
    this.#id = id;
    this.#running = true;
    await this.#model.forgetAll();
  }

  /** Stopped, its disk can be taken out. */
  async #stop(): Promise<void> {
    if (!this.#running) return;
    await this.#sdk.stopWorkspace(this.#id);
    this.#running = false;
    const picture = this.#model.look();
    if (hasClosed(picture)) return;
    const tar = this.#new("disk.tar");
    await this.#sdk.exportWorkspaceDisk(this.#id, { output_path: tar });
    const folder = this.#new("disk");
    mkdirSync(folder, { mode: 0o755 });
    execFileSync("tar", ["-xf", tar, "-C", folder, "--same-permissions"]);
    tell("the disk of a stopped workspace", differences(exported(picture), lookAt(join(folder, "workspace"))));
    await removeModel(tar);
    await removeModel(folder);
  }

  async #export(path: string): Promise<void> {
    if (!isUtf8(path) || passesLink(this.#model.current, path)) return;
    const whole = this.#model.look();
    if (path !== "" && whole.get(path)?.kind !== "d") {
      // A file or a link comes by itself: its folder's export shows it.
      return;
    }
    const below = path === "" ? whole : picturesBelow(whole, path);
    const output = this.#new("export");
    const closed = hasClosed(below) || (path !== "" && hasClosed(new Map([["", whole.get(path) as Seen]])));
    await agree(
      !closed,
      this.#sdk.exportWorkspace(this.#id, utf8(path) || ".", { output_path: output, links: "keep" }),
      ["FILE_FAILED"],
    );
    if (closed) return;
    tell(`the export of "${path}"`, differences(exported(below), lookAt(output, "root")));
    await removeModel(output);
  }

  async #diff(): Promise<void> {
    const { entries, patch } = await this.#sdk.diffWorkspace(this.#id);
    const now = this.#model.look();
    const expected = changesBetween(this.#model.lookAtBaseline(), now).map(utf8);
    const path = (absolute: string) => absolute.slice("/workspace/".length);
    const found = entries.flatMap(({ status, path: one, old_path: old }) =>
      status === "renamed" && old !== undefined
        ? [`added ${path(one)}`, `deleted ${path(old)}`]
        : [`${status} ${path(one)}`],
    );
    const missing = expected.filter((line) => !found.includes(line));
    const added = found.filter((line) => !expected.includes(line));
    tell("the diff", [...missing.map((line) => `missing: ${line}`), ...added.map((line) => `too much: ${line}`)]);
    if (patch !== "") await this.#checkPatch(patch, entries, now);
  }

  /** What has a patch is what git makes of the baseline with it. */
  async #checkPatch(patch: string, entries: readonly { path: string; patch?: string }[], now: Picture): Promise<void> {
    const patched = await this.#model.patchedBaseline(patch);
    if (!patched) return;
    const told = new Set(
      entries.flatMap((one) => (one.patch === undefined ? [] : [one.path.slice("/workspace/".length)])),
    );
    const chosen = (picture: Picture) =>
      new Map(
        [...picture]
          .filter(([path, { kind }]) => kind !== "d" && told.has(utf8(path)))
          .map(([path, seen]) => [path, asGit(seen)]),
      );
    tell("the patch of the diff", differences(chosen(now), chosen(patched)));
  }

  async #check(id = this.#id): Promise<void> {
    tell("the workspace", differences(this.#model.look(), readLook(await this.#sh(LOOK, id))));
  }

  /** What a command prints, all of it. */
  async #sh(script: string, id = this.#id): Promise<string> {
    await using command = this.#sdk.openCommand(id, { command: ["sh", "-c", script], timeout_seconds: 120 });
    const parts: Buffer[] = [];
    for await (const { channel, data } of command.output()) if (channel === "stdout") parts.push(data);
    await command.result;
    return Buffer.concat(parts).toString("latin1");
  }

  #new(label: string): string {
    return join(this.#folder, `${label}-${++this.#count}`);
  }
}

/** Both sides do it, or neither does. */
async function agree<Result>(
  expected: boolean,
  call: Promise<Result>,
  codes: readonly string[],
): Promise<Result | undefined> {
  try {
    const result = await call;
    if (!expected) throw new Error("it was done, and cannot be done in a plain folder");
    return result;
  } catch (error) {
    if (!expected && error instanceof ClocheError && codes.includes(error.code)) return undefined;
    throw error;
  }
}

function tell(what: string, lines: readonly string[]): void {
  if (lines.length > 0) throw new Error(`${what} is not what it should be:\n  ${lines.join("\n  ")}`);
}

const utf8 = (path: string): string => Buffer.from(path, "latin1").toString("utf8");
const isUtf8 = (path: string): boolean => Buffer.from(utf8(path), "utf8").toString("latin1") === path;

/** Whether something of it is closed to its own user. */
function hasClosed(picture: Picture): boolean {
  return [...picture.values()].some(
    ({ kind, mode }) => (kind === "f" && (mode & 0o400) === 0) || (kind === "d" && (mode & 0o500) !== 0o500),
  );
}

const picturesBelow = (picture: Picture, folder: string): Picture =>
  new Map(
    [...picture].flatMap(([path, seen]) =>
      path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), seen] as const] : [],
    ),
  );

/** No bit that gives somebody rights leaves, and what was taken out can be removed again. */
const exported = (picture: Picture): Picture =>
  new Map(
    [...picture].map(([path, seen]) => [
      path,
      { ...seen, mode: (seen.mode & 0o777) | (seen.kind === "d" ? 0o700 : 0) },
    ]),
  );

/** Git knows of a mode only whether its owner may execute. */
const asGit = (seen: Seen): Seen => ({ ...seen, mode: seen.kind === "l" ? 0o777 : seen.mode & 0o100 ? 0o755 : 0o644 });
