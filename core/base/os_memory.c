/* SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((size_t)1 << 16)

/* The number behind `key` (at the start of a line) in a small file; false when it is not there. */
static bool number_in(const char *path, const char *key, uint64_t *number)
{
    struct text text = {0};
    struct assay_error ignored = {0}; /* not every system has the file */
    bool found = false;
    if (os_file_read(path, MOST_BYTES, &text, &ignored)) {
        const char *at = text_string(&text);
        for (; at && !found; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
            found = strncmp(at, key, strlen(key)) == 0 &&
                    sscanf(at + strlen(key), "%" SCNu64, number) == 1;
    }
    text_free(&text);
    return found;
}

uint64_t os_memory_available(void)
{
    uint64_t kibibytes, most, held, left = UINT64_MAX;
    if (number_in("/proc/meminfo", "MemAvailable:", &kibibytes) && kibibytes < UINT64_MAX / 1024)
        left = kibibytes * 1024;
    if (number_in("/sys/fs/cgroup/memory.max", "", &most) &&
        number_in("/sys/fs/cgroup/memory.current", "", &held)) {
        uint64_t allowed = most > held ? most - held : 0;
        left = allowed < left ? allowed : left;
    }
    return left;
}
