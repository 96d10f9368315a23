import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { join } from "node:path";
import { Transform, type TransformCallback, pipeline } from "node:stream";
import { guestProgram } from "../../src/walls/guest-program.ts";

interface StubGuestPlan {
  /** The machine's, with `root`, `port` and `disk`. */
  readonly folder: string;
  /** The files of the environment, and of the seed. */
  readonly environment: string;
  readonly seed: string | undefined;
  readonly layers: number;
  readonly memoryBytes: number;
  readonly hostname: string;
}

const SOCKET = "port/guest.sock";
const LOOK_AGAIN_MS = 2;
/** The root in a mount namespace that goes with the machine; then a wall, in the place of a machine's. */
const START =
  'mount --make-rprivate / && mount -t overlay overlay -o "lowerdir=$0,upperdir=disk/root/upper,workdir=disk/root/work" root && exec "$@"';
// prettier-ignore
const WALL = [
  "bwrap", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--as-pid-1", "--clearenv", "--cap-add", "ALL",
  "--bind", "root", "/", "--dev", "/dev", "--proc", "/proc", "--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run", "--dir", "/workspace",
];

/** The guest program of a stub of a machine. It sees the system of the machine, and of the host what a wall leaves. */
export class StubGuest {
  /** Whether it was ended from here. */
  readonly ended: Promise<boolean>;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #isOver = false;
  #wasAsked = false;

  constructor({ folder, environment, seed, layers, memoryBytes, hostname }: StubGuestPlan) {
    this.#folder = folder;
    rmSync(this.#socket, { force: true });
    // What a machine keeps to itself is below `/run`, which the guest program covers with a folder in memory.
    const kept = [
      "--bind",
      "disk/workspace",
      "/run/disk",
      ...(seed === undefined ? [] : ["--ro-bind", seed, "/run/disk/baseline"]),
    ];
    const own = [
      ...kept,
      "--bind",
      "port",
      "/run/port",
      "--ro-bind",
      guestProgram(),
      "/run/guest",
      "--chdir",
      "/",
      "--",
    ];
    // prettier-ignore
    const lodge = [
      "/run/guest", "lodge", "--store", "/run/disk", "--socket", `/run/${SOCKET}`, "--hostname", hostname, "--layers", String(layers),
      "--memory-bytes", String(memoryBytes),
    ];
    this.#child = spawn("unshare", ["--mount", "sh", "-c", START, environment, ...WALL, ...own, ...lodge], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
    this.ended = new Promise((done) => {
      this.#child.once("close", () => {
        this.#isOver = true;
        done(this.#wasAsked);
      });
    });
  }

  /** Resolves when it listens. A socket has its name before that. */
  async isThere(): Promise<void> {
    while (!this.#isOver && !(await answers(this.#socket)))
      await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS));
    if (this.#isOver) throw new Error("the guest program has ended");
  }

  /** Connects what is on a port to it. */
  join(port: Socket): void {
    const guest = connect(this.#socket);
    pipeline(port, guest, () => port.destroy());
    pipeline(guest, new AsSerialPort(), port, () => guest.destroy());
  }

  async end(): Promise<void> {
    this.#wasAsked = true;
    const pid = this.#child.pid;
    if (this.#isOver || pid === undefined) return;
    // The first process of its namespace, with all below it. The wall waits for it.
    try {
      const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ");
      process.kill(Number(first) || pid, "SIGKILL");
    } catch {
      // it ends by itself
    }
    await this.ended;
  }

  get #socket(): string {
    return join(this.#folder, SOCKET);
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path, () => done(true)).on("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });
}

/** What a guest program says first on a connection tells what it can do there. */
const HELLO = { flagsAt: 15, conduits: 8 };

/** A serial port carries one connection at a time. So its guest does not offer to take more of them for what a door lets in. */
class AsSerialPort extends Transform {
  #head: Buffer | undefined = Buffer.alloc(0);

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (!this.#head) {
      done(null, chunk);
      return;
    }
    const head = Buffer.concat([this.#head, chunk]);
    this.#head = head.length > HELLO.flagsAt ? undefined : head;
    if (this.#head) {
      done();
      return;
    }
    head.writeUInt8(head.readUInt8(HELLO.flagsAt) & ~HELLO.conduits, HELLO.flagsAt);
    done(null, head);
  }
}
