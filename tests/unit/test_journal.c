/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/os.h"
#include "result/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN "{\"kind\":\"run\",\"format\":1}\n"

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/assay-test-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/journal.jsonl", folder);
    return 0;
}

static int drop_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

static void write_file(const char *bytes)
{
    struct assay_error error = {0};
    assert_true(os_file_write_atomic(path, bytes, strlen(bytes), &error));
}

/* What the file holds, seals aside. */
static void file_is(const char *wanted)
{
    static const char mark[] = ",\"seal\":\"0123456789abcdef\"";
    struct text text = {0};
    struct assay_error error = {0};
    assert_true(os_file_read(path, 1 << 20, &text, &error));
    for (char *seal; text.length && (seal = strstr(text.data, ",\"seal\":"));)
        memmove(seal, seal + strlen(mark), strlen(seal + strlen(mark)) + 1);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static struct journal_reader *readable(void)
{
    struct assay_error error = {0};
    struct journal_reader *reader = journal_read(path, &error);
    if (!reader)
        fail_msg("%s", error.text);
    return reader;
}

static void id_of(int number, char hex[HASH_HEX_BYTES])
{
    struct hash128 id = hash_bytes(&number, sizeof number);
    hash_hex(&id, hex);
}

static void add(struct text *text, const char *kind, int id, const char *more)
{
    char hex[HASH_HEX_BYTES];
    id_of(id, hex);
    text_addf(text, "{\"kind\":\"%s\",\"id\":\"%s\"%s}\n", kind, hex, more);
}

static void writes(void **state)
{
    (void)state;
    struct assay_error error = {0};
    snprintf(path, sizeof path, "%s/new/deep/journal.jsonl", folder);
    struct journal_writer *journal = journal_create(path, &error);
    assert_non_null(journal);
    json_t *run = json_pack("{s:s, s:i}", "kind", "run", "format", 1);
    assert_true(journal_append_json(journal, run, &error));
    json_decref(run);
    assert_true(journal_append(journal, "{\"kind\":\"x\"}", 12, &error));
    assert_false(journal_append(journal, "a\nb", 3, &error));
    assert_int_equal(error.status, ASSAY_INTERNAL);
    error = (struct assay_error){0};
    assert_true(journal_sync(journal, &error));
    assert_null(journal_open(path, &error)); /* one writer at a time */
    assert_non_null(strstr(error.text, "is being written by another run"));
    journal_writer_destroy(&journal);
    journal_writer_destroy(&journal);
    file_is("{\"kind\":\"run\",\"format\":1}\n{\"kind\":\"x\"}\n");
    error = (struct assay_error){0};
    assert_null(journal_create(path, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%s exists already; choose another directory with -o", path);
    assert_string_equal(error.text, wanted);
}

static void cuts_unfinished_tails(void **state)
{
    (void)state;
    struct assay_error error = {0};
    write_file(RUN "{\"kind\":\"case\",\"id\":\"12");
    struct journal_writer *journal = journal_open(path, &error);
    assert_non_null(journal);
    assert_true(journal_append(journal, "{}", 2, &error));
    journal_writer_destroy(&journal);
    file_is(RUN "{}\n");
    /* A tail longer than a block. */
    char *tail = malloc(10001);
    memset(tail, 'x', 10000);
    tail[10000] = '\0';
    struct text text = {0};
    text_addf(&text, RUN "%s", tail);
    write_file(text_string(&text));
    journal = journal_open(path, &error);
    assert_non_null(journal);
    journal_writer_destroy(&journal);
    file_is(RUN);
    /* What is no journal stays as it is. */
    write_file(tail);
    assert_null(journal_open(path, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    file_is(tail);
    text_free(&text);
    free(tail);
    error = (struct assay_error){0};
    assert_null(journal_open("/nonexistent/journal.jsonl", &error));
    assert_string_equal(error.text,
                        "cannot write /nonexistent/journal.jsonl: No such file or directory");
}

/* A limit on the size of files stands for the full disk: the record is cut off again. */
static void full_disk(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct journal_writer *journal = journal_create(path, &error);
    assert_non_null(journal);
    assert_true(journal_append(journal, "{\"kind\":\"run\",\"format\":1}", 25, &error));
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 70;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bool good = journal_append(journal, "{\"kind\":\"case\",\"id\":\"too long\"}", 31, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(good);
    assert_int_equal(error.status, ASSAY_SYSTEM);
    char wanted[256];
    snprintf(wanted, sizeof wanted, "cannot write %s: File too large", path);
    assert_string_equal(error.text, wanted);
    file_is(RUN);
    error = (struct assay_error){0};
    assert_true(journal_append(journal, "{}", 2, &error));
    journal_writer_destroy(&journal);
    file_is(RUN "{}\n");
}

static void unwritable(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assert_null(journal_create("/proc/assay/journal.jsonl", &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, "cannot make directory /proc/assay: No such file or directory");
    write_file("plain");
    char below[160];
    snprintf(below, sizeof below, "%s/journal.jsonl", path);
    error = (struct assay_error){0};
    assert_null(journal_create(below, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
}

static void case_has(struct journal_reader *reader, size_t index, int mark, int sample)
{
    struct assay_error error = {0};
    json_t *record = journal_case(reader, index, &error);
    assert_int_equal(json_whole(record, "mark", -1), mark);
    json_decref(record);
    json_t *samples = journal_samples(reader, index, &error);
    assert_int_equal(json_whole(samples, "s", -1), sample);
    json_decref(samples);
    assert_int_equal(error.status, ASSAY_OK);
}

static void indexes(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, RUN);
    add(&text, "samples", 1, ",\"s\":1");
    add(&text, "case", 1, ",\"mark\":1");
    add(&text, "samples", 2, ",\"s\":2");
    add(&text, "samples", 3, ",\"s\":3");
    add(&text, "case", 3, ",\"mark\":3");
    add(&text, "case", 2, ",\"mark\":2");
    add(&text, "case", 4, ",\"mark\":4");
    add(&text, "samples", 5, ",\"s\":5"); /* its case never came */
    add(&text, "samples", 3, ",\"s\":33");
    add(&text, "case", 3, ",\"mark\":33"); /* the last counts, in the old place */
    add(&text, "case", 1, ",\"mark\":11"); /* failed when it ran again: no samples */
    write_file(text_string(&text));
    text_free(&text);
    struct journal_reader *reader = readable();
    assert_int_equal(journal_case_count(reader), 4);
    assert_int_equal(journal_damaged_count(reader), 0);
    case_has(reader, 0, 11, -1);
    case_has(reader, 1, 33, 33);
    case_has(reader, 2, 2, 2);
    case_has(reader, 3, 4, -1);
    int number = 2;
    struct hash128 id = hash_bytes(&number, sizeof number);
    assert_int_equal(journal_case_find(reader, &id), 2);
    number = 5;
    id = hash_bytes(&number, sizeof number);
    assert_int_equal(journal_case_find(reader, &id), -1);
    number = 6;
    id = hash_bytes(&number, sizeof number);
    assert_int_equal(journal_case_find(reader, &id), -1);
    assert_null(journal_case(reader, 4, NULL));
    assert_null(journal_end(reader));
    assert_int_equal(json_whole(journal_run(reader), "format", 0), 1);
    journal_reader_destroy(&reader);
    journal_reader_destroy(&reader);
}

/* Any order of members and any spaces are JSON too. */
static void reads_what_others_wrote(void **state)
{
    (void)state;
    struct text text = {0};
    char hex[HASH_HEX_BYTES];
    id_of(1, hex);
    text_add(&text, "{ \"format\": 1, \"kind\": \"run\" }\n");
    text_addf(&text, "{ \"id\" : \"%s\", \"s\": 7, \"kind\" : \"samples\" }\n", hex);
    text_addf(&text, "{ \"id\" : \"%s\", \"mark\": 9, \"kind\" : \"case\" }\n", hex);
    text_add(&text, "{ \"judgement\" : 1, \"kind\" : \"verdict\", \"v\": 5}\n");
    text_add(&text, "{\"kind\":\"peaks\",\"x\":[1,2]}\n"); /* not known: skipped */
    write_file(text_string(&text));
    text_free(&text);
    struct journal_reader *reader = readable();
    assert_int_equal(journal_case_count(reader), 1);
    case_has(reader, 0, 9, 7);
    assert_int_equal(journal_verdict_count(reader), 1);
    assert_int_equal(journal_damaged_count(reader), 0);
    journal_reader_destroy(&reader);
}

static void last_judgement_counts(void **state)
{
    (void)state;
    write_file(RUN "{\"kind\":\"verdict\",\"judgement\":1,\"v\":1}\n"
                   "{\"kind\":\"verdict\",\"judgement\":1,\"v\":2}\n"
                   "{\"kind\":\"end\",\"judgement\":1,\"exit\":1}\n"
                   "{\"kind\":\"verdict\",\"judgement\":2,\"v\":3}\n"
                   "{\"kind\":\"end\",\"judgement\":2,\"exit\":0}\n");
    struct journal_reader *reader = readable();
    assert_int_equal(journal_verdict_count(reader), 1);
    json_t *verdict = journal_verdict(reader, 0, NULL);
    assert_int_equal(json_whole(verdict, "v", 0), 3);
    json_decref(verdict);
    assert_null(journal_verdict(reader, 1, NULL));
    assert_int_equal(json_whole(journal_end(reader), "exit", -1), 0);
    journal_reader_destroy(&reader);
    /* A judgement without a single verdict. */
    write_file(RUN "{\"kind\":\"verdict\",\"judgement\":1,\"v\":1}\n"
                   "{\"kind\":\"end\",\"judgement\":2,\"exit\":0}\n");
    reader = readable();
    assert_int_equal(journal_verdict_count(reader), 0);
    journal_reader_destroy(&reader);
}

static void counts_damage(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, RUN);
    add(&text, "case", 1, ",\"mark\":1");
    text_add(&text, "not json\n");
    text_add(&text, "\n");
    text_add(&text, "{\"no\":\"kind\"}\n");
    text_add(&text, "{\"kind\":\"case\",\"id\":\"short\"}\n");
    text_add(&text, "{\"kind\":\"case\",\"id\":\"00000000000000000000000000000000\",\"ma");
    add(&text, "case", 2, ",\"mark\":2"); /* glued to a cut record: lost with it */
    add(&text, "case", 3, ",\"mark\":3");
    text_add(&text, "{\"kind\":\"case\",\"id\":\"unfin");
    write_file(text_string(&text));
    struct journal_reader *reader = readable();
    assert_int_equal(journal_case_count(reader), 2);
    case_has(reader, 1, 3, -1);
    assert_int_equal(journal_damaged_count(reader), 6);
    journal_reader_destroy(&reader);
    text_free(&text);
}

/* Killed at any byte: every whole record is found, and nothing else. */
static void cut_at_any_byte(void **state)
{
    (void)state;
    struct text text = {0};
    text_add(&text, RUN);
    size_t ends[2];
    for (int i = 0; i < 2; i++) {
        add(&text, "samples", i, ",\"s\":1");
        add(&text, "case", i, ",\"mark\":1");
        ends[i] = text.length;
    }
    for (size_t length = strlen(RUN); length <= text.length; length++) {
        assert_true(os_file_write_atomic(path, text.data, length, NULL));
        struct journal_reader *reader = readable();
        assert_int_equal(journal_case_count(reader), (length >= ends[0]) + (length >= ends[1]));
        assert_int_equal(journal_damaged_count(reader), text.data[length - 1] != '\n');
        journal_reader_destroy(&reader);
    }
    text_free(&text);
}

static void append(struct journal_writer *journal, const char *kind, int id, const char *more)
{
    struct text text = {0};
    struct assay_error error = {0};
    add(&text, kind, id, more);
    assert_true(journal_append(journal, text.data, text.length - 1, &error));
    text_free(&text);
}

/* A journal of two cases; `run` is its run record. Its bytes go to *text when wanted. */
static void write_sealed(const char *run, struct text *text)
{
    struct assay_error error = {0};
    unlink(path);
    struct journal_writer *journal = journal_create(path, &error);
    assert_non_null(journal);
    assert_true(journal_append(journal, run, strlen(run), &error));
    for (int i = 1; i <= 2; i++) {
        append(journal, "samples", i, ",\"s\":1");
        append(journal, "case", i, ",\"mark\":1");
    }
    journal_writer_destroy(&journal);
    if (text)
        assert_true(os_file_read(path, 1 << 20, text, &error));
}

static void damage_is(const struct journal_reader *reader, const char *wanted)
{
    struct text text = {0}, whole = {0};
    journal_add_damage(reader, "- ", &text);
    for (const char *line = wanted; *line; line = strchr(line, '\n') + 1)
        text_addf(&whole, "- %s%.*s", path, (int)(strchr(line, '\n') + 1 - line), line);
    assert_string_equal(text_string(&text), text_string(&whole));
    text_free(&text);
    text_free(&whole);
}

#define SEALED_RUN "{\"kind\":\"run\",\"format\":1,\"seed\":1}"

/* Cut at every byte of its last record: the rest is whole, and so is the last one when only its
 * newline is gone; to append mends the file. */
static void sealed_cut_anywhere(void **state)
{
    (void)state;
    struct text text = {0};
    write_sealed(SEALED_RUN, &text);
    size_t last = text.length - 1;
    while (text.data[last - 1] != '\n')
        last--;
    for (size_t length = last; length <= text.length; length++) {
        struct assay_error error = {0};
        bool whole = length + 1 >= text.length;
        assert_true(os_file_write_atomic(path, text.data, length, &error));
        for (int pass = 0; pass < 2; pass++) {
            struct journal_reader *reader = readable();
            assert_int_equal(journal_case_count(reader), whole ? 2 : 1);
            case_has(reader, 0, 1, 1);
            damage_is(
                reader,
                whole || length == last || pass
                    ? ""
                    : ":5: left out: it is not finished: the run ended while it was written\n");
            journal_reader_destroy(&reader);
            if (pass)
                break;
            struct journal_writer *journal = journal_open(path, &error);
            assert_non_null(journal);
            append(journal, "case", 1, ",\"mark\":1");
            append(journal, "samples", 1, ",\"s\":1");
            append(journal, "case", 1, ",\"mark\":1");
            journal_writer_destroy(&journal);
        }
    }
    text_free(&text);
}

/* Any byte of any record that is another: that record is left out, and nothing else. */
static void sealed_changed_anywhere(void **state)
{
    (void)state;
    struct text text = {0};
    write_sealed(SEALED_RUN, &text);
    size_t first = (size_t)(strchr(text.data, '\n') + 1 - text.data);
    for (size_t at = first; at < text.length; at++) {
        if (text.data[at] == '\n')
            continue;
        char was = text.data[at];
        text.data[at] = (char)(was == '7' ? '8' : '7');
        assert_true(os_file_write_atomic(path, text.data, text.length, NULL));
        struct journal_reader *reader = readable();
        assert_int_equal(journal_damaged_count(reader), 1);
        assert_true(journal_case_count(reader) >= 1);
        journal_reader_destroy(&reader);
        text.data[at] = was;
    }
    for (size_t at = 0; at < first - 1; at++) { /* the run record: all hangs on it */
        char was = text.data[at];
        text.data[at] = (char)(was == '7' ? '8' : '7');
        assert_true(os_file_write_atomic(path, text.data, text.length, NULL));
        struct assay_error error = {0};
        struct journal_reader *reader = journal_read(path, &error);
        assert_true(!reader ? error.status == ASSAY_INVALID : journal_case_count(reader) == 0);
        journal_reader_destroy(&reader);
        text.data[at] = was;
    }
    text_free(&text);
}

/* A reader goes on behind what it has read, whatever journal_open did to the tail. */
static void reads_on(void **state)
{
    (void)state;
    struct text text = {0};
    write_sealed(SEALED_RUN, &text);
    size_t last = text.length - 1;
    while (text.data[last - 1] != '\n')
        last--;
    for (size_t length = last; length <= text.length; length++) {
        static const char verdict[] = "{\"kind\":\"verdict\",\"judgement\":1,\"verdict\":\"pass\"}";
        static const char end[] = "{\"kind\":\"end\",\"judgement\":1}";
        struct assay_error error = {0};
        bool whole = length + 1 >= text.length;
        assert_true(os_file_write_atomic(path, text.data, length, &error));
        struct journal_reader *reader = readable();
        struct journal_writer *journal = journal_open(path, &error);
        assert_non_null(journal);
        append(journal, "case", 3, ",\"mark\":3");
        assert_true(journal_append(journal, verdict, strlen(verdict), &error));
        assert_true(journal_append(journal, end, strlen(end), &error));
        assert_true(journal_read_on(reader, &error));
        assert_int_equal(journal_case_count(reader), whole ? 3 : 2);
        case_has(reader, 0, 1, 1);
        case_has(reader, whole ? 2 : 1, 3, -1);
        if (whole) /* with its samples still */
            case_has(reader, 1, 1, 1);
        assert_int_equal(journal_verdict_count(reader), 1);
        assert_non_null(journal_end(reader));
        damage_is(reader, "");
        append(journal, "case", 4, ",\"mark\":4");
        assert_true(journal_read_on(reader, &error));
        assert_int_equal(journal_case_count(reader), whole ? 4 : 3);
        journal_writer_destroy(&journal);
        journal_reader_destroy(&reader);
    }
    text_free(&text);
}

/* What is gathered is written at the end of it, sealed and in order. */
static void gathers(void **state)
{
    (void)state;
    struct assay_error error = {0};
    struct text before = {0}, after = {0};
    write_sealed(SEALED_RUN, &before);
    struct journal_writer *journal = journal_open(path, &error);
    assert_non_null(journal);
    assert_true(journal_gather(journal, true, &error));
    for (int i = 3; i < 6; i++)
        append(journal, "case", i, ",\"mark\":1");
    assert_true(os_file_read(path, 1 << 20, &after, &error));
    assert_string_equal(text_string(&after), text_string(&before));
    assert_true(journal_gather(journal, false, &error));
    struct journal_reader *reader = readable();
    assert_int_equal(journal_case_count(reader), 5);
    damage_is(reader, "");
    journal_reader_destroy(&reader);
    assert_true(journal_gather(journal, true, &error));
    append(journal, "case", 6, ",\"mark\":1");
    journal_writer_destroy(&journal); /* writes what is left */
    reader = readable();
    assert_int_equal(journal_case_count(reader), 6);
    journal_reader_destroy(&reader);
    text_free(&before);
    text_free(&after);
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    struct text text = {0}, other = {0};
    struct assay_error error = {0};
    write_sealed(SEALED_RUN, &text);
    *strstr(strstr(text.data, "\"mark\":1"), "1") = '2';
    text_add(&text, "{\"kind\":\"case\",\"id\":\"00000000000000000000000000000000\"}\n{\"ki\n");
    write_file(text.data);
    struct journal_reader *reader = readable();
    damage_is(
        reader,
        ":3: left out: it was changed after it was written, or is of another run\n:6: left out: it "
        "has no seal: assay did not write it\n:7: left out: it is not a whole record\n");
    assert_int_equal(journal_case_count(reader), 1);
    journal_reader_destroy(&reader);
    text_free(&text);
    /* A record of another run. */
    write_sealed(SEALED_RUN, &text);
    write_sealed("{\"kind\":\"run\",\"format\":1,\"seed\":2}", &other);
    char *last = strrchr(text.data, '{'), *foreign = strrchr(other.data, '{');
    size_t length = strlen(foreign);
    assert_int_equal(strlen(last), length);
    memcpy(last, foreign, length);
    write_file(text.data);
    reader = readable();
    damage_is(reader, ":5: left out: it was changed after it was written, or is of another run\n");
    journal_reader_destroy(&reader);
    /* Two runs, one behind the other. */
    text_add(&text, other.data);
    write_file(text.data);
    assert_null(journal_read(path, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    char wanted[320];
    snprintf(
        wanted, sizeof wanted,
        "%s:6: a second run begins here, but a journal is of one run; 'head -n 5' and 'tail -n "
        "+6' give the two",
        path);
    assert_string_equal(error.text, wanted);
    text_free(&text);
    text_free(&other);
}

/* Records that others wrote, or whose seals were taken off, all of them. */
static void unsealed_and_wrong(void **state)
{
    (void)state;
    static const char *const records[][2] = {
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"value\":2,\"low\":1,\"high\":3,\"n\":6}}", NULL},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"absent\":\"so\"}}", NULL},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"value\":4,\"low\":1,\"high\":3,\"n\":6}}",
         "a metric of it lies outside its interval"},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"value\":\"2\",\"low\":1,\"high\":3}}",
         "a metric of it has no number where value, low or high belongs"},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"value\":2,\"low\":1,\"high\":3,\"n\":-1}}",
         "a metric of it has no count where n belongs"},
        {",\"metrics\":{\"t\":{\"unit\":\"furlong\",\"value\":2,\"low\":1,\"high\":3}}",
         "a metric of it has no known unit"},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"absent\":1}}",
         "why a metric of it is absent is not a text"},
        {",\"metrics\":[]", "its metrics are not an object"},
        {",\"status\":1", "its status is not a text"},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"value\":NaN,\"low\":1,\"high\":3}}",
         "it is not JSON"},
        {",\"metrics\":{\"t\":{\"unit\":\"s\",\"value\":1e999,\"low\":1,\"high\":3}}",
         "it is not JSON"},
        {",\"series\":{\"a\":[1,2],\"b\":[1]}", "its series are not all lists of one length"},
        {",\"series\":{\"a\":[1,-2]}", "a sample of it is not a number of at least 0"},
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct text text = {0}, wanted = {0};
        text_add(&text, RUN);
        add(&text, "case", 1, records[i][0]);
        write_file(text_string(&text));
        struct journal_reader *reader = readable();
        if (records[i][1])
            text_addf(&wanted, ":2: left out: %s\n", records[i][1]);
        damage_is(reader, text_string(&wanted));
        assert_int_equal(journal_case_count(reader), records[i][1] ? 0 : 1);
        journal_reader_destroy(&reader);
        text_free(&text);
        text_free(&wanted);
    }
}

static void no_journal(void **state)
{
    (void)state;
    struct assay_error error = {0};
    assert_null(journal_read("/nonexistent", &error));
    assert_string_equal(error.text, "cannot read /nonexistent: No such file or directory");
    error = (struct assay_error){0};
    assert_null(journal_read("/tmp", &error));
    assert_string_equal(error.text, "/tmp is no journal: it is a directory, not a file");
    /* Nobody writes to it: opening must not wait for that. */
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    error = (struct assay_error){0};
    assert_null(journal_read(path, &error));
    assert_non_null(strstr(error.text, " is no journal: it is a device or a pipe, not a file"));
    unlink(path);
    write_file("local assay = require 'assay'\n");
    error = (struct assay_error){0};
    assert_null(journal_read(path, &error));
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_non_null(strstr(error.text, "is no journal: it holds no run record"));
    write_file("{\"kind\":\"run\",\"format\":7}\n");
    error = (struct assay_error){0};
    assert_null(journal_read(path, &error));
    assert_non_null(strstr(error.text, "has journal format 7, but this program reads format 1"));
}

/* Enough for the tables to grow many times, records larger than the window among them. */
static void many_cases(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct text text = {0};
    text_add(&text, RUN);
    for (int i = 0; i < COUNT; i++) {
        char more[32];
        snprintf(more, sizeof more, ",\"mark\":%d", i);
        add(&text, "case", i, more);
        if (i == 777) {
            text_add(&text, "{\"kind\":\"peaks\",\"long\":\"");
            for (int k = 0; k < 700000; k++)
                text_add_char(&text, 'x');
            text_add(&text, "\"}\n");
        }
    }
    write_file(text_string(&text));
    text_free(&text);
    struct journal_reader *reader = readable();
    assert_int_equal(journal_case_count(reader), COUNT);
    assert_int_equal(journal_damaged_count(reader), 0);
    for (int i = 0; i < COUNT; i += 7) {
        struct hash128 id = hash_bytes(&i, sizeof i);
        assert_int_equal(journal_case_find(reader, &id), i);
        if (i % 1001 == 0)
            case_has(reader, (size_t)i, i, -1);
    }
    journal_reader_destroy(&reader);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(writes),
        IN_FOLDER(cuts_unfinished_tails),
        IN_FOLDER(full_disk),
        IN_FOLDER(unwritable),
        IN_FOLDER(indexes),
        IN_FOLDER(reads_what_others_wrote),
        IN_FOLDER(counts_damage),
        IN_FOLDER(last_judgement_counts),
        IN_FOLDER(no_journal),
        IN_FOLDER(cut_at_any_byte),
        IN_FOLDER(many_cases),
        IN_FOLDER(sealed_cut_anywhere),
        IN_FOLDER(sealed_changed_anywhere),
        IN_FOLDER(reads_on),
        IN_FOLDER(gathers),
        IN_FOLDER(names_what_is_wrong),
        IN_FOLDER(unsealed_and_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
