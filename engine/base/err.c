#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

/* Like errno: the one place where a failure is remembered, because a return code cannot carry a sentence. */
static _Thread_local char text[ERR_TEXT_MAX];

int err_say(enum err kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return kind;
}

const char *err_text(void)
{
    return text;
}

const char *err_word(int kind)
{
    static const char *const words[] = {
        [0] = "ok",
        [ERR_UNSUPPORTED] = "unsupported",
        [ERR_INPUT] = "input",
        [ERR_NOMEM] = "memory",
        [ERR_SYSTEM] = "system",
        [ERR_MPI] = "mpi",
        [ERR_WRONG] = "wrong",
        [ERR_CLOCK] = "clock",
    };
    int known = kind >= 0 && kind < (int)(sizeof words / sizeof words[0]);
    return known ? words[kind] : "unknown";
}
