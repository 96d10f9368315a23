/* What is left free on a disk that layers are written to. */
#ifndef CLOCHE_ROOM_H
#define CLOCHE_ROOM_H

#include <stdint.h>

#define ROOM_OF_A_NAME 4096u /* about what a file, a folder or a link takes without its content */

/* Before so many bytes are written to the file system that `fd` is on. Fails as a full disk does when too little would be left for others. */
void room_take(int fd, uint64_t bytes);

#endif
