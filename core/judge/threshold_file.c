/* SPDX-License-Identifier: MIT */
#include "judge/threshold_file.h"

#include "base/os.h"

#include <string.h>

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the thresholds");
}

bool threshold_file_wrong(const struct threshold_file *self, int line, struct assay_error *error,
                          const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    assay_fail(error, ASSAY_SCRIPT, "%s:%d: %s", self->path, line, text_string(&text));
    text_free(&text);
    return false;
}

static bool check_keys(const struct threshold_file *self, const struct data *table,
                       const char *what, const char *const *names, size_t count,
                       struct assay_error *error)
{
    for (const struct data *item = table->first; item; item = item->next) {
        bool known = false;
        for (size_t i = 0; i < count && item->key; i++)
            known = known || strcmp(names[i], item->key) == 0;
        if (known)
            continue;
        if (!item->key)
            return threshold_file_wrong(self, item->line, error,
                                        "%s has no list: a value without a key", what);
        struct text text = {0};
        const char *nearest = text_nearest(item->key, names, count);
        if (nearest)
            text_addf(&text, "; did you mean '%s'?", nearest);
        text_add(&text, nearest ? " It has " : "; it has ");
        text_add_list(&text, names, count);
        threshold_file_wrong(self, item->line, error, "%s has no key '%s'%s", what, item->key,
                             text_string(&text));
        text_free(&text);
        return false;
    }
    return true;
}

/* A text that may be absent. */
static bool take_text(const struct threshold_file *self, const struct data *table, const char *key,
                      const char **out, struct assay_error *error)
{
    const struct data *item = data_member(table, key);
    *out = NULL;
    if (!item)
        return true;
    if (item->kind != DATA_TEXT || !*item->text)
        return threshold_file_wrong(self, item->line, error, "'%s' is a text, not %s", key,
                                    item->kind == DATA_TEXT ? "an empty one"
                                                            : data_kind_words(item->kind));
    *out = item->text;
    return true;
}

static bool take_quantity(const struct threshold_file *self, const struct data *item,
                          struct quantity *out, struct assay_error *error)
{
    struct assay_error why = {0};
    if (item->kind == DATA_NUMBER) {
        *out = (struct quantity){.value = item->number};
        return true;
    }
    if (item->kind != DATA_TEXT)
        return threshold_file_wrong(self, item->line, error,
                                    "'%s' is a number or a text with a unit, not %s", item->key,
                                    data_kind_words(item->kind));
    return quantity_parse(item->text, out, &why) ||
           threshold_file_wrong(self, item->line, error, "'%s': %s", item->key, why.text);
}

static bool take_tolerance(const struct threshold_file *self, const struct data *table,
                           struct threshold *out, struct assay_error *error)
{
    struct quantity quantity;
    const struct data *item = data_member(table, "tolerance");
    if (!item && out->kind == BOUND_NEAR)
        return threshold_file_wrong(self, table->line, error,
                                    "'near' needs a tolerance, such as \"5 %%\"");
    if (!item)
        return true;
    if (!take_quantity(self, item, &quantity, error))
        return false;
    if (!dimension_is_number(quantity.dimension) || !(quantity.value >= 0 && quantity.value < 1))
        return threshold_file_wrong(self, item->line, error,
                                    "'tolerance' is a share from 0 to under 1, such as \"5 %%\"");
    out->tolerance = quantity.value;
    return true;
}

static bool take_limit(const struct threshold_file *self, const struct data *table,
                       struct threshold *out, struct assay_error *error)
{
    static const char *const names[] = {"at_least", "at_most", "near"};
    static const enum bound_kind kinds[] = {BOUND_AT_LEAST, BOUND_AT_MOST, BOUND_NEAR};
    const struct data *found = NULL;
    for (size_t i = 0; i < 3; i++) {
        const struct data *item = data_member(table, names[i]);
        if (item && found)
            return threshold_file_wrong(
                self, item->line, error,
                "a bound is one of at_least, at_most and near, but here are '%s' and '%s'",
                found->key, item->key);
        if (item) {
            found = item;
            out->kind = kinds[i];
        }
    }
    if (!found)
        return threshold_file_wrong(self, table->line, error,
                                    "the bound is missing: at_least, at_most or near");
    out->text = found->text;
    return take_quantity(self, found, &out->value, error) &&
           take_tolerance(self, table, out, error);
}

static bool take_where(struct threshold_file *self, const struct data *table, struct threshold *out,
                       struct assay_error *error)
{
    const struct data *where = data_member(table, "where");
    if (!where)
        return true;
    if (where->kind != DATA_TABLE)
        return threshold_file_wrong(
            self, where->line, error,
            "'where' is a table of parameters, such as { bytes = \"1 MiB\" }, not %s",
            data_kind_words(where->kind));
    out->where = arena_alloc(self->arena, (where->count + 1) * sizeof(*out->where));
    if (!out->where)
        return no_memory(error);
    for (const struct data *item = where->first; item; item = item->next) {
        if (!item->key || item->kind == DATA_TABLE)
            return threshold_file_wrong(self, item->line, error,
                                        "'where' holds parameters and their values: "
                                        "{ bytes = \"1 MiB\" }");
        out->where[out->where_count++] = (struct threshold_setting){item->key, item};
    }
    return true;
}

static bool take_bound(struct threshold_file *self, const struct data *table, struct threshold *out,
                       struct assay_error *error)
{
    static const char *const keys[] = {"experiment", "workload", "where", "metric",
                                       "at_least",   "at_most",  "near",  "tolerance"};
    *out = (struct threshold){.line = table->line};
    if (table->kind != DATA_TABLE || table->key)
        return threshold_file_wrong(self, table->line, error,
                                    "'bounds' is a list of tables, such as { metric = "
                                    "\"copy.rate\", at_least = \"5 GB/s\" }");
    if (!check_keys(self, table, "a bound", keys, sizeof(keys) / sizeof(keys[0]), error) ||
        !take_text(self, table, "experiment", &out->experiment, error) ||
        !take_text(self, table, "workload", &out->workload, error) ||
        !take_text(self, table, "metric", &out->metric, error))
        return false;
    if (!out->metric)
        return threshold_file_wrong(self, table->line, error, "the bound has no 'metric'");
    return take_limit(self, table, out, error) && take_where(self, table, out, error);
}

static bool take_entry(struct threshold_file *self, const struct data *table,
                       struct threshold_entry *out, struct assay_error *error)
{
    static const char *const keys[] = {"uuid", "name", "driver", "bounds"};
    *out = (struct threshold_entry){.line = table->line};
    if (table->kind != DATA_TABLE || table->key)
        return threshold_file_wrong(
            self, table->line, error,
            "the file is a list of devices, such as { name = \"*RTX 4090\", bounds = { "
            "... } }");
    if (!check_keys(self, table, "a device", keys, sizeof(keys) / sizeof(keys[0]), error) ||
        !take_text(self, table, "uuid", &out->uuid, error) ||
        !take_text(self, table, "name", &out->name, error) ||
        !take_text(self, table, "driver", &out->driver, error))
        return false;
    if (!out->uuid && !out->name && !out->driver)
        return threshold_file_wrong(self, table->line, error,
                                    "the device has none of uuid, name and driver");
    const struct data *bounds = data_member(table, "bounds");
    if (!bounds || bounds->kind != DATA_TABLE)
        return threshold_file_wrong(self, bounds ? bounds->line : table->line, error,
                                    "the device needs bounds = { ... }, a list");
    out->bounds = arena_alloc(self->arena, (bounds->count + 1) * sizeof(*out->bounds));
    if (!out->bounds)
        return no_memory(error);
    for (const struct data *item = bounds->first; item; item = item->next)
        if (!take_bound(self, item, &out->bounds[out->bound_count++], error))
            return false;
    return true;
}

static bool take_file(struct threshold_file *self, const struct data *table,
                      struct assay_error *error)
{
    self->entries = arena_alloc(self->arena, (table->count + 1) * sizeof(*self->entries));
    if (!self->entries)
        return no_memory(error);
    for (const struct data *item = table->first; item; item = item->next) {
        struct threshold_entry *entry = &self->entries[self->entry_count++];
        if (!take_entry(self, item, entry, error))
            return false;
    }
    return self->entry_count > 0 ||
           threshold_file_wrong(self, table->line, error, "the table is empty");
}

bool threshold_file_read(struct threshold_file *self, const char *path, struct assay_error *error)
{
    struct text source = {0};
    *self = (struct threshold_file){.arena = arena_create()};
    if (!self->arena || !(self->path = arena_copy(self->arena, path)))
        return no_memory(error);
    if (!os_file_read(path, DATA_MAX_BYTES, &source, error)) {
        text_free(&source);
        return false;
    }
    struct hash128 hash = hash_bytes(text_string(&source), source.length);
    hash_hex(&hash, self->hash);
    const struct data *table = data_read(text_string(&source), source.length, path, self->arena,
                                         error);
    text_free(&source);
    return table && take_file(self, table, error);
}

void threshold_file_free(struct threshold_file *self)
{
    arena_destroy(&self->arena);
}
