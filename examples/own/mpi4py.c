/* What mpi4py adds to a call: MPI_Allreduce of doubles called from Python, and the same call from C, its
 * reference. So the overhead of python.allreduce is what mpi4py costs a call:
 *
 *     make libmpi4py.so
 *     steelyard run ./libmpi4py.so:python.allreduce -n 1 --launches 10
 *
 * Python finds mpi4py by PYTHONPATH, and itself by PYTHONHOME where it is not the system's; it takes the MPI
 * that the engine has loaded. */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <mpi.h>

#include <steelyard/op.h>

#include <stdlib.h>

struct call {
    const struct steelyard_env *env;
    PyObject *allreduce; /* a call of mpi4py without arguments; NULL: the call of C */
    double *send, *recv;
    int count;
};

/* `send` and `recv` are memory of the engine; nothing is converted or allocated in a call. */
static const char program[] = "import functools\n"
                              "import mpi4py\n"
                              "mpi4py.rc.initialize = mpi4py.rc.finalize = False\n"
                              "from mpi4py import MPI\n"
                              "def make(send, recv):\n"
                              "    return functools.partial(MPI.COMM_WORLD.Allreduce, [send, MPI.DOUBLE], "
                              "[recv, MPI.DOUBLE], MPI.SUM)\n";

static int run_c(void *state, int64_t repetitions)
{
    struct call *c = state;
    int error = MPI_SUCCESS;
    for (int64_t i = 0; i < repetitions && error == MPI_SUCCESS; ++i)
        error = MPI_Allreduce(c->send, c->recv, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return error == MPI_SUCCESS ? 0 : c->env->fail(STEELYARD_LIBRARY_FAILED, "MPI_Allreduce failed");
}

static int run_python(void *state, int64_t repetitions)
{
    struct call *c = state;
    for (int64_t i = 0; i < repetitions; ++i) {
        PyObject *none = PyObject_CallNoArgs(c->allreduce);
        if (!none) {
            PyErr_Print();
            return c->env->fail(STEELYARD_LIBRARY_FAILED, "mpi4py's Allreduce failed");
        }
        Py_DECREF(none);
    }
    return 0;
}

/* Small whole numbers, so that their sum is exact. */
static int check(struct call *c, int (*run)(void *, int64_t))
{
    const int ranks = c->env->ranks;
    for (int i = 0; i < c->count; ++i) {
        c->send[i] = c->env->rank + i % 5;
        c->recv[i] = -1;
    }
    int error = run(c, 1);
    if (c->env->planted && c->count > 0)
        c->recv[0] += 1;
    for (int i = 0; i < c->count && !error; ++i) {
        const double right = ranks * (ranks - 1) / 2.0 + ranks * (i % 5);
        if (c->recv[i] != right)
            error = c->env->fail(STEELYARD_WRONG, "element %d of the sum is %g, should be %g", i, c->recv[i],
                                 right);
    }
    return error;
}

static int verify_c(void *state)
{
    return check(state, run_c);
}

static int verify_python(void *state)
{
    return check(state, run_python);
}

static void teardown(void *state)
{
    struct call *c = state;
    Py_XDECREF(c->allreduce);
    free(c);
}

static int setup_c(const struct steelyard_env *env, void **state)
{
    if (env->bytes % sizeof(double) != 0 || env->bytes > 1 << 30)
        return env->fail(STEELYARD_UNSUPPORTED, "it sums doubles: give multiples of 8, 1 GiB at most");
    struct call *c = calloc(1, sizeof *c);
    if (!c)
        return env->fail(STEELYARD_NO_MEMORY, "no memory for the state of the call");
    *c = (struct call){.env = env, .count = (int)(env->bytes / sizeof(double))};
    c->send = env->buffer(env, env->bytes);
    c->recv = env->buffer(env, env->bytes);
    if (env->bytes > 0 && (!c->send || !c->recv)) {
        free(c);
        return STEELYARD_NO_MEMORY;
    }
    *state = c;
    return 0;
}

/* Run the program, once for each state. The interpreter stays until the process ends: mpi4py cannot be loaded
 * twice. */
static PyObject *made(struct call *c)
{
    Dl_info python; /* modules of Python look for its symbols among those of all libraries */
    if (dladdr(&PyTuple_Type, &python))
        dlopen(python.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (!Py_IsInitialized())
        Py_InitializeEx(0);
    PyObject *names = PyDict_New();
    PyObject *done = names ? PyRun_String(program, Py_file_input, names, names) : NULL;
    PyObject *make = done ? PyDict_GetItemString(names, "make") : NULL;
    const Py_ssize_t bytes = (Py_ssize_t)c->env->bytes;
    PyObject *call =
        make ? PyObject_CallFunction(make, "NN", PyMemoryView_FromMemory((char *)c->send, bytes, PyBUF_WRITE),
                                     PyMemoryView_FromMemory((char *)c->recv, bytes, PyBUF_WRITE))
             : NULL;
    Py_XDECREF(done);
    return call;
}

static int setup_python(const struct steelyard_env *env, void **state)
{
    int error = setup_c(env, state);
    if (error)
        return error;
    struct call *c = *state;
    c->allreduce = made(c);
    if (c->allreduce)
        return 0;
    teardown(c);
    PyObject *type = NULL, *why = NULL, *where = NULL;
    PyErr_Fetch(&type, &why, &where);
    PyObject *text = why ? PyObject_Str(why) : NULL;
    const char *said = text ? PyUnicode_AsUTF8(text) : NULL;
    error =
        env->fail(STEELYARD_UNSUPPORTED, "Python does not load mpi4py: %s", said ? said : "it says nothing");
    Py_XDECREF(type);
    Py_XDECREF(why);
    Py_XDECREF(where);
    Py_XDECREF(text);
    return error;
}

static const struct steelyard_op ops[] = {
    {
        .name = "python.allreduce_c",
        .summary = "MPI_Allreduce of doubles, called from C",
        .group = STEELYARD_ALL,
        .flow = STEELYARD_FLOW_ALL,
        .role = STEELYARD_CALL,
        .report = STEELYARD_SLOWEST,
        .default_bytes = "8",
        .setup = setup_c,
        .run = run_c,
        .verify = verify_c,
        .teardown = teardown,
    },
    {
        .name = "python.allreduce",
        .summary = "MPI_Allreduce of doubles, called from Python by mpi4py",
        .group = STEELYARD_ALL,
        .flow = STEELYARD_FLOW_ALL,
        .role = STEELYARD_CALL,
        .report = STEELYARD_SLOWEST,
        .reference = "python.allreduce_c",
        .default_bytes = "8",
        .setup = setup_python,
        .run = run_python,
        .verify = verify_python,
        .teardown = teardown,
    },
};

STEELYARD_LIBRARY("python", ops);
