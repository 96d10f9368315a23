import { GuestFiles } from "../../src/guest/files.ts";
import { NO_SECRETS } from "../../src/workspaces/secrets.ts";
import { ToldEvents } from "../helpers/told-events.ts";
import { AGENT, RealGuest } from "./real-guest.ts";

/** A real guest as the verbs of a workspace see it. */
export class GuestWorkspace implements AsyncDisposable {
  readonly workspaceId = "ws-test";
  readonly secrets = NO_SECRETS;
  readonly events = new ToldEvents();
  readonly guest: RealGuest;
  readonly #files: GuestFiles;

  private constructor(guest: RealGuest, files: GuestFiles) {
    this.guest = guest;
    this.#files = files;
  }

  /** `prepare` fills the baseline. */
  static async start(prepare: (baseline: string) => void): Promise<GuestWorkspace> {
    const guest = await RealGuest.start(true, ({ baseline }) => prepare(baseline));
    return new GuestWorkspace(guest, new GuestFiles(await guest.client(), AGENT));
  }

  files(): Promise<GuestFiles> {
    return Promise.resolve(this.#files);
  }

  /** What there is: `644 content` of a file, `-> target` of a link, `755 /` of a folder. */
  async tree(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for await (const item of this.#files.treeOut("workspace", "")) {
      const parts: Uint8Array[] = [];
      for await (const part of item.content ?? []) parts.push(Buffer.from(part));
      if (item.path === "") continue;
      const text = item.type === "directory" ? "/" : Buffer.concat(parts).toString("latin1");
      found[item.path] = item.linkTarget === null ? `${item.mode.toString(8)} ${text}` : `-> ${item.linkTarget}`;
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.guest[Symbol.asyncDispose]();
  }
}
