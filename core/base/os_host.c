/* SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <sched.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

void os_cpu_name(struct text *out)
{
    struct utsname host = {0};
    char line[512];
    size_t before = out->length;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && out->length == before && fgets(line, sizeof(line), file)) {
        char *value = strchr(line, ':');
        if (value && strncmp(line, "model name", 10) == 0) {
            value[1 + strcspn(value + 1, "\n")] = '\0';
            text_add_clean(out, value + 1 + strspn(value + 1, " \t"));
        }
    }
    if (file)
        fclose(file);
    uname(&host);
    if (out->length == before)
        text_add_clean(out, host.machine);
}

unsigned os_cpu_count(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    return online > 0 ? (unsigned)online : 1;
}
