#define _GNU_SOURCE
#include "base/openmp_places.h"

#include <stddef.h>

#ifdef _OPENMP
#include <omp.h>

static void add(int place, cpu_set_t *set)
{
    int cpus[CPU_SETSIZE];
    const int count = omp_get_place_num_procs(place);
    if (count > CPU_SETSIZE)
        return;
    omp_get_place_proc_ids(place, cpus);
    for (int i = 0; i < count; ++i)
        if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE)
            CPU_SET((size_t)cpus[i], set);
}

void openmp_place(cpu_set_t *set)
{
    const int mine = omp_get_proc_bind() == omp_proc_bind_false ? -1 : omp_get_place_num();
    if (mine >= 0)
        add(mine, set);
}

void openmp_all_places(cpu_set_t *set)
{
    for (int place = 0; place < omp_get_num_places(); ++place)
        add(place, set);
}

#else

void openmp_place(cpu_set_t *set)
{
    (void)set;
}

void openmp_all_places(cpu_set_t *set)
{
    (void)set;
}

#endif
