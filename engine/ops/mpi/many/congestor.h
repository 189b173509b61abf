/* What loads a network while others are measured: rounds of messages among the ranks of one communicator. */
#ifndef OPS_MPI_MANY_CONGESTOR_H
#define OPS_MPI_MANY_CONGESTOR_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffers;
struct congestor;

enum { CONGESTOR_NONE = 3 };                 /* of the words: no load at all */
extern const char *const congestor_words[7]; /* up to NULL */

struct congestor_ask {
    MPI_Comm comm; /* of those that load alone */
    int rank, size;
    int kind;     /* of the words, other than CONGESTOR_NONE */
    size_t bytes; /* of a message */
    int window;   /* messages in flight between two ranks in a round */
    struct buffers *store;
    const char *op; /* for sentences */
};

/* Collective over the communicator. ERR_NOMEM, ERR_UNSUPPORTED, ERR_MPI, on all ranks alike. */
int congestor_open(const struct congestor_ask *ask, struct congestor **congestor);
void congestor_close(struct congestor *congestor); /* collective; NULL is fine */

int congestor_run(struct congestor *congestor, int64_t rounds);

/* Before and after checked rounds, collective: fresh data and poison; flip a bit, if planted, and check each
 * byte that this rank received. ERR_WRONG. */
int congestor_fill(struct congestor *congestor);
int congestor_check(struct congestor *congestor, bool planted);

#endif
