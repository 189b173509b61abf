/* The buffers of a point. An op requests them at setup. None takes memory before buffers_touch(), so that the
 * needs of all ranks of a host can be added up first. */
#ifndef BASE_BUFFERS_H
#define BASE_BUFFERS_H

#include "base/nodes.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stddef.h>

enum { BUFFERS_FILL = 0xa5 }; /* the contents of a buffer before anything is written to it */

enum store_pages {
    PAGES_NORMAL, /* the system's default */
    PAGES_SMALL,  /* never huge ones */
    PAGES_HUGE    /* huge ones, or an error */
};
extern const char *const store_pages[4];

/* The parameters of every op with buffers. */
#define BUFFERS_PARAMS                                                                                       \
    {.name = "align",                                                                                        \
     .unit = "bytes",                                                                                        \
     .summary = "offset of each buffer from the start of a page",                                            \
     .most = BUFFERS_PAGE - 1},                                                                              \
        PARAM_WORDS("pages", "pages of the buffers: normal: the system's choice; small; huge", store_pages), \
        NODE_PARAM
enum { BUFFERS_PAGE = 4096 };

struct buffers {
    size_t align;
    enum store_pages pages;
    enum node_choice node;
    size_t bytes; /* needed by the point on this rank */
    struct store_block {
        unsigned char *base;
        size_t mapped, head, room; /* bytes; those before the first page, and in pages */
        bool set_aside;            /* reserved huge pages: they are not part of MemAvailable */
    } *blocks;
    size_t count;
};

/* Read the parameters that `rows` has; the others keep their defaults. */
struct buffers buffers_of(const struct param *rows, const double *values);

/* Take blocks * bytes, `align` bytes behind the beginning of a page; *data is NULL for 0 bytes. The buffers
 * free it. ERR_NOMEM. */
int buffers_take(struct buffers *buffers, size_t blocks, size_t bytes, void **data);

/* Count memory that the op gets elsewhere, such as from the MPI library. */
void buffers_count(struct buffers *buffers, size_t bytes);

/* Write to all of it, so that no page is missing later. ERR_UNSUPPORTED if a part of it did not get the
 * requested huge pages. */
int buffers_touch(struct buffers *buffers);

void buffers_close(struct buffers *buffers);

#endif
