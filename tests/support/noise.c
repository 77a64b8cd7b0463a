/* SPDX-License-Identifier: MIT */
#include "noise.h"

#include <math.h>

#define PI 3.14159265358979323846
#define JITTER 0.01
#define BURST_BEGINS (1.0 / 32)
#define BURST_ENDS (1.0 / 8)
#define DRIFT 0.2
#define DRIFT_SAMPLES 100.0
#define LEVEL_STEP 0.15
#define LEVEL_CHANGES (1.0 / 25)
#define TAIL_EXPONENT 1.5
#define TAIL_SCALE 0.02
#define CORRELATION 0.9
#define CORRELATED_SPREAD 0.05

const char *noise_name(enum noise_kind kind)
{
    static const char *const names[NOISE_KINDS] = {"quiet", "bursts",     "drift", "levels",
                                                   "tail",  "correlated", "all"};
    return names[kind];
}

double noise_uniform(struct noise *noise)
{
    return ((double)(random_at(noise->seed, noise->index++) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958; the second number is not kept. */
double noise_normal(struct noise *noise)
{
    double radius = sqrt(-2 * log(noise_uniform(noise)));
    return radius * cos(2 * PI * noise_uniform(noise));
}

void noise_start(struct noise *noise, enum noise_kind kind, uint64_t seed)
{
    *noise = (struct noise){.kind = kind, .seed = seed, .burst = 1};
    noise->correlated = CORRELATED_SPREAD * noise_normal(noise);
    noise->level = noise_uniform(noise) < 0.5;
    noise->warmth = noise_uniform(noise);
}

static bool has(const struct noise *noise, enum noise_kind kind)
{
    return noise->kind == kind || noise->kind == NOISE_ALL;
}

static void move_on(struct noise *noise)
{
    double event = noise_uniform(noise);
    if (noise->burst > 1)
        noise->burst = event < BURST_ENDS ? 1 : noise->burst;
    else if (event < BURST_BEGINS)
        noise->burst = 1.3 + 1.7 * noise_uniform(noise);
    if (noise_uniform(noise) < LEVEL_CHANGES)
        noise->level = !noise->level;
    noise->correlated = CORRELATION * noise->correlated + CORRELATED_SPREAD *
                                                              sqrt(1 - CORRELATION * CORRELATION) *
                                                              noise_normal(noise);
    noise->samples++;
}

double noise_next(struct noise *noise)
{
    move_on(noise);
    double factor = exp(JITTER * noise_normal(noise));
    if (has(noise, NOISE_BURSTS))
        factor *= noise->burst;
    if (has(noise, NOISE_DRIFT)) {
        double rest = (1 - noise->warmth) * exp(-noise->samples / DRIFT_SAMPLES);
        factor *= 1 + DRIFT * (1 - rest);
    }
    if (has(noise, NOISE_LEVELS))
        factor *= 1 + LEVEL_STEP * noise->level;
    if (has(noise, NOISE_TAIL))
        factor *= 1 + TAIL_SCALE * pow(noise_uniform(noise), -1 / TAIL_EXPONENT);
    if (has(noise, NOISE_CORRELATED))
        factor *= exp(noise->correlated);
    return factor;
}

void noise_pass(struct noise *noise, size_t samples)
{
    for (size_t i = 0; i < samples; i++)
        move_on(noise);
}

void noise_turn(struct noise *noise, double true_a, double true_b, double *a, double *b)
{
    if (noise_uniform(noise) < 0.5) {
        *a = true_a * noise_next(noise);
        *b = true_b * noise_next(noise);
    } else {
        *b = true_b * noise_next(noise);
        *a = true_a * noise_next(noise);
    }
}
