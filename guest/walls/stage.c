/*
 * Layers are opened before the process takes its shifted user id, and mounted through /proc/self/fd: the folders of the
 * user stay closed (0700) to the ids of the sandbox, and mountinfo in the sandbox names no path of the host.
 */
#include "walls/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"
#include "walls/restrict_mount.h"

#define MOUNT_OPTIONS 4096 /* the kernel takes one page */
/*
 * The kernel writes out the whole file system of an overlay's upper layer when the overlay goes, and the process that ends the sandbox waits for it, also for what
 * others have written. A reset and a delete throw the layer away; a stop writes it out by itself: see sync_folder.c.
 */
#define VOLATILE ",volatile"

static int open_if_given(const char *path) { return path ? open_path(path) : -1; }

static void open_layers(struct stage_layers *s) {
  s->root = open_path(s->root_path);
  s->root_upper = open_path("root/upper");
  s->root_work = open_path("root/work");
  s->baseline = open_path(s->baseline_path);
  for (size_t i = 0; i < s->layer_count; i++) s->layers[i] = open_path(s->layer_paths[i]);
  s->upper = open_path("workspace/upper");
  s->work = open_path("workspace/work");
  s->bundle = open_if_given(s->bundle_path);
  s->socket = open_if_given(s->socket_path);
}

/*
 * The kernel leaves this mark in a work folder, and mounts nothing over it again, because the files might be incomplete after a crash of the host. A stop has
 * written them out. After a crash of the host there is nothing else to go on with, so the mark goes then too.
 */
static void forget_mark(const char *work) {
  static const char *const folders[] = {"work", "work/incompat", "work/incompat/volatile"};
  char path[64];
  for (size_t i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", work, folders[i]);
    /* The kernel has closed them. */
    if (chmod(path, 0700) < 0 && i == 0) return; /* nothing was mounted yet */
  }
  snprintf(path, sizeof path, "%s/%s/dirty", work, folders[2]);
  unlink(path);
  for (size_t i = 2; i > 0; i--) {
    snprintf(path, sizeof path, "%s/%s", work, folders[i]);
    if (rmdir(path) < 0 && errno != ENOENT) fail("cannot remove %s", path);
  }
}

void stage_forget_marks(void) {
  forget_mark("root/work");
  forget_mark("workspace/work");
}

void stage_open(struct stage_layers *s) {
  if (!s->opened) open_layers(s);
  s->guest = s->guest_path ? open(s->guest_path, O_RDONLY | O_CLOEXEC) : -1;
  if (s->guest_path && s->guest < 0) fail("cannot open %s", s->guest_path);
}

static void make_folder(const char *path) {
  if (mkdir(path, 0755) < 0) fail("cannot make %s", path);
}

void overlay_mount(const int *lowers, size_t lower_count, int upper, int work, const char *more, const char *target) {
  char options[MOUNT_OPTIONS] = "lowerdir=";
  size_t used = strlen(options);
  for (size_t i = 0; i < lower_count && used < sizeof options; i++) {
    used += (size_t)snprintf(options + used, sizeof options - used, "%s/proc/self/fd/%d", i ? ":" : "", lowers[i]);
  }
  if (used < sizeof options) {
    used += (size_t)snprintf(options + used, sizeof options - used, ",upperdir=/proc/self/fd/%d,workdir=/proc/self/fd/%d,userxattr%s",
                             upper, work, more);
  }
  if (used >= sizeof options) {
    errno = E2BIG;
    fail("too many layers");
  }
  if (mount("overlay", target, "overlay", MS_NOSUID | MS_NODEV, options) < 0) fail("cannot mount an overlay");
}

static void mount_workspace(const struct stage_layers *s) {
  int lowers[MAX_LAYERS + 1];
  for (size_t i = 0; i < s->layer_count; i++) lowers[i] = s->layers[s->layer_count - 1 - i];
  lowers[s->layer_count] = s->baseline;
  make_folder(STAGE "/workspace");
  overlay_mount(lowers, s->layer_count + 1, s->upper, s->work, VOLATILE, STAGE "/workspace");
}

static void bind_folder(int fd, const char *target) {
  char source[64];
  if (fd < 0) return;
  make_folder(target);
  snprintf(source, sizeof source, "/proc/self/fd/%d", fd);
  if (mount(source, target, NULL, MS_BIND, NULL) < 0) fail("cannot bind %s", target);
}

/* SECURITY: layers are shared between workspaces, so nothing in a sandbox gets a writable one (G-05) */
static void bind_read_only(int fd, const char *target) {
  bind_folder(fd, target);
  restrict_mount(target, MS_RDONLY | MS_NOSUID | MS_NODEV);
}

static void name_layer(char target[64], size_t index) { snprintf(target, 64, STAGE "/layers/%zu", index); }

static void bind_layers(const struct stage_layers *s) {
  char target[64];
  if (s->layer_count == 0) return;
  make_folder(STAGE "/layers");
  for (size_t i = 0; i < s->layer_count; i++) {
    name_layer(target, i);
    bind_read_only(s->layers[i], target);
  }
}

size_t stage_open_passed(const struct stage_layers *s, int *passed) {
  char target[64];
  size_t count = 0;
  passed[count++] = open_path(STAGE "/upper");
  passed[count++] = open_path(STAGE "/baseline");
  for (size_t i = 0; i < s->layer_count; i++) {
    name_layer(target, i);
    passed[count++] = open_path(target);
  }
  return count;
}

/* SECURITY: a copy, because mountinfo in the sandbox would name the place of a bound file on the host (G-01) */
void stage_copy_guest(int from) {
  struct stat st;
  int to = open(STAGE "/guest", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
  if (to < 0 || fstat(from, &st) < 0) fail("cannot make %s", STAGE "/guest");
  for (off_t left = st.st_size; left > 0;) {
    ssize_t sent = sendfile(to, from, NULL, (size_t)left);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) fail("cannot copy the guest program");
    left -= sent;
  }
  /* Whatever the umask left; open for writing it could not be executed. */
  if (fchmod(to, 0755) < 0 || close(to) < 0) fail("cannot copy the guest program");
}

static void make_private(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) fail("cannot make mounts private");
}

void stage_make(void) {
  make_private();
  if (mount("cloche", STAGE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=8m") < 0) fail("cannot mount the stage");
}

void stage_attach(int stage) {
  make_private();
  if (move_mount(stage, "", AT_FDCWD, STAGE, MOVE_MOUNT_F_EMPTY_PATH) < 0) fail("cannot mount the stage");
}

void stage_mount(const struct stage_layers *s) {
  make_folder(STAGE "/root");
  overlay_mount(&s->root, 1, s->root_upper, s->root_work, VOLATILE, STAGE "/root");
  mount_workspace(s);
  bind_read_only(s->baseline, STAGE "/baseline");
  bind_read_only(s->upper, STAGE "/upper");
  bind_layers(s);
  bind_folder(s->bundle, STAGE "/bundle");
  bind_folder(s->socket, STAGE "/socket");
  if (s->guest >= 0) stage_copy_guest(s->guest);
}
