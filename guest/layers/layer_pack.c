#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/launcher.h"
#include "layers/copy_file.h"
#include "layers/layer_place.h"
#include "layers/layer_stream.h"
#include "layers/layer_walk.h"
#include "layers/twins.h"
#include "walls/idmap.h"
#include "wire/frame.h"

#define AGENT 1000u /* uid and gid, the same in every sandbox */

static uint8_t pending[CHUNK_BYTES];
static size_t pending_bytes;
static uint64_t total;
static bool all_agents;
static void (*write_out)(const void *bytes, size_t count);

static void flush(void) {
  write_out(pending, pending_bytes);
  pending_bytes = 0;
}

static void send(const void *bytes, size_t count) {
  if (count > sizeof pending - pending_bytes) flush();
  while (count > sizeof pending) {
    write_out(bytes, sizeof pending);
    bytes = (const char *)bytes + sizeof pending;
    count -= sizeof pending;
  }
  memcpy(pending + pending_bytes, bytes, count);
  pending_bytes += count;
}

static void send_kind(enum layer_record kind) { send(&(uint8_t){(uint8_t)kind}, 1); }

static void send_u32(uint32_t value) {
  uint8_t bytes[4];
  put_u32(bytes, value);
  send(bytes, sizeof bytes);
}

static void send_u64(uint64_t value) {
  uint8_t bytes[8];
  put_u64(bytes, value);
  send(bytes, sizeof bytes);
}

static void send_bytes(const void *bytes, size_t count) {
  send_u32((uint32_t)count);
  send(bytes, count);
}

static void send_head(enum layer_record kind, const char *name, const struct stat *st) {
  send_kind(kind);
  send_bytes(name, strlen(name));
  send_u32(st->st_mode & 07777);
  send_u32(all_agents ? AGENT : st->st_uid);
  send_u32(all_agents ? AGENT : st->st_gid);
  send_u64((uint64_t)st->st_mtim.tv_sec);
  send_u32((uint32_t)st->st_mtim.tv_nsec);
}

/* The count comes first, and a value may be removed while they are read: so they are collected, as far as there is room. */
static void send_attributes(int fd, const char *shown) {
  static char names[ATTRIBUTE_BYTES];
  static uint8_t collected[4 * ATTRIBUTE_BYTES];
  size_t used = 0;
  uint32_t count = 0;
  ssize_t length = flistxattr(fd, names, sizeof names);
  if (length < 0 && errno != EOPNOTSUPP) fail("cannot read the attributes of %s", shown);
  for (const char *name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
    static char value[ATTRIBUTE_BYTES];
    if (!attribute_is_kept(name)) continue;
    ssize_t size = fgetxattr(fd, name, value, sizeof value);
    if (size < 0 && errno == ENODATA) continue;
    if (size < 0) fail("cannot read the attributes of %s", shown);
    size_t needed = 8 + strlen(name) + (size_t)size;
    if (needed > sizeof collected - used || count == LAYER_MAX_ATTRIBUTES) {
      errno = E2BIG;
      fail("cannot send the attributes of %s", shown);
    }
    uint8_t *at = put_u32(collected + used, (uint32_t)strlen(name));
    memcpy(at, name, strlen(name));
    at = put_u32(at + strlen(name), (uint32_t)size);
    memcpy(at, value, (size_t)size);
    used += needed;
    count++;
  }
  send_u32(count);
  send(collected, used);
}

/* Ends early where the file does. */
static off_t send_range(int file, off_t at, off_t end, const char *shown) {
  static uint8_t chunk[CHUNK_BYTES];
  while (at < end) {
    size_t wanted = end - at < (off_t)sizeof chunk ? (size_t)(end - at) : sizeof chunk;
    ssize_t got = pread(file, chunk, wanted, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read %s", shown);
    if (got == 0) return at;
    send_kind(LAYER_BYTES);
    send_bytes(chunk, (size_t)got);
    total += (uint64_t)got;
    at += got;
  }
  return at;
}

static void send_content(int file, off_t size, const char *shown) {
  off_t at = 0;
  while (at < size) {
    off_t data = lseek(file, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break; /* only a hole is left */
    off_t hole = data < 0 ? -1 : lseek(file, data, SEEK_HOLE);
    if (data < 0) data = at;
    if (hole < 0 || hole > size) hole = size;
    if (data > at) {
      send_kind(LAYER_HOLE);
      send_u64((uint64_t)(data - at));
    }
    at = send_range(file, data, hole, shown);
    if (at < hole) size = at; /* cut off meanwhile */
  }
  send_kind(LAYER_FILE_END);
  send_u64((uint64_t)size);
}

static void enter_folder(int folder, const char *name) {
  struct stat st;
  if (fstat(folder, &st) != 0) fail("cannot look at the folder %s", *name ? name : ".");
  send_head(LAYER_FOLDER, name, &st);
  send_attributes(folder, *name ? name : ".");
}

static void leave_folder(int folder, const char *name) {
  (void)folder;
  (void)name;
  send_kind(LAYER_UP);
}

/* SECURITY: what has many names is sent once, or a small layer would become a large one (G-15) */
static void pack_open(int file, const char *name, const struct stat *st) {
  uint32_t twin = twin_of(st);
  if (twin > 0) {
    send_kind(LAYER_TWIN);
    send_bytes(name, strlen(name));
    send_u32(twin);
    return;
  }
  send_head(st->st_nlink > 1 ? LAYER_SHARED : LAYER_FILE, name, st);
  send_attributes(file, name);
  send_content(file, st->st_size, name);
  if (st->st_nlink > 1) (void)twin_remember(st);
}

static enum outcome pack_regular(int parent, const char *name) {
  struct stat st;
  int file = place_open(parent, name, 0);
  if (file < 0 && place_was_swapped()) return CHANGED;
  if (file < 0 || fstat(file, &st) != 0) fail("cannot open %s", name);
  bool regular = S_ISREG(st.st_mode);
  if (regular) pack_open(file, name, &st);
  close(file);
  return regular ? TAKEN : CHANGED;
}

static enum outcome pack_link(int parent, const char *name, const struct stat *st) {
  char text[PATH_MAX];
  ssize_t length = readlinkat(parent, name, text, sizeof text);
  if (length < 0 && (errno == EINVAL || place_was_swapped())) return CHANGED;
  if (length < 0) fail("cannot read the link %s", name);
  send_head(LAYER_LINK, name, st);
  send_bytes(text, (size_t)length);
  return TAKEN;
}

static enum outcome take(int parent, const char *name, const struct stat *st) {
  if (S_ISREG(st->st_mode)) return pack_regular(parent, name);
  if (S_ISLNK(st->st_mode)) return pack_link(parent, name, st);
  /* Sockets and pipes mean nothing without the process that made them. */
  if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0)) {
    send_kind(LAYER_WHITEOUT);
    send_bytes(name, strlen(name));
  }
  return TAKEN;
}

uint64_t layer_pack(int folder, bool for_agent, void (*write)(const void *bytes, size_t count)) {
  all_agents = for_agent;
  write_out = write;
  send(LAYER_MAGIC, LAYER_MAGIC_BYTES);
  layer_walk(folder, &(struct layer_visitor){enter_folder, leave_folder, take});
  send_kind(LAYER_DONE);
  send_u64(total);
  flush();
  return total;
}

static void write_stdout(const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    ssize_t written = write(STDOUT_FILENO, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot send the layer");
    at += written;
    count -= (size_t)written;
  }
}

int layer_pack_main(int argc, char **argv) {
  struct id_map map = {0};
  (void)argc;
  int folder = place_enter(argv, "--from", &map);
  layer_pack(folder, map.single, write_stdout);
  return 0;
}
