/* Contents of buffers that show where each byte came from, and checks of messages by them. */
#ifndef OPS_COMMON_DATA_H
#define OPS_COMMON_DATA_H

#include "base/hash.h"
#include "core/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte i of the data of rank `from` for rank `to`. */
static inline unsigned char data_byte(int from, int to, size_t i)
{
    return (unsigned char)hash_mix(((uint64_t)from << 48) ^ ((uint64_t)to << 32) ^ (i / 8)) ^
           (unsigned char)(i % 8);
}

void data_fill(void *data, size_t bytes, int from, int to);

/* A byte that no rank sends: buffers are filled with DATA_POISON before a message arrives. */
enum { DATA_POISON = BUFFERS_FILL };
void data_poison(void *data, size_t bytes);

/* Called between the run and the check. For tests of the check, if `planted`: flips the last bit of the
 * received data. */
void data_arrived(void *data, size_t bytes, bool planted);

/* ERR_WRONG, with the byte, its value and the right one. `block` is its number in the sentence. */
int data_check(const void *data, size_t bytes, int from, int to, int block);

/* Check that `data` are the bits (BXOR) of the data of ranks `first` to `first + ranks - 1` for rank 0;
 * `room` is as large. Both are overwritten. ERR_WRONG. */
int data_check_bits(void *data, void *room, size_t bytes, int first, int ranks);

/* A buffer that is sent, from one message to the next: the words of the parameter `buffer`. */
enum data_state {
    DATA_APART,  /* written once; received data are in another buffer */
    DATA_SAME,   /* received data are sent next */
    DATA_WRITTEN /* as apart, and the sender writes it before each send */
};
extern const char *const data_states[4];
#define DATA_STATE_PARAM                                                                                     \
    PARAM_WORDS("buffer",                                                                                    \
                "what is sent. apart: a buffer written once, another one receives; same: what was received " \
                "is what is sent; written: the sender writes it again before it sends",                      \
                data_states)

/* The word of `buffer`; DATA_APART for an op without that parameter. */
enum data_state data_state_of(const struct op_env *env);

/* Write every byte with its present value: the lines become this core's own, and the data to check stay the
 * same. */
void data_write_again(void *data, size_t bytes);

/* How the messages of an op are checked, on its state: a round is fresh data, a repetition, and a check of
 * each received byte. */
struct data_round {
    void (*fill)(void *state);             /* data to send, different in each round; poison where data will
                                              arrive, but not in pending receives */
    int (*run)(void *state, int64_t reps); /* the op's */
    int (*look)(void *state);              /* checks that the last received data are those sent; 0 also if
                                              nothing came */
    void (*poison)(void *state);           /* poisons the received data, unless they are sent next */
};

/* For `verify`: rounds, all of them even after a wrong answer, because others wait for them. */
int data_verify(const struct data_round *round, void *state, int rounds);

/* For `check`: the data that timed repetitions have left, then fresh data. These are sent once, so that the
 * next timed repetition finds the caches as usual. */
int data_check_left(const struct data_round *round, void *state);

/* Check that the parameter `align` does not split elements of so many bytes. ERR_INPUT. */
int data_align(const struct op_env *env, size_t element);

#endif
