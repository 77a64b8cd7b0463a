/* SPDX-License-Identifier: MIT */
#include "base/os.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define REAP_LIMIT_NS (5 * SECOND_NS) /* a process stuck in a driver may outlive its SIGKILL */
#define CHILD_READS 3
#define CHILD_WRITES 4
#define FIRST_FREE 10

struct os_process {
    pid_t pid;
    int input, output;
    int pidfd; /* -1: the kernel has none */
    bool ended;
    char how[128];
    int status; /* its exit status, or -1 */
};

/* All that the child needs after fork, made before it. */
struct child {
    int reads, writes, log, input, report;
    pid_t parent;
    const char *const *argv;
};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int lifted(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
}

/* The descriptors may have any number, those of the targets too: first all go up, then down. */
static bool child_descriptors(struct child *child)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return false;
    child->report = lifted(child->report);
    int reads = lifted(child->reads), writes = lifted(child->writes), nothing = lifted(null_fd);
    int log = lifted(child->log >= 0 ? child->log : null_fd);
    int input = child->input > 0 ? lifted(child->input) : nothing;
    if (child->report < 0 || reads < 0 || writes < 0 || log < 0 || input < 0)
        return false;
    return dup2(input, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2 &&
           dup2(reads, CHILD_READS) == CHILD_READS && dup2(writes, CHILD_WRITES) == CHILD_WRITES;
}

/* Only async-signal-safe calls from here to exec. */
static _Noreturn void child_run(struct child *child)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != child->parent)
        _exit(127); /* it died before prctl */
    setpgid(0, 0);  /* Ctrl-C is for the supervisor */
    if (child_descriptors(child)) {
#ifdef CLOSE_RANGE_CLOEXEC
        /* What others left open is none of its business; where the kernel cannot, it does no harm.
         */
        close_range(CHILD_WRITES + 1, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(SIGPIPE, &action, NULL);
        sigaction(SIGINT, &action, NULL);
        sigaction(SIGTERM, &action, NULL);
        sigaction(SIGCHLD, &action, NULL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execv(child->argv[0], (char *const *)(uintptr_t)child->argv);
    }
    int reason = errno;
    ssize_t put = write(child->report, &reason, sizeof reason);
    (void)put; /* the exit status still tells */
    _exit(127);
}

/* 0 when exec succeeded: its success closes the pipe. */
static int exec_failure(int fd)
{
    int reason = 0;
    ssize_t got;
    do
        got = read(fd, &reason, sizeof reason);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof reason ? reason : 0;
}

static pid_t fork_child(struct child *child)
{
    /* Handlers of the parent must not run in the child. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0)
        child_run(child);
    int reason = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return pid;
}

struct os_process *os_process_start(const struct os_process_params *params,
                                    struct assay_error *error)
{
    int requests[2] = {-1, -1}, answers[2] = {-1, -1}, report[2] = {-1, -1};
    struct os_process *process = calloc(1, sizeof *process);
    if (!process) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a process");
        return NULL;
    }
    *process = (struct os_process){.input = -1, .output = -1, .pidfd = -1, .ended = true};
    if (pipe2(requests, O_CLOEXEC) || pipe2(answers, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) {
        error_fail_errno(error, "cannot make a pipe");
        goto fail;
    }
    struct child child = {.reads = requests[0],
                          .writes = answers[1],
                          .log = params->log_fd,
                          .input = params->input_fd,
                          .report = report[1],
                          .parent = getpid(),
                          .argv = params->argv};
    process->pid = fork_child(&child);
    if (process->pid < 0) {
        error_fail_errno(error, "cannot start a process");
        goto fail;
    }
    process->ended = false;
    process->input = requests[1];
    process->output = answers[0];
    requests[1] = answers[0] = -1;
    close_one(&report[1]);
    int reason = exec_failure(report[0]);
    if (reason) {
        error_system(error, reason, __FILE__, __LINE__, "cannot start %s", params->argv[0]);
        goto fail;
    }
    process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    close_one(&report[0]);
    close_one(&requests[0]);
    close_one(&answers[1]);
    return process;
fail:
    for (int i = 0; i < 2; i++) {
        close_one(&requests[i]);
        close_one(&answers[i]);
        close_one(&report[i]);
    }
    os_process_destroy(&process);
    return NULL;
}

int os_process_input(const struct os_process *process)
{
    return process->input;
}

int os_process_output(const struct os_process *process)
{
    return process->output;
}

pid_t os_process_id(const struct os_process *process)
{
    return process->pid;
}

void os_process_kill(struct os_process *process)
{
    if (!process->ended) /* not reaped yet, so the number is still its own */
        kill(process->pid, SIGKILL);
}

static void describe(struct os_process *process, int status)
{
    if (WIFSIGNALED(status))
        snprintf(process->how, sizeof process->how, "was killed by signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(process->how, sizeof process->how, "exited with status %d", WEXITSTATUS(status));
    process->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int os_process_status(const struct os_process *process)
{
    return process->status;
}

static void reap(struct os_process *process)
{
    int status = 0;
    pid_t got = waitpid(process->pid, &status, WNOHANG);
    if (got == process->pid) {
        process->ended = true;
        describe(process, status);
    } else if (got < 0 && errno != EINTR) {
        process->ended = true; /* someone else took its status */
        snprintf(process->how, sizeof process->how, "ended, how is not known");
    }
}

/* Until the process ends or `left_ns` passed, or a moment where only asking again helps. */
static void pause_for(const struct os_process *process, int64_t left_ns)
{
    if (process->pidfd < 0 && left_ns > 1000000)
        left_ns = 1000000;
    struct timespec limit = {.tv_sec = (time_t)(left_ns / SECOND_NS),
                             .tv_nsec = (long)(left_ns % SECOND_NS)};
    struct pollfd wanted = {.fd = process->pidfd, .events = POLLIN};
    ppoll(&wanted, process->pidfd < 0 ? 0 : 1, &limit, NULL);
}

bool os_process_wait(struct os_process *process, int64_t limit_ns, const char **how)
{
    struct assay_clock *clock = clock_monotonic();
    int64_t start = clock_now(clock);
    if (!process->ended)
        reap(process);
    while (!process->ended) {
        int64_t spent = clock_now(clock) - start;
        if (spent >= limit_ns)
            return false;
        pause_for(process, limit_ns - spent);
        reap(process);
    }
    if (how)
        *how = process->how;
    return true;
}

void os_process_destroy(struct os_process **process)
{
    if (!process || !*process)
        return;
    struct os_process *self = *process;
    close_one(&self->input);
    close_one(&self->output);
    if (!self->ended) {
        os_process_kill(self);
        os_process_wait(self, REAP_LIMIT_NS, NULL);
    }
    close_one(&self->pidfd);
    free(self);
    *process = NULL;
}
