/* SPDX-License-Identifier: MIT */
/* Names in messages: the nearest one, lists, patterns. */
#include "base/text.h"

#include <string.h>

#define NAME_LIMIT 64 /* longer names are not compared: nobody mistypes them by a letter */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insertion, deletion, replacement and transposition cost one each. */
static size_t edit_distance(const char *a, size_t m, const char *b, size_t n)
{
    size_t rows[3][NAME_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= n; j++)
        before[j] = last[j] = j;
    for (size_t i = 1; i <= m; i++) {
        now[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            now[j] = smaller(smaller(last[j] + 1, now[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[n];
}

const char *text_nearest(const char *name, const char *const *candidates, size_t count)
{
    size_t length = strlen(name);
    if (length == 0 || length > NAME_LIMIT)
        return NULL;
    size_t allowed = length / 3 > 1 ? length / 3 : 1;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > NAME_LIMIT || other > length + allowed || length > other + allowed)
            continue;
        size_t distance = edit_distance(name, length, candidates[i], other);
        if (distance < allowed + (best ? 0 : 1)) {
            best = candidates[i];
            allowed = distance;
        }
    }
    return best;
}

void text_add_list(struct text *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text_add(text, i + 1 == count ? " and " : ", ");
        text_add(text, words[i]);
    }
}

static const char *next_character(const char *s)
{
    do
        s++;
    while (((unsigned char)*s & 0xC0) == 0x80);
    return s;
}

bool text_glob(const char *pattern, const char *string)
{
    const char *star = NULL, *resume = NULL;
    while (*string) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = string;
        } else if (*pattern == '?') {
            pattern++;
            string = next_character(string);
        } else if (*pattern == *string) {
            pattern++;
            string++;
        } else if (star) {
            pattern = star;
            string = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
