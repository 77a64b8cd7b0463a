/* SPDX-License-Identifier: MIT */
/* Times as a busy machine gives them, made from a seed: what recorded runs show, at will. */
#ifndef TESTS_NOISE_H
#define TESTS_NOISE_H

#include "base/hash.h"

enum noise_kind {
    NOISE_QUIET,  /* 1 % of jitter; every other kind has it too */
    NOISE_BURSTS, /* a neighbour that works 8 samples in 40 or so, for 1.3 to 3 times the time */
    NOISE_DRIFT,  /* a machine that warms up: 20 % slower in the end, most of it in 200 samples */
    NOISE_LEVELS, /* two clocks 15 % apart, each held for 25 samples on average */
    NOISE_TAIL,   /* one-sided, Pareto with exponent 1.5: no variance */
    NOISE_CORRELATED, /* a load that wanders: first-order autoregressive 0.9, 5 % */
    NOISE_ALL,        /* all of them at once */
    NOISE_KINDS,
};

/* One machine. Its state moves on with each sample taken, whoever takes it: two series taken in
 * turn see nearly the same state, two taken one after the other do not. */
struct noise {
    enum noise_kind kind;
    uint64_t seed, index;
    double burst;      /* factor, 1 outside a burst */
    double correlated; /* logarithm */
    double samples;    /* taken since the start */
    int level;         /* 0 or 1 */
    double warmth;     /* share of the drift that was there before the start */
};

const char *noise_name(enum noise_kind kind);
void noise_start(struct noise *noise, enum noise_kind kind, uint64_t seed);
/* The factor, positive, on the time of the next sample. */
double noise_next(struct noise *noise);
/* Lets the machine do `samples` samples of something else. */
void noise_pass(struct noise *noise, size_t samples);
/* One turn: both times, in an order drawn for this turn. */
void noise_turn(struct noise *noise, double true_a, double true_b, double *a, double *b);

/* Uniform in (0, 1), and standard normal; from the machine's own stream. */
double noise_uniform(struct noise *noise);
double noise_normal(struct noise *noise);

#endif
