/* The devices of a sandbox. */
#ifndef CLOCHE_DEVICES_H
#define CLOCHE_DEVICES_H

/* Makes them on the launcher's stage, with terminals and an empty folder `shm`. */
void devices_mount(void);

#endif
