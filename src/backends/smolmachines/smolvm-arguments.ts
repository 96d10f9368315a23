/**
 * The argument vectors that `smolvm` gets. Each names its machine by a flag: a positional name is of smolvm 0.8. None has a flag for environment variables
 * or the network: what a command gets goes through the guest program, and a machine has no network unless it is asked for.
 */
export interface MachineSpec {
  readonly name: string;
  /** A folder with an unpacked root file system, or a `.smolmachine` file. */
  readonly image: string;
  readonly vcpuCount: number;
  readonly memMib: number;
  readonly labels: Readonly<Record<string, string>>;
  /** A socket in the machine, and where it is reached on the host. */
  readonly socket: { readonly guest: string; readonly host: string };
}

export const versionArguments = (): string[] => ["--version"];

// prettier-ignore
export const createArguments = ({ name, image, vcpuCount, memMib, labels, socket }: MachineSpec): string[] => [
  "machine", "create", "--name", name, image.endsWith(".smolmachine") ? "--from" : "--image", image,
  "--cpus", String(vcpuCount), "--mem", String(memMib), "--expose-socket", `${socket.guest}:${socket.host}`,
  ...labelArguments(labels),
];

/** The smallest machine there is, to see whether machines start. */
// prettier-ignore
export const bareArguments = (name: string, labels: Readonly<Record<string, string>>): string[] => [
  "machine", "create", "--name", name, "--cpus", "1", "--mem", "256", ...labelArguments(labels),
];

export const startArguments = (name: string): string[] => ["machine", "start", "-n", name];

/** Runs to its end; `stdin` sends this program's standard input along. `exec` alone has no short form of `--name`. */
export const execArguments = (name: string, command: readonly string[], stdin: boolean): string[] => [
  ...["machine", "exec", "--name", name, ...(stdin ? ["-i"] : []), "--"],
  ...command,
];

/** Stays when this call has ended. */
export const detachArguments = (name: string, command: readonly string[]): string[] => [
  ...["machine", "exec", "--name", name, "-d", "--"],
  ...command,
];

/** One file to `machine:path`. The side with a colon is the machine's, so the source is a plain name in the working directory. */
export const copyInArguments = (name: string, fileName: string, guestPath: string, mode: string): string[] => [
  ...["machine", "cp", "--mode", mode, `./${fileName}`, `${name}:${guestPath}`],
];

export const statusArguments = (name: string): string[] => ["machine", "status", "-n", name, "--json"];
export const listArguments = (): string[] => ["machine", "ls", "--json"];
export const stopArguments = (name: string): string[] => ["machine", "stop", "-n", name];

/** Without `-f` it asks, takes silence for a no, and exits with 0. */
export const deleteArguments = (name: string): string[] => ["machine", "delete", "-n", name, "-f"];

const labelArguments = (labels: Readonly<Record<string, string>>): string[] =>
  Object.entries(labels).flatMap(([key, value]) => ["--label", `${key}=${value}`]);
