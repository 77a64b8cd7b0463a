/* SPDX-License-Identifier: MIT */
#include "measure/closeness.h"

#include "base/element.h"
#include "base/units.h"
#include "measure/verification.h"

#include <inttypes.h>
#include <math.h>

static double number_real(const struct number *number, enum assay_element element)
{
    if (!number->whole)
        return number->real;
    return element == ASSAY_ELEMENT_UINT64 ? (double)(uint64_t)number->bits : (double)number->bits;
}

/* |got - wanted|, without loss where both are whole. */
static double distance(enum assay_element element, const struct number *got,
                       const struct number *wanted)
{
    if (!got->whole || !wanted->whole)
        return fabs(number_real(got, element) - number_real(wanted, element));
    bool more = element == ASSAY_ELEMENT_UINT64 ? (uint64_t)got->bits > (uint64_t)wanted->bits
                                                : got->bits > wanted->bits;
    uint64_t a = (uint64_t)got->bits, b = (uint64_t)wanted->bits;
    return (double)(more ? a - b : b - a);
}

static double bound_of(const struct closeness *allowed, enum assay_element element,
                       const struct number *wanted)
{
    double real = number_real(wanted, element);
    double bound = allowed->absolute + allowed->relative * fabs(real);
    if (allowed->ulp > 0)
        bound += allowed->ulp * element_spacing(element, real);
    return bound;
}

double closeness_of(const struct closeness *allowed, enum assay_element element,
                    const struct number *got, const struct number *wanted)
{
    if ((!got->whole && !isfinite(got->real)) || (!wanted->whole && !isfinite(wanted->real)))
        return INFINITY;
    double error = distance(element, got, wanted);
    if (error == 0)
        return 0;
    double bound = bound_of(allowed, element, wanted);
    return bound > 0 && isfinite(error) ? error / bound : INFINITY;
}

void comparison_add(struct comparison *comparison, const struct number *got,
                    const struct number *wanted)
{
    double error = closeness_of(&comparison->allowed, comparison->element, got, wanted);
    if (error > comparison->largest)
        comparison->largest = error;
    if (error > 1 && comparison->wrong++ == 0) {
        comparison->first = comparison->count;
        comparison->got = *got;
        comparison->wanted = *wanted;
    }
    comparison->count++;
}

static void add_number(struct text *text, enum assay_element element, const struct number *number)
{
    if (number->whole && element == ASSAY_ELEMENT_UINT64)
        text_addf(text, "%" PRIu64, (uint64_t)number->bits);
    else if (number->whole)
        text_addf(text, "%" PRId64, number->bits);
    else
        element_add(text, element, number->real);
}

/* ": the error 0.25 is 12.5 times its bound of 0.02", where the bound says something */
static void add_error(const struct comparison *comparison, struct text *text)
{
    const struct number *got = &comparison->got, *wanted = &comparison->wanted;
    double bound = bound_of(&comparison->allowed, comparison->element, wanted);
    if ((!got->whole && !isfinite(got->real)) || (!wanted->whole && !isfinite(wanted->real))) {
        text_add(text, ": NaN and infinity never pass");
        return;
    }
    double error = distance(comparison->element, got, wanted);
    if (!(bound > 0))
        return;
    text_add(text, ": the error ");
    quantity_add(text, error, (struct dimension){0});
    text_add(text, " is ");
    quantity_add(text, error / bound, (struct dimension){0});
    text_add(text, " times its bound of ");
    quantity_add(text, bound, (struct dimension){0});
}

void comparison_describe(const struct comparison *comparison, struct text *text)
{
    text_addf(text, "%s[%" PRIu64 "] is ", comparison->name, comparison->first + 1);
    add_number(text, comparison->element, &comparison->got);
    text_add(text, ", wanted ");
    add_number(text, comparison->element, &comparison->wanted);
    add_error(comparison, text);
    if (comparison->wrong > 1 || comparison->count > 1)
        text_addf(text, "; %" PRIu64 " of %" PRIu64 " elements %s wrong", comparison->wrong,
                  comparison->count, comparison->wrong == 1 ? "is" : "are");
}

bool comparison_apply(const struct comparison *comparison, struct assay_verification *verification,
                      struct assay_error *error)
{
    verification->checked_bytes += comparison->count * element_bytes(comparison->element);
    if (isfinite(comparison->largest) &&
        (!verification->has_error || comparison->largest > verification->error)) {
        verification->error = comparison->largest;
        verification->has_error = true;
    }
    if (comparison->wrong == 0)
        return true;
    struct text text = {0};
    if (comparison->place[0])
        text_addf(&text, "%s: ", comparison->place);
    comparison_describe(comparison, &text);
    assay_fail(error, ASSAY_WRONG_RESULT, "%s", text_string(&text));
    text_free(&text);
    return false;
}
