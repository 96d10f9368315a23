/** Numbers of the guest protocol; `docs/guest-protocol.md` is the specification. */
export const MAGIC = 0x48434c43;
export const PROTOCOL_VERSION = 1;

export const HEADER_BYTES = 9;
export const MIN_FRAME_LENGTH = 5;
export const MAX_PAYLOAD = 131_072;
export const MAX_FRAME_LENGTH = MAX_PAYLOAD + MIN_FRAME_LENGTH;
/** SPAWN alone may be larger, because argv and env are. */
export const MAX_SPAWN_PAYLOAD = 4 * 1024 * 1024;

/** Streams that the guest opens have this bit set. */
export const GUEST_STREAM_BIT = 0x8000_0000;

/** Frames that the host sends. */
export const HOST = {
  HELLO: 0x01,
  SPAWN: 0x02,
  ATTACH: 0x03,
  DATA: 0x04,
  END: 0x05,
  CREDIT: 0x06,
  SIGNAL: 0x07,
  RESIZE: 0x08,
  DETACH: 0x09,
  PROCESSES: 0x0a,
  PING: 0x0b,
  FORGET: 0x0c,
  CONNECT: 0x0d,
  LISTEN: 0x0e,
  SHUTDOWN: 0x0f,
  SIGNAL_TREE: 0x10,
  DATAGRAM: 0x11,
  TAKE: 0x12,
  LEND: 0x13,
} as const;

/** Frames that the guest sends. */
export const GUEST = {
  HELLO: 0x81,
  STARTED: 0x82,
  DATA: 0x83,
  END: 0x84,
  CREDIT: 0x85,
  EXIT: 0x86,
  ERROR: 0x87,
  PROCESS_LIST: 0x88,
  OK: 0x89,
  INCOMING: 0x8a,
  PONG: 0x8b,
  DATAGRAM: 0x8c,
} as const;

const FIRST_GUEST_TYPE = GUEST.HELLO;
const LAST_GUEST_TYPE = GUEST.DATAGRAM;

export function isGuestType(type: number): boolean {
  return type >= FIRST_GUEST_TYPE && type <= LAST_GUEST_TYPE;
}

export const SPAWN_FLAG = { PTY: 1, BUILTIN: 2, KEEP: 4, DROP: 8, STDIN: 16, SECRETS: 32 } as const;

/** What a door listens on: a port of 127.0.0.1, that port of every loopback address, or datagrams to a port of 127.0.0.1. */
export const DOOR_KIND = { PORT: 0, ADDRESSES: 1, DATAGRAMS: 2 } as const;

export const CHANNEL = { STDIN: 0, STDOUT: 1, STDERR: 2 } as const;
export type OutputChannel = 1 | 2;
