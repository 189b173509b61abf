/* A map from this rank's clock to the reference clock, rank 0's: a line through one synchronisation. */
#ifndef TIME_MAP_H
#define TIME_MAP_H

#include <math.h>
#include <stdint.h>

struct clock_map {
    int64_t at_ns;    /* local time of `offset_ns` */
    double offset_ns; /* local minus reference then */
    double drift;     /* change of the offset per ns of local time: 1e-6 is 1 ppm */
};

static inline double map_offset(const struct clock_map *map, int64_t local_ns)
{
    return map->offset_ns + map->drift * (double)(local_ns - map->at_ns);
}

static inline int64_t map_to_reference(const struct clock_map *map, int64_t local_ns)
{
    return local_ns - llround(map_offset(map, local_ns));
}

/* The local time at which the reference clock shows `reference_ns`: the solution of the line. */
static inline int64_t map_to_local(const struct clock_map *map, int64_t reference_ns)
{
    double beyond = (double)(reference_ns - map->at_ns) + map->offset_ns;
    return map->at_ns + llround(beyond / (1 - map->drift));
}

/* The offset at a local time between two synchronisations, on the straight line between them, so that nothing
 * is extrapolated. If both are the same, its drift is used. */
static inline double map_between(const struct clock_map *before, const struct clock_map *after,
                                 int64_t local_ns)
{
    double span = (double)(after->at_ns - before->at_ns);
    if (span <= 0)
        return map_offset(before, local_ns);
    double share = (double)(local_ns - before->at_ns) / span;
    return before->offset_ns + share * (after->offset_ns - before->offset_ns);
}

#endif
