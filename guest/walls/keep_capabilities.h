/* What a user other than root needs to stay able over an execve. */
#ifndef CLOCHE_KEEP_CAPABILITIES_H
#define CLOCHE_KEEP_CAPABILITIES_H

/* Makes all capabilities of this process ambient. Without it they are gone with the next program; `init` drops what it does not need. */
void keep_capabilities(void);

#endif
