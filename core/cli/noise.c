/* SPDX-License-Identifier: MIT */
#include "cli/arguments.h"
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/noise_store.h"
#include "cli/single.h"

#include "base/json.h"
#include "stats/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_BUDGET_NS INT64_C(5000000000)
#define LEAST_BUDGET_NS INT64_C(100000000)
#define PAIRS 4       /* each with memory of its own */
#define WARMUP 4      /* warm-ups together take at most a part of the budget */
#define SHARE_MOST 10 /* what is worse is not worth a figure */
#define NEVER 1e-9    /* a target that sampling does not reach: it uses its budget up */

/* What runs unless the command line says otherwise: within the device, so that the host's caches do
 * not matter. */
static const char default_workload[] = "copy";
static const char *const default_sets[] = {"direction=device", "bytes=16MiB", NULL};

struct noise_choices {
    struct single_choices single;
    int64_t budget_ns;
    double margin;
};

struct figures {
    struct noise paired, unpaired;
    struct stats_ratio ratio;
    bool has_paired;
    double farthest;                     /* distance of `ratio` from 1 */
    double between, within, least, most; /* medians of the runs, s */
    double paired_s;                     /* what the turns took together */
};

struct job {
    const struct noise_choices *choices;
    struct single single;
    struct figures figures;
    json_t *device; /* of the first record */
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct noise_choices *choices = user;
    if (strcmp(name, "budget") == 0)
        return arguments_time(name, value, &choices->budget_ns, error) &&
               (choices->budget_ns >= LEAST_BUDGET_NS ||
                assay_fail(error, ASSAY_INVALID, "--budget: at least 100 ms are wanted, not %s",
                           value));
    if (strcmp(name, "margin") == 0)
        return arguments_share(name, value, 0.99, &choices->margin, error);
    return single_choices_take(&choices->single, name, value, error);
}

static bool add_replicas(struct job *job, const char *name, const char *pair, unsigned count,
                         int64_t budget_ns, struct plan_case *item, struct assay_error *error)
{
    unsigned first = item->replica;
    struct plan_experiment experiment = {
        .name = name,
        .script = "assay noise",
        .line = 1,
        .pair = pair,
        .measure = {.target = NEVER, .budget_ns = budget_ns, .warmup_ns = budget_ns / WARMUP}};
    if (!plan_add_experiment(job->single.plan, &experiment, error))
        return false;
    for (; item->replica < first + count; item->replica++)
        if (!plan_add_case(job->single.plan, item, error))
            return false;
    return true;
}

/* Half of the budget for turns of pairs of replicas, half for whole runs one after the other. */
static bool make_plan(struct job *job, struct assay_error *error)
{
    const struct noise_choices *choices = job->choices;
    const char *name = choices->single.workload ? choices->single.workload : default_workload;
    bool usual = strcmp(name, default_workload) == 0;
    struct plan_case item = {0};
    int64_t half = choices->budget_ns / 2;
    bool good = single_item(&job->single, name, usual ? default_sets : NULL, &choices->single.sets,
                            &item, error);
    for (unsigned i = 0; good && i < PAIRS; i++) {
        const char *label = arena_printf(job->single.plan->arena, "paired %u", i + 1);
        good = label ? add_replicas(job, label, "replica", 2, half / 2 / PAIRS, &item, error)
                     : assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a name");
    }
    item.replica = 0;
    return good && add_replicas(job, "unpaired", NULL, NOISE_RUNS, half / NOISE_RUNS, &item, error);
}

/* The end-to-end times of a case; to be freed. */
static double *times_of(struct job *job, size_t at, size_t *count, struct assay_error *error)
{
    const struct plan_case *item = &job->single.plan->cases[at];
    long index = journal_case_find(job->single.reader, &item->id);
    json_t *record = index < 0 ? NULL : journal_case(job->single.reader, (size_t)index, error);
    const char *status = json_text(record, "status", "was not run");
    double *values = NULL;
    *count = 0;
    if (!record || strcmp(status, "done") != 0) {
        enum assay_status kind = record && strcmp(status, "skipped") == 0 ? ASSAY_NO_DEVICE
                                                                          : ASSAY_INTERNAL;
        assay_fail(error, kind, "the measurement failed: %s: %s", status,
                   json_text(record, "reason", "interrupted"));
        json_decref(record);
        return NULL;
    }
    if (!job->device && json_is_object(json_object_get(record, "device")))
        job->device = json_incref(json_object_get(record, "device"));
    json_decref(record);
    json_t *samples = journal_samples(job->single.reader, (size_t)index, error);
    const json_t *series = json_object_get(json_object_get(samples, "series"), "time");
    *count = json_array_size(series);
    values = malloc((*count + 1) * sizeof(*values));
    for (size_t i = 0; values && i < *count; i++)
        values[i] = json_number_value(json_array_get(series, i));
    json_decref(samples);
    if (!values || *count == 0)
        assay_fail(error, ASSAY_INTERNAL, "the measurement has no samples");
    return values;
}

static double median_of(const double *values, size_t count)
{
    double *sorted = malloc((count + 1) * sizeof(*sorted));
    if (!sorted || count == 0) {
        free(sorted);
        return 0;
    }
    memcpy(sorted, values, count * sizeof(*sorted));
    stats_sort(sorted, count);
    double median = stats_median(sorted, count);
    free(sorted);
    return median;
}

/* False without an error: too few turns. */
static bool conclude_pair(struct job *job, size_t pair, struct noise *noise,
                          struct assay_error *error)
{
    size_t count = 0, other = 0;
    struct figures *f = &job->figures;
    struct stats_ratio ratio;
    double *a = times_of(job, 2 * pair, &count, error);
    double *b = a ? times_of(job, 2 * pair + 1, &other, error) : NULL;
    bool good = a && b && count > 0 && other > 0;
    count = count < other ? count : other;
    for (size_t i = 0; good && i < count; i++)
        f->paired_s += (a[i] + b[i]) / 1e9;
    good = good && noise_paired(a, b, count, job->choices->margin, noise, &ratio, error);
    noise->count = count;
    if (good && (pair == 0 || noise->distance > f->farthest)) {
        f->farthest = noise->distance;
        f->ratio = ratio;
    }
    free(a);
    free(b);
    return good;
}

static bool conclude_paired(struct job *job, struct assay_error *error)
{
    struct noise pairs[PAIRS] = {{0}};
    struct figures *f = &job->figures;
    size_t turns = 0;
    f->has_paired = true;
    for (size_t i = 0; i < PAIRS; i++) {
        f->has_paired = conclude_pair(job, i, &pairs[i], error) && f->has_paired;
        if (error->status)
            return false;
        turns += pairs[i].count;
    }
    if (f->has_paired)
        noise_pool(pairs, PAIRS, job->choices->margin, &f->paired);
    f->paired.count = turns;
    return true;
}

static bool conclude_unpaired(struct job *job, struct assay_error *error)
{
    double *values[NOISE_RUNS] = {NULL};
    struct noise_run runs[NOISE_RUNS];
    struct figures *f = &job->figures;
    bool good = true;
    for (size_t i = 0; good && i < NOISE_RUNS; i++) {
        values[i] = times_of(job, 2 * PAIRS + i, &runs[i].count, error);
        runs[i].values = values[i];
        good = values[i] && runs[i].count > 0;
        double median = good ? median_of(values[i], runs[i].count) / 1e9 : 0;
        f->least = i == 0 || median < f->least ? median : f->least;
        f->most = median > f->most ? median : f->most;
    }
    good = good &&
           noise_unpaired(runs, job->choices->margin, &f->unpaired, &f->between, &f->within, error);
    for (size_t i = 0; i < NOISE_RUNS; i++)
        free(values[i]);
    return good;
}

/* Two digits: there is no more to know. */
static void add_share(struct text *out, double share)
{
    if (share > SHARE_MOST) {
        text_add(out, "over 1000 %");
        return;
    }
    double percent = share * 100, step = percent > 0 ? pow(10, floor(log10(percent)) - 1) : 1;
    quantity_add(out, round(percent / step) * step, (struct dimension){0});
    text_add(out, " %");
}

static void add_time(struct text *out, double seconds)
{
    quantity_add(out, seconds, (struct dimension){.seconds = 1});
}

static void add_head(const struct job *job, struct text *out)
{
    plan_case_label(job->single.plan, &job->single.plan->cases[2 * PAIRS], false, out);
    const char *device = json_text(job->device, "label", json_text(job->device, "name", NULL));
    if (device) {
        text_add(out, " on ");
        text_add_clean(out, device);
    }
}

static void print_table(const struct job *job, struct text *out)
{
    const struct figures *f = &job->figures;
    add_head(job, out);
    text_add(out, ", against itself: the smallest change that can be decided\n\n  paired    ");
    if (f->has_paired)
        add_share(out, f->paired.smallest);
    else
        text_add(out, "none");
    text_addf(out, ": taken in turn within one run; %u pairs, %zu turns in ", PAIRS,
              f->paired.count);
    add_time(out, f->paired_s);
    if (f->has_paired) {
        text_add(out, ", the farthest ratio ");
        quantity_add_interval(out, f->ratio.interval.estimate, f->ratio.interval.low,
                              f->ratio.interval.high, (struct dimension){0});
    } else {
        text_add(out, " are too few; give a longer --budget");
    }
    text_add(out, "\n  unpaired  ");
    add_share(out, f->unpaired.smallest);
    text_addf(out, ": whole runs one after the other; %u of ", NOISE_RUNS);
    add_time(out, (double)(job->choices->budget_ns / 2 / NOISE_RUNS) / 1e9);
    text_add(out, " each, medians ");
    add_time(out, f->least);
    text_add(out, " to ");
    add_time(out, f->most);
    text_add(out, "\n\nBoth hold for the margin of ");
    add_share(out, job->choices->margin);
    text_add(out, ", this budget, and the machine as it is now: run it beside what you compare.\n"
                  "For 'assay compare' and --baseline, whole runs differ by --noise ");
    add_share(out, expm1(f->between));
    text_add(out, " here, over some seconds; over hours it may be more.\n");
}

static bool print_json(const struct job *job, struct text *out, struct assay_error *error)
{
    const struct figures *f = &job->figures;
    struct text head = {0};
    add_head(job, &head);
    json_t *paired = json_null();
    if (f->has_paired)
        paired = json_pack("{s:f, s:f, s:f, s:f}", "smallest", f->paired.smallest, "ratio",
                           f->ratio.interval.estimate, "low", f->ratio.interval.low, "high",
                           f->ratio.interval.high);
    json_t *json = json_pack("{s:o, s:o, s:f, s:f, s:I, s:o, s:{s:f, s:f, s:I, s:f, s:f}}", "what",
                             json_clean_string(text_string(&head)), "device",
                             job->device ? json_incref(job->device) : json_null(), "budget_s",
                             (double)job->choices->budget_ns / 1e9, "margin", job->choices->margin,
                             "turns", (json_int_t)f->paired.count, "paired", paired, "unpaired",
                             "smallest", f->unpaired.smallest, "noise", expm1(f->between), "runs",
                             (json_int_t)NOISE_RUNS, "least_s", f->least, "most_s", f->most);
    bool good = json ? json_add_line(out, json, false, error)
                     : assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the report");
    text_add_char(out, '\n');
    json_decref(json);
    text_free(&head);
    return good;
}

/* For the runs to come. What cannot be kept is only said. */
static void keep(const struct job *job)
{
    const struct figures *f = &job->figures;
    struct assay_error error = {0};
    struct noise_figures figures = {.paired = f->paired.width,
                                    .unpaired = f->unpaired.width,
                                    .within = f->within,
                                    .run_ns = job->choices->budget_ns / 2 / NOISE_RUNS};
    if (job->device && f->has_paired && !job->choices->single.forget &&
        !noise_save(job->device, &figures, &error))
        fprintf(stderr, "assay: note: the figures are not kept: %s\n", error.text);
}

static int find_out(const struct noise_choices *choices)
{
    struct job job = {.choices = choices};
    struct assay_error error = {0};
    struct text out = {0};
    bool good = single_open(&job.single, &choices->single, &error) && make_plan(&job, &error) &&
                single_run(&job.single, &error) && conclude_paired(&job, &error) &&
                conclude_unpaired(&job, &error);
    if (good) {
        keep(&job);
        if (choices->single.json)
            good = print_json(&job, &out, &error);
        else
            print_table(&job, &out);
    }
    json_decref(job.device);
    single_close(&job.single);
    return single_answer(good, &out, &error);
}

static const struct arguments_option options[] = {
    {"budget", 0, "TIME",
     "sampling time altogether (5s); half of it for each of the two;\n"
     "warming up takes a quarter of it more at most"},
    {"workload", 0, "NAME", "what runs (copy, of 16 MiB within the device)"},
    {"set", 0, "NAME=VALUE", "a parameter of it: --set bytes=1MiB"},
    CHOICES_PLUGIN_ROW,
    SINGLE_DEVICE_ROW,
    {"margin", 0, "SHARE", "how far a ratio may be from 1 and still be the same (1%)"},
    {"seed", 0, "N", "of all random inputs (1)"},
    {"json", 0, NULL, "one JSON object"},
    {"forget", 0, NULL, "do not keep the figures for the notes of later runs"},
    {0},
};

static const struct arguments arguments = {
    .command = "noise",
    .usage = "[OPTION...]",
    .about =
        "Measures a thing against itself, here and now, and says the smallest change that can be "
        "decided\nwithin the budget: paired, when the two are taken in turn within one run (pair), "
        "and unpaired, when\nthey are whole runs at different times. A slow-down of that size is "
        "found in some 97 of 100 attempts.\nThe figures are kept by device and driver; 'assay run' "
        "points out what is asked for more closely.\n",
    .options = options,
    .min_words = 0,
    .max_words = 0,
    .take = take,
    .footer = "exit status\n"
              "  0  the figures are there\n"
              "  2  the command line is wrong\n"
              "  4  the measurement failed\n"
              "  5  nothing was measured: there is no device, or it cannot do this\n",
};

static int run(int argc, char **argv)
{
    struct noise_choices choices = {
        .single = {.seed = 1}, .budget_ns = DEFAULT_BUDGET_NS, .margin = RATIO_MARGIN};
    char **words;
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO) {
        single_catch_signals();
        status = find_out(&choices);
    }
    single_choices_free(&choices.single);
    return status;
}

const struct cli_command cli_noise = {"noise", "the smallest change that can be decided here", run};
