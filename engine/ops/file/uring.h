/* A queue of reads and writes of one file that the kernel does at once: io_uring, by its system calls. */
#ifndef OPS_FILE_URING_H
#define OPS_FILE_URING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uring;

/* Make one for up to `most` moves at once. -1 and errno: ENOSYS where the kernel or these headers have none,
 * EPERM where it is switched off. */
int uring_open(int64_t most, struct uring **made);
void uring_close(struct uring *u);

/* Queue a move of a whole piece; where the queue is full, all that is in it is done before. -1 and errno. */
int uring_queue(struct uring *u, int file, bool writes, char *piece, size_t bytes, int64_t offset);

/* Start all that is queued, and wait until it is done. -1 and errno; a short move is ENOSPC or ENODATA. */
int uring_finish(struct uring *u);

#endif
