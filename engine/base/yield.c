#define _GNU_SOURCE
#include "base/yield.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* File-scope state, because the interposed call brings no pointer. The flag is set once, before ranks or
 * threads start. */
static _Thread_local int64_t count;
static bool disabled;

int sched_yield(void)
{
    ++count;
    return disabled ? 0 : (int)syscall(SYS_sched_yield);
}

int64_t yield_count(void)
{
    return count;
}

void yield_disable(void)
{
    disabled = true;
}

bool yield_disabled(void)
{
    return disabled;
}
