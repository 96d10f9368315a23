import { request } from "node:http";
import { type AddressInfo, type Server, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Door, DoorTarget } from "../../src/model/door.ts";
import type { ClocheEvent } from "../../src/model/event.ts";
import type { DoorReport } from "../../src/model/gate-control.ts";
import { Cloche } from "../../src/sdk/cloche.ts";
import { gateOf } from "./gate-of.ts";
import type { Installation } from "./installation.ts";

const DAEMON = fileURLToPath(new URL("../fixtures/doors-daemon.mjs", import.meta.url));

/** An installation whose daemon is asked for doors as what runs in it asks. */
export class DoorsInstallation {
  readonly at: Installation;
  readonly sdk: Cloche;

  constructor(at: Installation) {
    this.at = at;
    this.sdk = new Cloche({ home: at.home, env: at.env, daemonProgram: DAEMON });
  }

  async setDoors(id: string, doors: readonly Door[]): Promise<DoorReport[]> {
    return (await this.#ask("setDoors", { id, doors })) as DoorReport[];
  }

  async doorsOf(id: string): Promise<DoorReport[]> {
    return (await this.#ask("doorsOf", { id })) as DoorReport[];
  }

  /** How many the store has. */
  async doorsRecorded(id: string): Promise<number> {
    return (await this.#ask("doorsRecorded", { id })) as number;
  }

  async forkWithDoors(id: string): Promise<string> {
    return ((await this.#ask("fork", { id })) as { workspace_id: string }).workspace_id;
  }

  /** All that its log has about a workspace. */
  async events(id: string): Promise<ClocheEvent[]> {
    const all: ClocheEvent[] = [];
    for await (const event of this.sdk.watch({ workspace_id: id, since: 0, follow: false })) all.push(event);
    return all;
  }

  /** One line to a port in the sandbox and the line that comes back, or undefined when nobody listens. */
  async knock(id: string, port: number, word = "hello"): Promise<string | undefined> {
    const command = `exec 3<>/dev/tcp/127.0.0.1/${port} && echo ${word} >&3 && read -r line <&3 && printf %s "$line"`;
    const { exit_code: code, stdout } = await this.sdk.execWorkspace(id, { command: ["bash", "-c", command] });
    return code === 0 ? stdout : undefined;
  }

  gate(id: string): ReturnType<typeof gateOf> {
    return gateOf(this.at.home, id);
  }

  async killDaemon(): Promise<void> {
    const { pid } = await this.sdk.daemonStatus();
    process.kill(pid ?? 0, "SIGKILL");
    await new Promise((done) => setTimeout(done, 50));
  }

  async #ask(verb: string, body: object): Promise<unknown> {
    await this.sdk.listWorkspaces(); // a daemon that was killed is started
    const answer = await new Promise<{ status: number; body: string }>((done, fail) => {
      const call = request({ socketPath: join(this.at.home, "doors.sock"), path: `/${verb}`, method: "POST" });
      call.once("error", fail);
      call.once("response", (response) => {
        void text(response).then((said) => done({ status: response.statusCode ?? 0, body: said }), fail);
      });
      call.end(JSON.stringify(body));
    });
    const value: unknown = JSON.parse(answer.body);
    if (answer.status === 200) return value;
    throw Object.assign(new Error((value as Error).message), value);
  }
}

/** Something on the host that a door leads to: sends back what it gets, and counts who came. */
export class EchoServer implements AsyncDisposable {
  connections = 0;
  readonly open = { now: 0, most: 0 };
  readonly #server: Server;
  #to: DoorTarget | undefined;

  constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.connections++;
      this.open.most = Math.max(this.open.most, ++this.open.now);
      socket.once("close", () => this.open.now--);
      socket.on("error", () => undefined);
      socket.pipe(socket);
    });
  }

  get to(): DoorTarget {
    if (!this.#to) throw new Error("it does not listen yet");
    return this.#to;
  }

  async listen(path?: string): Promise<this> {
    await new Promise<void>((done) => {
      if (path === undefined) this.#server.listen(0, "127.0.0.1", done);
      else this.#server.listen(path, done);
    });
    this.#to =
      path === undefined ? { kind: "tcp", port: (this.#server.address() as AddressInfo).port } : { kind: "unix", path };
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((done) => this.#server.close(done));
  }
}
