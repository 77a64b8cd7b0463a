/* SPDX-License-Identifier: MIT */
/* How cases and groups are called, and which are kept. */
#include "experiment/plan.h"

#include <inttypes.h>
#include <string.h>

static bool varies(const struct plan_experiment *experiment, const char *name)
{
    for (size_t i = 0; experiment->varied && experiment->varied[i]; i++)
        if (strcmp(experiment->varied[i], name) == 0)
            return true;
    return false;
}

/* `gap` stands before the first word; without the axis of this name, unless NULL. */
static void add_settings(const struct plan *plan, const struct plan_case *item, const char *gap,
                         const char *without, struct text *out)
{
    const char *axis = without ? without : "";
    if (item->device && strcmp(axis, "device") != 0) {
        text_addf(out, "%sdevice=", gap);
        text_add_clean(out, item->device);
        gap = " ";
    }
    const struct schedule *schedule = plan_case_schedule(item);
    bool scheduled = schedule->kind != SCHEDULE_SERIAL ||
                     varies(&plan->experiments[item->experiment], "schedule");
    if (scheduled && strcmp(axis, "schedule") != 0) {
        text_addf(out, "%sschedule=", gap);
        schedule_add_label(schedule, out);
        gap = " ";
    }
    bool replica = item->replica || varies(&plan->experiments[item->experiment], "replica");
    if (replica && strcmp(axis, "replica") != 0) {
        text_addf(out, "%sreplica=%" PRIu32, gap, item->replica);
        gap = " ";
    }
    for (uint32_t i = 0; i < item->setting_count; i++) {
        const struct assay_option *option = item->workload->options[item->settings[i].option];
        if (strcmp(axis, option->name) == 0)
            continue;
        text_add(out, gap);
        text_add(out, option->name);
        text_add_char(out, '=');
        option_value_add(out, option, &item->settings[i].value);
        gap = " ";
    }
}

void plan_case_label(const struct plan *plan, const struct plan_case *item, bool settings_only,
                     struct text *out)
{
    if (!settings_only)
        text_add(out, item->workload->name);
    add_settings(plan, item, settings_only ? "" : " ", NULL, out);
}

void plan_group_label(const struct plan *plan, uint32_t group, struct text *out)
{
    const struct plan_case *first = plan_group_first(plan, group);
    add_settings(plan, first, "", plan->experiments[first->experiment].pair, out);
}

const struct plan_case *plan_group_first(const struct plan *plan, uint32_t group)
{
    return &plan->cases[plan->groups[group].first];
}

const struct plan_case *plan_group_next(const struct plan *plan, const struct plan_case *item)
{
    return item->next == PLAN_NONE ? NULL : &plan->cases[item->next];
}

bool plan_group_id(const struct plan *plan, uint32_t group, struct hash128 *id,
                   struct assay_error *error)
{
    struct text ids = {0};
    const struct plan_case *item = plan_group_first(plan, group);
    for (; item; item = plan_group_next(plan, item))
        text_add_bytes(&ids, (const char *)item->id.bytes, sizeof(item->id.bytes));
    bool good = !ids.failed || assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the plan");
    if (good)
        *id = hash_bytes(ids.data, ids.length);
    text_free(&ids);
    return good;
}

static void group_select(struct plan *plan, uint32_t group, bool selected)
{
    uint32_t at = plan->groups[group].first;
    for (; at != PLAN_NONE; at = plan->cases[at].next)
        plan->cases[at].selected = selected;
}

bool plan_select_id(struct plan *plan, const char *prefix, struct assay_error *error)
{
    size_t length = strlen(prefix), found = 0;
    uint32_t group = 0;
    for (size_t i = 0; i < plan->case_count; i++) {
        char hex[HASH_HEX_BYTES];
        hash_hex(&plan->cases[i].id, hex);
        bool match = plan->cases[i].selected && length > 0 && length < sizeof(hex) &&
                     strncmp(hex, prefix, length) == 0;
        found += match;
        if (match)
            group = plan->cases[i].group;
    }
    if (found == 1) {
        for (uint32_t i = 0; i < plan->group_count; i++)
            if (i != group)
                group_select(plan, i, false);
        return true;
    }
    struct text shown = {0};
    text_add_clean(&shown, prefix);
    if (found == 0)
        assay_fail(error, ASSAY_INVALID,
                   "no case has an id that starts with '%s'; ids depend on the seed and on --set: "
                   "`assay list SCRIPT` shows them",
                   text_string(&shown));
    else
        assay_fail(error, ASSAY_INVALID,
                   "%zu cases have ids that start with '%s'; give more digits", found,
                   text_string(&shown));
    text_free(&shown);
    return false;
}

static bool case_matches(const struct plan *plan, const struct plan_case *item, const char *pattern,
                         struct text *name)
{
    text_clear(name);
    text_addf(name, "%s/", plan->experiments[item->experiment].name);
    plan_case_label(plan, item, false, name);
    return text_glob(pattern, text_string(name));
}

size_t plan_select_glob(struct plan *plan, const char *pattern)
{
    struct text whole = {0}, name = {0};
    bool bare = !strpbrk(pattern, "*?");
    text_addf(&whole, bare ? "*%s*" : "%s", pattern);
    for (uint32_t i = 0; i < plan->group_count; i++) {
        const struct plan_case *item = plan_group_first(plan, i);
        if (!item->selected)
            continue;
        bool wanted = false;
        for (; item && !wanted; item = plan_group_next(plan, item))
            wanted = case_matches(plan, item, text_string(&whole), &name);
        if (!wanted)
            group_select(plan, i, false);
    }
    text_free(&whole);
    text_free(&name);
    return plan_selected_count(plan);
}

size_t plan_selected_count(const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->case_count; i++)
        count += plan->cases[i].selected;
    return count;
}
