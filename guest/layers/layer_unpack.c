/*
 * Makes a layer of a stream. The stream may come from a sandbox and say anything: names are names and nothing else, and each is made new in a folder
 * that this program made itself, so nothing outside of the target is reached.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bounds.h"
#include "base/launcher.h"
#include "layers/copy_file.h"
#include "layers/descent.h"
#include "layers/layer_place.h"
#include "layers/layer_stream.h"
#include "layers/room.h"
#include "layers/shelf.h"
#include "walls/idmap.h"
#include "wire/frame.h"

struct meta {
  mode_t mode;
  uid_t uid;
  gid_t gid;
  struct timespec mtime;
};

static uint8_t incoming[CHUNK_BYTES];
static size_t incoming_at;
static size_t incoming_end;
static uint64_t total;
static bool one_owner;
static struct descent descent;
static struct meta *metas; /* of the folders on the way, which get them when they are left */
static size_t meta_capacity;
static char name[NAME_MAX + 1];

static void refuse(const char *what) __attribute__((noreturn));
static void refuse(const char *what) {
  errno = EBADMSG;
  fail("not a layer: %s", what);
}

static void receive(void *to, size_t count) {
  uint8_t *at = to;
  while (count > 0) {
    if (incoming_at == incoming_end) {
      ssize_t got = read(STDIN_FILENO, incoming, sizeof incoming);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot receive the layer");
      if (got == 0) refuse("it breaks off");
      incoming_at = 0;
      incoming_end = (size_t)got;
    }
    size_t part = incoming_end - incoming_at < count ? incoming_end - incoming_at : count;
    memcpy(at, incoming + incoming_at, part);
    incoming_at += part;
    at += part;
    count -= part;
  }
}

static uint8_t receive_u8(void) {
  uint8_t value;
  receive(&value, 1);
  return value;
}

static uint32_t receive_u32(void) {
  uint8_t bytes[4];
  receive(bytes, sizeof bytes);
  return read_u32(&(struct reader){.at = bytes, .left = sizeof bytes});
}

static uint64_t receive_u64(void) {
  uint8_t bytes[8];
  receive(bytes, sizeof bytes);
  return read_u64(&(struct reader){.at = bytes, .left = sizeof bytes});
}

static void receive_string(char *to, size_t room) {
  uint32_t length = receive_u32();
  if (length >= room) refuse("a text is too long");
  receive(to, length);
  to[length] = 0;
  if (strlen(to) != length) refuse("a text holds a NUL");
}

static int here(void) {
  if (descent.count == 0) refuse("nothing to put things in");
  return descent_here(&descent);
}

/* SECURITY: a name leads nowhere else (G-11) */
static void receive_name(bool is_top) {
  receive_string(name, sizeof name);
  if (!is_top) room_take(here(), ROOM_OF_A_NAME);
  bool plain = name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
  if (is_top ? name[0] != 0 : !plain) refuse("a name is none");
}

static struct meta receive_meta(void) {
  struct meta m;
  m.mode = (mode_t)receive_u32() & 07777;
  m.uid = receive_u32();
  m.gid = receive_u32();
  m.mtime.tv_sec = (time_t)receive_u64();
  m.mtime.tv_nsec = (long)receive_u32();
  if (m.mtime.tv_nsec < 0 || m.mtime.tv_nsec > 999999999) refuse("a time is none");
  return m;
}

static void receive_attributes(int fd) {
  static char key[XATTR_NAME_MAX + 1];
  static char value[ATTRIBUTE_BYTES];
  uint32_t count = receive_u32();
  if (count > LAYER_MAX_ATTRIBUTES) refuse("too many attributes");
  for (uint32_t i = 0; i < count; i++) {
    receive_string(key, sizeof key);
    uint32_t size = receive_u32();
    if (size > sizeof value) refuse("an attribute is too large");
    receive(value, size);
    if (!attribute_is_kept(key)) refuse("an attribute is not the user's");
    room_take(fd, size);
    if (fsetxattr(fd, key, value, size, 0) != 0) fail("cannot set an attribute of %s", name);
  }
}

static void finish(int fd, const struct meta *m, const char *shown) {
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, m->mtime};
  /* The owner first: changing it takes bits off the mode. */
  if (!one_owner && fchown(fd, m->uid, m->gid) != 0) fail("cannot give %s its owner", shown);
  if (fchmod(fd, m->mode) != 0 || futimens(fd, times) != 0) fail("cannot finish %s", shown);
}

static void enter_folder(int top) {
  bool is_top = descent.count == 0;
  receive_name(is_top);
  struct meta m = receive_meta();
  int folder = top;
  if (!is_top) {
    if (mkdirat(here(), name, 0700) != 0) fail("cannot make the folder %s", name);
    folder = place_open(here(), name, O_DIRECTORY);
    if (folder < 0) fail("cannot open the folder %s", name);
  }
  receive_attributes(folder);
  descent_enter(&descent, folder);
  if (descent.count > meta_capacity) {
    meta_capacity = meta_capacity ? meta_capacity * 2 : 64;
    metas = realloc(metas, meta_capacity * sizeof *metas);
    if (!metas) fail("out of memory");
  }
  metas[descent.count - 1] = m;
}

static void leave_folder(void) {
  int folder = here();
  if (descent.count == 1) shelf_clear();
  finish(folder, &metas[descent.count - 1], "a folder");
  descent_leave(&descent);
}

static void write_at(int file, const uint8_t *bytes, size_t count, off_t at) {
  while (count > 0) {
    ssize_t written = pwrite(file, bytes, count, at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write %s", name);
    bytes += written;
    count -= (size_t)written;
    at += written;
  }
}

static void receive_content(int file) {
  static uint8_t chunk[CHUNK_BYTES];
  uint64_t at = 0;
  for (;;) {
    uint8_t kind = receive_u8();
    if (kind == LAYER_BYTES) {
      uint32_t count = receive_u32();
      if (count > sizeof chunk) refuse("a piece is too large");
      receive(chunk, count);
      room_take(file, count);
      write_at(file, chunk, count, (off_t)at);
      at += count;
      total += count;
    } else if (kind == LAYER_HOLE) {
      at += receive_u64();
    } else if (kind == LAYER_FILE_END) {
      uint64_t size = receive_u64();
      if (size > INT64_MAX || ftruncate(file, (off_t)size) != 0) fail("cannot give %s its size", name);
      return;
    } else {
      refuse("a file without its end");
    }
    if (at > INT64_MAX / 2) refuse("a file is too large");
  }
}

static void make_file(bool shared) {
  receive_name(false);
  struct meta m = receive_meta();
  int file = openat(here(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fail("cannot make %s", name);
  receive_attributes(file);
  receive_content(file);
  finish(file, &m, name);
  if (close(file) != 0) fail("cannot finish %s", name);
  if (shared) shelf_keep(here(), name);
}

static void make_twin(void) {
  receive_name(false);
  if (!shelf_place(receive_u32(), here(), name)) refuse("another name of a file that is not there");
}

static void make_link(void) {
  static char target[PATH_MAX + 1];
  receive_name(false);
  struct meta m = receive_meta();
  struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, m.mtime};
  receive_string(target, sizeof target);
  if (symlinkat(target, here(), name) != 0) fail("cannot make the link %s", name);
  if (!one_owner && fchownat(here(), name, m.uid, m.gid, AT_SYMLINK_NOFOLLOW) != 0) fail("cannot give %s its owner", name);
  (void)utimensat(here(), name, times, AT_SYMLINK_NOFOLLOW);
}

static void make_whiteout(void) {
  receive_name(false);
  if (mknodat(here(), name, S_IFCHR, makedev(0, 0)) != 0) fail("cannot mark %s as removed", name);
}

static void unpack(int top) {
  char magic[LAYER_MAGIC_BYTES];
  bool begun = false;
  receive(magic, sizeof magic);
  if (memcmp(magic, LAYER_MAGIC, sizeof magic) != 0) refuse("it begins with something else");
  for (;;) {
    uint8_t kind = receive_u8();
    if (descent.count == 0 && kind != (begun ? LAYER_DONE : LAYER_FOLDER)) refuse("a record at the wrong place");
    begun = true;
    switch (kind) {
      case LAYER_FOLDER: enter_folder(top); break;
      case LAYER_FILE: make_file(false); break;
      case LAYER_SHARED: make_file(true); break;
      case LAYER_TWIN: make_twin(); break;
      case LAYER_LINK: make_link(); break;
      case LAYER_WHITEOUT: make_whiteout(); break;
      case LAYER_UP: leave_folder(); break;
      case LAYER_DONE:
        if (descent.count > 0 || receive_u64() != total) refuse("it ends too early");
        return;
      default: refuse("an unknown record");
    }
  }
}

int layer_unpack_main(int argc, char **argv) {
  struct id_map map = {0};
  (void)argc;
  umask(0);
  int folder = place_enter(argv, "--to", &map);
  one_owner = map.single;
  shelf_open(folder);
  unpack(folder);
  if (printf("%llu\n", (unsigned long long)total) < 0 || fflush(stdout) != 0) fail("cannot tell the size");
  return 0;
}
