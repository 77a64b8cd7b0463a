/* SPDX-License-Identifier: MIT */
#include "report/compare_walk.h"

#include "base/json.h"

#include <string.h>

struct writer {
    struct text *out, lone[2];
    size_t pairs, lones[2];
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
}

/* Adds a tree and lets it go. */
static bool add(struct text *out, json_t *json, struct assay_error *error)
{
    bool good = json ? json_add_line(out, json, false, error) : no_memory(error);
    json_decref(json);
    return good;
}

static json_t *case_json(const json_t *record)
{
    static const char *const members[] = {"id", "experiment", "workload", "set", "replica"};
    json_t *json = json_object();
    for (size_t i = 0; json && i < sizeof(members) / sizeof(members[0]); i++)
        json_object_set(json, members[i], json_object_get(record, members[i]));
    return json;
}

static json_t *figure_json(const struct metric *metric)
{
    return json_pack("{s:f, s:f, s:f, s:I}", "value", metric->value, "low", metric->low, "high",
                     metric->high, "n", (json_int_t)metric->n);
}

static json_t *comparison_json(const struct comparison *one)
{
    json_t *ratio = json_null();
    if (one->compared)
        ratio = json_pack("{s:f, s:f, s:f}", "value", one->ratio.estimate, "low", one->ratio.low,
                          "high", one->ratio.high);
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "metric", one->a.name, "unit",
                     dimension_symbol(one->a.dimension), "a", figure_json(&one->a), "b",
                     figure_json(&one->b), "ratio", ratio, "answer", stats_answer_name(one->answer),
                     "why", *one->why ? json_clean_string(one->why) : json_null());
}

static bool add_pair(void *user, const struct compare_pair *pair, struct assay_error *error)
{
    struct writer *writer = user;
    json_t *json = case_json(pair->a), *comparisons = json_array();
    for (size_t i = 0; i < pair->count; i++)
        json_array_append_new(comparisons, comparison_json(&pair->comparisons[i]));
    json_object_set(json, "id_b", json_object_get(pair->b, "id"));
    json_object_set_new(json, "status",
                        json_pack("[s, s]", json_text(pair->a, "status", "error"),
                                  json_text(pair->b, "status", "error")));
    json_object_set_new(json, "broken", json_boolean(pair->broken));
    json_object_set_new(json, "not_compared",
                        pair->count == 0 ? json_clean_string(pair->reason) : json_null());
    json_object_set_new(json, "comparisons", comparisons);
    text_add(writer->out, writer->pairs++ ? ",\n  " : "\n  ");
    return add(writer->out, json, error);
}

static bool add_lone(void *user, enum side side, const json_t *record, struct assay_error *error)
{
    struct writer *writer = user;
    text_add(&writer->lone[side], writer->lones[side]++ ? ",\n  " : "\n  ");
    return add(&writer->lone[side], case_json(record), error);
}

static json_t *run_json(const char *path, const json_t *run)
{
    return json_pack("{s:o, s:s, s:s}", "journal", json_clean_string(path), "started",
                     json_text(run, "started", ""), "assay", json_text(run, "assay", ""));
}

static json_t *changes_json(const struct conditions *conditions)
{
    const char *only;
    json_t *changes = json_array();
    for (size_t i = 0; i < conditions_count(conditions); i++) {
        const struct condition *item = conditions_at(conditions, i);
        json_array_append_new(changes, json_pack("{s:s, s:s, s:s, s:s, s:I}", "what", item->thing,
                                                 "detail", item->detail, "from", item->from, "to",
                                                 item->to, "cases", (json_int_t)item->cases));
    }
    size_t things = conditions_things(conditions, &only);
    return json_pack("{s:I, s:s?, s:o}", "things", (json_int_t)things, "attributable", only,
                     "changes", changes);
}

static json_t *counts_json(const struct compare_counts *n)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "same", (json_int_t)n->same,
                     "faster", (json_int_t)n->faster, "slower", (json_int_t)n->slower, "undecided",
                     (json_int_t)n->undecided, "cases", (json_int_t)n->cases, "broken",
                     (json_int_t)n->broken, "not_compared", (json_int_t)n->not_compared, "only_a",
                     (json_int_t)n->only_a, "only_b", (json_int_t)n->only_b);
}

static bool write_all(struct compare_walk *walk, struct writer *writer, struct assay_error *error)
{
    const struct compare_source *source = walk->source;
    const struct compare_sink sink = {writer, add_pair, add_lone};
    struct text *out = writer->out;
    text_add(out, "{\"a\":");
    bool good = add(out, run_json(source->path_a, walk->views[SIDE_A].run), error);
    text_add(out, ",\n \"b\":");
    good = good && add(out, run_json(source->path_b, walk->views[SIDE_B].run), error);
    text_add(out, ",\n \"margin\":");
    json_add_real(out, source->params.margin);
    text_add(out, ",\n \"cases\":[");
    good = good && compare_walk_run(walk, &sink, error);
    text_add(out, "],\n \"only_a\":[");
    text_add(out, text_string(&writer->lone[SIDE_A]));
    text_add(out, "],\n \"only_b\":[");
    text_add(out, text_string(&writer->lone[SIDE_B]));
    text_add(out, "],\n \"changed\":");
    good = good && add(out, changes_json(walk->conditions), error);
    text_add(out, ",\n \"counts\":");
    good = good && add(out, counts_json(&walk->counts), error);
    text_addf(out, ",\n \"exit\":%d}\n", compare_exit_status(source, &walk->counts));
    return good;
}

bool compare_json(const struct compare_source *source, struct text *out,
                  struct compare_counts *counts, struct assay_error *error)
{
    struct compare_walk walk;
    struct writer writer = {.out = out};
    bool good = compare_walk_open(&walk, source, error) && write_all(&walk, &writer, error);
    *counts = walk.counts;
    good = good &&
           ((!out->failed && !writer.lone[0].failed && !writer.lone[1].failed) || no_memory(error));
    text_free(&writer.lone[0]);
    text_free(&writer.lone[1]);
    compare_walk_close(&walk);
    return good;
}
