/* SPDX-License-Identifier: MIT */
/* bench_peak [ROUNDS]: the processor's own multiply-add peak at vectors of 256 bits, on all cores
 * at once: independent accumulators in registers, a multiplication and an addition each step, fused
 * where the processor can. Prints "FP32_FLOP_S FP64_FLOP_S": the best of the rounds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 256
#define STEPS 4000000L
#define ACCUMULATORS 10
#define STEP_FLOPS 2

typedef float floats __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32)));

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#define KEEP(v) __asm__ volatile("" : "+x"(v))
#elif defined(__aarch64__)
#define WIDE
#define KEEP(v) __asm__ volatile("" : "+w"(((double *)&(v))[0]))
#else
#define WIDE
#define KEEP(v) __asm__ volatile("" ::: "memory")
#endif

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define DECLARE(i) vector a##i = factor * (i + 1);
#define STEP(i) a##i = a##i * factor + term;
#define HOLD(i) KEEP(a##i);
#define SUM(i) sum += a##i;

/* What the loop does is kept from the compiler, so that no step is left out. */
#define DEFINE_CHAINS(name, type)                                                                  \
    WIDE static double name(void)                                                                  \
    {                                                                                              \
        typedef type vector;                                                                       \
        vector factor = {0}, term = {0}, sum = {0};                                                \
        factor += 0.5f;                                                                            \
        term += 0.5f;                                                                              \
        KEEP(factor);                                                                              \
        KEEP(term);                                                                                \
        EACH(DECLARE)                                                                              \
        for (long step = 0; step < STEPS; step++) {                                                \
            EACH(STEP)                                                                             \
            EACH(HOLD)                                                                             \
        }                                                                                          \
        EACH(SUM)                                                                                  \
        return (double)sum[0];                                                                     \
    }
DEFINE_CHAINS(chains_fp32, floats)
DEFINE_CHAINS(chains_fp64, doubles)

static pthread_barrier_t barrier;
static double (*work)(void);
static volatile double sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct thread {
    pthread_t handle;
    double begin, end;
};

static void *thread_run(void *user)
{
    struct thread *thread = user;
    pthread_barrier_wait(&barrier);
    thread->begin = now();
    sink = work();
    thread->end = now();
    return NULL;
}

/* Operations a second of all threads together, from the first start to the last end. */
static double round_run(double (*chains)(void), long threads, size_t lanes)
{
    struct thread all[THREADS_MAX];
    work = chains;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++) {
        if (pthread_create(&all[i].handle, NULL, thread_run, &all[i]) != 0) {
            fprintf(stderr, "bench_peak: no thread\n");
            exit(1);
        }
    }
    for (long i = 0; i < threads; i++)
        pthread_join(all[i].handle, NULL);
    double begin = all[0].begin, end = all[0].end;
    for (long i = 1; i < threads; i++) {
        begin = all[i].begin < begin ? all[i].begin : begin;
        end = all[i].end > end ? all[i].end : end;
    }
    pthread_barrier_destroy(&barrier);
    return (double)threads * STEPS * ACCUMULATORS * STEP_FLOPS * (double)lanes / (end - begin);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    double fp32 = 0, fp64 = 0;
    if (rounds < 1 || threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: bench_peak [ROUNDS]\n");
        return 2;
    }
    for (long i = 0; i < rounds; i++) {
        double rate = round_run(chains_fp32, threads, sizeof(floats) / sizeof(float));
        fp32 = rate > fp32 ? rate : fp32;
        rate = round_run(chains_fp64, threads, sizeof(doubles) / sizeof(double));
        fp64 = rate > fp64 ? rate : fp64;
    }
    printf("%.0f %.0f\n", fp32, fp64);
    return 0;
}
