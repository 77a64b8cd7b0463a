/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD"

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
        size_t count = text_character_bytes((const char *)s, SIZE_MAX);
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
