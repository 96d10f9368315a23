import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The ssh daemon of the host on a port of its own, with one key that may come in: a forge with a deploy key. */
export class SshServer implements AsyncDisposable {
  readonly #folder: string;
  #child: ChildProcess | undefined;
  port = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const name of ["host", "deploy", "other"])
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", join(folder, name)]);
  }

  /** The file with the private key that may come in. */
  get key(): string {
    return join(this.#folder, "deploy");
  }

  publicKey(name: "host" | "other"): string {
    return readFileSync(join(this.#folder, `${name}.pub`), "utf8").trim();
  }

  fingerprint(name: "host" | "other"): string {
    return (
      execFileSync("ssh-keygen", ["-lf", join(this.#folder, `${name}.pub`)], { encoding: "utf8" }).split(" ")[1] ?? ""
    );
  }

  url(path: string): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.port}${path}`;
  }

  async start(): Promise<void> {
    this.port = await freePort();
    const config = join(this.#folder, "sshd_config");
    writeFileSync(
      config,
      [
        `HostKey ${join(this.#folder, "host")}`,
        `AuthorizedKeysFile ${join(this.#folder, "deploy.pub")}`,
        `PidFile ${join(this.#folder, "sshd.pid")}`,
        "ListenAddress 127.0.0.1",
        "StrictModes no",
        "UsePAM no",
        "PermitRootLogin prohibit-password",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "AcceptEnv GIT_PROTOCOL",
        "",
      ].join("\n"),
    );
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
    this.#child = spawn("/usr/sbin/sshd", ["-D", "-e", "-f", config, "-p", String(this.port)], { stdio: "ignore" });
    for (let tries = 0; tries < 100 && !(await answers(this.port)); tries++) await sleep(50);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.once("close", done));
    child.kill();
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
    socket.once("close", () => done(false));
  });
}
