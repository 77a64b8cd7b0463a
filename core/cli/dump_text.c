/* SPDX-License-Identifier: MIT */
#include "cli/dump_text.h"

#include "base/json.h"
#include "base/units.h"

#include <inttypes.h>
#include <string.h>

static const struct dimension bytes = {.bytes = 1};

static void add_size(struct text *out, int64_t size)
{
    quantity_add(out, (double)size, bytes);
}

static void add_clean(struct text *out, const json_t *object, const char *key, const char *fallback)
{
    text_add_clean(out, json_text(object, key, fallback));
}

static void add_value(struct text *out, const json_t *value)
{
    if (json_is_boolean(value))
        text_add(out, json_is_true(value) ? "true" : "false");
    else if (json_is_integer(value))
        text_add_integer(out, json_integer_value(value));
    else if (json_is_real(value))
        number_add(out, json_real_value(value));
    else
        text_add_char(out, '?');
}

/* `width` columns for what is added after `start`, and two blanks at least. */
static void pad(struct text *out, size_t start, size_t width)
{
    size_t have = out->length - start;
    text_addf(out, "%*s", (int)(have < width ? width - have : 0) + 2, "");
}

/* The constant's name, or its number. */
static void add_constant_name(struct text *out, const json_t *kernel, int64_t id)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(kernel, "constants"), i, row)
    {
        if (json_whole(row, "id", -1) == id && json_text(row, "name", NULL)) {
            add_clean(out, row, "name", "");
            return;
        }
    }
    text_addf(out, "[%" PRId64 "]", id);
}

/* "64 x 1 x 1 (x: constant WORKGROUP)". */
static void add_local_size(struct text *out, const json_t *kernel)
{
    bool any = false;
    for (size_t i = 0; i < 3; i++) {
        text_add(out, i ? " x " : "");
        add_value(out, json_array_get(json_object_get(kernel, "local_size"), i));
    }
    for (size_t i = 0; i < 3; i++) {
        const json_t *id = json_array_get(json_object_get(kernel, "local_size_ids"), i);
        if (!json_is_integer(id))
            continue;
        text_addf(out, "%s%c: constant ", any ? ", " : " (", "xyz"[i]);
        add_constant_name(out, kernel, json_integer_value(id));
        any = true;
    }
    text_add(out, any ? ")\n" : "\n");
}

/* Two blocks of one name answer to it only where they have a better one. */
static bool is_shared(const json_t *bindings, const char *key, const char *name)
{
    size_t i, count = 0;
    json_t *row;
    json_array_foreach(bindings, i, row)
    {
        count += strcmp(json_text(row, key, ""), name) == 0;
    }
    return count > 1;
}

static void add_names(struct text *out, const json_t *bindings, const json_t *row)
{
    static const char *const keys[] = {"instance", "block", "member"};
    bool any = false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *name = json_text(row, keys[i], NULL);
        if (!name || is_shared(bindings, keys[i], name))
            continue;
        text_add(out, any ? " or " : "");
        text_add_clean(out, name);
        any = true;
    }
    text_add(out, any ? "" : "no name");
}

static void add_bindings(struct text *out, const json_t *kernel)
{
    size_t i;
    json_t *row;
    const json_t *bindings = json_object_get(kernel, "bindings");
    text_add(out, "\nbindings\n");
    json_array_foreach(bindings, i, row)
    {
        int64_t fixed = json_whole(row, "fixed_bytes", 0);
        int64_t stride = json_whole(row, "stride_bytes", 0);
        text_addf(out, "  set %" PRId64 ", binding %" PRId64 "  ", json_whole(row, "set", 0),
                  json_whole(row, "binding", 0));
        size_t start = out->length;
        add_names(out, bindings, row);
        pad(out, start, 20);
        text_addf(out, "%s, %s, ", json_text(row, "kind", ""), json_text(row, "access", ""));
        if (fixed > 0 || stride == 0)
            add_size(out, fixed);
        if (stride > 0) {
            text_add(out, fixed > 0 ? " and an array of " : "an array of ");
            add_size(out, stride);
            text_add(out, " each");
        }
        text_add_char(out, '\n');
    }
    text_add(out, i ? "" : "  none\n");
}

static void add_pushes(struct text *out, const json_t *kernel)
{
    size_t i;
    json_t *row;
    text_add(out, "\npush constants");
    if (json_whole(kernel, "push_bytes", 0) > 0) {
        text_add(out, ", ");
        add_size(out, json_whole(kernel, "push_bytes", 0));
    }
    text_add_char(out, '\n');
    json_array_foreach(json_object_get(kernel, "push_constants"), i, row)
    {
        text_addf(out, "  at %-4" PRId64 " ", json_whole(row, "offset", 0));
        size_t start = out->length;
        add_clean(out, row, "name", "no name");
        pad(out, start, 20);
        text_addf(out, "%s, ", json_text(row, "type", "no scalar"));
        add_size(out, json_whole(row, "bytes", 0));
        text_add_char(out, '\n');
    }
    text_add(out, i ? "" : "  none\n");
}

static void add_constants(struct text *out, const json_t *kernel)
{
    size_t i;
    json_t *row;
    text_add(out, "\nspecialisation constants\n");
    json_array_foreach(json_object_get(kernel, "constants"), i, row)
    {
        text_addf(out, "  [%" PRId64 "] ", json_whole(row, "id", 0));
        size_t start = out->length;
        add_clean(out, row, "name", "no name");
        pad(out, start, 20);
        text_addf(out, "%s = ", json_text(row, "type", "?"));
        add_value(out, json_object_get(row, "value"));
        text_add(out, " (default ");
        add_value(out, json_object_get(row, "default"));
        text_add(out, ")\n");
    }
    text_add(out, i ? "" : "  none\n");
}

static void add_executable(struct text *out, const json_t *executable)
{
    size_t i;
    json_t *row;
    text_add(out, "  ");
    add_clean(out, executable, "name", "?");
    if (json_is_integer(json_object_get(executable, "subgroup_size")))
        text_addf(out, ", subgroups of %" PRId64, json_whole(executable, "subgroup_size", 0));
    text_add(out, ": ");
    add_clean(out, executable, "description", "");
    text_add_char(out, '\n');
    json_array_foreach(json_object_get(executable, "statistics"), i, row)
    {
        text_add(out, "    ");
        size_t start = out->length;
        add_clean(out, row, "name", "?");
        pad(out, start, 24);
        start = out->length;
        add_value(out, json_object_get(row, "value"));
        pad(out, start, 10);
        add_clean(out, row, "description", "");
        text_add_char(out, '\n');
    }
    json_array_foreach(json_object_get(executable, "representations"), i, row)
    {
        text_add(out, "    ");
        add_clean(out, row, "name", "?");
        text_addf(out, ": %s, ", json_text(row, "file", "?"));
        add_size(out, json_whole(row, "bytes", 0));
        text_add_char(out, '\n');
    }
}

static void add_pipeline(struct text *out, const json_t *dump)
{
    size_t i;
    json_t *row;
    const json_t *pipeline = json_object_get(dump, "pipeline");
    const json_t *device = json_object_get(dump, "device");
    text_add(out, "\npipeline");
    if (json_is_object(device)) {
        text_add(out, " on ");
        add_clean(out, device, "label", json_text(device, "name", "?"));
    }
    text_add_char(out, '\n');
    json_array_foreach(pipeline, i, row)
    {
        add_executable(out, row);
    }
    if (json_is_array(pipeline)) {
        text_add(out, i ? "" : "  the driver tells nothing of it\n");
        return;
    }
    text_add(out, "  not told: ");
    add_clean(out, dump, "pipeline_missing", "no reason is known");
    text_add_char(out, '\n');
}

void dump_add_text(struct text *out, const json_t *dump)
{
    const json_t *kernel = json_object_get(dump, "kernel");
    const char *disassembly = json_text(dump, "disassembly", NULL);
    add_clean(out, kernel, "name", "?");
    text_addf(out, "\n  SPIR-V        %s, %" PRId64 " words\n  disassembly   ",
              json_text(kernel, "file", "?"), json_whole(kernel, "words", 0));
    text_add(out, disassembly ? disassembly : "none: ");
    if (!disassembly)
        add_clean(out, dump, "disassembly_missing", "");
    text_add(out, "\n  entry         ");
    add_clean(out, kernel, "entry", "?");
    text_add(out, "\n  local size    ");
    add_local_size(out, kernel);
    text_add(out, "  shared        ");
    add_size(out, json_whole(kernel, "shared_bytes", 0));
    text_add_char(out, '\n');
    add_bindings(out, kernel);
    add_pushes(out, kernel);
    add_constants(out, kernel);
    add_pipeline(out, dump);
}
