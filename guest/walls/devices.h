/* The devices of a sandbox. */
#ifndef CLOCHE_DEVICES_H
#define CLOCHE_DEVICES_H

/* Makes them on the launcher's stage, with terminals, for bubblewrap to bind: it would read the whole mount table for each of them. */
void devices_mount(void);

#endif
