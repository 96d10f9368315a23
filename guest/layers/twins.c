#include "layers/twins.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/launcher.h"

struct twin {
  uint32_t number; /* 0: free */
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec mtime;
};

static struct twin *table;
static size_t capacity;
static uint32_t count;

static struct twin *place_of(struct twin *in, size_t slots, dev_t device, ino_t inode) {
  size_t at = (size_t)(((uint64_t)inode * 0x9e3779b97f4a7c15u) >> 20) & (slots - 1);
  while (in[at].number && (in[at].inode != inode || in[at].device != device)) at = (at + 1) & (slots - 1);
  return &in[at];
}

static void grow(void) {
  size_t larger = capacity ? capacity * 2 : 256;
  struct twin *next = calloc(larger, sizeof *next);
  if (!next) fail("out of memory");
  for (size_t i = 0; i < capacity; i++) {
    if (table[i].number) *place_of(next, larger, table[i].device, table[i].inode) = table[i];
  }
  free(table);
  table = next;
  capacity = larger;
}

uint32_t twin_of(const struct stat *st) {
  if (st->st_nlink < 2 || capacity == 0) return 0;
  const struct twin *t = place_of(table, capacity, st->st_dev, st->st_ino);
  /* The number of an inode may be that of another file by now. */
  bool same = t->size == st->st_size && t->mtime.tv_sec == st->st_mtim.tv_sec && t->mtime.tv_nsec == st->st_mtim.tv_nsec;
  return t->number && same ? t->number : 0;
}

uint32_t twin_remember(const struct stat *st) {
  if ((size_t)count * 2 >= capacity) grow();
  struct twin *t = place_of(table, capacity, st->st_dev, st->st_ino);
  *t = (struct twin){++count, st->st_dev, st->st_ino, st->st_size, st->st_mtim};
  return count;
}
