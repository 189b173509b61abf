/* Links between processes, or the reason why there are none. */
#ifndef OPS_LINK_COMPAT_H
#define OPS_LINK_COMPAT_H

#ifdef SMPI_HELPERS_H
#define LINK_MISSING "ranks that are simulated are one process, which would wait for itself"
#else
#define LINK_MISSING NULL
#endif

#endif
