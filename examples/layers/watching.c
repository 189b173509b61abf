/* A tool of MPI's interface for tools (MPI_T) that is left on: it starts each performance variable that can
 * be started, hears each event of the library (MPI 4), and writes how many into the file that
 * VARIABLES_WATCHED names. What that costs a call:
 *
 *     mpicc -O2 -fPIC -shared -o libwatching.so watching.c
 *     steelyard run layers --arms env.LD_PRELOAD=-,$PWD/libwatching.so
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 256 };

static MPI_T_pvar_session session;

/* Open MPI 4.1 lists those of Omni-Path where that network is not in use, and dies when one is bound. */
static int is_deadly(const char *name)
{
    return strncmp(name, "mtl_psm", strlen("mtl_psm")) == 0;
}

/* A variable counts from here on; one that counts all the time does so anyway. */
static int start(int i)
{
    char name[NAME_BYTES] = "";
    int length = NAME_BYTES, verbosity = 0, class = 0, words = 0, bind = 0, readonly = 0, continuous = 0,
        atomic = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    MPI_T_pvar_handle handle;
    MPI_Comm comm = MPI_COMM_WORLD;
    int count = 0;
    if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &values, NULL, &words, &bind,
                            &readonly, &continuous, &atomic) != MPI_SUCCESS)
        return 0;
    if (is_deadly(name) || (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM))
        return 0;
    if (MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &comm : NULL, &handle, &count) !=
        MPI_SUCCESS)
        return 0;
    return continuous || MPI_T_pvar_start(session, handle) == MPI_SUCCESS;
}

#if MPI_VERSION >= 4
static atomic_ulong heard; /* threads may call at once */

static void hear(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                 void *data)
{
    (void)event, (void)registration, (void)safety, (void)data;
    atomic_fetch_add_explicit(&heard, 1, memory_order_relaxed);
}

static int listen_to(int i)
{
    int bind = MPI_T_BIND_NO_OBJECT, name = 0, words = 0, verbosity = 0, elements = 0;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_T_event_registration registration;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (MPI_T_event_get_info(i, NULL, &name, &verbosity, NULL, NULL, &elements, &values, &info, NULL, &words,
                             &bind) != MPI_SUCCESS)
        return 0;
    if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM)
        return 0;
    void *object = bind == MPI_T_BIND_MPI_COMM ? &comm : NULL;
    return MPI_T_event_handle_alloc(i, object, MPI_INFO_NULL, &registration) == MPI_SUCCESS &&
           MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, hear) ==
               MPI_SUCCESS;
}

static int listen_all(void)
{
    int count = 0, own = 0;
    if (MPI_T_event_get_num(&count) == MPI_SUCCESS)
        for (int i = 0; i < count; ++i)
            own += listen_to(i);
    return own;
}
#else
static int listen_all(void)
{
    return 0;
}
#endif

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *provided)
{
    const int rc = PMPI_Init_thread(argc, argv, wanted, provided);
    int level = 0, count = 0, variables = 0;
    if (rc != MPI_SUCCESS || MPI_T_init_thread(wanted, &level) != MPI_SUCCESS)
        return rc;
    if (MPI_T_pvar_session_create(&session) == MPI_SUCCESS && MPI_T_pvar_get_num(&count) == MPI_SUCCESS)
        for (int i = 0; i < count; ++i)
            variables += start(i);
    const int events = listen_all();
    const char *path = getenv("VARIABLES_WATCHED");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%d variables, %d events\n", variables, events);
        fclose(file);
    }
    return rc;
}
