/* SPDX-License-Identifier: MIT */
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/failure.h"
#include "cli/judgement.h"
#include "cli/noise_notes.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/record.h"
#include "cli/selection.h"
#include "cli/session.h"
#include "cli/watch.h"

#include "base/clock.h"
#include "base/os.h"
#include "judge/peaks.h"
#include "script/serve.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run_choices {
    struct choices_plan plan;
    struct choices_output output;
    const char *directory, *deadline;
    int64_t deadline_ns;
    enum progress_choice progress;
    bool quick, validate, require_served, watch, perturb;
    int64_t perturb_seed;
};

/* What a run holds on to. */
struct run {
    const struct run_choices *choices;
    int argc;
    char **argv;
    const char *path, *directory; /* directory NULL: none given */
    struct watch *watch;
    struct output output;
    struct session session;
    struct script *script;
    struct outside outside;
    json_t *found;
    struct journal_writer *journal;
    struct progress progress;
    struct supervisor_events shown; /* progress's own */
    json_t *peaks;                  /* records, one a device */
    struct assay_error peaks_error;
};

#define SECOND_SIGNAL_NS INT64_C(1000000000)

static volatile int interrupted; /* the first signal's number */
static volatile int64_t interrupted_ns;

/* The first signal ends the run in order. One that comes a while after it has its usual effect: the
 * worker dies with us, the journal is whole. Those in between are the first once more: `timeout`
 * signals its child and then the child's whole group. */
static void interrupt(int signal_number)
{
    int64_t now = clock_now(clock_monotonic());
    if (!interrupted) {
        interrupted_ns = now;
        interrupted = signal_number;
    } else if (now - interrupted_ns >= SECOND_SIGNAL_NS) {
        signal(signal_number, SIG_DFL);
        raise(signal_number); /* once this handler has returned */
    }
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct run_choices *choices = user;
    if (strcmp(name, "output") == 0) {
        choices->directory = value;
    } else if (strcmp(name, "deadline") == 0) {
        choices->deadline = value;
        return arguments_time(name, value, &choices->deadline_ns, error);
    } else if (strcmp(name, "quick") == 0) {
        choices->quick = true;
    } else if (strcmp(name, "perturb") == 0) {
        choices->perturb = true;
        return arguments_whole(name, value, 0, INT64_MAX, &choices->perturb_seed, error);
    } else if (strcmp(name, "validate") == 0) {
        choices->validate = true;
    } else if (strcmp(name, "require-served") == 0) {
        choices->require_served = true;
    } else if (strcmp(name, "watch") == 0) {
        choices->watch = true;
    } else if (strcmp(name, "progress") == 0) {
        choices->progress = PROGRESS_ON;
    } else if (strcmp(name, "no-progress") == 0) {
        choices->progress = PROGRESS_OFF;
    } else {
        return choices_take(&choices->plan, &choices->output, name, value, error);
    }
    return true;
}

/* `script`: what defines workloads, once that is known. */
static bool configure_worker(struct run *run, const json_t *script, struct assay_error *error)
{
    struct text beside = {0}, shaders = {0};
    os_path_directory(&beside, run->path);
    bool good = os_shader_directory(&shaders, error);
    if (good) {
        const char *directories[] = {text_string(&beside), text_string(&shaders), NULL};
        struct supervisor_params params = {
            .log_path = text_string(&run->output.log),
            .validate = run->choices->validate,
            .trace = run->choices->output.trace != NULL,
            .quick = run->choices->quick,
            .perturb = run->choices->perturb,
            .perturb_seed = run->choices->perturb_seed,
            .deadline_ns = run->choices->deadline_ns,
            .shader_directories = directories,
            .script = script,
        };
        good = run->session.supervisor
                   ? supervisor_configure(run->session.supervisor, &params, error)
                   : session_open(&run->session, &params,
                                  arguments_list_items(&run->choices->plan.plugins), error);
    }
    text_free(&beside);
    text_free(&shaders);
    return good;
}

static bool load_plan(struct run *run, struct assay_error *error)
{
    watch_files(run->watch, run->session.files);
    run->script = choices_plan_load(&run->choices->plan, run->path, run->session.catalog, error);
    if (!run->script)
        return false;
    json_t *sent = script_sent(run->script, error);
    bool good = error->status == ASSAY_OK && (!sent || configure_worker(run, sent, error));
    json_decref(sent);
    if (!good)
        return false;
    struct plan *plan = script_plan(run->script);
    if (plan_selected_count(plan) == 0) {
        return assay_fail(error, ASSAY_NO_DEVICE,
                          "nothing was measured: --filter leaves none of the script's %zu "
                          "case%s; 'assay list %s' shows them",
                          plan->case_count, plan->case_count == 1 ? "" : "s", run->path);
    }
    return true;
}

/* Bounds from outside the script are looked at while its cases are sampled, as its checks are. */
static bool open_outside(struct run *run, struct assay_error *error)
{
    struct plan *plan = script_plan(run->script);
    if (!outside_open(&run->outside, &run->choices->output, plan, error))
        return false;
    for (size_t i = 0; run->outside.first && i < plan->experiment_count; i++)
        plan->experiments[i].looks = !plan->experiments[i].is_peaks || plan->experiments[i].looks;
    return true;
}

static bool refuse_unserved(const json_t *found, struct assay_error *error)
{
    struct text lines = {0};
    selection_add_unserved(found, "  ", &lines);
    assay_fail(error, ASSAY_NO_DEVICE,
               "nothing was measured, since a GPU would be passed over; --device cpu measures the "
               "CPU all the same:\n%.*s",
               lines.length ? (int)lines.length - 1 : 0, text_string(&lines));
    text_free(&lines);
    return false;
}

/* Before anything runs: which device is it, and which GPU is not seen? */
static bool choose_devices(struct run *run, struct assay_error *error)
{
    struct plan *plan = script_plan(run->script);
    struct text said = {0}, unserved = {0};
    struct judge_script closures;
    bool only_cpu = false;
    if (!selection_needs_device(plan))
        return true;
    run->found = supervisor_devices(run->session.supervisor, error);
    if (!run->found)
        return false;
    size_t missing = selection_add_unserved(run->found, "assay: warning: ", &unserved);
    bool good = selection_resolve(plan, run->found, &said, &only_cpu, error);
    if (missing && run->choices->require_served && !only_cpu) {
        *error = (struct assay_error){0};
        good = refuse_unserved(run->found, error);
    } else {
        fputs(text_string(&unserved), stderr);
    }
    if (good) {
        fputs(text_string(&said), stderr);
        selection_fit_peaks(plan, run->found);
        script_judge(run->script, &closures);
        noise_point_out(plan, run->found, &run->outside, &run->choices->output, &closures);
    }
    text_free(&said);
    text_free(&unserved);
    return good;
}

static bool begin_journal(struct run *run, struct assay_error *error)
{
    struct record_params params = {
        .argc = run->argc,
        .argv = run->argv,
        .choices = &run->choices->plan,
        .deadline = run->choices->deadline,
        .quick = run->choices->quick,
        .validate = run->choices->validate,
        .script = run->script,
        .found = run->found,
        .plugins = run->session.plugins,
        .sensors = run->session.sensors,
    };
    json_t *record = record_run(&params, error);
    if (!record)
        return false;
    run->journal = journal_create(text_string(&run->output.journal), error);
    bool good = run->journal && journal_append_json(run->journal, record, error);
    json_decref(record);
    return good;
}

/* Runs the script's check on what is there so far. */
static bool wants_more(void *user, const struct plan *plan, const struct plan_case *const *items,
                       size_t count, json_t *const *cases, json_t *const *samples)
{
    const struct judge_script *closures = user;
    struct lazy **records = calloc(count, sizeof(struct lazy *));
    bool good = records != NULL, more = false;
    (void)plan; /* the script's */
    for (size_t i = 0; good && i < count; i++) {
        records[i] = lazy_create_tree(cases[i], NULL);
        good = records[i] != NULL;
    }
    struct judge_group group = {
        .items = items, .count = count, .records = records, .samples = samples};
    if (good) /* else what there is has to do */
        more = judge_look(&group, closures);
    for (size_t i = 0; records && i < count; i++)
        lazy_destroy(&records[i]);
    free(records);
    return more;
}

static void started(void *user, const struct plan *plan, const struct plan_case *item, size_t index,
                    size_t total)
{
    struct run *run = user;
    run->shown.started(run->shown.user, plan, item, index, total);
}

static bool is_last(const struct plan *plan, const struct plan_case *item)
{
    const struct plan_experiment *experiment = &plan->experiments[item->experiment];
    size_t end = experiment->first_case + experiment->case_count;
    for (size_t i = (size_t)(item - plan->cases) + 1; i < end; i++)
        if (plan->cases[i].selected)
            return false;
    return true;
}

/* A case by which peaks are measured: behind the last of a device stands its record. */
static bool take_peak(struct run *run, const struct plan *plan, const struct plan_case *item,
                      const json_t *record, struct assay_error *error)
{
    size_t first = plan->experiments[item->experiment].first_case, count = 0;
    if (!run->peaks)
        run->peaks = json_array();
    /* The record of this experiment is the last one unless its first case just ended. */
    for (size_t i = first; plan->cases + i <= item; i++)
        count += plan->cases[i].selected;
    if (count == 1 && json_array_append_new(run->peaks, peaks_record(item->device)) != 0)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the record of peaks");
    json_t *peaks = json_array_get(run->peaks, json_array_size(run->peaks) - 1);
    if (!peaks_add(peaks, record, error))
        return false;
    if (!is_last(plan, item))
        return true;
    script_set_peaks(run->script, run->peaks);
    return peaks_finish(peaks, error) && journal_append_json(run->journal, peaks, error);
}

static void ended(void *user, const struct plan *plan, const struct plan_case *item,
                  const json_t *record)
{
    struct run *run = user;
    if (plan->experiments[item->experiment].is_peaks && !run->peaks_error.status)
        take_peak(run, plan, item, record, &run->peaks_error);
    watch_case(run->watch, record);
    run->shown.ended(run->shown.user, plan, item, record);
}

/* Measures and judges, once everything is there. */
static int measure(struct run *run)
{
    struct plan *plan = script_plan(run->script);
    struct assay_error error = {0};
    progress_init(&run->progress, run->choices->progress, plan_selected_count(plan));
    struct supervisor_events events = {.user = run, .started = started, .ended = ended};
    run->shown = progress_events(&run->progress);
    struct judge_script closures;
    script_judge(run->script, &closures);
    closures.outside = run->outside.first;
    events.wants_more = wants_more;
    events.judge_user = &closures;
    bool good = supervisor_run(run->session.supervisor, plan, run->journal, &events, &interrupted,
                               &error);
    progress_clear(&run->progress);
    if (good && run->peaks_error.status) {
        error = run->peaks_error;
        good = false;
    }
    if (!good) {
        fprintf(stderr,
                "assay: the run ends here: %s\nassay: %zu of %zu cases are kept in %s; "
                "'assay check %s %s' judges them\n",
                error.text, run->progress.ended, plan_selected_count(plan),
                text_string(&run->output.journal), text_string(&run->output.journal), run->path);
        failure_write(&run->choices->output, error.text, CLI_CASE_ERROR);
        return CLI_CASE_ERROR;
    }
    struct judgement_params params = {
        .journal = text_string(&run->output.journal),
        .writer = run->journal,
        .script = run->script,
        .script_path = run->path,
        .output = &run->choices->output,
        .outside = &run->outside,
        .signal = interrupted,
    };
    return judgement_run(&params);
}

static int fail_early(const struct run *run, const struct assay_error *error)
{
    int status = cli_error(error);
    failure_write(&run->choices->output, error->text, status);
    return status;
}

static int run_script(struct run *run)
{
    static const char killed[] = "the run did not end: its process was killed, or it crashed; "
                                 "'assay check' judges what its journal holds";
    const struct choices_output *reports = &run->choices->output;
    struct assay_error error = {0};
    if (!choices_check_path(run->path, &error) ||
        (run->directory && !choices_check_path(run->directory, &error)) ||
        !output_prepare(&run->output, run->directory, run->path, &error))
        return fail_early(run, &error);
    int status;
    if (choices_output_check(reports, &error) && failure_expect(reports, killed, &error) &&
        configure_worker(run, NULL, &error) && load_plan(run, &error) &&
        open_outside(run, &error) && choose_devices(run, &error) && begin_journal(run, &error))
        status = measure(run);
    else
        status = fail_early(run, &error);
    session_close(&run->session);
    if (!run->journal)
        output_discard(&run->output);
    journal_writer_destroy(&run->journal);
    outside_close(&run->outside);
    script_destroy(&run->script);
    json_decref(run->found);
    json_decref(run->peaks);
    output_free(&run->output);
    return status;
}

static const struct arguments_option options[] = {
    {"output", 'o', "DIR",
     "where journal.jsonl and worker.log go (assay-out/SCRIPT-TIME); a\n"
     "directory that holds a journal is refused"},
    CHOICES_PLAN_ROWS,
    {"quick", 0, NULL, "measure less: a tenth of each case's time"},
    {"perturb", 0, "SEED",
     "verify batches in flight again, with delays between stages and queues\n"
     "that follow from the seed: missing waits come to light"},
    {"validate", 0, NULL,
     "turn on the Vulkan validation layers, synchronisation and accesses of\n"
     "shaders included; a message fails the case"},
    {"deadline", 0, "TIME", "of each case, after which its worker is killed (60s)"},
    {"require-served", 0, NULL,
     "fail when the PCI bus shows a GPU that no Vulkan driver serves,\n"
     "unless the device is said to be the CPU"},
    {"watch", 0, NULL,
     "run again when the script, a module or a shader of it changes, each\n"
     "time with a journal of its own (DIR/run-N); Ctrl-C ends it"},
    CHOICES_BOUNDS_ROWS,
    CHOICES_OUTPUT_ROWS,
    {"progress", 0, NULL, "a line for each case, when not on a terminal"},
    {"no-progress", 0, NULL, "no progress"},
    {0},
};

static const struct arguments arguments = {
    .command = "run",
    .usage = "SCRIPT [OPTION...]",
    .about =
        "Runs the experiments of a script, judges their checks and prints the tables. All that "
        "was\nmeasured is in the journal; 'assay check' judges it again later.\n",
    .options = options,
    .min_words = 1,
    .max_words = 1,
    .take = take,
    .footer = CLI_STATUS_HELP,
};

/* Once, or again and again until a signal comes. */
static int run_all(struct run_choices *choices, int argc, char **argv, const char *path)
{
    struct watch watch = {0};
    struct assay_error error = {0};
    int status = CLI_PASS;
    choices->plan.reads = watch_read;
    choices->plan.reads_user = &watch;
    if (choices->watch && !watch_open(&watch, &error))
        return cli_error(&error);
    do {
        struct run job = {
            .choices = choices, .argc = argc, .argv = argv, .path = path, .watch = &watch};
        job.directory = watch_begin(&watch, choices->directory);
        if (choices->output.thresholds)
            watch_read(&watch, choices->output.thresholds);
        status = run_script(&job);
    } while (choices->watch && watch_next(&watch, &interrupted, &error));
    if (error.status)
        status = cli_error(&error);
    else if (choices->watch)
        status = 128 + interrupted;
    watch_close(&watch);
    return status;
}

static int run(int argc, char **argv)
{
    struct run_choices choices = {0};
    char **words;
    choices_plan_init(&choices.plan);
    choices_output_init(&choices.output);
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO) {
        catch_signals();
        status = run_all(&choices, argc, argv, words[0]);
    }
    choices_plan_free(&choices.plan);
    return status;
}

const struct cli_command cli_run = {"run", "run a script, judge its checks", run};
