#ifndef CLOCHE_WITHOUT_CORE_H
#define CLOCHE_WITHOUT_CORE_H

int without_core_main(int argc, char **argv);

#endif
