/*
 * Which ranges are taken is what the kernel knows of locks: the sandbox's first process has its lock open, and nothing else has to be
 * remembered, whatever process is killed. There is one file for each range, open for reading: a holder of one can do nothing with the others.
 */
#include "walls/own_ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"

#define PARENT "/run/cloche"
#define FOLDER PARENT "/ids"

bool own_ids_option(struct own_ids *ids, const char *name, const char *value) {
  return strcmp(name, "--own-ids") == 0 && sscanf(value, "%lu:%lu", &ids->first, &ids->ranges) == 2;
}

/* SECURITY: nobody else may have made the folder, or could take a lock in it (G-26) */
static int open_own(const char *path) {
  struct stat st;
  if (mkdir(path, 0700) < 0 && errno != EEXIST) fail("cannot make %s", path);
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || fstat(folder, &st) < 0) fail("cannot open %s", path);
  if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH))) {
    errno = EPERM;
    fail("the folder %s belongs to somebody else", path);
  }
  return folder;
}

unsigned long own_ids_take(struct own_ids *ids, unsigned long count) {
  close(open_own(PARENT));
  int folder = open_own(FOLDER);
  for (unsigned long range = 0; range < ids->ranges; range++) {
    char name[32];
    snprintf(name, sizeof name, "%lu", ids->first + range * count);
    int file = openat(folder, name, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) fail("cannot open %s/%s", FOLDER, name);
    if (flock(file, LOCK_EX | LOCK_NB) == 0) {
      ids->lock = file;
      close(folder);
      return ids->first + range * count;
    }
    if (errno != EWOULDBLOCK) fail("cannot lock %s/%s", FOLDER, name);
    close(file);
  }
  errno = EAGAIN;
  fail("all %lu ranges of user ids are taken", ids->ranges);
}
