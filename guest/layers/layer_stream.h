/*
 * A layer as a stream of bytes, from one machine to another: `cloche-guest layer-pack` and the builtin `layer-out` write it, `layer-unpack` reads it.
 *
 * LAYER_MAGIC, then records, each a kind and its fields. Integers are little-endian, `str` is a u32 length and that many bytes.
 *
 *   D str name, META, ATTRIBUTES   a folder; what follows is in it until its U. The first record is the layer itself, with an empty name
 *   F str name, META, ATTRIBUTES   a file: then B (u32 length, bytes) and H (u64 bytes of a hole) as they come, and Z (u64 its size)
 *   G as F                         the same of a file that has more names; they count from 1
 *   S str name, u32 number         one of those names, of that G
 *   L str name, META, str target   a link
 *   W str name                     what a lower layer has under that name is gone
 *   U                              the end of a folder
 *   . u64                          the end: bytes of content that went by
 *
 * META: u32 mode, u32 uid, u32 gid, u64 seconds, u32 nanoseconds. ATTRIBUTES: u32 count of { str name, str value }.
 */
#ifndef CLOCHE_LAYER_STREAM_H
#define CLOCHE_LAYER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAYER_MAGIC "clochel1"
#define LAYER_MAGIC_BYTES 8u
#define LAYER_MAX_ATTRIBUTES 1024u

enum layer_record {
  LAYER_FOLDER = 'D',
  LAYER_FILE = 'F',
  LAYER_SHARED = 'G',
  LAYER_TWIN = 'S',
  LAYER_LINK = 'L',
  LAYER_WHITEOUT = 'W',
  LAYER_UP = 'U',
  LAYER_BYTES = 'B',
  LAYER_HOLE = 'H',
  LAYER_FILE_END = 'Z',
  LAYER_DONE = '.'
};

/* Takes over the open folder, and hands the layer in it to `write`, in pieces. With `for_agent`, everything belongs to the user `agent`. Gives the bytes of content.
 * Fails when it cannot. */
uint64_t layer_pack(int folder, bool for_agent, void (*write)(const void *bytes, size_t count));

int layer_pack_main(int argc, char **argv);
int layer_unpack_main(int argc, char **argv);

#endif
