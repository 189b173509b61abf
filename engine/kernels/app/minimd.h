/* Between the files of MiniMD: a box of atoms, of which each rank has a brick. In the order of a text book:
 *
 *     minimd_potential.c      what atoms do to each other: Lennard-Jones, and copper by an embedded-atom
 * method minimd_start.c    the crystal, and the first velocities minimd_lists.c    cells, and from them lists
 * of who is near whom minimd_force.c    forces minimd.c          velocity Verlet, and the kernel's row
 *     minimd_ghosts.c   communication: copies of atoms that are near another rank
 *     minimd_migrate.c  and atoms that move to another one
 *     minimd_checksum.c     messages that show that they are whole
 *     minimd_answer.c   temperature, energy, pressure, and what they must be
 *
 * M. Allen and D. Tildesley, Computer Simulation of Liquids, 2017; D. Frenkel and B. Smit, Understanding
 * Molecular Simulation, 2002; S. Plimpton, J. Comp. Phys. 117, 1995. */
#ifndef KERNELS_APP_MINIMD_H
#define KERNELS_APP_MINIMD_H

#include "base/err.h"
#include "comm/grid.h"
#include "kernels/kernel.h"

enum { X, Y, Z, WIDE = 4 }; /* a vector is WIDE numbers, the last one 0: none lies across two cache lines */
enum { MINIMD_LINE = 64, MINIMD_FCC = 4 }; /* atoms of a unit cell */

/* ---- what atoms do to each other -------------------------------------------------------------------------
 */

/* Temperature, energy of an atom and pressure of a cube of so many unit cells a side, after 100 steps. */
struct minimd_known {
    int64_t cells;
    double temperature, energy, pressure;
};

/* A substance, in its own units of length, energy, mass and time. */
struct minimd_law {
    const char *name;
    double mass, boltzmann, pressure_unit;
    double density, temperature, step; /* atoms per volume and temperature at the start, and the time step */
    double cut, skin;         /* pairs further apart than `cut` do not interact; lists reach to cut + skin */
    bool embedded;            /* there is an energy F of the density at each atom, too */
    double (*pair)(double r); /* energy of a pair, and its derivative */
    double (*pair_slope)(double r);
    double (*spread)(double r); /* contribution of an atom to the density at another one */
    double (*spread_slope)(double r);
    const struct minimd_known *known; /* up to one of 0 cells */
};
extern const struct minimd_law minimd_lj, minimd_copper;

/* A function in equal steps of its argument: in each, the cubic that has its values and slopes at both ends
 * (Hermite). `cubic` has four coefficients a step. */
struct minimd_table {
    double first, per_unit;
    int64_t steps;
    double *cubic;
};

/* Pair energy and spread by the square of the distance, side by side: eight numbers a step; F by density. */
struct minimd_tables {
    struct minimd_table near, embedding;
};
double minimd_tables_memory(void);
int minimd_tables_make(struct kernel_env *env, const struct minimd_law *law, struct minimd_tables *tables);
void minimd_tables_free(struct minimd_tables *tables);

/* F, or its derivative, at a density. */
double minimd_embedding(const struct minimd_table *table, double density, bool slope);

/* A crystal at rest with atoms of this density: energy of an atom, and pressure. */
double minimd_crystal_energy(const struct minimd_law *law, double density);
double minimd_crystal_pressure(const struct minimd_law *law, double density);

/* ---- where they are --------------------------------------------------------------------------------------
 */

/* The periodic box, and this rank's brick of it. */
struct minimd_box {
    struct grid ranks; /* extents along x, y, z */
    int at[GRID_DIMS]; /* of this rank's brick */
    int64_t cells[GRID_DIMS], atoms;
    double cell;                                                                /* side of a unit cell */
    double length[GRID_DIMS], side[GRID_DIMS], low[GRID_DIMS], high[GRID_DIMS]; /* box; brick */
    double reach;                                                               /* of lists */
    int64_t own_room, ghost_room;
};

/* The brick along dimension d of a coordinate between 0 and the length: the same on all ranks. */
static inline int minimd_brick(const struct minimd_box *box, int d, double x)
{
    const int brick = (int)(x / box->side[d]);
    return brick < box->ranks.extent[d] ? brick : box->ranks.extent[d] - 1;
}

/* Own atoms in the order of cells, then ghosts. */
struct minimd_atoms {
    int64_t own, ghosts;
    double *x, *v, *f; /* vectors; of ghosts x and f */
    double *number;    /* of own ones, from 0; an atom keeps its number */
    double *density;   /* of an embedded law; for ghosts the part to send home */
    double *slope;     /* F' there, of ghosts, too */
    double *spare;     /* room for a vector of each own one */
};

/* The crystal: this rank's atoms, at rest and with velocities that depend on their numbers alone. */
void minimd_place(const struct minimd_box *box, struct minimd_atoms *atoms);
int minimd_heat(const struct kernel_env *env, const struct minimd_law *law, const struct minimd_box *box,
                struct minimd_atoms *atoms);

/* ---- who is near -----------------------------------------------------------------------------------------
 */

/* The neighbours of own atom i are entry[start[i]] to entry[end[i] - 1]. */
struct minimd_lists {
    bool half; /* each pair once: with ghosts of the upper sides only; else with both of its atoms */
    int lanes;
    int64_t cells[GRID_DIMS]; /* of a grid that covers the brick and its ghosts */
    double low[GRID_DIMS], per_unit[GRID_DIMS];
    int32_t *first; /* of each cell: its first place below */
    int32_t *atom;  /* in the order of cells */
    int32_t *cell;  /* of each atom */
    double *at[GRID_DIMS];
    int64_t *start, *end;
    int32_t *entry;
    int64_t lane_room; /* entries of a lane */
    int64_t entries;   /* in all lists */
};
double minimd_lists_memory(const struct minimd_box *box, const struct minimd_law *law, bool half, int lanes);
int minimd_lists_open(struct kernel_env *env, const struct minimd_box *box, const struct minimd_law *law,
                      bool half, struct minimd_lists *lists);
void minimd_lists_close(struct minimd_lists *lists);

/* Own atoms into the order of cells; then, with ghosts behind them, the lists. */
void minimd_sort(struct minimd_lists *lists, struct minimd_atoms *atoms);
int minimd_lists_make(struct minimd_lists *lists, const struct minimd_box *box,
                      const struct minimd_atoms *atoms);

/* ---- forces ----------------------------------------------------------------------------------------------
 */

/* Sums of lanes beyond the first, because the other atom of a pair in a half list may belong to another
 * lane. */
struct minimd_force {
    const struct minimd_law *law;
    struct minimd_tables tables;
    double **f, **density; /* of each lane; of lane 0 those of the atoms */
    int lanes;
};
double minimd_force_memory(const struct minimd_box *box, const struct minimd_law *law, bool half, int lanes);
int minimd_force_open(struct kernel_env *env, const struct minimd_box *box, const struct minimd_law *law,
                      bool half, const struct minimd_atoms *atoms, struct minimd_force *force);
void minimd_force_close(struct minimd_force *force);

/* Pair forces of a law without embedding. */
void minimd_force_pairs(struct minimd_force *force, const struct minimd_lists *lists,
                        struct minimd_atoms *atoms);

/* An embedded law, in steps: the density at each atom; F' there; forces. */
void minimd_force_density(struct minimd_force *force, const struct minimd_lists *lists,
                          struct minimd_atoms *atoms);
void minimd_force_slopes(struct minimd_force *force, struct minimd_atoms *atoms);
void minimd_force_embedded(struct minimd_force *force, const struct minimd_lists *lists,
                           struct minimd_atoms *atoms);

/* Bytes that the forces of a step move, of lists and of the arrays of atoms: each of them once for each loop
 * over all pairs, and once more if it is added to. */
int64_t minimd_force_moves(const struct minimd_force *force, const struct minimd_lists *lists,
                           const struct minimd_atoms *atoms);

/* ---- other ranks -----------------------------------------------------------------------------------------
 */

struct minimd_ghosts;
double minimd_ghosts_memory(const struct minimd_box *box);
int minimd_ghosts_open(struct kernel_env *env, const struct minimd_box *box, bool half, bool embedded,
                       int failed, struct minimd_ghosts **ghosts);
void minimd_ghosts_close(struct minimd_ghosts *ghosts); /* NULL is fine */

/* Send atoms to the ranks whose bricks they are in now. */
int minimd_migrate(struct minimd_ghosts *ghosts, struct minimd_atoms *atoms);

/* Choose the own atoms that have copies elsewhere, and those of others here, until the next time. */
int minimd_ghosts_choose(struct minimd_ghosts *ghosts, struct minimd_atoms *atoms);

/* The data that are carried: to the copies, or from them home, where they are added. */
enum minimd_carry { MINIMD_POSITIONS, MINIMD_SLOPES, MINIMD_FORCES, MINIMD_DENSITIES, MINIMD_CARRIES };
int minimd_carry(struct minimd_ghosts *ghosts, enum minimd_carry what, struct minimd_atoms *atoms);

/* `wide` numbers for each counted atom, and a seal, for each of `links` messages with room for so many atoms
 * and a seal. Seals them, or returns ERR_WRONG if one is not what the sender, from[] of its link, has
 * sealed. */
void minimd_seal(double *data, const int64_t *counts, const int64_t *slots, int links, int wide,
                 uint64_t turn);
int minimd_check_seals(const double *data, const int64_t *counts, const int64_t *slots, const int *from,
                       int links, int wide, uint64_t turn);

/* ---- all of it -------------------------------------------------------------------------------------------
 */

/* Quantities of all atoms. Energies are per atom. */
struct minimd_state {
    double temperature, energy, pressure; /* energy: potential */
    double kept;                          /* kinetic and potential, without the step at the cut-off */
    double momentum;                      /* of all, in units of an atom's */
    int64_t who[2];                       /* their number, and a hash sum of their numbers */
};

struct minimd {
    struct kernel_env *env;
    const struct minimd_law *law;
    struct minimd_box box;
    struct minimd_atoms atoms;
    struct minimd_lists lists;
    struct minimd_force force;
    struct minimd_ghosts *ghosts;
    int64_t steps, every; /* lists are made anew after `every` steps */
    struct minimd_state start;
    int wrong; /* the first error of a run that left atoms in impossible places, and its sentence */
    char why[ERR_TEXT_MAX];
};

int minimd_measure(const struct minimd *s, struct minimd_state *state);

/* ERR_WRONG and a sentence if the result is physically wrong; *now is the measured state. */
int minimd_judge(const struct minimd *s, struct minimd_state *now);

/* Differences of rounding grow with time: for so many steps they stay small. */
enum { MINIMD_KNOWN_STEPS = 100 };

#endif
