/* Every way to complete a set of requests, behind one function chosen at setup. */
#ifndef OPS_MPI_P2P_COMPLETE_H
#define OPS_MPI_P2P_COMPLETE_H

#include <mpi.h>

/* The words of a parameter `complete`, for PARAM_WORDS; the first is MPI_Waitall. */
extern const char *const complete_words[11];

struct completion {
    int (*all)(const struct completion *c, int count, MPI_Request *requests); /* MPI's code */
    const char *calls;                                                        /* for a sentence */
    int *indices; /* room for those that complete together; NULL if one call tells of none */
};

/* Choose by the index of a word, for so many requests at most. ERR_NOMEM. */
int complete_open(struct completion *c, int word, int most);
void complete_close(struct completion *c);

#endif
