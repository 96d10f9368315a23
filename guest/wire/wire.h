/* The numbers of the guest protocol (docs/guest-protocol.md). */
#ifndef CLOCHE_WIRE_H
#define CLOCHE_WIRE_H

#define WIRE_MAGIC 0x48434c43u
#define WIRE_VERSION 1u
#define WIRE_HEADER 9u         /* length, type, stream */
#define WIRE_PREFIX 5u         /* what the length counts besides the payload */
#define WIRE_MAX_PAYLOAD 131072u
#define WIRE_MAX_SPAWN (4u * 1024u * 1024u)
#define WIRE_GUEST_STREAM 0x80000000u

enum host_frame {
  HOST_HELLO = 0x01,
  HOST_SPAWN = 0x02,
  HOST_ATTACH = 0x03,
  HOST_DATA = 0x04,
  HOST_END = 0x05,
  HOST_CREDIT = 0x06,
  HOST_SIGNAL = 0x07,
  HOST_RESIZE = 0x08,
  HOST_DETACH = 0x09,
  HOST_PROCESSES = 0x0a,
  HOST_PING = 0x0b,
  HOST_FORGET = 0x0c,
  HOST_CONNECT = 0x0d,
  HOST_LISTEN = 0x0e,
  HOST_SHUTDOWN = 0x0f,
  HOST_SIGNAL_TREE = 0x10,
  HOST_DATAGRAM = 0x11,
  HOST_TAKE = 0x12,
  HOST_LEND = 0x13
};

enum guest_frame {
  GUEST_HELLO = 0x81,
  GUEST_STARTED = 0x82,
  GUEST_DATA = 0x83,
  GUEST_END = 0x84,
  GUEST_CREDIT = 0x85,
  GUEST_EXIT = 0x86,
  GUEST_ERROR = 0x87,
  GUEST_PROCESS_LIST = 0x88,
  GUEST_OK = 0x89,
  GUEST_INCOMING = 0x8a,
  GUEST_PONG = 0x8b,
  GUEST_DATAGRAM = 0x8c
};

enum hello_flag { HELLO_LAYERS = 1, HELLO_USERS = 2, HELLO_DOORS = 4, HELLO_CONDUITS = 8 };
/* What a door listens on: a port of 127.0.0.1, the port of all loopback addresses, or datagrams to a port of 127.0.0.1. */
enum door_kind { DOOR_PORT = 0, DOOR_ADDRESSES = 1, DOOR_DATAGRAMS = 2 };
enum spawn_flag { SPAWN_PTY = 1, SPAWN_BUILTIN = 2, SPAWN_KEEP = 4, SPAWN_DROP = 8, SPAWN_STDIN = 16, SPAWN_SECRETS = 32 };
#define SPAWN_FLAGS 63u /* all of them */
enum exit_kind { EXIT_CODE = 0, EXIT_SIGNAL = 1, EXIT_NOT_STARTED = 2 };
enum exit_flag { EXIT_TIMED_OUT = 1 };
enum signal_scope { SCOPE_GROUP = 0, SCOPE_DESCENDANTS = 1 };

#endif
