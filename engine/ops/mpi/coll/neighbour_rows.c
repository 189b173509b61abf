/* mpi.neighbor_*: the collectives over the neighbours of a graph that the parameters choose, in the same
 * forms as the others. */
#include "ops/families.h"

#include "ops/mpi/coll/coll.h"

static const char *const yes_no[] = {"yes", "no", NULL};

#define GRAPH                                                                                                \
    PARAM_WORDS("topology", "the graph that says who is a neighbour", topology_words),                       \
        COLL_NUMBER("dims", "", "axes of a cart, as even as MPI_Dims_create makes them", 2, 1,               \
                    GRAPH_MOST_DIMS),                                                                        \
        COLL_NUMBER("radius", "", "steps along an axis to the farthest neighbour of a cart", 1, 1, 1e6),     \
        PARAM_WORDS("periodic", "whether the ends of a cart meet", yes_no),                                  \
        COLL_BOUND("degree", "ranks that each rank sends to in a random graph", 2, 1, "degrees")

COLL_PARAMS(equal_params, GRAPH, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(irregular_params, GRAPH, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);

#define SENDS(n) .send_root = n, .send_other = n, .recv_root = ALL, .recv_other = ALL, .neighbours = true
#define EQUAL_BLOCKS .shape = EQUAL, .params = equal_params, .missing = NEIGHBOURS_MISSING
#define ANY_BLOCKS(by) .shape = by, .params = irregular_params, .missing = NEIGHBOURS_MISSING

#define COLLECTIVE(lower, Upper, args, ...) COLL_CALLS(lower, Upper, args)
#include "ops/mpi/coll/neighbour_rows.h"
#undef COLLECTIVE

#define COLLECTIVE(lower, Upper, args, ...) {COLL_CALLED(lower), __VA_ARGS__},
static const struct coll_row rows[] = {
#include "ops/mpi/coll/neighbour_rows.h"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void op_at(size_t i, struct op *op)
{
    coll_op_at(rows, i, op);
    op->family = "neighbour";
}

static void overlap_at(size_t i, struct op *op)
{
    coll_overlap_at(rows, i, op);
}

const struct op_family mpi_nbr_ops = {.count = ROWS * COLL_FORMS, .op_at = op_at};
const struct op_family mpi_overlap_nbr_ops = {.count = ROWS * COLL_OVERLAPS, .op_at = overlap_at};
