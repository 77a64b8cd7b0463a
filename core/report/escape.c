/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"

/* Bytes of the well-formed character at `s` (The Unicode Standard, table 3-7), or 0. */
static size_t character_bytes(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    size_t count = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
                   : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
                   : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                  : 0;
    if (count == 0)
        return 0;
    unsigned char low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t i = 2; i < count; i++)
        if (s[i] < 0x80 || s[i] > 0xBF)
            return 0;
    return count;
}

static bool forbidden(const unsigned char *s, size_t count)
{
    if (count == 1)
        return s[0] < 0x20 && s[0] != '\t' && s[0] != '\n' && s[0] != '\r';
    return count == 3 && s[0] == 0xEF && s[1] == 0xBF && s[2] >= 0xBE; /* U+FFFE, U+FFFF */
}

void report_add_escaped(struct text *out, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    while (*s) {
        size_t count = character_bytes(s);
        if (count == 0 || forbidden(s, count)) {
            text_add(out, REPLACEMENT);
            s++;
            s += count > 1 ? count - 1 : 0;
            continue;
        }
        switch (*s) {
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '&':
            text_add(out, "&amp;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        case '\'':
            text_add(out, "&#39;");
            break;
        default:
            text_add_bytes(out, (const char *)s, count);
        }
        s += count;
    }
}
