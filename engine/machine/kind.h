/* The kind of machine of this host. */
#ifndef MACHINE_KIND_H
#define MACHINE_KIND_H

#include <stddef.h>

enum { MACHINE_KIND_MAX = 96 };

/* In words, to compare hosts: "AMD EPYC 7B13, 2 CPUs, Linux 6.18.5"; unknown parts are left out. */
void machine_kind(char *text, size_t size);

#endif
