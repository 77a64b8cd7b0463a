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

#endif
