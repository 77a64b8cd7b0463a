/* SPDX-License-Identifier: MIT */
#include "run/worker.h"

#include "base/json.h"
#include "experiment/registry_sensors.h"
#include "run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUEST_FD = 3, ANSWER_FD = 4 };

static bool tell(struct session *session, json_t *answer, struct assay_error *error)
{
    text_clear(&session->line);
    bool ok = answer && json_add_line(&session->line, answer, false, error) &&
              channel_write(session->channel, session->line.data, session->line.length, error);
    json_decref(answer);
    return ok || assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for an answer");
}

static bool tell_error(struct session *session, const struct assay_error *failure,
                       struct assay_error *error)
{
    return tell(session,
                json_pack("{s:s, s:s, s:o}", "tell", "error", "status",
                          error_status_name(failure->status), "text",
                          json_clean_string(failure->text)),
                error);
}

static const char *const no_directories[] = {NULL};

static bool set_search(struct session *session, const json_t *list, struct assay_error *error)
{
    size_t count = json_array_size(list);
    const char **directories = arena_alloc(session->arena, (count + 1) * sizeof(*directories));
    bool ok = directories;
    for (size_t i = 0; ok && i < count; i++) {
        const char *directory = json_string_value(json_array_get(list, i));
        ok = directory && (directories[i] = arena_copy(session->arena, directory));
    }
    if (!ok)
        return assay_fail(error, ASSAY_INTERNAL, "configure: 'shaders' is no list of directories");
    session->search.directories = directories;
    return true;
}

/* stdout and stderr go where the supervisor says: the log is known only after the worker's start.
 */
static bool set_log(const char *path, struct assay_error *error)
{
    if (!path)
        return true;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_fail_errno(error, "cannot open the workers' log '%s'", path);
    fflush(stdout);
    bool ok = dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    int saved = errno;
    close(fd);
    errno = saved;
    return ok || error_fail_errno(error, "cannot write to the workers' log '%s'", path);
}

static void drop_script(struct session *session)
{
    registry_destroy(&session->script_registry);
    if (session->script)
        session->scripts->unload(&session->script);
    session->script_error = (struct assay_error){0};
}

/* A script that fails is told by its cases: it is theirs, not the worker's. */
static void set_script(struct session *session, const json_t *script)
{
    static assay_plugin_entry *const none[] = {NULL};
    struct assay_error *error = &session->script_error;
    drop_script(session);
    if (!script || json_is_null(script) || !session->scripts)
        return;
    session->script_registry = registry_create(none, error);
    if (session->script_registry)
        session->script = session->scripts->load(script, session->script_registry, error);
}

static bool configure(struct session *session, const json_t *request, struct assay_error *error)
{
    bool validate = json_flag(request, "validate", false);
    bool open = session->instance || session->no_instance.status != ASSAY_OK;
    if (open && validate != session->validate)
        return assay_fail(error, ASSAY_INTERNAL, "configure comes after the instance was made");
    session->validate = validate;
    session->trace = json_flag(request, "trace", false);
    if (!set_search(session, json_object_get(request, "shaders"), error) ||
        !set_log(json_text(request, "log", NULL), error))
        return false;
    json_decref(session->sensor_plugins);
    session->sensor_plugins = json_incref(json_object_get(request, "sensors"));
    set_script(session, json_object_get(request, "script"));
    return true;
}

static json_t *answer_to(struct session *session, const char *ask, const json_t *request,
                         struct assay_error *failure)
{
    if (strcmp(ask, "describe") == 0) {
        json_t *workloads = registry_describe(session->registry, NULL);
        if (!workloads)
            assay_fail(failure, ASSAY_OUT_OF_MEMORY, "out of host memory for the workloads");
        return workloads ? json_pack("{s:s, s:o}", "tell", "workloads", "workloads", workloads)
                         : NULL;
    }
    if (strcmp(ask, "sensors") == 0) {
        json_t *sensors = registry_sensors_describe(registry_sensors(session->registry), NULL);
        if (!sensors)
            assay_fail(failure, ASSAY_OUT_OF_MEMORY, "out of host memory for the sensors");
        return sensors ? json_pack("{s:s, s:o}", "tell", "sensors", "sensors", sensors) : NULL;
    }
    if (strcmp(ask, "plugin") == 0)
        return session_ask_plugin(session, request, failure);
    if (strcmp(ask, "devices") == 0)
        return session_describe_devices(session, failure);
    if (strcmp(ask, "dump") == 0)
        return session_dump(session, request, failure);
    if (strcmp(ask, "configure") == 0)
        return configure(session, request, failure) ? json_pack("{s:s}", "tell", "ready") : NULL;
    assay_fail(failure, ASSAY_INTERNAL, "the worker does not know the request '%s'", ask);
    return NULL;
}

/* False when the supervisor cannot be reached. */
static bool serve(struct session *session, const char *line, size_t length,
                  struct assay_error *error)
{
    struct assay_error failure = {0};
    json_t *request = json_read(line, length, "request", &failure);
    const char *ask = json_text(request, "ask", "");
    bool ok;
    if (!request) {
        ok = tell_error(session, &failure, error);
    } else if (strcmp(ask, "quit") == 0) {
        session->ended = ok = true;
    } else if (strcmp(ask, "case") == 0 || strcmp(ask, "group") == 0) {
        ok = session_group(session, request, error);
    } else {
        json_t *answer = answer_to(session, ask, request, &failure);
        ok = answer ? tell(session, answer, error) : tell_error(session, &failure, error);
    }
    json_decref(request);
    return ok;
}

static bool session_start(struct session *session, struct assay_error *error)
{
    session->search.directories = no_directories;
    session->arena = arena_create();
    session->channel = channel_create(REQUEST_FD, ANSWER_FD, error);
    if (!session->arena || !session->channel)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
    session->registry = registry_create(registry_builtin, error);
    if (session->registry)
        return true;
    /* Plugins that are refused answer the first request, so that the reason reaches the user. */
    const char *line;
    size_t length;
    struct assay_error unreachable = {0};
    if (channel_read(session->channel, -1, &line, &length, &unreachable) == CHANNEL_LINE)
        tell_error(session, error, &unreachable);
    return false;
}

static bool session_serve(struct session *session, struct assay_error *error)
{
    while (!session->ended) {
        const char *line;
        size_t length;
        enum channel_result got = channel_read(session->channel, -1, &line, &length, error);
        if (got == CHANNEL_END)
            return true;
        if (got != CHANNEL_LINE || !serve(session, line, length, error))
            return false;
    }
    return true;
}

int worker_main(const struct worker_scripts *scripts)
{
    struct session *session = calloc(1, sizeof(*session));
    if (!session)
        return EXIT_FAILURE;
    /* A supervisor that is gone shows as a failed write. */
    signal(SIGPIPE, SIG_IGN);
    session->scripts = scripts;
    struct assay_error error = {0};
    bool ok = session_start(session, &error) && session_serve(session, &error);
    if (!ok)
        fprintf(stderr, "worker: %s\n", error.text);
    /* A lost device cannot be cleaned up: its objects stay, and a driver's exit handlers may hang.
     */
    if (session->lost)
        _exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
    session_close_devices(session);
    session_close_sensors(session);
    drop_script(session);
    registry_destroy(&session->registry);
    session_close_plugins(session);
    channel_destroy(&session->channel);
    arena_destroy(&session->arena);
    text_free(&session->line);
    free(session);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
