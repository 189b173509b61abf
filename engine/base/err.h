/* Errors: a function that can fail returns 0 or one of these; the function that detects a failure reports it,
 * once. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err {
    ERR_UNSUPPORTED = 1, /* this machine, build or MPI lacks it: a skipped row */
    ERR_INPUT,           /* the user asked for something impossible */
    ERR_NOMEM,
    ERR_SYSTEM, /* the operating system refused */
    ERR_MPI,    /* an MPI call returned an error */
    ERR_WRONG,  /* the operation gave a wrong answer */
    ERR_CLOCK,  /* clocks that cannot be related: the point that needs them fails, the launch goes on */
};

enum { ERR_TEXT_MAX = 256 };

/* Keep one sentence (what, where, what to do) for the code that reports it; returns `kind`, for the caller to
 * return. */
int err_say(enum err kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The sentence of the last failure in this thread; "" if there was none. */
const char *err_text(void);

/* "input", "wrong", ...: the word in records. */
const char *err_word(int kind);

#endif
