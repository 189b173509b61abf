#include "base/variables.h"

#include <stddef.h>
#include <string.h>

static bool begins_with_one_of(const char *text, const char *const *prefixes)
{
    while (*prefixes && strncmp(text, *prefixes, strlen(*prefixes)) != 0)
        ++prefixes;
    return *prefixes != NULL;
}

bool variable_is_setting(const char *entry)
{
    static const char *const kept[] = {
        "OMPI_MCA_",  "PMIX_MCA_",      "PRTE_MCA_", "MPIR_CVAR_",  "MPICH_",        "UCX_",
        "FI_",        "I_MPI_",         "PSM2_",     "OMP_",        "GOMP_",         "KMP_",
        "SLURM_JOB_", "GLIBC_TUNABLES", "MALLOC_",   "LD_BIND_NOW", "LOADEDMODULES", NULL};
    static const char *const left_out[] = {
        "OMPI_MCA_orte_", "OMPI_MCA_ess",   "OMPI_MCA_pmix",   "OMPI_MCA_initial_",
        "PMIX_MCA_mca_",  "PRTE_MCA_prte_", "MPICH_INTERFACE", "MPIR_CVAR_CH3_INTERFACE_",
        "I_MPI_INFO_",    "I_MPI_HYDRA_",   "I_MPI_ROOT",      NULL};
    return begins_with_one_of(entry, kept) && !begins_with_one_of(entry, left_out);
}
