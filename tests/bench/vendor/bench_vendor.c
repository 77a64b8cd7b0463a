/* SPDX-License-Identifier: MIT */
/* bench_vendor LIBRARY WORK N [MILLISECONDS [PCI]]: how fast another library does the same work.
 * LIBRARY: openblas, cuda, rocm, ggml. WORK: fp64, fp32, fp16 (C = A B of N rows), copy (N bytes).
 * Prints "RATE BEST TEXT": flop/s (bytes/s of a copy, each counted once), the median and the best
 * of some samples, and what was measured. Exit status 77 with the reason on stdout where the
 * library is not there; 1 where it does not do what it should, wrong results too. */
#include "vendor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAMPLES_MAX 1000
#define SAMPLE_NS 5e6 /* at least, so that starting and waiting do not count */
#define EXIT_ABSENT 77

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static bool timed(const struct vendor_library *library, unsigned times, double *ns)
{
    double begin = now_ns();
    bool fine = library->run(times);
    *ns = (now_ns() - begin) / times;
    return fine;
}

/* Corners and some in between. */
static bool right(const struct vendor_library *library, enum vendor_kind kind, uint64_t n)
{
    const uint64_t places[] = {0, 1, n / 3, n / 2, n - 2, n - 1};
    for (size_t a = 0; a < 6; a++) {
        for (size_t b = 0; b < 6; b++) {
            uint64_t i = places[a] % n, j = places[b] % n;
            double value, wanted = (double)n * vendor_left(i) * vendor_right(j);
            if (kind == VENDOR_COPY)
                wanted = vendor_left(i);
            if (!library->result(i, j, &value))
                return false;
            if (value != wanted)
                return vendor_fail("wrong result at (%llu, %llu): %g, not %g",
                                   (unsigned long long)i, (unsigned long long)j, value, wanted);
        }
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first run is a warm-up, the second says how many make a sample. */
static bool measure(const struct vendor_library *library, double budget_ns, double *median,
                    double *best)
{
    static double samples[SAMPLES_MAX];
    double once;
    size_t count = 0;
    if (!timed(library, 1, &once) || !timed(library, 1, &once))
        return false;
    unsigned times = once >= SAMPLE_NS ? 1 : (unsigned)(SAMPLE_NS / (once + 1)) + 1;
    double end = now_ns() + budget_ns;
    do {
        if (!timed(library, times, &samples[count++]))
            return false;
    } while (count < SAMPLES_MAX && now_ns() < end);
    qsort(samples, count, sizeof(*samples), compare);
    *best = samples[0];
    *median = (samples[count / 2] + samples[(count - 1) / 2]) / 2;
    return true;
}

static int run(const struct vendor_library *library, enum vendor_kind kind, uint64_t n,
               double budget_ns, const char *pci)
{
    char text[256] = "";
    double median, best;
    if (!library->open(pci, text, sizeof(text))) {
        printf("%s\n", vendor_reason());
        return EXIT_ABSENT;
    }
    if (!library->prepare(kind, n) || !measure(library, budget_ns, &median, &best) ||
        !right(library, kind, n)) {
        printf("%s: %s\n", text, vendor_reason());
        return 1;
    }
    double work = kind == VENDOR_COPY ? (double)n : 2 * (double)n * (double)n * (double)n;
    printf("%.6g %.6g %s\n", work / median * 1e9, work / best * 1e9, text);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct vendor_library *const libraries[] = {&vendor_openblas, &vendor_cuda,
                                                             &vendor_rocm, &vendor_ggml};
    static const char *const works[] = {"fp64", "fp32", "fp16", "copy"};
    const struct vendor_library *library = NULL;
    int kind = -1;
    uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    double budget_ms = argc > 4 ? strtod(argv[4], NULL) : 300;
    for (size_t i = 0; argc > 1 && i < sizeof(libraries) / sizeof(*libraries); i++)
        if (strcmp(libraries[i]->name, argv[1]) == 0)
            library = libraries[i];
    for (int i = 0; argc > 2 && i < 4; i++)
        if (strcmp(works[i], argv[2]) == 0)
            kind = i;
    if (!library || kind < 0 || n == 0 || !(budget_ms > 0)) {
        fprintf(stderr, "usage: bench_vendor openblas|cuda|rocm|ggml fp64|fp32|fp16|copy N "
                        "[MILLISECONDS [PCI]]\n");
        return 2;
    }
    return run(library, (enum vendor_kind)kind, n, budget_ms * 1e6, argc > 5 ? argv[5] : NULL);
}
