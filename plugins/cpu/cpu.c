/* SPDX-License-Identifier: MIT */
/* Clock and temperature of the processor, from sysfs. */
#include <assay/assay.h>

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define FILES_MAX 64 /* of more CPUs so many are read, evenly spread */
#define PATH_BYTES 1024

enum { CLOCK, TEMPERATURE };

/* Files that hold a whole number each; the largest counts. They stay open. */
struct files {
    int fds[FILES_MAX];
    size_t count;
};

struct cpu {
    struct files clocks;       /* kHz */
    struct files temperatures; /* thousandths of a degree */
    char cpuinfo[PATH_BYTES];  /* where there are no clocks in sysfs; "": not there either */
};

static void files_add(struct files *files, const char *path)
{
    int fd = files->count < FILES_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        files->fds[files->count++] = fd;
}

static void files_close(struct files *files)
{
    while (files->count > 0)
        close(files->fds[--files->count]);
}

/* NaN when none can be read: some chips refuse while they sleep. */
static double files_largest(const struct files *files)
{
    double largest = NAN;
    for (size_t i = 0; i < files->count; i++) {
        char text[32], *end;
        ssize_t n = pread(files->fds[i], text, sizeof(text) - 1, 0);
        if (n <= 0)
            continue;
        text[n] = '\0';
        long value = strtol(text, &end, 10);
        if (end != text && !((double)value <= largest))
            largest = (double)value;
    }
    return largest;
}

static bool read_word(const char *path, char *word, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, word, bytes - 1);
    close(fd);
    word[n > 0 ? n : 0] = '\0';
    word[strcspn(word, "\n")] = '\0';
    return n > 0;
}

static void find_clocks(struct cpu *cpu, const char *root)
{
    char path[PATH_BYTES];
    long count = 0;
    for (;; count++) {
        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%ld", root, count);
        if (access(path, F_OK) != 0)
            break;
    }
    long step = (count + FILES_MAX - 1) / FILES_MAX;
    for (long i = 0; i < count; i += step) {
        snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_cur_freq",
                 root, i);
        files_add(&cpu->clocks, path);
    }
}

/* Drivers of the sensors in processors. */
static bool is_cpu_chip(const char *name)
{
    static const char *const names[] = {"coretemp", "k10temp", "k8temp", "zenpower", "cpu_thermal"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* "x86_pkg_temp", "cpu-thermal", "cpu0_thermal", "soc_thermal", ... */
static bool is_cpu_zone(const char *type)
{
    return strcmp(type, "x86_pkg_temp") == 0 || strncasecmp(type, "cpu", 3) == 0 ||
           strncasecmp(type, "soc", 3) == 0;
}

static void add_chip(struct cpu *cpu, const char *directory)
{
    char path[PATH_BYTES + 32];
    for (int i = 1; i <= FILES_MAX; i++) {
        snprintf(path, sizeof(path), "%s/temp%d_input", directory, i);
        files_add(&cpu->temperatures, path);
    }
}

/* Each entry of a directory of sysfs whose file `label` names something of the processor. */
static void find_temperatures(struct cpu *cpu, const char *root, bool zones)
{
    char path[PATH_BYTES], name[64];
    int length = snprintf(path, sizeof(path), "%s/sys/class/%s", root, zones ? "thermal" : "hwmon");
    DIR *directory = length < (int)sizeof(path) ? opendir(path) : NULL;
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        char own[PATH_BYTES], label[PATH_BYTES + 8];
        if (entry->d_name[0] == '.' ||
            snprintf(own, sizeof(own), "%s/%s", path, entry->d_name) >= (int)sizeof(own))
            continue;
        snprintf(label, sizeof(label), "%s/%s", own, zones ? "type" : "name");
        if (!read_word(label, name, sizeof(name)))
            continue;
        if (!zones && is_cpu_chip(name)) {
            add_chip(cpu, own);
        } else if (zones && is_cpu_zone(name)) {
            snprintf(label, sizeof(label), "%s/temp", own);
            files_add(&cpu->temperatures, label);
        }
    }
    if (directory)
        closedir(directory);
}

/* "cpu MHz\t\t: 2445.402" of the fastest, in Hz. The point is a point whatever the locale. */
static double cpuinfo_clock(const char *path)
{
    static const char key[] = "cpu MHz";
    char line[256];
    double largest = NAN;
    FILE *file = *path ? fopen(path, "r") : NULL;
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        char *end;
        if (!colon || strncmp(line, key, sizeof(key) - 1) != 0)
            continue;
        double hz = (double)strtol(colon + 1, &end, 10) * 1e6, place = 1e5;
        if (end == colon + 1)
            continue;
        for (end += *end == '.'; *end >= '0' && *end <= '9'; end++, place /= 10)
            hz += (*end - '0') * place;
        if (!(hz <= largest))
            largest = hz;
    }
    if (file)
        fclose(file);
    return largest;
}

static void cpu_close(void **self)
{
    struct cpu *cpu = *self;
    if (cpu) {
        files_close(&cpu->clocks);
        files_close(&cpu->temperatures);
    }
    free(cpu);
    *self = NULL;
}

static void *cpu_open(const char *root, struct assay_error *error)
{
    struct cpu *cpu = calloc(1, sizeof(*cpu));
    if (!cpu) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    find_clocks(cpu, root);
    snprintf(cpu->cpuinfo, sizeof(cpu->cpuinfo), "%s/proc/cpuinfo", root);
    if (cpu->clocks.count > 0 || isnan(cpuinfo_clock(cpu->cpuinfo)))
        cpu->cpuinfo[0] = '\0';
    find_temperatures(cpu, root, false);
    if (cpu->temperatures.count == 0)
        find_temperatures(cpu, root, true);
    return cpu;
}

static bool cpu_read(void *self, double *values, struct assay_error *error)
{
    struct cpu *cpu = self;
    (void)error;
    values[CLOCK] = cpu->clocks.count ? files_largest(&cpu->clocks) * 1e3
                                      : cpuinfo_clock(cpu->cpuinfo);
    values[TEMPERATURE] = files_largest(&cpu->temperatures) / 1e3;
    return true;
}

static const char *cpu_absent(void *self, size_t index)
{
    const struct cpu *cpu = self;
    if (index == CLOCK)
        return cpu->clocks.count || cpu->cpuinfo[0]
                   ? "the kernel did not tell it when it was asked"
                   : "the kernel tells none: there is no cpufreq/scaling_cur_freq under "
                     "/sys/devices/system/cpu and no 'cpu MHz' in /proc/cpuinfo";
    return cpu->temperatures.count
               ? "the kernel did not tell it when it was asked"
               : "the kernel tells none: neither /sys/class/hwmon nor /sys/class/thermal has one "
                 "of the processor (a virtual machine has none)";
}

static const struct assay_reading *const readings[] = {
    [CLOCK] = &(const struct assay_reading){.size = sizeof(struct assay_reading),
                                            .name = "cpu_clock",
                                            .unit = "Hz",
                                            .help = "of the fastest CPU at the time"},
    [TEMPERATURE] = &(const struct assay_reading){.size = sizeof(struct assay_reading),
                                                  .name = "cpu_temperature",
                                                  .unit = "degC",
                                                  .help = "of the hottest place that is told"},
    NULL,
};

static const struct assay_sensor sensor = {
    .size = sizeof(struct assay_sensor),
    .name = "cpu",
    .summary = "clock and temperature of the processor, from sysfs",
    .readings = readings,
    .open = cpu_open,
    .read = cpu_read,
    .absent = cpu_absent,
    .close = cpu_close,
};

static const struct assay_sensor *const sensors[] = {&sensor, NULL};

ASSAY_PLUGIN_ENTRY(cpu)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "cpu",
                                               .version = "1",
                                               .sensors = sensors};
    return &plugin;
}
