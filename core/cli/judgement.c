/* SPDX-License-Identifier: MIT */
#include "cli/judgement.h"

#include "base/json.h"
#include "base/os.h"
#include "cli/cli.h"
#include "cli/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A journal for this judgement alone, where the real one must not change. */
struct scratch {
    struct text directory;
    struct text path;
    struct journal_writer *writer;
};

static void scratch_close(struct scratch *scratch)
{
    journal_writer_destroy(&scratch->writer);
    if (scratch->path.length)
        unlink(text_string(&scratch->path));
    if (scratch->directory.length)
        rmdir(text_string(&scratch->directory));
    text_free(&scratch->directory);
    text_free(&scratch->path);
}

static bool scratch_open(struct scratch *scratch, const json_t *run, struct assay_error *error)
{
    *scratch = (struct scratch){0};
    if (!os_make_temporary(&scratch->directory, error))
        return false;
    os_path_join(&scratch->path, text_string(&scratch->directory), "verdicts.jsonl");
    scratch->writer = journal_create(text_string(&scratch->path), error);
    if (scratch->writer && journal_append_json(scratch->writer, run, error))
        return true;
    scratch_close(scratch);
    return false;
}

static json_t *end_record(const struct judgement_params *params, int64_t number,
                          const struct judge_counts *n, int status,
                          const struct assay_error *script_error)
{
    const char *inconclusive = choices_output_inconclusive(params->output);
    const char *text = script_error->status ? script_error->text : NULL;
    return json_pack(
        "{s:s, s:I, s:i, s:b, s:o, s:{s:b, s:s?}, s:{s:I, s:I, s:I, s:I}, s:{s:I, s:I, s:I, s:I}}",
        "kind", "end", "judgement", (json_int_t)number, "exit", status, "interrupted",
        params->signal != 0, "error", text ? json_clean_string(text) : json_null(), "policy",
        "no_skip", (int)params->output->policy.no_skip, "inconclusive", inconclusive, "cases",
        "done", (json_int_t)n->done, "skipped", (json_int_t)n->skipped, "errors",
        (json_int_t)n->errors, "missing", (json_int_t)n->missing, "bounds", "pass",
        (json_int_t)n->passed, "fail", (json_int_t)n->failed, "inconclusive",
        (json_int_t)n->inconclusive, "not judged", (json_int_t)n->not_judged);
}

/* Judges what `reader` holds into `out`; *status gets the exit status. False: the records could not
 * be written. A script's error is a status, not a failure here. */
static bool judge_into(const struct judgement_params *params, struct journal_reader *reader,
                       struct journal_writer *out, int *status, struct assay_error *error)
{
    struct judge_script closures;
    struct judge_counts counts;
    struct assay_error judged = {0};
    script_set_peaks(params->script, journal_peaks(reader));
    script_judge(params->script, &closures);
    closures.outside = params->outside ? params->outside->first : NULL;
    *status = CLI_CASE_ERROR;
    script_hold_watchdog(params->script, true);
    bool done = judge_run(script_plan(params->script), reader, &closures, out, &counts, &judged);
    script_hold_watchdog(params->script, false);
    if (done) {
        *status = judge_exit_status(&counts, &params->output->policy);
        /* A run that ended early must not pass for what it left out. */
        if (counts.missing && *status != CLI_USAGE && *status != CLI_NOTHING_MEASURED)
            *status = CLI_CASE_ERROR;
    } else if (judged.status == ASSAY_SYSTEM || judged.status == ASSAY_OUT_OF_MEMORY) {
        *error = judged;
        return false;
    } else {
        *status = cli_error(&judged);
    }
    *status = params->signal ? 128 + params->signal : *status;
    if (params->outside && !judged.status)
        outside_tell(params->outside, journal_run(reader));
    json_t *end = end_record(params, judge_number(reader), &counts, *status, &judged);
    if (end && params->outside &&
        !outside_add_policy(params->outside, params->output, json_object_get(end, "policy"))) {
        json_decref(end);
        end = NULL;
    }
    bool good = end ? journal_gather(out, true, error) && journal_append_json(out, end, error) &&
                          journal_gather(out, false, error)
                    : assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the end record");
    json_decref(end);
    return good && journal_sync(out, error);
}

static bool write_file(const char *path, struct text *text, struct assay_error *error)
{
    return os_file_write_atomic(path, text_string(text), text->length, error);
}

static bool write_junit(const struct judgement_params *params, const struct report_source *source,
                        struct assay_error *error)
{
    struct text text = {0};
    bool good = report_junit(source, &text, error) &&
                write_file(params->output->junit, &text, error);
    text_free(&text);
    return good;
}

static bool write_trace(const struct judgement_params *params, const struct report_source *source,
                        struct assay_error *error)
{
    struct text text = {0};
    bool good = report_trace(source, &text, error) &&
                write_file(params->output->trace, &text, error);
    text_free(&text);
    return good;
}

static bool write_json(const struct judgement_params *params, const struct report_source *source,
                       struct text *out, struct assay_error *error)
{
    if (strcmp(params->output->json, "-") == 0)
        return report_json(source, out, error);
    struct text text = {0};
    bool good = report_json(source, &text, error) && write_file(params->output->json, &text, error);
    text_free(&text);
    return good;
}

/* Prints what was asked for; a report that fails does not keep the others back. */
static int report_all(const struct judgement_params *params, const struct report_source *source,
                      int status)
{
    const struct choices_output *output = params->output;
    struct report_style style = choices_output_style(output);
    struct text out = {0};
    struct assay_error errors[4] = {{0}};
    style.script = params->script_path;
    if (output->json)
        write_json(params, source, &out, &errors[0]);
    if (!output->json || strcmp(output->json, "-") != 0)
        report_table(source, &style, &out, &errors[1]);
    if (output->junit)
        write_junit(params, source, &errors[2]);
    if (output->trace)
        write_trace(params, source, &errors[3]);
    status = cli_finish(&out, status);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].status) {
            cli_error(&errors[i]);
            status = status == CLI_PASS ? CLI_USAGE : status;
        }
    }
    return status;
}

static int judgement_fail(const struct judgement_params *params, const struct assay_error *error)
{
    int status = cli_error(error);
    failure_write(params->output, error->text, status);
    return status;
}

/* A script that can only be stopped by ending the process leaves these behind. */
static bool expect_failure(const struct judgement_params *params, struct assay_error *error)
{
    struct text text = {0};
    text_addf(&text, "what was measured is in %s; 'assay check %s %s' judges it again",
              params->journal, params->journal, params->script_path);
    script_add_last_words(params->script, text_string(&text));
    text_clear(&text);
    text_addf(&text,
              "the judging did not end: its process was ended, by the script's deadline or by a "
              "signal; 'assay check %s %s' judges again",
              params->journal, params->script_path);
    bool good = failure_expect(params->output, text_string(&text), error);
    text_free(&text);
    return good;
}

static int judge_apart(const struct judgement_params *params, struct journal_reader *reader)
{
    struct assay_error error = {0};
    struct scratch scratch;
    struct journal_reader *verdicts = NULL;
    int status;
    if (!scratch_open(&scratch, journal_run(reader), &error))
        return judgement_fail(params, &error);
    if (judge_into(params, reader, scratch.writer, &status, &error))
        verdicts = journal_read(text_string(&scratch.path), &error);
    if (verdicts) {
        struct report_source source = {reader, verdicts, params->journal};
        status = report_all(params, &source, status);
    } else {
        status = judgement_fail(params, &error);
    }
    journal_reader_destroy(&verdicts);
    scratch_close(&scratch);
    return status;
}

/* Judges into the journal itself and reads on, for the verdicts. */
static int judge_within(const struct judgement_params *params, struct journal_reader *reader)
{
    struct assay_error error = {0};
    int status = CLI_CASE_ERROR;
    if (!judge_into(params, reader, params->writer, &status, &error)) {
        /* A full disk: what was measured is still worth its verdict, on the screen at least. */
        fprintf(stderr, "assay: the verdicts are only printed: %s\n", error.text);
        status = judge_apart(params, reader);
        return status == CLI_PASS ? CLI_CASE_ERROR : status;
    }
    if (!journal_read_on(reader, &error))
        return judgement_fail(params, &error);
    struct report_source source = {reader, NULL, params->journal};
    return report_all(params, &source, status);
}

int judgement_run(const struct judgement_params *params)
{
    struct assay_error error = {0};
    struct journal_reader *own = NULL, *reader = params->reader;
    int status;
    bool good = expect_failure(params, &error);
    if (good && !reader)
        reader = own = journal_read(params->journal, &error);
    if (!good || !reader)
        status = judgement_fail(params, &error);
    else if (params->writer)
        status = judge_within(params, reader);
    else
        status = judge_apart(params, reader);
    journal_reader_destroy(&own);
    return status;
}
