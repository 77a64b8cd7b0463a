/* SPDX-License-Identifier: MIT */
/* Formatting that does not depend on the locale: a library may have called setlocale, and a decimal
 * comma in a record would make it unreadable. Only base/ includes this. */
#ifndef BASE_FORMAT_H
#define BASE_FORMAT_H

#include <assay/api.h>

#include <locale.h>
#include <stdarg.h>

/* The C locale, one for the process, any thread; (locale_t)0 only if the system has none. */
locale_t format_locale(void);
/* vsnprintf in the C locale. */
int format_c(char *out, size_t size, const char *format, va_list arguments) ASSAY_PRINTF(3, 0);
/* snprintf in the C locale. */
int format_number(char *out, size_t size, const char *format, ...) ASSAY_PRINTF(3, 4);

#define EXACT_DIGITS 15 /* a whole number of so many digits is exact in a double, */
#define EXACT_TENS 22   /* and so is a power of ten up to this */
extern const double number_tens[EXACT_TENS + 1]; /* 1e0, 1e1, ... */
/* The number that JSON text from `from` to `to` stands for, where it is the product or quotient of
 * two exact factors: rounded once it is the nearest (Clinger 1990). False: it is not. */
bool number_exact(const char *from, const char *to, double *value);

#endif
