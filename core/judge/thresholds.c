/* SPDX-License-Identifier: MIT */
#include "judge/thresholds.h"

#include "base/json.h"
#include "judge/outside.h"
#include "judge/threshold_file.h"

#include <stdlib.h>
#include <string.h>

#define IDLE_SHOWN 12

struct thresholds {
    struct threshold_file file;
    const struct plan *plan;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the thresholds");
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
    struct finding finding = {.arena = self->file.arena, .name = bound->metric};
    find_all(workload, &finding);
    if (finding.found)
        return dimension_equal(finding.dimension, bound->value.dimension) ||
               threshold_file_wrong(&self->file, bound->line, error,
                                    "%s of '%s' is %s, but the bound is %s", bound->metric,
                                    workload->name, dimension_words(finding.dimension),
                                    dimension_words(bound->value.dimension));
    if (!bound->workload && !bound->experiment)
        return true; /* of those workloads that have it */
    struct text text = {0};
    const char *nearest = text_nearest(bound->metric, finding.names, finding.count);
    if (nearest)
        text_addf(&text, "; did you mean '%s'?", nearest);
    text_add(&text, nearest ? " It has " : "; it has ");
    text_add_list(&text, finding.names, finding.count);
    threshold_file_wrong(&self->file, bound->line, error, "'%s' has no metric '%s'%s",
                         workload->name, bound->metric, text_string(&text));
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
                    : option_parse(option, data->text, self->file.arena, value, &why);
    return good || threshold_file_wrong(&self->file, data->line, error, "%s", why.text);
}

static bool check_where(const struct thresholds *self, const struct threshold *bound,
                        const struct catalog_workload *workload, struct assay_error *error)
{
    for (size_t i = 0; i < bound->where_count; i++) {
        struct assay_error why = {0};
        struct option_value value;
        const struct threshold_setting *setting = &bound->where[i];
        int index = option_find(workload->options, setting->name);
        if (index < 0 && !bound->workload && !bound->experiment)
            return true; /* it is about other workloads */
        if (index < 0) {
            option_unknown(workload->options, workload->name, setting->name, &why);
            return threshold_file_wrong(&self->file, setting->value->line, error, "%s", why.text);
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
    threshold_file_wrong(&self->file, bound->line, error, "%s", text_string(&text));
    text_free(&text);
    return false;
}

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

/* What can be known to be wrong before anything is measured. */
static bool check_plan(const struct thresholds *self, struct assay_error *error)
{
    for (size_t e = 0; e < self->file.entry_count; e++)
        for (size_t i = 0; i < self->file.entries[e].bound_count; i++)
            if (!check_bound(self, &self->file.entries[e].bounds[i], error))
                return false;
    return true;
}

struct thresholds *thresholds_read(const char *path, const struct plan *plan,
                                   struct assay_error *error)
{
    struct thresholds *self = calloc(1, sizeof(*self));
    if (!self) {
        no_memory(error);
        return NULL;
    }
    self->plan = plan;
    if (threshold_file_read(&self->file, path, error) && check_plan(self, error))
        return self;
    thresholds_destroy(&self);
    return NULL;
}

void thresholds_destroy(struct thresholds **thresholds)
{
    if (!*thresholds)
        return;
    threshold_file_free(&(*thresholds)->file);
    free(*thresholds);
    *thresholds = NULL;
}

json_t *thresholds_record(const struct thresholds *self)
{
    return json_pack("{s:o, s:s}", "path", json_clean_string(self->file.path), "hash",
                     self->file.hash);
}

/* A case without a device is on one of the name "none". */
static bool entry_fits(const struct threshold_entry *entry, const json_t *device)
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
    for (size_t e = 0; e < self->file.entry_count; e++) {
        const struct threshold_entry *entry = &self->file.entries[e];
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
        text_addf(&message, "%s:%d: %s", self->file.path, line, text_string(body));
    else
        text_addf(&message, "%s: %s", self->file.path, text_string(body));
    outside_add_place(&message, self->plan, item, lazy_member(record, "device"));
    struct judge_verdict out = {.experiment = self->plan->experiments[item->experiment].name,
                                .case_id = lazy_text(record, "id", NULL),
                                .verdict = verdict,
                                .script = self->file.path,
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
    for (size_t e = 0; good && e < self->file.entry_count; e++) {
        struct threshold_entry *entry = &self->file.entries[e];
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
    for (size_t e = 0; e < self->file.entry_count; e++) {
        const struct threshold_entry *entry = &self->file.entries[e];
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
                  self->file.path, idle, count, idle > 1 ? "s" : "", text_string(&lines));
    text_free(&lines);
    return idle > 0;
}

struct judge_outside thresholds_outside(struct thresholds *thresholds)
{
    return (struct judge_outside){.user = thresholds, .check = judge_case};
}
