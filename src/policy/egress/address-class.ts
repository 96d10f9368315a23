/** What an address is that no name of the outside world may lead to; undefined for one that is out there. */
export type AddressClass =
  | "loopback"
  | "link-local"
  | "private"
  | "shared"
  | "metadata"
  | "multicast"
  | "unspecified"
  | "reserved"
  | "translated"
  | "no address";

type Family = "ipv4" | "ipv6";

/** Most special first. By IANA's registries of special-purpose addresses, and the well-known addresses at which clouds tell their machines' secrets. */
const RANGES: readonly (readonly [AddressClass, Family, string, number])[] = [
  ["metadata", "ipv4", "169.254.169.254", 32],
  ["metadata", "ipv4", "169.254.170.2", 32],
  ["metadata", "ipv4", "100.100.100.200", 32],
  ["metadata", "ipv4", "168.63.129.16", 32],
  ["metadata", "ipv4", "192.0.0.192", 32],
  ["metadata", "ipv6", "fd00:ec2::", 32],
  ["metadata", "ipv6", "fd20:ce::254", 128],
  ["unspecified", "ipv4", "0.0.0.0", 8],
  ["private", "ipv4", "10.0.0.0", 8],
  ["shared", "ipv4", "100.64.0.0", 10],
  ["loopback", "ipv4", "127.0.0.0", 8],
  ["link-local", "ipv4", "169.254.0.0", 16],
  ["private", "ipv4", "172.16.0.0", 12],
  ["reserved", "ipv4", "192.0.0.0", 24],
  ["reserved", "ipv4", "192.0.2.0", 24],
  ["translated", "ipv4", "192.88.99.0", 24],
  ["private", "ipv4", "192.168.0.0", 16],
  ["reserved", "ipv4", "198.18.0.0", 15],
  ["reserved", "ipv4", "198.51.100.0", 24],
  ["reserved", "ipv4", "203.0.113.0", 24],
  ["multicast", "ipv4", "224.0.0.0", 4],
  ["reserved", "ipv4", "240.0.0.0", 4],
  ["unspecified", "ipv6", "::", 128],
  ["loopback", "ipv6", "::1", 128],
  // An address of the old family in disguise: `unwrapped` gives what is in it, and what is left of these is nobody's.
  ["translated", "ipv6", "::", 96],
  ["translated", "ipv6", "::ffff:0:0:0", 96],
  ["translated", "ipv6", "64:ff9b:1::", 48],
  ["reserved", "ipv6", "100::", 64],
  ["reserved", "ipv6", "2001::", 23],
  ["reserved", "ipv6", "2001:db8::", 32],
  ["translated", "ipv6", "2002::", 16],
  ["reserved", "ipv6", "3fff::", 20],
  ["reserved", "ipv6", "5f00::", 16],
  ["private", "ipv6", "fc00::", 7],
  ["link-local", "ipv6", "fe80::", 10],
  ["private", "ipv6", "fec0::", 10],
  ["multicast", "ipv6", "ff00::", 8],
];

const BITS = { ipv4: 32, ipv6: 128 } as const;

const NETWORKS = RANGES.map(([kind, family, network, prefix]) => {
  const shift = BigInt(BITS[family] - prefix);
  return { kind, family, shift, start: (numberOf(network)?.value ?? 0n) >> shift };
});

/** SECURITY: a name that resolves to something inside is not dialled, whatever form its address has (G-36) */
export function addressClass(address: string): AddressClass | undefined {
  const number = numberOf(address.replace(/%.*$/, ""));
  if (!number) return "no address";
  const { family, value } = unwrapped(number);
  return NETWORKS.find((one) => one.family === family && value >> one.shift === one.start)?.kind;
}

interface AddressNumber {
  readonly family: Family;
  readonly value: bigint;
}

const MAPPED = 0xffffn;
const NAT64 = 0x64_ff9bn << 64n;

/** The IPv4 address that a mapped one, or one of the well-known prefix for NAT64, stands for. */
function unwrapped(number: AddressNumber): AddressNumber {
  const head = number.value >> 32n;
  if (number.family === "ipv4" || (head !== MAPPED && head !== NAT64)) return number;
  return { family: "ipv4", value: number.value & 0xffff_ffffn };
}

function numberOf(address: string): AddressNumber | undefined {
  const parts = address.split(".");
  if (parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256))
    return { family: "ipv4", value: parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n) };
  const groups = address.includes(":") ? groupsOf(address) : [];
  if (groups.length !== 8 || !groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined;
  return { family: "ipv6", value: groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n) };
}

/** The eight groups of an IPv6 address; another number of them for what is none. */
function groupsOf(address: string): string[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const hex = (high: number, low: number) => ((Number(dotted?.[high]) << 8) | Number(dotted?.[low])).toString(16);
  const plain = dotted ? `${dotted[1] ?? ""}${hex(2, 3)}:${hex(4, 5)}` : address;
  const [front = "", back] = plain.split("::");
  const left = front === "" ? [] : front.split(":");
  const right = back === undefined || back === "" ? [] : back.split(":");
  const zeros = back === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array.from({ length: zeros }, () => "0"), ...right];
}
