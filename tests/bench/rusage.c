/* SPDX-License-Identifier: MIT */
/* rusage [-c CORE] [-o FILE] [-m] COMMAND...: runs a command (output to FILE or /dev/null) and
 * prints "STATUS WALL_NS CPU_NS COMMAND_KB CHILDREN_KB": CPU time of the command and all its
 * children, its peak resident memory, and the largest peak among its children, looked at while they
 * run with -m (else 0). */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 10000000

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* VmHWM (peak resident KiB) and parent of a process; false when it is gone. */
static bool process_read(const char *pid, long *peak_kb, long *parent)
{
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    *peak_kb = *parent = 0;
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, "PPid:", 5) == 0)
            *parent = strtol(line + 5, NULL, 10);
        else if (strncmp(line, "VmHWM:", 6) == 0)
            *peak_kb = strtol(line + 6, NULL, 10);
    fclose(file);
    return true;
}

static void look(long pid, long *own_kb, long *children_kb)
{
    DIR *directory = opendir("/proc");
    if (!directory)
        return;
    for (const struct dirent *entry; (entry = readdir(directory));) {
        long peak_kb, parent;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !process_read(entry->d_name, &peak_kb, &parent))
            continue;
        if (strtol(entry->d_name, NULL, 10) == pid && peak_kb > *own_kb)
            *own_kb = peak_kb;
        else if (parent == pid && peak_kb > *children_kb)
            *children_kb = peak_kb;
    }
    closedir(directory);
}

static void child(char **argv, int core, const char *output)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    if (core >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)core, &set);
        if (sched_setaffinity(0, sizeof(set), &set) != 0)
            _exit(126);
    }
    execvp(argv[0], argv);
    _exit(127);
}

static bool finished(pid_t pid, int *status, struct rusage *usage, long *own_kb, long *children_kb,
                     bool memory)
{
    if (!memory)
        return wait4(pid, status, 0, usage) == pid;
    for (;;) {
        look(pid, own_kb, children_kb);
        pid_t ended = wait4(pid, status, WNOHANG, usage);
        if (ended != 0)
            return ended == pid;
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *output = "/dev/null";
    int core = -1, option;
    bool memory = false;
    while ((option = getopt(argc, argv, "+c:o:m")) != -1)
        if (option == 'c')
            core = (int)strtol(optarg, NULL, 10);
        else if (option == 'o')
            output = optarg;
        else if (option == 'm')
            memory = true;
        else
            return 2;
    if (optind >= argc) {
        fprintf(stderr, "usage: rusage [-c CORE] [-o FILE] [-m] COMMAND...\n");
        return 2;
    }
    long own_kb = 0, children_kb = 0;
    int status = 0;
    struct rusage usage;
    long long begin = now_ns();
    pid_t pid = fork();
    if (pid == 0)
        child(argv + optind, core, output);
    if (pid < 0 || !finished(pid, &status, &usage, &own_kb, &children_kb, memory)) {
        perror("rusage");
        return 1;
    }
    long long wall = now_ns() - begin;
    long long cpu = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
                    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
    printf("%d %lld %lld %ld %ld\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wall, cpu, own_kb,
           children_kb);
    return 0;
}
