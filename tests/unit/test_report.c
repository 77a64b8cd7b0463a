/* SPDX-License-Identifier: MIT */
/* Reports of fabricated journals. */
#include "base/json.h"
#include "base/os.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define RUN                                                                                        \
    "{\"kind\":\"run\",\"format\":1,\"assay\":\"0.1.0\",\"started\":\"2026-11-30T12:00:00Z\","     \
    "\"seed\":7,\"command\":[\"assay\",\"run\",\"my script.lua\"],\"quick\":true,"                 \
    "\"validate\":false,\"trust\":false,\"deadline\":null,\"set\":[\"chunk=1MiB\"],"               \
    "\"options\":{\"who\":\"it's\"},\"device\":null,"                                              \
    "\"script\":{\"path\":\"my script.lua\",\"hash\":\"00\",\"modules\":[],\"options\":{}},"       \
    "\"host\":{},\"workloads\":[{\"name\":\"copy\",\"version\":\"1\",\"summary\":\"copies\","      \
    "\"plugin\":\"copy\",\"model\":false,\"options\":["                                            \
    "{\"name\":\"direction\",\"kind\":\"choice\",\"unit\":null,\"default\":\"upload\","            \
    "\"choices\":[\"upload\",\"download\"],\"help\":\"way\",\"items\":false},"                     \
    "{\"name\":\"bytes\",\"kind\":\"integer\",\"unit\":\"B\",\"default\":\"64MiB\",\"min\":1,"     \
    "\"help\":\"size\",\"items\":false}],"                                                         \
    "\"stages\":[{\"name\":\"copy\",\"kind\":\"transfer\",\"help\":\"\"}],\"metrics\":[]}],"       \
    "\"devices\":[],\"devices_error\":null,\"pci\":["                                              \
    "{\"address\":\"0000:01:00.0\",\"vendor\":4318,\"device\":9860,\"missing\":\"install the "     \
    "driver\"}]}\n"
#define DEVICE                                                                                     \
    "\"device\":{\"selector\":null,\"name\":\"llvmpipe (LLVM 15)\",\"label\":\"lavapipe\","        \
    "\"class\":\"cpu\"}"
#define ID_A "000000000000000a0000000000000000"
#define ID_B "000000000000000b0000000000000000"
#define ID_C "000000000000000c0000000000000000"
#define ID_D "000000000000000d0000000000000000"

#define CASE(id, bytes, rest)                                                                      \
    "{\"kind\":\"case\",\"id\":\"" id "\",\"experiment\":\"sizes <&>\",\"workload\":\"copy\","     \
    "\"version\":\"1\",\"script\":\"my script.lua\",\"line\":3,"                                   \
    "\"set\":{\"direction\":\"upload\",\"bytes\":" #bytes "},\"params\":{},"                       \
    "\"schedule\":{\"name\":\"serial\"},\"replica\":0,\"seed\":7,\"case_seed\":1," rest "}\n"
#define DONE(time, low, high)                                                                      \
    DEVICE ",\"status\":\"done\",\"reason\":null,\"metrics\":{"                                    \
           "\"time\":{\"unit\":\"s\",\"value\":" #time ",\"low\":" #low ",\"high\":" #high         \
           ",\"n\":31},\"submit_time\":{\"unit\":\"s\",\"value\":1e-6,\"low\":1e-6,"               \
           "\"high\":1e-6,\"n\":31},\"copy.rate\":{\"unit\":\"B/s\",\"value\":2e9,\"low\":1.9e9,"  \
           "\"high\":2.1e9,\"n\":31},\"copy.item_rate\":{\"unit\":\"item/s\",\"absent\":\"none\"}" \
           "},\"stages\":[{\"name\":\"copy\",\"kind\":\"transfer\"}],"                             \
           "\"verification\":{\"verdict\":\"right\",\"error\":0.25}"
#define VERDICT(id, verdict, line, message, metric)                                                \
    "{\"kind\":\"verdict\",\"judgement\":1,\"experiment\":\"sizes <&>\",\"case\":" id              \
    ",\"verdict\":\"" verdict "\",\"bound\":\"at_least\",\"script\":\"my script.lua\","            \
    "\"line\":" #line ",\"message\":\"" message "\",\"metric\":" metric "}\n"

/* Four cases: one that passes, one that fails (and has an unjudged bound), a skip, a crash; and a
 * summary that is inconclusive. */
static const char *const mixed[] = {
    RUN,
    CASE(ID_A, 1024, DONE(0.001, 0.0009, 0.0011)),
    CASE(ID_B, 65536, DONE(0.002, 0.0019, 0.0021) ",\"notes\":[\"drift: a\\nb\",\"other\"]"),
    CASE(ID_C, 1099511627776,
         DEVICE ",\"status\":\"skipped\",\"reason\":\"bytes: over the heap\",\"metrics\":{}"),
    CASE(ID_D, 4096,
         DEVICE ",\"status\":\"crash\",\"reason\":\"killed by signal 11\\nlog \\u001b[1m\","
                "\"metrics\":{}"),
    VERDICT("\"" ID_A "\"", "pass", 9, "my script.lua:9: holds", "null"),
    VERDICT("\"" ID_B "\"", "fail", 9, "my script.lua:9: 2 GB/s < 3 GB/s", "null"),
    VERDICT("\"" ID_B "\"", "not judged", 10, "my script.lua:10: copy.item_rate absent (none)",
            "{\"name\":\"copy.item_rate\",\"absent\":\"none\"}"),
    VERDICT("null", "inconclusive", 12, "my script.lua:12: overlaps", "null"),
    "{\"kind\":\"end\",\"judgement\":1,\"exit\":4,\"interrupted\":false,\"error\":null,"
    "\"policy\":{\"no_skip\":false,\"inconclusive\":null},"
    "\"cases\":{\"done\":2,\"skipped\":1,\"errors\":1,\"missing\":0},"
    "\"bounds\":{\"pass\":1,\"fail\":1,\"inconclusive\":1,\"not judged\":1}}\n",
    NULL};

struct fixture {
    char path[64];
    struct journal_reader *reader;
    struct report_source source;
    struct text out;
};

static void fixture_open(struct fixture *fixture, const char *const *lines)
{
    struct assay_error error = {0};
    *fixture = (struct fixture){.path = "/tmp/assay-report-XXXXXX"};
    int fd = mkstemp(fixture->path);
    assert_true(fd >= 0);
    for (; *lines; lines++)
        assert_true(os_write_all(fd, *lines, strlen(*lines)));
    close(fd);
    fixture->reader = journal_read(fixture->path, &error);
    assert_string_equal(error.text, "");
    assert_non_null(fixture->reader);
    fixture->source = (struct report_source){fixture->reader, NULL, "out/journal.jsonl"};
}

static void fixture_close(struct fixture *fixture)
{
    journal_reader_destroy(&fixture->reader);
    unlink(fixture->path);
    text_free(&fixture->out);
}

static void make_table(struct fixture *fixture, const char *const *lines, struct report_style style)
{
    struct assay_error error = {0};
    fixture_open(fixture, lines);
    bool good = report_table(&fixture->source, &style, &fixture->out, &error);
    assert_string_equal(error.text, "");
    assert_true(good);
}

#define REPEAT "--seed 7 --set chunk=1MiB --option 'who=it'\\''s' --quick\n"
#define SECTIONS                                                                                   \
    "\nfailures (2)\n"                                                                             \
    "  my script.lua:9: 2 GB/s < 3 GB/s\n"                                                         \
    "      assay run 'my script.lua' --case 000000000000000b " REPEAT                              \
    "  my script.lua:3: copy direction=upload bytes=4KiB: crash: killed by signal 11\n"            \
    "    log  [1m\n"                                                                               \
    "      assay run 'my script.lua' --case 000000000000000d " REPEAT "\ninconclusive (1)\n"       \
    "  my script.lua:12: overlaps\n"                                                               \
    "      assay run 'my script.lua' --filter 'sizes <&>/*' " REPEAT "\nnotes (2)\n"               \
    "  sizes <&>/copy direction=upload bytes=64KiB: drift: a b\n"                                  \
    "  sizes <&>/copy direction=upload bytes=64KiB: other\n\nskipped (1)\n"                        \
    "  1: bytes: over the heap\n"                                                                  \
    "      sizes <&>/copy direction=upload bytes=1TiB\n"                                           \
    "\nnot judged (1)\n"                                                                           \
    "  1: none\n"                                                                                  \
    "      my script.lua:10: copy.item_rate absent (none)\n"                                       \
    "\nnot measured: the GPU at PCI 0000:01:00.0 (10de:2684), which no Vulkan driver serves: "     \
    "install the "                                                                                 \
    "driver\n"                                                                                     \
    "\non lavapipe, a CPU driver: figures are of this CPU, no GPU was measured\n"                  \
    "\njournal: out/journal.jsonl\n"

static void table_of_mixed_results(void **state)
{
    (void)state;
    struct fixture f;
    make_table(&f, mixed, (struct report_style){0});
    assert_string_equal(text_string(&f.out),
                        "sizes <&>\n"
                        "  copy on lavapipe, serial: direction=upload\n"
                        "  bytes  result   time               copy.rate\n"
                        "  1KiB   pass     1.0 ms [0.9, 1.1]  2.0 GB/s [1.9, 2.1]\n"
                        "  64KiB  FAIL     2.0 ms [1.9, 2.1]  2.0 GB/s [1.9, 2.1]\n"
                        "  1TiB   skipped  -                  -\n"
                        "  4KiB   crash    -                  -\n" SECTIONS
                        "ERROR: 2 cases done, 1 case in error, 1 skipped, 1 bound holds, "
                        "1 bound failed, 1 inconclusive, 1 not judged (lavapipe)\n");
    fixture_close(&f);
}

static void narrow_table_keeps_what_matters(void **state)
{
    (void)state;
    struct fixture f;
    make_table(&f, mixed, (struct report_style){.width = 50, .color = true});
    static const char head[] = "sizes <&>\n"
                               "  copy on lavapipe, serial: direction=upload\n"
                               "  bytes  result   time  copy.rate\n"
                               "  1KiB   \033[32mpass\033[0m     1 ms  2.0 GB/s [1.9, 2.1]\n"
                               "  64KiB  \033[1;31mFAIL\033[0m     2 ms  2.0 GB/s [1.9, 2.1]\n"
                               "  1TiB   \033[33mskipped\033[0m  -     -\n";
    assert_memory_equal(text_string(&f.out), head, sizeof(head) - 1);
    fixture_close(&f);
    make_table(&f, mixed, (struct report_style){.width = 25});
    static const char least[] = "sizes <&>\n"
                                "  copy on lavapipe, serial: direction=upload\n"
                                "  bytes  result   copy.rate\n"
                                "  1KiB   pass     2 GB/s\n";
    assert_memory_equal(text_string(&f.out), least, sizeof(least) - 1);
    fixture_close(&f);
}

#define FIGURES(time)                                                                              \
    "device lavapipe\nverification right, error 0.25\ntime " time                                  \
    "\nsubmit_time 1.000 us [1.000, 1.000] n=31\n"                                                 \
    "copy.rate 2.0 GB/s [1.9, 2.1] n=31\ncopy.item_rate absent (none)\n"
#define XML_REPEAT                                                                                 \
    " --seed 7 --set chunk=1MiB --option &#39;who=it&#39;\\&#39;&#39;s&#39; --quick\n"             \
    "</system-out>\n    </testcase>\n"
#define XML_CASE(name, time)                                                                       \
    "    <testcase classname=\"sizes &lt;&amp;&gt;\" name=\"" name "\" time=\"" time "\">\n"
#define XML_RUN "repeat: assay run &#39;my script.lua&#39; "

static const char *const junit[] = {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<testsuites name=\"assay\" tests=\"5\" failures=\"2\" errors=\"1\" "
    "time=\"0.093000\">\n"
    "  <testsuite name=\"sizes &lt;&amp;&gt;\" tests=\"4\" failures=\"1\" errors=\"1\" "
    "time=\"0.093000\" skipped=\"1\" timestamp=\"2026-11-30T12:00:00\">\n",
    XML_CASE("copy direction=upload bytes=1KiB", "0.031000"),
    "      <system-out>id " ID_A "\n" FIGURES("1.0 ms [0.9, 1.1] n=31"),
    "pass: my script.lua:9: holds\n" XML_RUN "--case 000000000000000a" XML_REPEAT,
    XML_CASE("copy direction=upload bytes=64KiB", "0.062000"),
    "      <failure message=\"my script.lua:9: 2 GB/s &lt; 3 GB/s\" type=\"fail\">"
    "fail: my script.lua:9: 2 GB/s &lt; 3 GB/s\n</failure>\n",
    "      <system-out>id " ID_B "\n" FIGURES("2.0 ms [1.9, 2.1] n=31"),
    "not judged: my script.lua:10: copy.item_rate absent (none)\n",
    XML_RUN "--case 000000000000000b" XML_REPEAT,
    XML_CASE("copy direction=upload bytes=1TiB", "0.000000"),
    "      <skipped message=\"bytes: over the heap\"></skipped>\n"
    "      <system-out>id " ID_C "\ndevice lavapipe\n",
    XML_RUN "--case 000000000000000c" XML_REPEAT,
    XML_CASE("copy direction=upload bytes=4KiB", "0.000000"),
    "      <error message=\"killed by signal 11 log  [1m\" type=\"crash\">"
    "killed by signal 11\nlog \xEF\xBF\xBD[1m</error>\n"
    "      <system-out>id " ID_D "\ndevice lavapipe\n",
    XML_RUN "--case 000000000000000d" XML_REPEAT,
    "  </testsuite>\n"
    "  <testsuite name=\"summary\" tests=\"1\" failures=\"1\" errors=\"0\" "
    "time=\"0.000000\" skipped=\"0\" timestamp=\"2026-11-30T12:00:00\">\n",
    XML_CASE("my script.lua:12: at_least", "0.000000"),
    "      <failure message=\"my script.lua:12: overlaps\" type=\"inconclusive\">"
    "my script.lua:12: overlaps</failure>\n      <system-out>" XML_RUN,
    "--filter &#39;sizes &lt;&amp;&gt;/*&#39;" XML_REPEAT,
    "  </testsuite>\n</testsuites>\n",
    NULL};

static void junit_of_mixed_results(void **state)
{
    (void)state;
    struct fixture f;
    struct assay_error error = {0};
    struct text expected = {0};
    for (size_t i = 0; junit[i]; i++)
        text_add(&expected, junit[i]);
    fixture_open(&f, mixed);
    assert_true(report_junit(&f.source, &f.out, &error));
    assert_string_equal(text_string(&f.out), text_string(&expected));
    text_free(&expected);
    fixture_close(&f);
}

static void policy_decides_what_junit_counts(void **state)
{
    (void)state;
    struct fixture f;
    struct assay_error error = {0};
    const char *lines[16];
    size_t count = 0;
    for (; mixed[count + 1]; count++)
        lines[count] = mixed[count];
    lines[count] = "{\"kind\":\"end\",\"judgement\":1,\"exit\":4,\"interrupted\":false,"
                   "\"policy\":{\"no_skip\":true,\"inconclusive\":\"pass\"},"
                   "\"cases\":{},\"bounds\":{}}\n";
    lines[count + 1] = NULL;
    fixture_open(&f, lines);
    assert_true(report_junit(&f.source, &f.out, &error));
    const char *xml = text_string(&f.out);
    /* The skip is a failure now, the inconclusive summary is none. */
    assert_non_null(strstr(xml, "tests=\"5\" failures=\"2\" errors=\"1\" time="));
    assert_null(strstr(xml, "skipped=\"1\""));
    assert_non_null(strstr(xml, "<failure message=\"bytes: over the heap\" type=\"skipped\">"));
    assert_null(strstr(xml, "type=\"inconclusive\""));
    fixture_close(&f);
}

static void json_holds_cases_with_their_verdicts(void **state)
{
    (void)state;
    struct fixture f;
    struct assay_error error = {0};
    fixture_open(&f, mixed);
    assert_true(report_json(&f.source, &f.out, &error));
    json_t *report = json_loads(text_string(&f.out), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(report);
    const json_t *cases = json_object_get(report, "cases");
    assert_int_equal(json_array_size(cases), 4);
    const json_t *second = json_array_get(cases, 1);
    assert_string_equal(json_text(second, "id", ""), ID_B);
    const json_t *verdicts = json_object_get(second, "verdicts");
    assert_int_equal(json_array_size(verdicts), 2);
    assert_string_equal(json_text(json_array_get(verdicts, 0), "verdict", ""), "fail");
    assert_string_equal(json_text(json_array_get(verdicts, 1), "verdict", ""), "not judged");
    const json_t *time = json_object_get(json_object_get(second, "metrics"), "time");
    assert_true(json_number(time, "value", 0) == 0.002);
    assert_int_equal(json_array_size(json_object_get(report, "summaries")), 1);
    assert_int_equal(json_whole(json_object_get(report, "end"), "exit", -1), 4);
    assert_int_equal(json_whole(json_object_get(report, "run"), "seed", -1), 7);
    json_decref(report);
    fixture_close(&f);
}

static void verdicts_may_stand_in_another_journal(void **state)
{
    (void)state;
    struct fixture f, g;
    struct assay_error error = {0};
    const char *const other[] = {RUN,
                                 VERDICT("\"" ID_A "\"", "fail", 9, "my script.lua:9: no", "null"),
                                 "{\"kind\":\"end\",\"judgement\":1,\"exit\":1,"
                                 "\"interrupted\":false,\"cases\":{\"done\":1},\"bounds\":{}}\n",
                                 NULL};
    const char *const results[] = {RUN, CASE(ID_A, 1024, DONE(0.001, 0.0009, 0.0011)), NULL};
    fixture_open(&f, results);
    fixture_open(&g, other);
    f.source.judgement = g.reader;
    assert_true(report_table(&f.source, &(struct report_style){0}, &f.out, &error));
    const char *text = text_string(&f.out);
    assert_non_null(strstr(text, "\n  FAIL    1.0 ms"));
    assert_non_null(strstr(text, "\nFAIL: 1 case done, 1 bound failed (lavapipe)\n"));
    fixture_close(&f);
    fixture_close(&g);
}

static void unfinished_run_says_so(void **state)
{
    (void)state;
    struct fixture f;
    const char *const lines[] = {RUN, CASE(ID_A, 1024, DONE(0.001, 0.0009, 0.0011)), NULL};
    make_table(&f, lines, (struct report_style){0});
    const char *last = strstr(text_string(&f.out), "journal: ");
    assert_string_equal(last, "journal: out/journal.jsonl\nUNFINISHED: 1 case done (lavapipe)\n");
    fixture_close(&f);
}

static void long_tables_are_abbreviated(void **state)
{
    (void)state;
    enum { COUNT = REPORT_ROWS + 5 };
    const char *lines[COUNT + 2];
    char *made[COUNT];
    struct fixture f;
    lines[0] = RUN;
    for (int i = 0; i < COUNT; i++) {
        struct text line = {0};
        text_addf(&line,
                  "{\"kind\":\"case\",\"id\":\"%032x\",\"experiment\":\"many\","
                  "\"workload\":\"copy\",\"set\":{\"direction\":\"%s\",\"bytes\":%d},"
                  "\"device\":null,\"status\":\"done\",\"metrics\":{}}\n",
                  i + 1, i == COUNT - 1 ? "download" : "upload", i + 1);
        made[i] = text_steal(&line);
        lines[i + 1] = made[i];
    }
    lines[COUNT + 1] = NULL;
    make_table(&f, lines, (struct report_style){0});
    const char *text = text_string(&f.out);
    assert_non_null(strstr(text, "  upload     200B   done\n"
                                 "  ... 5 more rows; --all-rows shows them\n"));
    /* The direction varies only in a row that is not shown: still it is no constant. */
    assert_non_null(strstr(text, "many\n  copy, serial\n  direction  bytes  result\n"));
    fixture_close(&f);
    make_table(&f, lines, (struct report_style){.all_rows = true});
    assert_non_null(strstr(text_string(&f.out), "  download   205B   done\n"));
    assert_null(strstr(text_string(&f.out), "more rows"));
    fixture_close(&f);
    for (int i = 0; i < COUNT; i++)
        free(made[i]);
}

static void escapes_markup_and_what_xml_forbids(void **state)
{
    (void)state;
    struct text out = {0};
    report_add_escaped(&out, "a<b>&\"'\t\n\x01\x7F");
    assert_string_equal(text_string(&out), "a&lt;b&gt;&amp;&quot;&#39;\t\n\xEF\xBF\xBD\x7F");
    text_clear(&out);
    /* A lone byte, an overlong form, a surrogate, U+FFFF, a cut sequence; and good ones. */
    report_add_escaped(&out, "\xFFx\xC0\xAF|\xED\xA0\x80|\xEF\xBF\xBF|\xE2\x82");
    assert_string_equal(text_string(&out),
                        "\xEF\xBF\xBDx\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                        "|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
    text_clear(&out);
    report_add_escaped(&out, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    assert_string_equal(text_string(&out), "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_mixed_results),
        cmocka_unit_test(narrow_table_keeps_what_matters),
        cmocka_unit_test(junit_of_mixed_results),
        cmocka_unit_test(policy_decides_what_junit_counts),
        cmocka_unit_test(json_holds_cases_with_their_verdicts),
        cmocka_unit_test(verdicts_may_stand_in_another_journal),
        cmocka_unit_test(unfinished_run_says_so),
        cmocka_unit_test(long_tables_are_abbreviated),
        cmocka_unit_test(escapes_markup_and_what_xml_forbids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
