/* Where the threads of the last team were when it was done, for the records: as the kernel says, and as was
 * meant. */
#ifndef BASE_LANES_H
#define BASE_LANES_H

struct json;

enum { LANES_TEXT_MAX = 4096, LANE_CPUS_MAX = 128 };

struct lane_place {
    char seen[LANE_CPUS_MAX];
    char meant[LANE_CPUS_MAX]; /* "": it was not bound */
};

/* The calling thread looks where it may run; `meant` is where it belongs. */
void lane_look(struct lane_place *lane, const char *meant);

/* Keep those of a team, as many as fit, until others are kept or these are forgotten. */
void lanes_keep(const struct lane_place *lanes, int count);
void lanes_forget(void);

/* The CPUs of each lane, apart by '|'; "" when none were kept. */
const char *lanes_seen(void);
const char *lanes_meant(void);

/* Such a text as an array, which is empty when none were kept. */
void lanes_json(struct json *j, const char *name, const char *text);

#endif
