#define _GNU_SOURCE
#include "base/buffers.h"

#include "base/err.h"
#include "base/num.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* What a huge page has on x86-64, and on ARM with pages of 4 KiB. */
static const size_t HUGE_BYTES = (size_t)2 << 20;

const char *const store_pages[4] = {
    [PAGES_NORMAL] = "normal", [PAGES_SMALL] = "small", [PAGES_HUGE] = "huge", NULL};

struct buffers buffers_of(const struct param *rows, const double *values)
{
    return (struct buffers){.align = (size_t)param_value(rows, values, "align", 0),
                            .pages = (enum store_pages)(int)param_value(rows, values, "pages", PAGES_NORMAL),
                            .node = (enum node_choice)(int)param_value(rows, values, "node", NODE_ANY)};
}

/* Huge pages that the administrator has set aside, if there are so many. */
static bool map_from_pool(size_t room, struct store_block *b)
{
    unsigned char *base =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    *b = (struct store_block){.base = base, .mapped = room, .room = room, .set_aside = true};
    return base != MAP_FAILED;
}

/* MAP_NORESERVE: whether there is memory for it is asked later, of all ranks together. */
static int map_block(const struct buffers *s, size_t bytes, struct store_block *b)
{
    const size_t unit = s->pages == PAGES_HUGE ? HUGE_BYTES : BUFFERS_PAGE;
    if (bytes > SIZE_MAX / 2)
        return err_say(ERR_NOMEM, "no address space for a buffer of %zu bytes; use smaller messages", bytes);
    const size_t room = (bytes + unit - 1) / unit * unit, mapped = room + unit - BUFFERS_PAGE;
    if (s->pages == PAGES_HUGE && map_from_pool(room, b))
        return 0;
    unsigned char *base =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return err_say(ERR_NOMEM,
                       "there is no room for a buffer of %zu bytes; use smaller messages, a smaller window "
                       "or fewer ranks",
                       bytes);
    *b = (struct store_block){
        .base = base, .mapped = mapped, .room = room, .head = (unit - (uintptr_t)base % unit) % unit};
    if (s->pages == PAGES_SMALL)
        madvise(base, mapped, MADV_NOHUGEPAGE); /* a kernel that refuses has no huge pages */
    if (s->pages == PAGES_HUGE && madvise(base + b->head, room, MADV_HUGEPAGE) != 0) {
        munmap(base, mapped);
        return err_say(ERR_UNSUPPORTED, "this kernel takes no advice on huge pages; use pages=normal");
    }
    return 0;
}

int buffers_take(struct buffers *s, size_t blocks, size_t bytes, void **data)
{
    size_t size = 0;
    struct store_block b;
    *data = NULL;
    int err = num_multiply(blocks, bytes, &size);
    if (err || size == 0)
        return err;
    struct store_block *more = realloc(s->blocks, (s->count + 1) * sizeof *more);
    if (!more)
        return err_say(ERR_NOMEM, "no memory for a list of %zu buffers", s->count + 1);
    s->blocks = more;
    err = map_block(s, size + s->align, &b);
    if (err)
        return err;
    s->blocks[s->count++] = b; /* closed with the others, also after an error */
    err = node_keep(s->node, b.base, b.mapped);
    if (err)
        return err;
    buffers_count(s, b.set_aside ? 0 : b.room);
    *data = b.base + b.head + s->align;
    return 0;
}

void buffers_count(struct buffers *s, size_t bytes)
{
    s->bytes = bytes > SIZE_MAX - s->bytes ? SIZE_MAX : s->bytes + bytes;
}

static bool is_ours(const struct buffers *s, uintptr_t begin, uintptr_t end)
{
    for (size_t i = 0; i < s->count; ++i)
        if ((uintptr_t)s->blocks[i].base < end && begin < (uintptr_t)s->blocks[i].base + s->blocks[i].mapped)
            return true;
    return false;
}

/* How many bytes of our mappings the kernel says are in huge pages. */
static size_t huge_bytes(const struct buffers *s)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    size_t sum = 0, kib = 0;
    unsigned long long begin = 0, end = 0;
    bool ours = false;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx-%llx ", &begin, &end) == 2)
            ours = is_ours(s, (uintptr_t)begin, (uintptr_t)end);
        else if (ours && sscanf(line, "AnonHugePages: %zu kB", &kib) == 1)
            sum += kib * 1024;
    }
    if (file)
        fclose(file);
    return sum;
}

int buffers_touch(struct buffers *s)
{
    size_t wanted = 0;
    for (size_t i = 0; i < s->count; ++i) {
        const struct store_block *b = &s->blocks[i];
        memset(b->base + b->head, BUFFERS_FILL, b->room);
        wanted += b->set_aside ? 0 : b->room;
    }
    const size_t got = s->pages == PAGES_HUGE ? huge_bytes(s) : wanted;
    return got >= wanted ? 0
                         : err_say(ERR_UNSUPPORTED,
                                   "the kernel gave huge pages for %zu of %zu bytes of buffers (see "
                                   "/sys/kernel/mm/transparent_hugepage/enabled); use pages=normal",
                                   got, wanted);
}

void buffers_close(struct buffers *s)
{
    for (size_t i = 0; i < s->count; ++i)
        munmap(s->blocks[i].base, s->blocks[i].mapped);
    free(s->blocks);
    *s = (struct buffers){0};
}
