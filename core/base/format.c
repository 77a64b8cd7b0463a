/* SPDX-License-Identifier: MIT */
#include "base/format.h"

#include <pthread.h>
#include <stdio.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t format_locale(void)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale;
}

int format_c(char *out, size_t size, const char *format, va_list arguments)
{
    locale_t locale = format_locale();
    locale_t before = locale ? uselocale(locale) : (locale_t)0;
    int length = vsnprintf(out, size, format, arguments);
    if (before)
        uselocale(before);
    return length;
}

int format_number(char *out, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = format_c(out, size, format, arguments);
    va_end(arguments);
    return length;
}
