/* A tool for OpenMP (OMPT) that is told of each parallel region and does nothing. What being told costs, with
 * a runtime that has OMPT (LLVM's, Intel's; gcc's has none):
 *
 *     cc -O2 -fPIC -shared -o libnothing.so nothing.c
 *     steelyard run omp.parallel --threads 2 --env LD_PRELOAD=libomp.so.5 \
 *         --arms env.OMP_TOOL_LIBRARIES=-,$PWD/libnothing.so
 *
 * The types are those of OpenMP 5.0, section 4, in short: gcc has no omp-tools.h.
 */
#include <stddef.h>
#include <stdint.h>

typedef void (*callback)(void);
typedef int (*set_callback)(int event, callback function);
typedef callback (*lookup)(const char *name);

struct start {
    int (*initialize)(lookup find, int device, void *tool);
    void (*finalize)(void *tool);
    uint64_t tool;
};

enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4 };

static void ignore(void)
{
}

static int initialize(lookup find, int device, void *tool)
{
    const set_callback set = (set_callback)find("ompt_set_callback");
    (void)device, (void)tool;
    if (set) {
        set(PARALLEL_BEGIN, ignore);
        set(PARALLEL_END, ignore);
    }
    return 1; /* stay */
}

static void finalize(void *tool)
{
    (void)tool;
}

struct start *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start start = {initialize, finalize, 0};
    (void)version, (void)runtime;
    return &start;
}
