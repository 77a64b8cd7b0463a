/* SPDX-License-Identifier: MIT */
#include "report/view.h"

#include "base/json.h"
#include "base/units.h"
#include "result/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tally {
    size_t tests, failures, errors, skipped;
    int64_t time_us;
};

struct junit {
    struct view view;
    struct text suite, suites; /* bodies: their heads hold counts that are known last */
    struct tally of_suite, of_all;
    char *experiment;
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the JUnit report");
}

/* Not by printf("%f"): that would follow the locale, and schemas take no exponents. */
static void add_seconds(struct text *out, int64_t time_us)
{
    text_addf(out, "%lld.%06lld", (long long)(time_us / 1000000), (long long)(time_us % 1000000));
}

/* On one line: a parser may make a space of a newline in an attribute, and viewers show one line.
 */
static void add_attribute(struct text *out, const char *name, const char *value)
{
    struct text clean = {0};
    text_add_clean(&clean, value);
    text_addf(out, " %s=\"", name);
    report_add_escaped(out, text_string(&clean));
    text_add_char(out, '"');
    text_free(&clean);
}

static void add_tally(struct text *out, const struct tally *tally)
{
    text_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"", tally->tests,
              tally->failures, tally->errors);
    add_seconds(out, tally->time_us);
    text_add(out, "\"");
}

static void add_element(struct text *out, const char *name, const char *type, const char *message,
                        const char *body)
{
    text_addf(out, "      <%s", name);
    add_attribute(out, "message", message);
    if (type)
        add_attribute(out, "type", type);
    text_add_char(out, '>');
    report_add_escaped(out, body);
    text_addf(out, "</%s>\n", name);
}

/* What the verdicts of a chain make of a testcase. */
struct judged {
    struct text failed, noted; /* messages, one a line */
    size_t failures;
    const char *type; /* of the first failure */
    char *first;
};

static bool verdict_counts(const struct view *view, enum view_verdict verdict)
{
    return verdict == VIEW_FAIL || (verdict == VIEW_INCONCLUSIVE && view_inconclusive(view) != 0) ||
           (verdict == VIEW_NOT_JUDGED && view_no_skip(view));
}

static bool judge_chain(const struct view *view, size_t chain, struct judged *judged,
                        struct assay_error *error)
{
    *judged = (struct judged){0};
    for (uint32_t at = view->first[chain]; at; at = view->next[at - 1]) {
        json_t *verdict = journal_verdict(view->judgement, at - 1, error);
        if (!verdict)
            return false;
        enum view_verdict kind = view_verdict(verdict);
        const char *message = json_text(verdict, "message", "");
        bool counts = verdict_counts(view, kind);
        if (counts && judged->failures++ == 0) {
            judged->type = view_verdict_names[kind];
            judged->first = strdup(message);
        }
        text_addf(counts ? &judged->failed : &judged->noted, "%s: %s\n", view_verdict_names[kind],
                  message);
        json_decref(verdict);
    }
    return judged->failures == 0 || judged->first || no_memory(error);
}

static void judged_free(struct judged *judged)
{
    text_free(&judged->failed);
    text_free(&judged->noted);
    free(judged->first);
}

static int64_t case_time_us(const json_t *record)
{
    struct metric time;
    metric_from_json(json_object_get(record, "metrics"), "time", &time);
    double us = time.absent ? 0 : time.value * (double)time.n * 1e6;
    return us > 0 && us < 1e15 ? (int64_t)us : 0;
}

static void add_figures(struct text *out, const json_t *record)
{
    const json_t *metrics = json_object_get(record, "metrics");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)metrics, name, value)
    {
        struct metric metric;
        metric_from_json(metrics, name, &metric);
        text_addf(out, "%s ", name);
        metric_add(out, &metric);
        text_add_char(out, '\n');
    }
}

/* The failures of a pair group count once, at its first case. */
static void note_shared(struct junit *junit, size_t at, const json_t *record, struct judged *judged)
{
    bool shared;
    uint8_t worst = view_judged(&junit->view, at, record, &shared);
    if (shared)
        text_addf(&judged->noted,
                  "%s, as its pair group: the bounds stand at the group's first case\n",
                  view_verdict_names[worst]);
}

static void add_verification(struct text *body, const json_t *verification)
{
    const char *verdict = json_text(verification, "verdict", NULL);
    if (!verdict)
        return;
    text_addf(body, "verification %s", verdict);
    const json_t *error = json_object_get(verification, "error");
    if (json_is_number(error)) {
        text_add(body, ", error ");
        number_add(body, json_number_value(error));
    }
    text_add_char(body, '\n');
}

static void add_output(struct junit *junit, const json_t *record, const char *experiment,
                       const struct judged *judged)
{
    struct text body = {0};
    if (record) {
        text_addf(&body, "id %s\n", json_text(record, "id", ""));
        if (view_device(record))
            text_addf(&body, "device %s\n", view_device(record));
        const char *choice = json_text(json_object_get(record, "tuning"), "choice", NULL);
        if (choice)
            text_addf(&body, "choice %s\n", choice);
        add_verification(&body, json_object_get(record, "verification"));
        add_figures(&body, record);
    }
    text_add(&body, text_string(&judged->noted));
    text_add(&body, "repeat:");
    view_add_command(&junit->view, record, experiment, NULL, &body);
    text_add(&junit->suite, "      <system-out>");
    report_add_escaped(&junit->suite, text_string(&body));
    text_add(&junit->suite, "\n</system-out>\n");
    text_free(&body);
}

static void begin_testcase(struct junit *junit, const char *experiment, const char *name,
                           int64_t time_us)
{
    junit->of_suite.tests++;
    junit->of_suite.time_us += time_us;
    text_add(&junit->suite, "    <testcase");
    add_attribute(&junit->suite, "classname", experiment);
    add_attribute(&junit->suite, "name", name);
    text_add(&junit->suite, " time=\"");
    add_seconds(&junit->suite, time_us);
    text_add(&junit->suite, "\">\n");
}

static void add_failure(struct junit *junit, const struct judged *judged)
{
    if (judged->failures) {
        junit->of_suite.failures++;
        add_element(&junit->suite, "failure", judged->type, judged->first,
                    text_string(&judged->failed));
    }
}

static void add_status(struct junit *junit, const json_t *record, const struct judged *judged)
{
    const char *status = json_text(record, "status", "error");
    const char *reason = json_text(record, "reason", "no reason is recorded");
    if (strcmp(status, "done") == 0) {
        add_failure(junit, judged);
    } else if (strcmp(status, "skipped") != 0) {
        junit->of_suite.errors++;
        add_element(&junit->suite, "error", status, reason, reason);
    } else if (view_no_skip(&junit->view)) {
        junit->of_suite.failures++;
        add_element(&junit->suite, "failure", "skipped", reason, reason);
    } else {
        junit->of_suite.skipped++;
        add_element(&junit->suite, "skipped", NULL, reason, "");
    }
}

static void end_suite(struct junit *junit)
{
    if (!junit->experiment)
        return;
    text_add(&junit->suites, "  <testsuite");
    add_attribute(&junit->suites, "name", junit->experiment);
    add_tally(&junit->suites, &junit->of_suite);
    /* Not of all suites: the schema that Jenkins' xUnit plugin checks against refuses it there. */
    text_addf(&junit->suites, " skipped=\"%zu\"", junit->of_suite.skipped);
    const char *started = json_text(junit->view.run, "started", NULL);
    if (started) {
        /* The JUnit schema has local times without a zone. */
        struct text time = {0};
        text_add_bytes(&time, started, strcspn(started, "Z"));
        add_attribute(&junit->suites, "timestamp", text_string(&time));
        text_free(&time);
    }
    text_add(&junit->suites, ">\n");
    text_add(&junit->suites, text_string(&junit->suite));
    text_add(&junit->suites, "  </testsuite>\n");
    junit->of_all.tests += junit->of_suite.tests;
    junit->of_all.failures += junit->of_suite.failures;
    junit->of_all.errors += junit->of_suite.errors;
    junit->of_all.time_us += junit->of_suite.time_us;
    junit->of_suite = (struct tally){0};
    junit->suites.failed |= junit->suite.failed;
    text_clear(&junit->suite);
    free(junit->experiment);
    junit->experiment = NULL;
}

static bool begin_suite(struct junit *junit, const char *experiment, struct assay_error *error)
{
    if (junit->experiment && strcmp(junit->experiment, experiment) == 0)
        return true;
    end_suite(junit);
    junit->experiment = strdup(experiment);
    return junit->experiment || no_memory(error);
}

static bool add_case(struct junit *junit, size_t at, const json_t *record,
                     struct assay_error *error)
{
    const char *experiment = json_text(record, "experiment", "");
    struct judged judged;
    bool good = judge_chain(&junit->view, at, &judged, error) &&
                begin_suite(junit, experiment, error);
    if (good) {
        struct text label = {0};
        note_shared(junit, at, record, &judged);
        view_add_label(&junit->view, record, &label);
        begin_testcase(junit, experiment, text_string(&label), case_time_us(record));
        text_free(&label);
        add_status(junit, record, &judged);
        add_output(junit, record, experiment, &judged);
        text_add(&junit->suite, "    </testcase>\n");
    }
    judged_free(&judged);
    return good;
}

/* The summaries' verdicts, by experiment, stand in a suite of their own: they come after all cases.
 */
static bool add_summaries(struct junit *junit, struct assay_error *error)
{
    const struct view *view = &junit->view;
    size_t chain = view->case_count;
    for (uint32_t at = view->first[chain]; at; at = view->next[at - 1]) {
        json_t *verdict = journal_verdict(view->judgement, at - 1, error);
        if (!verdict || !begin_suite(junit, "summary", error)) {
            json_decref(verdict);
            return false;
        }
        const char *experiment = json_text(verdict, "experiment", "");
        const char *message = json_text(verdict, "message", "");
        enum view_verdict kind = view_verdict(verdict);
        struct text name = {0};
        text_addf(&name, "%s:%lld: %s", json_text(verdict, "script", ""),
                  (long long)json_whole(verdict, "line", 0), json_text(verdict, "bound", ""));
        begin_testcase(junit, experiment, text_string(&name), 0);
        text_free(&name);
        struct judged judged = {0};
        if (verdict_counts(view, kind)) {
            junit->of_suite.failures++;
            add_element(&junit->suite, "failure", view_verdict_names[kind], message, message);
        } else if (kind == VIEW_NOT_JUDGED) {
            junit->of_suite.skipped++;
            add_element(&junit->suite, "skipped", NULL, message, "");
        } else {
            text_addf(&judged.noted, "%s: %s\n", view_verdict_names[kind], message);
        }
        add_output(junit, NULL, experiment, &judged);
        judged_free(&judged);
        text_add(&junit->suite, "    </testcase>\n");
        json_decref(verdict);
    }
    return true;
}

static bool add_cases(struct junit *junit, struct assay_error *error)
{
    for (size_t i = 0; i < junit->view.case_count; i++) {
        json_t *record = journal_case(junit->view.results, i, error);
        bool good = record && add_case(junit, i, record, error);
        json_decref(record);
        if (!good)
            return false;
    }
    return add_summaries(junit, error);
}

/* The run as a testcase in error: no case of its can tell. */
static bool add_run_error(struct junit *junit, const char *type, const char *message,
                          struct assay_error *error)
{
    if (!begin_suite(junit, "run", error))
        return false;
    begin_testcase(junit, "run", "run", 0);
    junit->of_suite.errors++;
    add_element(&junit->suite, "error", type, message, message);
    text_add(&junit->suite, "    </testcase>\n");
    return true;
}

/* A run that left cases out, or whose judging failed, must not pass for what it did. */
static bool add_end(struct junit *junit, struct assay_error *error)
{
    const json_t *end = junit->view.end;
    const char *said = json_text(end, "error", NULL);
    bool interrupted = json_flag(end, "interrupted", false);
    int64_t missing = json_whole(json_object_get(end, "cases"), "missing", 0);
    if (end && !said && !interrupted && missing == 0)
        return true;
    if (said)
        return add_run_error(junit, "script error", said, error);
    const char *type = !end ? "unfinished" : interrupted ? "interrupted" : "incomplete";
    struct text message = {0};
    text_add(&message, type);
    if (!end)
        text_add(&message, ": the journal holds no end of the run");
    else if (missing)
        text_addf(&message, ": %lld case%s not run", (long long)missing, missing == 1 ? "" : "s");
    bool good = add_run_error(junit, type, text_string(&message), error);
    text_free(&message);
    return good;
}

/* Writes the document and frees what it was made of. */
static bool junit_finish(struct junit *junit, bool good, struct text *out,
                         struct assay_error *error)
{
    end_suite(junit);
    if (good) {
        text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"assay\"");
        add_tally(out, &junit->of_all);
        text_add(out, ">\n");
        text_add(out, text_string(&junit->suites));
        text_add(out, "</testsuites>\n");
        good = (!out->failed && !junit->suite.failed && !junit->suites.failed) || no_memory(error);
    }
    free(junit->experiment);
    text_free(&junit->suite);
    text_free(&junit->suites);
    return good;
}

bool report_junit(const struct report_source *source, struct text *out, struct assay_error *error)
{
    struct junit junit = {0};
    if (!view_open(source, &junit.view, error))
        return false;
    bool good = add_cases(&junit, error) && add_end(&junit, error);
    good = junit_finish(&junit, good, out, error);
    view_close(&junit.view);
    return good;
}

bool report_junit_failure(const char *reason, struct text *out, struct assay_error *error)
{
    struct junit junit = {0};
    bool good = add_run_error(&junit, "error", reason, error);
    return junit_finish(&junit, good, out, error);
}
