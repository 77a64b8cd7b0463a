/* SPDX-License-Identifier: MIT */
#include "run/link.h"

#include "base/json.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define CONFIGURE_LIMIT_NS (30 * SECOND_NS)
#define QUIT_LIMIT_NS (5 * SECOND_NS)
#define DEATH_LIMIT_NS (5 * SECOND_NS) /* from a closed pipe to the end of its process */
#define LOG_TAIL_BYTES 2048
#define LOG_TAIL_LINES 3

struct link {
    struct os_process *process; /* NULL: none runs */
    struct channel *channel;
    struct text executable;
    struct text configure; /* the request, as a line */
    json_t *sensors;
    bool configured; /* the running worker knows it */
    pid_t worker;    /* that was started last */
    struct text log_path;
    int log_fd; /* to read its end; -1: not open */
    off_t log_mark;
    bool fresh; /* nothing was sent since the start: what the worker says belongs to that */
};

struct link *link_create(struct assay_error *error)
{
    struct link *link = calloc(1, sizeof(*link));
    if (!link) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    link->log_fd = -1;
    struct link_params none = {0};
    if (os_executable_path(&link->executable, error) && link_configure(link, &none, error))
        return link;
    link_destroy(&link);
    return NULL;
}

static void close_log(struct link *link)
{
    if (link->log_fd >= 0)
        close(link->log_fd);
    link->log_fd = -1;
    link->log_mark = 0;
}

void link_destroy(struct link **link)
{
    static const char quit[] = "{\"ask\":\"quit\"}";
    if (!*link)
        return;
    struct assay_error gone = {0};
    if ((*link)->process && channel_write((*link)->channel, quit, sizeof(quit) - 1, &gone))
        link_end(*link, QUIT_LIMIT_NS, NULL);
    else
        link_end(*link, 0, NULL);
    close_log(*link);
    text_free(&(*link)->executable);
    text_free(&(*link)->configure);
    json_decref((*link)->sensors);
    text_free(&(*link)->log_path);
    free(*link);
    *link = NULL;
}

bool link_configure(struct link *link, const struct link_params *params, struct assay_error *error)
{
    json_t *shaders = json_array();
    for (size_t i = 0; params->shader_directories && params->shader_directories[i]; i++)
        json_array_append_new(shaders, json_string(params->shader_directories[i]));
    json_t *request = json_pack("{s:s, s:b, s:b, s:o, s:s?, s:O?, s:O?}", "ask", "configure",
                                "validate", (int)params->validate, "trace", (int)params->trace,
                                "shaders", shaders, "log", params->log_path, "script",
                                params->script, "sensors", link->sensors);
    if (!request)
        return assay_fail(error, ASSAY_INVALID,
                          "the log's or a shader directory's path is not UTF-8");
    text_clear(&link->configure);
    bool ok = json_add_line(&link->configure, request, false, error);
    json_decref(request);
    close_log(link);
    text_clear(&link->log_path);
    if (params->log_path)
        text_add(&link->log_path, params->log_path);
    link->configured = false;
    return ok;
}

bool link_set_sensors(struct link *link, json_t *files, struct assay_error *error)
{
    json_decref(link->sensors);
    link->sensors = json_incref(files);
    if (!link->configure.length)
        return true;
    json_t *request = json_read(link->configure.data, link->configure.length, "configure", error);
    text_clear(&link->configure);
    bool good = request && json_object_set(request, "sensors", files) == 0 &&
                json_add_line(&link->configure, request, false, error);
    json_decref(request);
    link->configured = false;
    return good || assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for the sensors");
}

/* What is logged from now on is the next request's. */
static void link_mark_log(struct link *link)
{
    if (link->log_fd < 0 && link->log_path.length)
        link->log_fd = open(text_string(&link->log_path), O_RDONLY | O_CLOEXEC);
    struct stat info;
    if (link->log_fd >= 0 && fstat(link->log_fd, &info) == 0)
        link->log_mark = info.st_size;
}

static bool link_start(struct link *link, struct assay_error *error)
{
    const char *argv[] = {text_string(&link->executable), "--worker", NULL};
    int log = -1;
    if (link->log_path.length) {
        log = open(text_string(&link->log_path), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (log < 0)
            return error_fail_errno(error, "cannot open the workers' log '%s'",
                                    text_string(&link->log_path));
    }
    link_mark_log(link); /* before it can write */
    link->fresh = true;
    struct os_process_params params = {.argv = argv, .log_fd = log};
    link->process = os_process_start(&params, error);
    if (log >= 0)
        close(log);
    if (!link->process)
        return false;
    link->worker = os_process_id(link->process);
    link->configured = false;
    link->channel = channel_create(os_process_output(link->process),
                                   os_process_input(link->process), error);
    if (!link->channel)
        link_end(link, 0, NULL);
    return link->channel;
}

int link_end(struct link *link, int64_t limit_ns, struct text *how)
{
    if (!link->process)
        return -1;
    const char *ended = NULL;
    bool alone = os_process_wait(link->process, limit_ns, &ended);
    if (!alone) {
        os_process_kill(link->process);
        os_process_wait(link->process, DEATH_LIMIT_NS, &ended);
    }
    if (how && alone)
        text_add(how, ended);
    else if (how)
        text_addf(how, "closed its pipe, went on for %lld s and %s",
                  (long long)(limit_ns / SECOND_NS), ended ? "was killed" : "cannot be killed");
    int status = os_process_status(link->process);
    channel_destroy(&link->channel);
    os_process_destroy(&link->process);
    return status;
}

pid_t link_worker(const struct link *link)
{
    return link->worker;
}

void link_add_log(struct link *link, struct text *out)
{
    struct stat info;
    if (link->log_fd < 0 || fstat(link->log_fd, &info) != 0 || info.st_size <= link->log_mark)
        return;
    char tail[LOG_TAIL_BYTES + 1];
    off_t begin = link->log_mark;
    if (info.st_size - begin > LOG_TAIL_BYTES)
        begin = info.st_size - LOG_TAIL_BYTES;
    ssize_t got = pread(link->log_fd, tail, LOG_TAIL_BYTES, begin);
    while (got > 0 && (tail[got - 1] == '\n' || tail[got - 1] == ' '))
        got--;
    if (got <= 0)
        return;
    tail[got] = '\0';
    char *first = tail + got;
    for (int lines = 0; first > tail; first--)
        if (first[-1] == '\n' && ++lines == LOG_TAIL_LINES)
            break;
    text_add(out, "; its log ends with: ");
    text_add_clean(out, first);
}

bool link_send(struct link *link, const char *line, size_t length, struct assay_error *error)
{
    const char *unasked;
    size_t unasked_length;
    struct assay_error reading = {0};
    switch (channel_read(link->channel, 0, &unasked, &unasked_length, &reading)) {
    case CHANNEL_LIMIT:
        break;
    case CHANNEL_END:
        return assay_fail(error, ASSAY_CRASH, "the worker has closed its pipe");
    case CHANNEL_LINE:
    case CHANNEL_ERROR:
        /* It would be taken for the answer to this request. */
        link_end(link, 0, NULL);
        return assay_fail(error, ASSAY_CRASH, "the worker sent a line that nothing asked for");
    }
    if (!link->fresh)
        link_mark_log(link);
    link->fresh = false;
    return channel_write(link->channel, line, length, error);
}

bool link_answer(struct link *link, const char *line, size_t length, struct assay_error *error)
{
    return channel_write(link->channel, line, length, error);
}

enum channel_result link_receive(struct link *link, int64_t limit_ns, const char **line,
                                 size_t *length, struct assay_error *error)
{
    return channel_read(link->channel, limit_ns, line, length, error);
}

/* Fills the error for a worker that gave no answer, and ends it. Always NULL. */
static json_t *no_answer(struct link *link, enum channel_result result, int64_t limit_ns,
                         const char *doing, const struct assay_error *reading,
                         struct assay_error *error)
{
    struct text how = {0};
    enum assay_status status = ASSAY_CRASH;
    if (result == CHANNEL_LIMIT) {
        status = ASSAY_TIMEOUT;
        text_addf(&how, "gave no answer within %lld s", (long long)(limit_ns / SECOND_NS));
        link_end(link, 0, NULL);
    } else if (result == CHANNEL_ERROR && reading->status != ASSAY_OK) {
        text_addf(&how, "sent no answer: %s", reading->text);
        link_end(link, 0, NULL);
    } else {
        link_end(link, DEATH_LIMIT_NS, &how);
    }
    text_addf(&how, " while %s", doing);
    link_add_log(link, &how);
    assay_fail(error, status, "the worker process %s", text_string(&how));
    text_free(&how);
    return NULL;
}

static json_t *answer_parse(const char *line, size_t length, struct assay_error *error)
{
    json_t *answer = json_read(line, length, "the worker's answer", error);
    if (answer && strcmp(json_text(answer, "tell", ""), "error") == 0) {
        assay_fail(error, error_status_from_name(json_text(answer, "status", "")), "%s",
                   json_text(answer, "text", "the worker failed without a reason"));
        json_decref(answer);
        return NULL;
    }
    return answer;
}

static json_t *exchange(struct link *link, const struct text *request, int64_t limit_ns,
                        const char *doing, struct assay_error *error)
{
    const char *line;
    size_t length;
    struct assay_error reading = {0};
    enum channel_result result = CHANNEL_END;
    if (link_send(link, request->data, request->length, &reading))
        result = link_receive(link, limit_ns, &line, &length, &reading);
    else if (!link->process)
        result = CHANNEL_ERROR; /* it said too much, and is ended already */
    if (result != CHANNEL_LINE)
        return no_answer(link, result, limit_ns, doing, &reading, error);
    return answer_parse(line, length, error);
}

bool link_ready(struct link *link, struct assay_error *error)
{
    if (!link->process && !link_start(link, error))
        return false;
    if (link->configured)
        return true;
    json_t *answer = exchange(link, &link->configure, CONFIGURE_LIMIT_NS, "it started", error);
    link->configured = answer;
    json_decref(answer);
    if (!link->configured)
        link_end(link, 0, NULL);
    return link->configured;
}

json_t *link_ask(struct link *link, json_t *request, int64_t limit_ns, const char *doing,
                 struct assay_error *error)
{
    struct text line = {0};
    json_t *answer = NULL;
    if (link_ready(link, error) && json_add_line(&line, request, false, error))
        answer = exchange(link, &line, limit_ns, doing, error);
    text_free(&line);
    return answer;
}
