/* SPDX-License-Identifier: MIT */
#include "result/record.h"

#include "base/json.h"

#include <string.h>

void record_add_string(struct text *out, const char *string)
{
    if (!string) {
        text_add(out, "null");
        return;
    }
    const unsigned char *s = (const unsigned char *)string;
    text_add_char(out, '"');
    while (*s) {
        size_t plain = 0;
        while (s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\')
            plain++;
        if (plain) {
            text_add_bytes(out, (const char *)s, plain);
            s += plain;
            continue;
        }
        size_t length = text_character_bytes((const char *)s, SIZE_MAX);
        if (*s == '"' || *s == '\\')
            text_addf(out, "\\%c", *s);
        else if (*s == '\n')
            text_add(out, "\\n");
        else if (length == 1)
            text_addf(out, "\\u%04x", *s);
        else if (length == 0)
            text_add(out, "\xef\xbf\xbd");
        else
            text_add_bytes(out, (const char *)s, length);
        s += length ? length : 1;
    }
    text_add_char(out, '"');
}

const char *record_status(enum assay_status status)
{
    switch (status) {
    case ASSAY_OK:
        return "done";
    case ASSAY_UNSUPPORTED:
        return "skipped";
    case ASSAY_CRASH:
        return "crash";
    case ASSAY_TIMEOUT:
        return "timeout";
    case ASSAY_DEVICE_LOST:
        return "device lost";
    case ASSAY_OUT_OF_MEMORY:
        return "out of memory";
    case ASSAY_WRONG_RESULT:
        return "wrong result";
    case ASSAY_SCRIPT:
    case ASSAY_INVALID:
        return "script error";
    case ASSAY_VALIDATION:
        return "validation";
    case ASSAY_NO_DEVICE:
    case ASSAY_SYSTEM:
    case ASSAY_VULKAN:
    case ASSAY_INTERNAL:
        break;
    }
    return "error";
}

static void add_member(struct text *out, const char *name, const char *json, const char *fallback)
{
    text_add(out, ",\"");
    text_add(out, name);
    text_add(out, "\":");
    text_add(out, json && *json ? json : fallback);
}

static void add_text_member(struct text *out, const char *name, const char *string)
{
    text_add(out, ",\"");
    text_add(out, name);
    text_add(out, "\":");
    record_add_string(out, string);
}

static void add_whole_member(struct text *out, const json_t *request, const char *name)
{
    add_member(out, name, "", "");
    text_add_integer(out, json_whole(request, name, 0));
}

static bool add_tree_member(struct text *out, const json_t *request, const char *name,
                            const char *fallback, struct assay_error *error)
{
    const json_t *tree = json_object_get(request, name);
    add_member(out, name, tree ? "" : fallback, "");
    return !tree || json_add_line(out, tree, false, error);
}

static void add_device(struct text *out, const struct record_case *record)
{
    const char *selector = json_text(record->request, "device", NULL);
    add_member(out, "device", record->device, selector ? "{\"selector\":" : "null");
    if (selector && !(record->device && *record->device)) {
        record_add_string(out, selector);
        text_add_char(out, '}');
    }
}

bool record_add_case(struct text *out, const struct record_case *record, struct assay_error *error)
{
    const json_t *request = record->request;
    text_add(out, "{\"kind\":\"case\"");
    add_text_member(out, "id", json_text(request, "id", ""));
    add_text_member(out, "experiment", json_text(request, "experiment", ""));
    add_text_member(out, "workload", json_text(request, "workload", ""));
    add_text_member(out, "version", json_text(request, "version", ""));
    add_text_member(out, "script", json_text(request, "script", ""));
    add_whole_member(out, request, "line");
    if (!add_tree_member(out, request, "set", "{}", error))
        return false;
    if (record->params && *record->params) {
        add_member(out, "params", record->params, "");
    } else {
        const json_t *set = json_object_get(request, "set");
        add_member(out, "params", set ? "" : "{}", "");
        if (set && !json_add_line(out, set, false, error))
            return false;
    }
    if (!add_tree_member(out, request, "schedule", "{\"name\":\"serial\"}", error))
        return false;
    add_whole_member(out, request, "replica");
    add_whole_member(out, request, "seed");
    add_whole_member(out, request, "case_seed");
    if (!add_tree_member(out, request, "pair", "null", error))
        return false;
    add_device(out, record);
    add_text_member(out, "status", record->status);
    add_text_member(out, "reason", record->reason);
    add_member(out, "notes", record->notes, "[]");
    add_member(out, "metrics", record->metrics, "{}");
    add_member(out, "sampling", record->sampling, "null");
    add_member(out, "stages", record->stages, "null");
    add_member(out, "verification", record->verification, "null");
    add_member(out, "memory", record->memory, "null");
    add_member(out, "shaders", record->shaders, "[]");
    add_member(out, "sources", record->sources, "null");
    add_member(out, "sensors", record->sensors, "null");
    if (record->tuning && *record->tuning)
        add_member(out, "tuning", record->tuning, "");
    if (record->pipeline && *record->pipeline)
        add_member(out, "pipeline", record->pipeline, "");
    if (record->load && *record->load)
        add_member(out, "load", record->load, "");
    if (record->search && *record->search)
        add_member(out, "search", record->search, "");
    if (record->output)
        add_text_member(out, "output", record->output);
    text_add_char(out, '}');
    return !out->failed ||
           assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a case's record");
}

void record_add_samples(struct text *out, const char *id, const char *series, const char *trace)
{
    text_add(out, "{\"kind\":\"samples\",\"id\":");
    record_add_string(out, id);
    text_add(out, ",\"unit\":\"ns\",\"series\":");
    text_add(out, series);
    if (*trace) {
        text_add(out, ",\"trace\":");
        text_add(out, trace);
    }
    text_add_char(out, '}');
}
