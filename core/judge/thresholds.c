/* SPDX-License-Identifier: MIT */
#include "judge/thresholds.h"

#include "base/data.h"
#include "base/json.h"
#include "base/os.h"
#include "judge/outside.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define IDLE_SHOWN 12

struct setting { /* of `where` */
    const char *name;
    const struct data *value;
};

struct threshold {
    int line;
    const char *experiment, *workload, *metric; /* patterns, but the metric; NULL: any */
    struct setting *where;
    size_t where_count;
    enum bound_kind kind; /* AT_LEAST, AT_MOST or NEAR */
    struct quantity value;
    double tolerance;
    const char *text; /* the limit as written */
    bool judged;      /* a case */
};

struct entry {
    int line;
    const char *uuid, *name, *driver; /* patterns; NULL: any */
    struct threshold *bounds;
    size_t bound_count;
    bool met; /* a device that it fits */
};

struct thresholds {
    struct arena *arena;
    const char *path;
    char hash[HASH_HEX_BYTES];
    const struct plan *plan;
    struct entry *entries;
    size_t entry_count;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the thresholds");
}

/* Fails with "FILE:LINE: ...". */
static bool wrong(const struct thresholds *self, int line, struct assay_error *error,
                  const char *format, ...) ASSAY_PRINTF(4, 5);
static bool wrong(const struct thresholds *self, int line, struct assay_error *error,
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

static bool check_keys(const struct thresholds *self, const struct data *table, const char *what,
                       const char *const *names, size_t count, struct assay_error *error)
{
    for (const struct data *item = table->first; item; item = item->next) {
        bool known = false;
        for (size_t i = 0; i < count && item->key; i++)
            known = known || strcmp(names[i], item->key) == 0;
        if (known)
            continue;
        if (!item->key)
            return wrong(self, item->line, error, "%s has no list: a value without a key", what);
        struct text text = {0};
        const char *nearest = text_nearest(item->key, names, count);
        if (nearest)
            text_addf(&text, "; did you mean '%s'?", nearest);
        text_add(&text, nearest ? " It has " : "; it has ");
        text_add_list(&text, names, count);
        wrong(self, item->line, error, "%s has no key '%s'%s", what, item->key, text_string(&text));
        text_free(&text);
        return false;
    }
    return true;
}

/* A text that may be absent. */
static bool take_text(const struct thresholds *self, const struct data *table, const char *key,
                      const char **out, struct assay_error *error)
{
    const struct data *item = data_member(table, key);
    *out = NULL;
    if (!item)
        return true;
    if (item->kind != DATA_TEXT || !*item->text)
        return wrong(self, item->line, error, "'%s' is a text, not %s", key,
                     item->kind == DATA_TEXT ? "an empty one" : data_kind_words(item->kind));
    *out = item->text;
    return true;
}

static bool take_quantity(const struct thresholds *self, const struct data *item,
                          struct quantity *out, struct assay_error *error)
{
    struct assay_error why = {0};
    if (item->kind == DATA_NUMBER) {
        *out = (struct quantity){.value = item->number};
        return true;
    }
    if (item->kind != DATA_TEXT)
        return wrong(self, item->line, error, "'%s' is a number or a text with a unit, not %s",
                     item->key, data_kind_words(item->kind));
    return quantity_parse(item->text, out, &why) ||
           wrong(self, item->line, error, "'%s': %s", item->key, why.text);
}

static bool take_tolerance(const struct thresholds *self, const struct data *table,
                           struct threshold *out, struct assay_error *error)
{
    struct quantity quantity;
    const struct data *item = data_member(table, "tolerance");
    if (!item && out->kind == BOUND_NEAR)
        return wrong(self, table->line, error, "'near' needs a tolerance, such as \"5 %%\"");
    if (!item)
        return true;
    if (!take_quantity(self, item, &quantity, error))
        return false;
    if (!dimension_is_number(quantity.dimension) || !(quantity.value >= 0 && quantity.value < 1))
        return wrong(self, item->line, error,
                     "'tolerance' is a share from 0 to under 1, such as \"5 %%\"");
    out->tolerance = quantity.value;
    return true;
}

static bool take_limit(const struct thresholds *self, const struct data *table,
                       struct threshold *out, struct assay_error *error)
{
    static const char *const names[] = {"at_least", "at_most", "near"};
    static const enum bound_kind kinds[] = {BOUND_AT_LEAST, BOUND_AT_MOST, BOUND_NEAR};
    const struct data *found = NULL;
    for (size_t i = 0; i < 3; i++) {
        const struct data *item = data_member(table, names[i]);
        if (item && found)
            return wrong(self, item->line, error,
                         "a bound is one of at_least, at_most and near, but here are '%s' and '%s'",
                         found->key, item->key);
        if (item) {
            found = item;
            out->kind = kinds[i];
        }
    }
    if (!found)
        return wrong(self, table->line, error, "the bound is missing: at_least, at_most or near");
    out->text = found->text;
    return take_quantity(self, found, &out->value, error) &&
           take_tolerance(self, table, out, error);
}

static bool take_where(struct thresholds *self, const struct data *table, struct threshold *out,
                       struct assay_error *error)
{
    const struct data *where = data_member(table, "where");
    if (!where)
        return true;
    if (where->kind != DATA_TABLE)
        return wrong(self, where->line, error,
                     "'where' is a table of parameters, such as { bytes = \"1 MiB\" }, not %s",
                     data_kind_words(where->kind));
    out->where = arena_alloc(self->arena, (where->count + 1) * sizeof(*out->where));
    if (!out->where)
        return no_memory(error);
    for (const struct data *item = where->first; item; item = item->next) {
        if (!item->key || item->kind == DATA_TABLE)
            return wrong(self, item->line, error,
                         "'where' holds parameters and their values: "
                         "{ bytes = \"1 MiB\" }");
        out->where[out->where_count++] = (struct setting){item->key, item};
    }
    return true;
}

static bool take_bound(struct thresholds *self, const struct data *table, struct threshold *out,
                       struct assay_error *error)
{
    static const char *const keys[] = {"experiment", "workload", "where", "metric",
                                       "at_least",   "at_most",  "near",  "tolerance"};
    *out = (struct threshold){.line = table->line};
    if (table->kind != DATA_TABLE || table->key)
        return wrong(self, table->line, error,
                     "'bounds' is a list of tables, such as { metric = "
                     "\"copy.rate\", at_least = \"5 GB/s\" }");
    if (!check_keys(self, table, "a bound", keys, sizeof(keys) / sizeof(keys[0]), error) ||
        !take_text(self, table, "experiment", &out->experiment, error) ||
        !take_text(self, table, "workload", &out->workload, error) ||
        !take_text(self, table, "metric", &out->metric, error))
        return false;
    if (!out->metric)
        return wrong(self, table->line, error, "the bound has no 'metric'");
    return take_limit(self, table, out, error) && take_where(self, table, out, error);
}

static bool take_entry(struct thresholds *self, const struct data *table, struct entry *out,
                       struct assay_error *error)
{
    static const char *const keys[] = {"uuid", "name", "driver", "bounds"};
    *out = (struct entry){.line = table->line};
    if (table->kind != DATA_TABLE || table->key)
        return wrong(self, table->line, error,
                     "the file is a list of devices, such as { name = \"*RTX 4090\", bounds = { "
                     "... } }");
    if (!check_keys(self, table, "a device", keys, sizeof(keys) / sizeof(keys[0]), error) ||
        !take_text(self, table, "uuid", &out->uuid, error) ||
        !take_text(self, table, "name", &out->name, error) ||
        !take_text(self, table, "driver", &out->driver, error))
        return false;
    if (!out->uuid && !out->name && !out->driver)
        return wrong(self, table->line, error, "the device has none of uuid, name and driver");
    const struct data *bounds = data_member(table, "bounds");
    if (!bounds || bounds->kind != DATA_TABLE)
        return wrong(self, bounds ? bounds->line : table->line, error,
                     "the device needs bounds = { ... }, a list");
    out->bounds = arena_alloc(self->arena, (bounds->count + 1) * sizeof(*out->bounds));
    if (!out->bounds)
        return no_memory(error);
    for (const struct data *item = bounds->first; item; item = item->next)
        if (!take_bound(self, item, &out->bounds[out->bound_count++], error))
            return false;
    return true;
}

static bool fits(const char *pattern, const char *string)
{
    struct text a = {0}, b = {0};
    for (; pattern && *pattern; pattern++)
        text_add_char(&a, (char)(*pattern >= 'A' && *pattern <= 'Z' ? *pattern + 32 : *pattern));
    for (; *string; string++)
        text_add_char(&b, (char)(*string >= 'A' && *string <= 'Z' ? *string + 32 : *string));
    bool good = !a.length || text_glob(text_string(&a), text_string(&b));
    text_free(&a);
    text_free(&b);
    return good;
}

static bool is_of(const struct plan *plan, const struct threshold *bound,
                  const struct plan_case *item)
{
    const struct plan_experiment *experiment = &plan->experiments[item->experiment];
    return !experiment->is_peaks && fits(bound->experiment, experiment->name) &&
           fits(bound->workload, item->workload->name);
}

struct finding {
    struct arena *arena; /* for the names; NULL: they are not wanted */
    const char *name;
    struct dimension dimension;
    const char *names[256];
    size_t count;
    bool found;
};

static void find_metric(void *user, const struct metric_description *metric)
{
    struct finding *finding = user;
    size_t room = sizeof(finding->names) / sizeof(finding->names[0]);
    const char *copy = finding->arena && finding->count < room
                           ? arena_copy(finding->arena, metric->name)
                           : NULL;
    if (copy)
        finding->names[finding->count++] = copy;
    if (strcmp(metric->name, finding->name) != 0)
        return;
    finding->found = true;
    finding->dimension = metric->dimension;
}

/* Of the workload, or by the schedule of a case. */
static void find_all(const struct catalog_workload *workload, struct finding *finding)
{
    const struct metric_description *scheduled = catalog_schedule_metric(finding->name);
    catalog_each_metric(workload, find_metric, finding);
    if (scheduled)
        find_metric(finding, scheduled);
}

static bool check_metric(const struct thresholds *self, const struct threshold *bound,
                         const struct catalog_workload *workload, struct assay_error *error)
{
    struct finding finding = {.arena = self->arena, .name = bound->metric};
    find_all(workload, &finding);
    if (finding.found)
        return dimension_equal(finding.dimension, bound->value.dimension) ||
               wrong(self, bound->line, error, "%s of '%s' is %s, but the bound is %s",
                     bound->metric, workload->name, dimension_words(finding.dimension),
                     dimension_words(bound->value.dimension));
    if (!bound->workload && !bound->experiment)
        return true; /* of those workloads that have it */
    struct text text = {0};
    const char *nearest = text_nearest(bound->metric, finding.names, finding.count);
    if (nearest)
        text_addf(&text, "; did you mean '%s'?", nearest);
    text_add(&text, nearest ? " It has " : "; it has ");
    text_add_list(&text, finding.names, finding.count);
    wrong(self, bound->line, error, "'%s' has no metric '%s'%s", workload->name, bound->metric,
          text_string(&text));
    text_free(&text);
    return false;
}

static bool setting_value(const struct thresholds *self, const struct data *data,
                          const struct assay_option *option, struct option_value *value,
                          struct assay_error *error)
{
    struct assay_error why = {0};
    bool good = data->kind == DATA_BOOLEAN
                    ? option_from_boolean(option, data->boolean, value, &why)
                    : option_parse(option, data->text, self->arena, value, &why);
    return good || wrong(self, data->line, error, "%s", why.text);
}

static bool check_where(const struct thresholds *self, const struct threshold *bound,
                        const struct catalog_workload *workload, struct assay_error *error)
{
    for (size_t i = 0; i < bound->where_count; i++) {
        struct assay_error why = {0};
        struct option_value value;
        const struct setting *setting = &bound->where[i];
        int index = option_find(workload->options, setting->name);
        if (index < 0 && !bound->workload && !bound->experiment)
            return true; /* it is about other workloads */
        if (index < 0) {
            option_unknown(workload->options, workload->name, setting->name, &why);
            return wrong(self, setting->value->line, error, "%s", why.text);
        }
        if (!setting_value(self, setting->value, workload->options[index], &value, error))
            return false;
    }
    return true;
}

/* A case that the bound is for has the metric: its schedule gives it. */
static bool check_given(const struct thresholds *self, const struct threshold *bound,
                        struct assay_error *error)
{
    const struct plan_case *without = NULL;
    for (size_t i = 0; i < self->plan->case_count; i++) {
        const struct plan_case *item = &self->plan->cases[i];
        if (!is_of(self->plan, bound, item))
            continue;
        if (catalog_schedule_gives(plan_case_schedule(item), bound->metric))
            return true;
        without = item;
    }
    if (!without || (!bound->workload && !bound->experiment))
        return true;
    struct text text = {0};
    catalog_add_not_given(without->workload, plan_case_schedule(without), bound->metric, &text);
    wrong(self, bound->line, error, "%s", text_string(&text));
    text_free(&text);
    return false;
}

/* What can be known to be wrong before anything is measured. */
static bool check_bound(const struct thresholds *self, const struct threshold *bound,
                        struct assay_error *error)
{
    const struct catalog_workload *last = NULL;
    for (size_t i = 0; i < self->plan->case_count; i++) {
        const struct plan_case *item = &self->plan->cases[i];
        if (item->workload == last || !is_of(self->plan, bound, item))
            continue;
        last = item->workload;
        if (!check_metric(self, bound, last, error) || !check_where(self, bound, last, error))
            return false;
    }
    return check_given(self, bound, error);
}

static bool take_file(struct thresholds *self, const struct data *table, struct assay_error *error)
{
    self->entries = arena_alloc(self->arena, (table->count + 1) * sizeof(*self->entries));
    if (!self->entries)
        return no_memory(error);
    for (const struct data *item = table->first; item; item = item->next) {
        struct entry *entry = &self->entries[self->entry_count++];
        if (!take_entry(self, item, entry, error))
            return false;
        for (size_t i = 0; i < entry->bound_count; i++)
            if (!check_bound(self, &entry->bounds[i], error))
                return false;
    }
    return self->entry_count > 0 || wrong(self, table->line, error, "the table is empty");
}

struct thresholds *thresholds_read(const char *path, const struct plan *plan,
                                   struct assay_error *error)
{
    struct text source = {0};
    struct thresholds *self = calloc(1, sizeof(*self));
    if (!self || !(self->arena = arena_create()) || !(self->path = arena_copy(self->arena, path))) {
        no_memory(error);
        goto fail;
    }
    self->plan = plan;
    if (!os_file_read(path, DATA_MAX_BYTES, &source, error))
        goto fail;
    struct hash128 hash = hash_bytes(text_string(&source), source.length);
    hash_hex(&hash, self->hash);
    const struct data *table = data_read(text_string(&source), source.length, path, self->arena,
                                         error);
    if (!table || !take_file(self, table, error))
        goto fail;
    text_free(&source);
    return self;
fail:
    text_free(&source);
    thresholds_destroy(&self);
    return NULL;
}

void thresholds_destroy(struct thresholds **thresholds)
{
    if (!*thresholds)
        return;
    arena_destroy(&(*thresholds)->arena);
    free(*thresholds);
    *thresholds = NULL;
}

json_t *thresholds_record(const struct thresholds *self)
{
    return json_pack("{s:o, s:s}", "path", json_clean_string(self->path), "hash", self->hash);
}

/* A case without a device is on one of the name "none". */
static bool entry_fits(const struct entry *entry, const json_t *device)
{
    const json_t *driver = json_object_get(device, "driver");
    const char *name = json_text(device, "name", "none");
    struct text whole = {0};
    text_addf(&whole, "%s %s", json_text(driver, "name", ""), json_text(driver, "info", ""));
    bool good = (!entry->uuid || fits(entry->uuid, json_text(device, "uuid", ""))) &&
                (!entry->name || fits(entry->name, name) ||
                 fits(entry->name, json_text(device, "label", name))) &&
                (!entry->driver || fits(entry->driver, json_text(driver, "name", "")) ||
                 fits(entry->driver, text_string(&whole)));
    text_free(&whole);
    return good;
}

bool thresholds_tightest(const struct thresholds *self, const json_t *device, double *tolerance,
                         int *line)
{
    bool found = false;
    for (size_t e = 0; e < self->entry_count; e++) {
        const struct entry *entry = &self->entries[e];
        for (size_t i = 0; i < entry->bound_count && entry_fits(entry, device); i++) {
            const struct threshold *bound = &entry->bounds[i];
            if (bound->kind != BOUND_NEAR || (found && bound->tolerance >= *tolerance))
                continue;
            found = true;
            *tolerance = bound->tolerance;
            *line = bound->line;
        }
    }
    return found;
}

/* Whether the parameters that ran, defaults included, are those of `where`. */
static bool where_fits(const struct thresholds *self, const struct threshold *bound,
                       const struct plan_case *item, struct lazy *record, struct arena *scratch)
{
    const json_t *params = bound->where_count ? lazy_member(record, "params") : NULL;
    for (size_t i = 0; i < bound->where_count; i++) {
        struct assay_error ignored = {0}; /* checked when the file was read */
        struct option_value wanted, is;
        int index = option_find(item->workload->options, bound->where[i].name);
        if (index < 0 ||
            !setting_value(self, bound->where[i].value, item->workload->options[index], &wanted,
                           &ignored) ||
            !option_value_from_json(item->workload->options[index],
                                    json_object_get(params, bound->where[i].name), scratch, &is,
                                    &ignored) ||
            !option_value_equal(&wanted, &is))
            return false;
    }
    return true;
}

static struct bound bound_of(const struct threshold *threshold, struct text *text)
{
    double value = threshold->value.value,
           slack = threshold->tolerance * (value < 0 ? -value : value);
    struct bound bound = {.kind = threshold->kind, .dimension = threshold->value.dimension};
    bound.low = value - slack;
    bound.high = value + slack;
    static const char *const signs[] = {
        [BOUND_AT_LEAST] = "-", [BOUND_AT_MOST] = "+", [BOUND_NEAR] = "+-"};
    text_add(text, threshold->text);
    if (threshold->tolerance > 0) {
        text_addf(text, " %s ", signs[threshold->kind]);
        number_add(text, threshold->tolerance * 100);
        text_add(text, " %");
    }
    bound.text = text_string(text);
    return bound;
}

static bool give(const struct thresholds *self, int line, const struct plan_case *item,
                 struct lazy *record, enum verdict verdict, const struct text *body,
                 const struct metric *metric, struct judge *judge, struct assay_error *error)
{
    struct text message = {0};
    if (line)
        text_addf(&message, "%s:%d: %s", self->path, line, text_string(body));
    else
        text_addf(&message, "%s: %s", self->path, text_string(body));
    outside_add_place(&message, self->plan, item, lazy_member(record, "device"));
    struct judge_verdict out = {.experiment = self->plan->experiments[item->experiment].name,
                                .case_id = lazy_text(record, "id", NULL),
                                .verdict = verdict,
                                .script = self->path,
                                .line = line,
                                .bound = "threshold",
                                .message = text_string(&message),
                                .metric = metric};
    bool good = judge_add(judge, &out, error);
    text_free(&message);
    return good;
}

static bool judge_one(const struct thresholds *self, const struct threshold *threshold,
                      const struct plan_case *item, struct lazy *record, struct judge *judge,
                      struct assay_error *error)
{
    struct text limit = {0}, body = {0};
    struct metric metric;
    lazy_metric(record, threshold->metric, &metric);
    struct bound bound = bound_of(threshold, &limit);
    if (!metric.absent && !dimension_equal(metric.dimension, bound.dimension))
        metric.absent = "it has another unit than the bound";
    enum verdict verdict = bound_judge(&bound, &metric);
    bound_add_message(&body, &bound, &metric, verdict);
    bool good = give(self, threshold->line, item, record, verdict, &body, &metric, judge, error);
    text_free(&limit);
    text_free(&body);
    return good;
}

/* No entry fits the device: said once a case, and told together by the reports. */
static bool judge_unknown(const struct thresholds *self, const struct plan_case *item,
                          struct lazy *record, struct judge *judge, struct assay_error *error)
{
    const json_t *device = lazy_member(record, "device");
    struct text why = {0}, body = {0};
    text_add(&why, "no thresholds for the device ");
    text_add_clean(&why, json_text(device, "name", "none"));
    if (json_is_object(device))
        text_addf(&why, " (uuid %s, driver %s)", json_text(device, "uuid", "?"),
                  json_text(json_object_get(device, "driver"), "name", "?"));
    text_addf(&body, "not judged: %s", text_string(&why));
    struct metric metric = {.name = "device", .absent = text_string(&why)};
    bool good = give(self, 0, item, record, VERDICT_NOT_JUDGED, &body, &metric, judge, error);
    text_free(&why);
    text_free(&body);
    return good;
}

static bool judge_case(void *user, const struct judge_group *group, size_t index,
                       struct judge *judge, struct assay_error *error)
{
    struct thresholds *self = user;
    const struct plan_case *item = group->items[index];
    struct lazy *record = group->records[index];
    struct arena *scratch = arena_create();
    bool good = scratch || no_memory(error), known = false;
    for (size_t e = 0; good && e < self->entry_count; e++) {
        struct entry *entry = &self->entries[e];
        if (!entry_fits(entry, lazy_member(record, "device")))
            continue;
        known = entry->met = true;
        for (size_t i = 0; good && i < entry->bound_count; i++) {
            struct threshold *bound = &entry->bounds[i];
            struct finding finding = {.name = bound->metric};
            find_all(item->workload, &finding);
            if (!finding.found || !is_of(self->plan, bound, item) ||
                !catalog_schedule_gives(plan_case_schedule(item), bound->metric) ||
                !where_fits(self, bound, item, record, scratch))
                continue;
            bound->judged = true;
            good = judge_one(self, bound, item, record, judge, error);
        }
    }
    arena_destroy(&scratch);
    return good && (known || judge_unknown(self, item, record, judge, error));
}

bool thresholds_add_idle(const struct thresholds *self, struct text *text)
{
    size_t idle = 0, count = 0;
    struct text lines = {0};
    for (size_t e = 0; e < self->entry_count; e++) {
        const struct entry *entry = &self->entries[e];
        for (size_t i = 0; i < entry->bound_count && entry->met; i++) {
            count++;
            if (entry->bounds[i].judged || idle++ > IDLE_SHOWN)
                continue;
            if (idle <= IDLE_SHOWN)
                text_addf(&lines, "%s%d", idle > 1 ? ", " : "", entry->bounds[i].line);
            else
                text_add(&lines, ", ...");
        }
    }
    if (idle)
        text_addf(text, "%s: %zu of %zu bounds on the devices at hand judged no case (line%s %s)",
                  self->path, idle, count, idle > 1 ? "s" : "", text_string(&lines));
    text_free(&lines);
    return idle > 0;
}

struct judge_outside thresholds_outside(struct thresholds *thresholds)
{
    return (struct judge_outside){.user = thresholds, .check = judge_case};
}
