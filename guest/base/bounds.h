/* How much the guest program takes on. Every queue, table and buffer has its bound here. */
#ifndef CLOCHE_BOUNDS_H
#define CLOCHE_BOUNDS_H

#define MAX_CONNECTIONS 320u /* most of them for the moment until they carry a connection of a door */
#define MAX_SERIAL_PORTS 16u
#define MAX_STREAMS 1024u /* on one connection */
#define MAX_CONDUITS 512u
#define MAX_PROCESSES 1024u
#define MAX_DRAINS 1024u
#define MAX_TAG_BYTES 4096u
#define MAX_ARGUMENTS 65536u
#define MAX_RLIMITS 32u
#define MAX_LAYERS 64u /* of /workspace, over its baseline */

#define MAX_DATAGRAM 4096u /* a longer one is dropped */

#define MAX_PATH_BYTES 4096u /* of a path in a record; the host takes no longer one */

#define CHUNK_BYTES 65536u               /* one read, one DATA */
#define CONDUIT_BYTES 131072u            /* one read of a connection that has no frames */
#define INPUT_WINDOW 65536u              /* stdin bytes that a host may send ahead */
#define OUTGOING_HIGH (1024u * 1024u)    /* no more DATA for a connection above this */
#define RING_DEFAULT 65536u
#define RING_MAX (16u * 1024u * 1024u)

#define LINGER_MS 100     /* between a command's exit and END when others hold its pipes */
#define KILL_ROUND_MS 10  /* between two rounds of SIGKILL */
#define KILL_ROUNDS 200   /* after that many, what still is there is given up on */
#define ACCEPT_PAUSE_MS 100
#define PROGRESS_MS 1000  /* between two PROGRESS of a builtin that has nothing else to say */

#endif
