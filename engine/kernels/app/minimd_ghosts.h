/* Shared by MiniMD's copies of atoms and its moving atoms: neighbours, slots, plans. */
#ifndef KERNELS_APP_MINIMD_GHOSTS_H
#define KERNELS_APP_MINIMD_GHOSTS_H

#include "kernels/app/minimd.h"

enum { VECTOR = 3, MIGRANT = 2 * VECTOR + 1 }; /* numbers in a message: position, velocity, number */

/* The number of atoms that the message of each link has room for. Both ends know it, because both know how
 * many there were when it was made. */
struct slots {
    int64_t out[GRID_STEPS], in[GRID_STEPS];
};

/* Link i is the shift to step i: out to the rank there, in from the opposite one. */
struct minimd_ghosts {
    struct kernel_env *env;
    const struct minimd_box *box;
    bool half, embedded;
    int links; /* links with ghosts: those to lower steps, or all */
    int steps[GRID_STEPS][GRID_DIMS];
    int to[GRID_STEPS], from[GRID_STEPS];
    double shift[GRID_STEPS][GRID_DIMS]; /* of copies that go there */
    int64_t out_count[GRID_STEPS], in_count[GRID_STEPS];
    struct slots copies, migrants;
    struct comm_plan *count, *migrate, *carry[MINIMD_CARRIES];
    int32_t *chosen;  /* own atoms that have copies, link by link */
    double *out, *in; /* data to copies, and from them; on the way home it is the other way */
    int64_t room;     /* numbers in each */
    uint64_t turn;    /* sealed messages so far, the same on all ranks */
};

/* Numbers of atoms vary by some per cent, those of few by several. */
enum { SPARE_SHARE = 8, SPARE_COPIES = 16, SPARE_MIGRANTS = 64 };

/* The number of atoms of each message: out_count to the neighbours, in_count from them. ERR_WRONG if one is
 * not what its sender has sent; then they are 0. */
int minimd_counts_carry(struct minimd_ghosts *g);

int64_t minimd_sum(const int64_t *counts, int links);
int minimd_no_room(const char *what, int64_t count);

/* Plan `wide` numbers for each atom that a slot has room for, and a seal, from out to in, or home again. */
int minimd_slots_plan(struct minimd_ghosts *g, const struct slots *slots, int links, int wide, bool home,
                      int failed, struct comm_plan **plan);

/* Do all ranks go on, each with this error or none, and do slots have room for the counted atoms? If not,
 * they get it. Collective over the team. */
int minimd_slots_fit(struct minimd_ghosts *g, struct slots *slots, int links, int spare, int failed,
                     bool *anew, bool *stop);

#endif
