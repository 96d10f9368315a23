#include "walls/cover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/launcher.h"

#define OPEN_TO_ALL (S_IROTH | S_IXOTH)
/* A folder that is in several layers has the rights that the topmost gives it: never more than the host's own. */
#define KEPT_MODE 0755

void cover_start(int cover, int folder) {
  struct stat st;
  if (fstat(folder, &st) < 0 || fchmodat(cover, ".", st.st_mode & KEPT_MODE, 0) < 0) fail("cannot cover a folder of the host");
}

/* What an overlay takes for a name that was removed; everybody may make one. True also where there is one already. */
static bool remove_name(int cover, const char *path) { return mknodat(cover, path, S_IFCHR, 0) == 0 || errno == EEXIST; }

/* Whether the folder stays and only places in it are hidden. One that is not open to all is hidden as a whole: nobody in the sandbox could pass it. */
static bool keep_folder(int cover, int folder, const char *path) {
  struct stat shown, own;
  if (fstatat(folder, path, &shown, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(shown.st_mode)) return false;
  if ((shown.st_mode & OPEN_TO_ALL) != OPEN_TO_ALL) return false;
  if (mkdirat(cover, path, 0700) < 0 && errno != EEXIST) fail("cannot cover %s", path);
  if (fstatat(cover, path, &own, AT_SYMLINK_NOFOLLOW) < 0) fail("cannot cover %s", path);
  /* Hidden already, with what is above. */
  if (!S_ISDIR(own.st_mode)) return false;
  if (fchmodat(cover, path, shown.st_mode & KEPT_MODE, 0) < 0) fail("cannot cover %s", path);
  return true;
}

void cover_place(int cover, int folder, const char *relative) {
  char path[PATH_MAX];
  size_t length = strlen(relative);
  if (length == 0 || length >= sizeof path || relative[0] == '/') fail_usage("not a place below a folder of the host");
  memcpy(path, relative, length + 1);
  for (char *end = path; (end = strchr(end, '/')); *end++ = '/') {
    *end = '\0';
    if (!keep_folder(cover, folder, path)) break;
  }
  if (!remove_name(cover, path)) fail("cannot cover %s", path);
}

int cover_main(int argc, char **argv) {
  if (argc < 5 || strcmp(argv[1], "--folder") != 0 || strcmp(argv[3], "--to") != 0) fail_usage("missing option");
  int folder = open_path(argv[2]);
  int cover = open_path(argv[4]);
  cover_start(cover, folder);
  for (char **place = argv + 5; *place; place++) cover_place(cover, folder, *place);
  return 0;
}
