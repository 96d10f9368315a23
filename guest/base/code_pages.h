/* The pages of memory that hold this program's own code. */
#ifndef CLOCHE_CODE_PAGES_H
#define CLOCHE_CODE_PAGES_H

/* Lets go of them. Those that are needed again come back from the file by themselves. */
void code_pages_release(void);

#endif
