import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunMetadata } from "../../src/model/run.ts";
import type { RunAttachment, StartRunOptions } from "../../src/sdk/options.ts";
import type { Installation } from "./installation.ts";

/** Bottles and agents that are shell scripts, in the home of an installation. */
export class BottledAgents {
  readonly at: Installation;
  readonly skills: string;

  constructor(at: Installation) {
    this.at = at;
    this.skills = at.path("skills");
    mkdirSync(this.skills, { recursive: true });
  }

  /** An agent with a bottle of the same name whose program is `sh -c SCRIPT`. */
  agent(name: string, script: string, { bottle = {}, keys = {}, prompt = "" } = {}): string {
    const provider = { template: "command", settings: { argv: ["/bin/sh", "-c", script] } };
    this.write("bottles", name, { environment: "host", supervise: false, ...bottle, agent_provider: provider });
    this.write("agents", name, { bottle: name, ...keys }, prompt);
    return name;
  }

  skill(name: string, files: Readonly<Record<string, string>> = { "SKILL.md": `# ${name}\n` }): string {
    const folder = join(this.skills, name);
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    return folder;
  }

  /** Without a terminal, to its end. */
  async run(name: string, options: StartRunOptions = {}) {
    const { identity } = await this.at.sdk.startRun(name, this.options(options));
    return { identity, ...(await this.follow(this.at.sdk.attachRun(identity))) };
  }

  async follow(attaching: Promise<RunAttachment>) {
    return await this.drain(await attaching);
  }

  async drain(stream: RunAttachment) {
    const out = { stdout: "", stderr: "" };
    for await (const { channel, data } of stream.output()) out[channel] += data.toString();
    return { ...out, end: await stream.result };
  }

  options(more: StartRunOptions = {}): StartRunOptions {
    return {
      headless: true,
      prompt: "go",
      backend: "container",
      project_path: this.at.root,
      skills_path: this.skills,
      ...more,
    };
  }

  states(): string[] {
    const folder = join(this.at.home, "state");
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  stateFile(identity: string): string {
    return join(this.at.home, "state", identity, "metadata.json");
  }

  metadata(identity: string): RunMetadata {
    return JSON.parse(readFileSync(this.stateFile(identity), "utf8")) as RunMetadata;
  }

  write(folder: "bottles" | "agents", name: string, keys: object, body = ""): void {
    mkdirSync(join(this.at.home, folder), { recursive: true });
    const front = Object.entries(keys).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
    writeFileSync(join(this.at.home, folder, `${name}.md`), `---\n${front.join("\n")}\n---\n${body}`);
  }
}
