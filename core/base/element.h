/* SPDX-License-Identifier: MIT */
/* The kinds of numbers that buffers hold: sizes, names, conversions. Pure. */
#ifndef BASE_ELEMENT_H
#define BASE_ELEMENT_H

#include <assay/element.h>

#include "base/text.h"

static inline size_t element_bytes(enum assay_element element)
{
    return assay_element_bytes(element);
}
/* "float", "double", "half", "bfloat16", "int8", "int16", "int", "int64", "uint8", ..., "fp8_e4m3"
 */
const char *element_name(enum assay_element element);
extern const char *const element_names[ASSAY_ELEMENT_COUNT];
/* Also "int32", "uint32", "float32", "float64", "float16". */
bool element_from_name(const char *name, enum assay_element *element);
bool element_is_whole(enum assay_element element);  /* an integer type */
bool element_is_signed(enum assay_element element); /* false: uint8 ... uint64 */

/* Element `index` of an array. */
double element_real(enum assay_element element, const void *array, uint64_t index);
/* Whole elements: its value; uint64 over 2^63 - 1 as its bits. */
int64_t element_whole(enum assay_element element, const void *array, uint64_t index);
/* Stores the nearest value (ties to even; floating elements overflow to infinity, fp8_e4m3 to
 * NaN; NaN stays one).
 * Whole elements take whole numbers in range: false for others, and nothing is stored. */
bool element_store(enum assay_element element, double value, void *out);
/* The same for a whole number; a uint64 takes the bits. */
bool element_store_whole(enum assay_element element, int64_t value, void *out);
/* The distance between neighbours at the magnitude of a finite value: 1 for whole elements. */
double element_spacing(enum assay_element element, double value);
/* The smallest and largest value of a whole element, as doubles (2^63 and 2^64 are not reached). */
void element_range(enum assay_element element, double *least, double *most);

/* Adds the shortest decimal that a floating element stores as this value. A value that it does not
 * hold exactly is added in full; NaN, Inf and -Inf as such. */
void element_add(struct text *text, enum assay_element element, double value);

uint16_t half_from_real(double value); /* one rounding, to nearest even */
double half_to_real(uint16_t bits);

#endif
