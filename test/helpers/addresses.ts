import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const GATE = fileURLToPath(new URL("../fixtures/gate-among-addresses.mjs", import.meta.url));
const SCRIPT = `
ip link set lo up
for address in $ADDRESSES; do ip address add $address dev lo; done
mount --bind "$FILES/hosts" /etc/hosts
mount --bind "$FILES/resolv.conf" /etc/resolv.conf
exec "$@"`;

/** What became of a request to a host, and the addresses that were reached for it. */
export interface Asked {
  readonly host: string;
  /** Null when the upstream answered. */
  readonly code: string | null;
  readonly message: string;
  readonly reached: readonly string[];
}

/** Asks a gate for hosts in a network namespace in which all of the addresses are there, and somebody listens at each. */
export function askAmongAddresses(plan: {
  /** Addresses by the name of a host. */
  readonly hosts: Readonly<Record<string, readonly string[]>>;
  /** A host that the resolver leads to the first address once, and then to the second. */
  readonly rebound: { readonly host: string; readonly addresses: readonly [string, string] };
  /** A host whose route names its address. */
  readonly connect: { readonly host: string; readonly to: string };
}): Asked[] {
  const files = mkdtempSync(join(tmpdir(), "cloche-addresses-"));
  try {
    const all = new Set([...Object.values(plan.hosts).flat(), ...plan.rebound.addresses]);
    const added = [...all].filter((address) => !/^127\.|^::1$|^::ffff:|^0\.|^22[4-9]\./.test(address));
    const lines = Object.entries(plan.hosts).flatMap(([host, to]) => to.map((address) => `${address} ${host}\n`));
    writeFileSync(join(files, "hosts"), lines.join(""));
    writeFileSync(join(files, "resolv.conf"), "nameserver 127.0.0.1\n");
    const sent = JSON.stringify({ ...plan, hosts: Object.keys(plan.hosts) });
    const own = process.getuid?.() === 0 ? [] : ["--map-root-user"];
    const out = execFileSync(
      "unshare",
      [...own, "--net", "--mount", "--propagation", "private", "sh", "-ec", SCRIPT, "sh", process.execPath, GATE, sent],
      {
        encoding: "utf8",
        timeout: 60_000,
        env: {
          ...process.env,
          FILES: files,
          ADDRESSES: added.map((address) => `${address}/${address.includes(":") ? 128 : 32}`).join(" "),
        },
      },
    );
    return JSON.parse(out) as Asked[];
  } finally {
    rmSync(files, { recursive: true });
  }
}
