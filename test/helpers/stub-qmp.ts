import { readFileSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { createInterface } from "node:readline";

/** What is saved of a machine's devices. */
const STATE = "the state of a stub of a machine\n";

interface Request {
  readonly execute: string;
  readonly arguments: { readonly uri?: string };
}

export interface StubQmpMachine {
  /** The folder in `/proc` of its emulator. */
  readonly process: string;
  /** Whether it has booted itself. */
  readonly isFresh: boolean;
  stop(): void;
}

/** Answers the calls that cloche makes over an emulator's control channel. A machine is saved before anybody has used it; processes are not. */
export function talkQmp(socket: Socket, machine: StubQmpMachine): void {
  const tell = (message: object): void => void socket.write(`${JSON.stringify(message)}\n`);
  const migrated = (isDone: boolean): void =>
    tell({ event: "MIGRATION", data: { status: isDone ? "completed" : "failed" } });
  const answer = (): void => tell({ return: {} });
  const calls: Readonly<Record<string, (uri: string) => void>> = {
    qmp_capabilities: answer,
    "migrate-set-capabilities": answer,
    cont: answer,
    stop: () => {
      machine.stop();
      answer();
    },
    migrate: (uri) => {
      answer();
      if (machine.isFresh) save(`${machine.process}/cwd/${uri.replace("unix:", "")}`, migrated);
      else migrated(false);
    },
    "migrate-incoming": (uri) => {
      answer();
      migrated(readFileSync(`${machine.process}/${uri.replace(":", "/")}`, "utf8") === STATE);
    },
  };
  const unknown = (name: string) => (): void =>
    tell({ error: { class: "CommandNotFound", desc: `the stub has no call ${name}` } });
  createInterface({ input: socket }).on("line", (line) => {
    const { execute, arguments: words } = JSON.parse(line) as Request;
    (calls[execute] ?? unknown(execute))(words.uri ?? "");
  });
  tell({ QMP: { version: { package: "stub" }, capabilities: [] } });
}

function save(path: string, done: (isDone: boolean) => void): void {
  const stream = connect(path);
  stream.once("error", () => done(false));
  stream.end(STATE, () => done(true));
}
