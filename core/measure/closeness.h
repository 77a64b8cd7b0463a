/* SPDX-License-Identifier: MIT */
/* How near results are to what is wanted, element by element. Pure. */
#ifndef MEASURE_CLOSENESS_H
#define MEASURE_CLOSENESS_H

#include <assay/verification.h>

#include "base/text.h"

/* The bound of an element is absolute + relative * |wanted| + ulp * (the distance between
 * neighbours at wanted, in the element's type). All 0: equal values alone pass. */
struct closeness {
    double absolute, relative, ulp;
};

/* A number of either kind: whole ones of 64 bits do not fit in a double. */
struct number {
    bool whole;
    int64_t bits; /* whole */
    double real;
};

/* Many elements. All zero, with the first four members set, is a fresh one. */
struct comparison {
    char name[64];  /* what is compared, in messages */
    char place[96]; /* "saxpy.lua:20", or "" */
    enum assay_element element;
    struct closeness allowed;
    uint64_t count, wrong;
    double largest; /* error over its bound, of all; infinite where NaN or infinity was */
    uint64_t first; /* the first wrong element, from 0; when wrong > 0 */
    struct number got, wanted; /* there */
};

/* Error over its bound. Infinite where one of both is NaN or infinite, and for unequal values with
 * a bound of 0. */
double closeness_of(const struct closeness *allowed, enum assay_element element,
                    const struct number *got, const struct number *wanted);
void comparison_add(struct comparison *comparison, const struct number *got,
                    const struct number *wanted);
/* Adds "y[17] is 2.5, wanted 2.25: ..."; indices from 1. Only when some are wrong. */
void comparison_describe(const struct comparison *comparison, struct text *text);
/* Counts what was compared into the verification, with the largest error; ASSAY_WRONG_RESULT with
 * the place and the description when some are wrong. */
bool comparison_apply(const struct comparison *comparison, struct assay_verification *verification,
                      struct assay_error *error);

#endif
