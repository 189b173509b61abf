#include "comm/hint_mpi.h"

int hint_make(const struct hint *hint, MPI_Info *made)
{
    *made = MPI_INFO_NULL;
    if (!hint->key)
        return MPI_SUCCESS;
    const int rc = MPI_Info_create(made);
    return rc == MPI_SUCCESS ? MPI_Info_set(*made, hint->key, hint->value) : rc;
}

int hint_look(const struct hint *hint, MPI_Info has, struct hint_seen *seen)
{
    int kept = 0;
    int rc = MPI_Info_get(has, hint->key, HINT_VALUE_MAX - 1, seen->value, &kept);
    seen->hint = hint;
    seen->kept = rc == MPI_SUCCESS && kept;
    const int freed = MPI_Info_free(&has);
    return rc == MPI_SUCCESS ? freed : rc;
}

void hint_describe(const struct hint_seen *seen, struct json *j)
{
    if (!seen->hint)
        return;
    json_open(j, "hint", '{');
    json_string(j, "key", seen->hint->key);
    json_string(j, "asked", seen->hint->value);
    json_string(j, "has", seen->kept ? seen->value : NULL);
    json_close(j, '}');
}
