/* SPDX-License-Identifier: MIT */
#include "result/conditions.h"

#include "base/json.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

#define MOST 64

struct conditions {
    struct arena *arena;
    struct condition items[MOST];
    size_t count, left_out;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for what differs between two runs");
}

struct conditions *conditions_create(struct assay_error *error)
{
    struct conditions *conditions = calloc(1, sizeof(*conditions));
    if (conditions && (conditions->arena = arena_create()))
        return conditions;
    conditions_destroy(&conditions);
    no_memory(error);
    return NULL;
}

void conditions_destroy(struct conditions **conditions)
{
    if (!*conditions)
        return;
    arena_destroy(&(*conditions)->arena);
    free(*conditions);
    *conditions = NULL;
}

static bool add(struct conditions *c, const char *thing, const char *detail, const char *from,
                const char *to, bool of_case, struct assay_error *error)
{
    struct text was = {0}, is = {0};
    text_add_clean(&was, from);
    text_add_clean(&is, to);
    bool good = true, known = false;
    for (size_t i = 0; i < c->count && !known; i++) {
        struct condition *item = &c->items[i];
        known = strcmp(item->thing, thing) == 0 && strcmp(item->detail, detail) == 0 &&
                strcmp(item->from, text_string(&was)) == 0 &&
                strcmp(item->to, text_string(&is)) == 0;
        item->cases += known && of_case;
    }
    if (!known && c->count == MOST) {
        c->left_out++;
    } else if (!known) {
        struct condition *item = &c->items[c->count++];
        *item = (struct condition){thing, arena_copy(c->arena, detail),
                                   arena_copy(c->arena, text_string(&was)),
                                   arena_copy(c->arena, text_string(&is)), of_case};
        good = (item->detail && item->from && item->to) || no_memory(error);
        c->count -= !good;
    }
    text_free(&was);
    text_free(&is);
    return good;
}

static bool add_texts(struct conditions *c, const char *thing, const char *detail, const char *from,
                      const char *to, bool of_case, struct assay_error *error)
{
    return strcmp(from, to) == 0 || add(c, thing, detail, from, to, of_case, error);
}

static void value_text(const json_t *value, struct text *out)
{
    if (!value || json_is_null(value)) {
        text_add(out, "none");
    } else if (json_is_string(value)) {
        text_add(out, json_string_value(value));
    } else if (json_is_real(value)) {
        number_add(out, json_real_value(value));
    } else {
        char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
        text_add(out, dump ? dump : "?");
        free(dump);
    }
}

static bool add_values(struct conditions *c, const char *thing, const char *detail,
                       const json_t *from, const json_t *to, bool of_case,
                       struct assay_error *error)
{
    struct text was = {0}, is = {0};
    value_text(from, &was);
    value_text(to, &is);
    bool good = add_texts(c, thing, detail, text_string(&was), text_string(&is), of_case, error);
    text_free(&was);
    text_free(&is);
    return good;
}

/* Members of two objects, each member a detail. */
static bool add_members(struct conditions *c, const char *thing, const json_t *a, const json_t *b,
                        bool of_case, struct assay_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        if (!json_equal(value, json_object_get(b, key)) &&
            !add_values(c, thing, key, value, json_object_get(b, key), of_case, error))
            return false;
    }
    json_object_foreach((json_t *)(uintptr_t)b, key, value)
    {
        if (!json_object_get(a, key) && !add_values(c, thing, key, NULL, value, of_case, error))
            return false;
    }
    return true;
}

/* A few digits of a hash tell two apart. */
static void short_hash(const json_t *object, struct text *out)
{
    const char *hash = json_text(object, "hash", "none");
    text_add_bytes(out, hash, strlen(hash) < 8 ? strlen(hash) : 8);
}

/* Files by path with their hashes: modules of a script, shaders of a case. */
static bool add_files(struct conditions *c, const char *thing, const char *name, const json_t *a,
                      const json_t *b, bool of_case, struct assay_error *error)
{
    json_t *sides[] = {json_object(), json_object()};
    const json_t *lists[] = {a, b};
    for (int s = 0; s < 2; s++) {
        size_t i;
        json_t *file;
        json_array_foreach(lists[s], i, file)
        {
            struct text hash = {0};
            short_hash(file, &hash);
            json_object_set_new(sides[s], json_text(file, name, "?"),
                                json_clean_string(text_string(&hash)));
            text_free(&hash);
        }
    }
    bool good = (sides[0] && sides[1]) || no_memory(error);
    good = good && add_members(c, thing, sides[0], sides[1], of_case, error);
    json_decref(sides[0]);
    json_decref(sides[1]);
    return good;
}

static bool add_script(struct conditions *c, const json_t *a, const json_t *b,
                       struct assay_error *error)
{
    struct text was = {0}, is = {0};
    short_hash(a, &was);
    short_hash(b, &is);
    bool good = add_texts(c, "script", json_text(b, "path", ""), text_string(&was),
                          text_string(&is), false, error);
    text_free(&was);
    text_free(&is);
    return good &&
           add_files(c, "script", "path", json_object_get(a, "modules"),
                     json_object_get(b, "modules"), false, error) &&
           add_members(c, "options", json_object_get(a, "options"), json_object_get(b, "options"),
                       false, error);
}

static bool add_host(struct conditions *c, const json_t *a, const json_t *b,
                     struct assay_error *error)
{
    static const char *const members[] = {"name", "cpu", "cores"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (!add_values(c, "host", members[i], json_object_get(a, members[i]),
                        json_object_get(b, members[i]), false, error))
            return false;
    return add_values(c, "system", "", json_object_get(a, "kernel"), json_object_get(b, "kernel"),
                      false, error);
}

bool conditions_add_runs(struct conditions *c, const json_t *a, const json_t *b,
                         struct assay_error *error)
{
    static const char *const flags[] = {"quick", "validate"};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const char *from = json_flag(a, flags[i], false) ? "on" : "off";
        const char *to = json_flag(b, flags[i], false) ? "on" : "off";
        if (!add_texts(c, "measurement", flags[i], from, to, false, error))
            return false;
    }
    return add_texts(c, "assay", "", json_text(a, "assay", "?"), json_text(b, "assay", "?"), false,
                     error) &&
           add_values(c, "seed", "", json_object_get(a, "seed"), json_object_get(b, "seed"), false,
                      error) &&
           add_host(c, json_object_get(a, "host"), json_object_get(b, "host"), error) &&
           add_script(c, json_object_get(a, "script"), json_object_get(b, "script"), error) &&
           add_files(c, "plugin", "name", json_object_get(a, "plugins"),
                     json_object_get(b, "plugins"), false, error);
}

static void driver_text(const json_t *device, struct text *out)
{
    const json_t *driver = json_object_get(device, "driver");
    text_addf(out, "%s %s", json_text(driver, "name", "?"), json_text(driver, "info", ""));
}

/* Some drivers make the UUID from their own version, so it tells devices apart only under one
 * driver. */
static bool same_device(const json_t *a, const json_t *b, bool same_driver)
{
    static const char *const members[] = {"name", "pci", "uuid"};
    for (size_t i = 0; i < (same_driver ? 3 : 2); i++)
        if (strcmp(json_text(a, members[i], ""), json_text(b, members[i], "")) != 0)
            return false;
    return true;
}

static void device_text(const json_t *device, struct text *out)
{
    text_add(out, json_text(device, "name", "?"));
    if (json_text(device, "pci", NULL))
        text_addf(out, " (PCI %s)", json_text(device, "pci", ""));
    else if (json_text(device, "uuid", NULL))
        text_addf(out, " (%s)", json_text(device, "uuid", ""));
}

static bool add_device(struct conditions *c, const json_t *a, const json_t *b,
                       struct assay_error *error)
{
    struct text texts[4] = {{0}};
    if (!json_text(a, "name", NULL) || !json_text(b, "name", NULL))
        return true;
    driver_text(a, &texts[0]);
    driver_text(b, &texts[1]);
    bool same = strcmp(text_string(&texts[0]), text_string(&texts[1])) == 0;
    bool good = add_texts(c, "driver", "", text_string(&texts[0]), text_string(&texts[1]), true,
                          error);
    if (good && !same_device(a, b, same)) {
        device_text(a, &texts[2]);
        device_text(b, &texts[3]);
        good = add_texts(c, "device", "", text_string(&texts[2]), text_string(&texts[3]), true,
                         error);
    }
    for (size_t i = 0; i < 4; i++)
        text_free(&texts[i]);
    return good;
}

bool conditions_add_cases(struct conditions *c, const json_t *a, const json_t *b,
                          struct assay_error *error)
{
    struct text was = {0}, is = {0};
    const char *name = json_text(b, "workload", "?");
    text_addf(&was, "%s %s", json_text(a, "workload", "?"), json_text(a, "version", "?"));
    text_addf(&is, "%s %s", name, json_text(b, "version", "?"));
    bool good = add_texts(c, "workload", "", text_string(&was), text_string(&is), true, error) &&
                add_device(c, json_object_get(a, "device"), json_object_get(b, "device"), error) &&
                add_files(c, "shaders", "name", json_object_get(a, "shaders"),
                          json_object_get(b, "shaders"), true, error) &&
                add_members(c, "parameters", json_object_get(a, "params"),
                            json_object_get(b, "params"), true, error);
    text_free(&was);
    text_free(&is);
    return good;
}

size_t conditions_count(const struct conditions *c)
{
    return c->count;
}

const struct condition *conditions_at(const struct conditions *c, size_t index)
{
    return &c->items[index];
}

size_t conditions_things(const struct conditions *c, const char **only)
{
    size_t things = 0;
    *only = NULL;
    for (size_t i = 0; i < c->count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen = seen || strcmp(c->items[k].thing, c->items[i].thing) == 0;
        if (!seen)
            *only = ++things == 1 ? c->items[i].thing : NULL;
    }
    return things;
}

size_t conditions_left_out(const struct conditions *c)
{
    return c->left_out;
}
