/* SPDX-License-Identifier: MIT */
#include "stats/looks.h"

size_t stats_look_at(size_t first, unsigned look)
{
    if (look >= LOOKS_MOST)
        return 0;
    if (first < LOOKS_FIRST)
        first = LOOKS_FIRST;
    return first > SIZE_MAX >> look ? SIZE_MAX : first << look;
}

size_t stats_look_next(size_t first, unsigned taken, size_t most)
{
    size_t next = stats_look_at(first, taken);
    if (next <= most)
        return next;
    if (taken == 0)
        return 0;
    size_t last = stats_look_at(first, taken - 1);
    return most > last && most - last >= last / 2 ? most : 0;
}
