import { readFile } from "node:fs/promises";
import { endianness } from "node:os";

/** One end of a connection, or of a listener, over IPv4. */
export interface Endpoint4 {
  readonly address: string;
  readonly port: number;
}

/**
 * The user whose process has the socket at one end of a connection on this machine; undefined when there is none, or when it has been closed. Without `to`, who
 * listens there. The kernel's own tables say it.
 */
export async function userOfSocket(from: Endpoint4, to?: Endpoint4): Promise<number | undefined> {
  // A socket of IPv6 can speak IPv4 too, and is in the other table then.
  for (const [table, prefix] of [
    ["/proc/net/tcp", ""],
    ["/proc/net/tcp6", "0000000000000000FFFF0000"],
  ] as const) {
    const user = findUser(await readFile(table, "latin1").catch(() => ""), prefix, from, to);
    if (user !== undefined) return user;
  }
  return undefined;
}

function findUser(table: string, prefix: string, from: Endpoint4, to: Endpoint4 | undefined): number | undefined {
  const own = `${prefix}${inHex(from)}`;
  const other = to && `${prefix}${inHex(to)}`;
  for (const line of table.split("\n")) {
    const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/);
    const isIt = local === own && (other === undefined ? state === LISTENING : remote === other);
    // SECURITY: the kernel says root of a socket that its process has closed; such a one has no inode, and is nobody's (G-34)
    if (isIt && inode !== "0") return Number(user);
  }
  return undefined;
}

const LISTENING = "0A";

/** As the kernel writes it: the address in the order of the processor's bytes, the port in that of the network. */
function inHex({ address, port }: Endpoint4): string {
  const bytes = address.split(".").map(Number);
  const ordered = endianness() === "LE" ? bytes.toReversed() : bytes;
  return `${Buffer.from(ordered).toString("hex")}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}
