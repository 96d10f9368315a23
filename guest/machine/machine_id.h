#ifndef CLOCHE_MACHINE_ID_H
#define CLOCHE_MACHINE_ID_H

#include <stdbool.h>

/* Gives the machine whose files are below `root` an id that no other has. True also where there is no /etc to have one in; else false, with errno. */
bool machine_id_renew(const char *root);

/* The same where nothing can be mounted over the id: in a machine's own environment. */
bool machine_id_renew_in_place(const char *root);

#endif
