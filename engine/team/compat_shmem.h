/* What libraries of OpenSHMEM 1.4 lack. */
#ifndef TEAM_COMPAT_SHMEM_H
#define TEAM_COMPAT_SHMEM_H

#include <shmem.h>

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define SHMEM15(...) __VA_ARGS__
#define SHMEM15_MISSING NULL
typedef shmem_team_t compat_team;
#else
typedef int compat_team;
#define SHMEM15(...) (void)0
#define SHMEM15_MISSING "it needs OpenSHMEM 1.5; this library is of 1.4"
#endif

#endif
