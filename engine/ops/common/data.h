/* Contents of buffers that tell where each byte came from, and how messages are checked by them. */
#ifndef OPS_COMMON_DATA_H
#define OPS_COMMON_DATA_H

#include "base/hash.h"
#include "core/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte i of what rank `from` has for rank `to`. */
static inline unsigned char data_byte(int from, int to, size_t i)
{
    return (unsigned char)hash_mix(((uint64_t)from << 48) ^ ((uint64_t)to << 32) ^ (i / 8)) ^
           (unsigned char)(i % 8);
}

void data_fill(void *data, size_t bytes, int from, int to);

/* What no rank sends, before a message is to arrive: every byte is DATA_POISON. */
enum { DATA_POISON = BUFFERS_FILL };
void data_poison(void *data, size_t bytes);

/* Called between the run and the check. For tests of the check, where `planted`: the last bit of what has
 * arrived is flipped. */
void data_arrived(void *data, size_t bytes, bool planted);

/* ERR_WRONG, and which byte is what instead of what. `block` numbers it for the sentence. */
int data_check(const void *data, size_t bytes, int from, int to, int block);

/* What happens to a buffer that is sent from one message to the next: the words of the parameter `buffer`. */
enum data_state {
    DATA_APART,  /* written once; what comes lies in another buffer */
    DATA_SAME,   /* what came is what is sent */
    DATA_WRITTEN /* as apart, and the sender writes it again before each send */
};
extern const char *const data_states[4];
#define DATA_STATE_PARAM                                                                                     \
    PARAM_WORDS("buffer",                                                                                    \
                "what is sent. apart: a buffer written once, another one receives; same: what was received " \
                "is what is sent; written: the sender writes it again before it sends",                      \
                data_states)

/* The word of `buffer`; DATA_APART for an op that has no such parameter. */
enum data_state data_state_of(const struct op_env *env);

/* Write every byte with the value that it has: the lines become this core's own, and what is checked stays
 * what it is. */
void data_write_again(void *data, size_t bytes);

/* How the messages of an op are checked, on its state: a round is fresh data, a repetition, and a look at
 * each byte that came. */
struct data_round {
    void (*fill)(void *state);             /* what is sent, unlike in any round before; poison where it is to
                                              arrive, but in no pending receive */
    int (*run)(void *state, int64_t reps); /* the op's */
    int (*look)(void *state);              /* whether what came last is what was sent; 0: nothing came */
    void (*poison)(void *state);           /* what came, unless it is what is sent next */
};

/* For `verify`: rounds, all of them after a wrong answer, too, for others wait for them. */
int data_verify(const struct data_round *round, void *state, int rounds);

/* For `check`: what timed repetitions have left, and fresh data. These are sent once, so that the next timed
 * repetition finds the caches as after any other. */
int data_check_left(const struct data_round *round, void *state);

/* Elements of so many bytes must not be torn by the parameter `align`. ERR_INPUT. */
int data_align(const struct op_env *env, size_t element);

#endif
