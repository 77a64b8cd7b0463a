/* SPDX-License-Identifier: MIT */
/* recordings KIND FIRST RUNS ROWS NS DIRECTORY [LATER_NS LATER]: writes times around NS of the
 * machines with the seeds FIRST, FIRST + 1, ... into DIRECTORY/SEED.times, for the workload null;
 * into LATER what each does a while later, around LATER_NS. */
#include "noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN 200 /* samples of something else */

static int write_rows(struct noise *noise, const char *directory, long seed, long rows,
                      double nominal_ns)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%ld.times", directory, seed);
    FILE *file = fopen(path, "w");
    if (!file)
        return perror(path), 1;
    for (long i = 0; i < rows; i++)
        fprintf(file, "%.0f\n", nominal_ns * noise_next(noise));
    return fclose(file) ? perror(path), 1 : 0;
}

int main(int count, char **words)
{
    if (count != 7 && count != 9)
        return fprintf(stderr, "recordings: see its source for its arguments\n"), 2;
    enum noise_kind kind = 0;
    while (kind < NOISE_KINDS && strcmp(noise_name(kind), words[1]) != 0)
        kind++;
    if (kind == NOISE_KINDS)
        return fprintf(stderr, "recordings: no noise is called '%s'\n", words[1]), 2;
    long first = strtol(words[2], NULL, 10), runs = strtol(words[3], NULL, 10);
    long rows = strtol(words[4], NULL, 10);
    double nominal_ns = strtod(words[5], NULL);
    for (long seed = first; seed < first + runs; seed++) {
        struct noise noise;
        noise_start(&noise, kind, (uint64_t)seed);
        if (write_rows(&noise, words[6], seed, rows, nominal_ns))
            return 1;
        if (count < 9)
            continue;
        noise_pass(&noise, BETWEEN);
        if (write_rows(&noise, words[8], seed, rows, strtod(words[7], NULL)))
            return 1;
    }
    return 0;
}
