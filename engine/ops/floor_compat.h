/* Links between processes, or why there are none. */
#ifndef OPS_FLOOR_COMPAT_H
#define OPS_FLOOR_COMPAT_H

#ifdef SMPI_HELPERS_H
#define FLOOR_MISSING "ranks that are simulated are one process, which would wait for itself"
#else
#define FLOOR_MISSING NULL
#endif

#endif
