/* SPDX-License-Identifier: MIT */
/* bench_cores [ROUNDS]: what two threads do that one does not, on this machine in this moment: the
 * limit of all overlap on a device that is the processor. Prints "SPIN COPY BESIDE", medians over
 * the rounds of the time of two pieces of work one after the other over that of both at once: two
 * that count in registers, two that copy memory, one of each. 2: two whole processors. */
#include "bench.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 1000
#define PIECE_NS 20e6
#define COPY_BYTES (UINT64_C(64) << 20) /* in no cache */

struct piece {
    unsigned char *from, *to; /* NULL: counts */
    uint64_t steps;           /* of counting, or bytes */
    bool failed;
};

static volatile uint64_t sink;

static void *piece_run(void *user)
{
    struct piece *piece = user;
    if (piece->from) {
        memcpy(piece->to, piece->from, piece->steps);
        return NULL;
    }
    uint64_t value = 1;
    for (uint64_t i = 0; i < piece->steps; i++)
        value = value * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = value;
    return NULL;
}

static double run_ns(struct piece *piece)
{
    int64_t begin = clock_now(clock_monotonic());
    piece_run(piece);
    return (double)(clock_now(clock_monotonic()) - begin);
}

/* On a thread beside this one. */
static double run_both_ns(struct piece *a, struct piece *b)
{
    pthread_t thread;
    int64_t begin = clock_now(clock_monotonic());
    b->failed = pthread_create(&thread, NULL, piece_run, b) != 0;
    piece_run(a);
    if (!b->failed)
        pthread_join(thread, NULL);
    return (double)(clock_now(clock_monotonic()) - begin);
}

static double gain(struct piece *a, struct piece *b)
{
    double apart = run_ns(a) + run_ns(b);
    return apart / run_both_ns(a, b);
}

/* So many steps that a piece takes PIECE_NS, as it did last. */
static void fit(struct piece *piece)
{
    double steps = (double)piece->steps * PIECE_NS / run_ns(piece);
    piece->steps = (uint64_t)steps;
    if (piece->from && piece->steps > COPY_BYTES)
        piece->steps = COPY_BYTES;
}

static bool run(size_t rounds)
{
    static double spin[ROUNDS_MAX], copy[ROUNDS_MAX], beside[ROUNDS_MAX];
    unsigned char *memory = malloc(4 * COPY_BYTES);
    if (!memory)
        return false;
    memset(memory, 1, 4 * COPY_BYTES);
    struct piece counts[2] = {{.steps = 1000000}, {.steps = 1000000}};
    struct piece copies[2] = {
        {memory, memory + COPY_BYTES, COPY_BYTES, false},
        {memory + 2 * COPY_BYTES, memory + 3 * COPY_BYTES, COPY_BYTES, false}};
    bool fine = true;
    for (size_t i = 0; fine && i < rounds; i++) {
        fit(&counts[0]);
        fit(&copies[0]);
        counts[1].steps = counts[0].steps;
        copies[1].steps = copies[0].steps;
        spin[i] = gain(&counts[0], &counts[1]);
        copy[i] = gain(&copies[0], &copies[1]);
        beside[i] = gain(&copies[0], &counts[0]);
        fine = !counts[0].failed && !counts[1].failed && !copies[1].failed;
    }
    free(memory);
    if (fine)
        printf("%.4f %.4f %.4f\n", bench_median(spin, rounds), bench_median(copy, rounds),
               bench_median(beside, rounds));
    return fine;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 9;
    if (rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: bench_cores [ROUNDS, at most %d]\n", ROUNDS_MAX);
        return 2;
    }
    if (run(rounds))
        return 0;
    fprintf(stderr, "bench_cores: no memory or no thread\n");
    return 1;
}
