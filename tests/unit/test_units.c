/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct dimension number = {0};
static const struct dimension size = {.bytes = 1};
static const struct dimension duration = {.seconds = 1};
static const struct dimension rate = {.bytes = 1, .seconds = -1};
static const struct dimension flop = {.flops = 1};
static const struct dimension flop_rate = {.flops = 1, .seconds = -1};
static const struct dimension item_rate = {.items = 1, .seconds = -1};
static const struct dimension frequency = {.seconds = -1};
static const struct dimension degree = {.degrees = 1};
static const struct dimension watt = {.watts = 1};

static struct quantity parsed(const char *text)
{
    struct quantity quantity = {NAN, {0}};
    struct assay_error error = {0};
    if (!quantity_parse(text, &quantity, &error))
        fail_msg("%s", error.text);
    return quantity;
}

static void check(const char *text, double value, struct dimension dimension)
{
    struct quantity quantity = parsed(text);
    if (quantity.value != value)
        fail_msg("%s is %.17g, not %.17g", text, quantity.value, value);
    if (!dimension_equal(quantity.dimension, dimension))
        fail_msg("%s is %s", text, dimension_words(quantity.dimension));
}

static void quantities(void **state)
{
    (void)state;
    check("256 MiB", 268435456.0, size);
    check("256MiB", 268435456.0, size);
    check("1 GB", 1e9, size);
    check("1 GiB", 1073741824.0, size);
    check("1 kB", 1000, size);
    check("1 KB", 1000, size);
    check("8 EiB", 9223372036854775808.0, size);
    check("1 EB", 1e18, size);
    check("1E3 B", 1000, size);
    check("1EiB", 1152921504606846976.0, size);
    check("20 GB/s", 20e9, rate);
    check("25 Gbit/s", 3.125e9, rate);
    check("8 bit", 1, size);
    check("1.5 ms", 0.0015, duration);
    check("1.5ms", 0.0015, duration);
    check("3 us", 3e-6, duration);
    check("3 \xC2\xB5s", 3e-6, duration);
    check("7 ns", 7e-9, duration);
    check("2 min", 120, duration);
    check("40 req/s", 40, item_rate);
    check("2 images/s", 2, item_rate);
    check("312 TFLOP/s", 312e12, flop_rate);
    check("2 GFLOP", 2e9, flop);
    check("85 degC", 85, degree);
    check("250 W", 250, watt);
    check("5 %", 0.05, number);
    check("5%", 0.05, number);
    check("64", 64, number);
    check("-1.25", -1.25, number);
    check(" 64 MiB ", 67108864, size);
    check("2 GHz", 2e9, frequency);
    check("1 B^2/s", 1, (struct dimension){.bytes = 2, .seconds = -1});
    check("3 1/s", 3, frequency);
    check("0 B", 0, size);
}

static void refused(const char *text, const char *message)
{
    struct quantity quantity = {0};
    struct assay_error error = {0};
    if (quantity_parse(text, &quantity, &error))
        fail_msg("'%s' was taken", text);
    assert_int_equal(error.status, ASSAY_INVALID);
    assert_string_equal(error.text, message);
}

static void refusals(void **state)
{
    (void)state;
    refused("64 mib", "'mib' is no unit; did you mean 'MiB'?");
    refused("64 MiX", "'MiX' is no unit; did you mean 'MiB'?");
    refused("25 Gb/s", "'Gb/s' is no unit; did you mean 'Gbit/s'?");
    refused("3 GFLOPS", "'GFLOPS' is no unit; did you mean 'GFLOP/s'?");
    refused("64 parsecs", "'parsecs' is no unit; units are B, bit, s, FLOP, item, Hz, degC, W, % "
                          "with their prefixes (kB, KiB, ms) and quotients (GB/s, req/s)");
    refused("much", "'much' is no quantity; a number and a unit are wanted, as in \"64 MiB\"");
    refused("", "'' is no quantity; a number and a unit are wanted, as in \"64 MiB\"");
    refused("1,5 ms", "'1,5 ms' is no quantity; the decimal mark is a point, as in \"1.5 ms\"");
    refused("nan", "'nan' is no quantity; a number and a unit are wanted, as in \"64 MiB\"");
    refused("inf s", "'inf s' is no quantity; a number and a unit are wanted, as in \"64 MiB\"");
    refused("0x10", "'0x10' is no quantity; a number and a unit are wanted, as in \"64 MiB\"");
    refused("1e308 GB", "'1e308 GB' is too large for a number");
    struct quantity quantity;
    struct assay_error error = {0};
    assert_false(quantity_parse("1e999", &quantity, &error)); /* more than a double holds */
    struct assay_error words = {0};
    assert_false(quantity_parse("64 MiB please", &quantity, &words)); /* trailing text */
    struct assay_error alone = {0};
    assert_false(quantity_parse("64 elements", &quantity, &alone)); /* counted only in a rate */
}

/* The facts on units of the reference arithmetic. */
static void reference_arithmetic(void **state)
{
    (void)state;
    double weights = 6e9 * 2; /* 6e9 parameters of 2 bytes */
    assert_true(weights == parsed("12 GB").value);
    assert_true(fabs(weights / parsed("1 GiB").value - 11.18) < 0.005);
    assert_true(parsed("12 GB").value + parsed("6 GB").value + parsed("1 GB").value <
                parsed("24 GB").value);
    assert_true(parsed("80 GB").value / parsed("400 GB/s").value == 0.2);
    assert_true(parsed("25 Gbit/s").value == parsed("3.125 GB/s").value);
    assert_true(fabs(parsed("2 GB").value / parsed("100 ms").value - 20e9) < 1);
    assert_true(dimension_equal(dimension_quotient(size, duration), rate));
    /* PCIe 4.0: 16 GT/s a lane, 128 of 130 bits are payload; 3.0 half of it, 5.0 twice. */
    double lane = parsed("16 Gbit/s").value * 128 / 130;
    assert_true(fabs(lane - parsed("1.969 GB/s").value) < 0.5e6);
    assert_true(fabs(16 * lane - parsed("31.5 GB/s").value) < 0.05e9);
    assert_true(fabs(lane / 2 - parsed("0.985 GB/s").value) < 0.5e6);
    assert_true(fabs(lane * 2 - parsed("3.938 GB/s").value) < 0.5e6);
    assert_true(parsed("2.5 Gbit/s").value * 8 / 10 == parsed("0.25 GB/s").value);
    double images = 10000 * parsed("1 MB").value / (16 * lane);
    assert_true(images > 0.317 && images < 0.32);
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(dimension_words(number), "a number");
    assert_string_equal(dimension_words(size), "a size");
    assert_string_equal(dimension_words(duration), "a time");
    assert_string_equal(dimension_words(rate), "a rate (bytes per second)");
    assert_string_equal(dimension_words(flop_rate), "an arithmetic rate");
    struct dimension odd = {.bytes = 2, .seconds = -1};
    assert_string_equal(dimension_words(odd), "B^2/s");
    assert_string_equal(dimension_symbol(number), "1");
    assert_string_equal(dimension_symbol(rate), "B/s");
    assert_string_equal(dimension_symbol(frequency), "1/s");
    assert_string_equal(dimension_symbol(item_rate), "item/s");
    /* Two in one message do not overwrite each other. */
    const char *first = dimension_symbol(rate), *second = dimension_symbol(flop);
    assert_string_equal(first, "B/s");
    assert_string_equal(second, "flop");
}

static void symbols_parse_back(void **state)
{
    (void)state;
    for (int bytes = -2; bytes <= 2; bytes++)
        for (int seconds = -2; seconds <= 2; seconds++)
            for (int items = -1; items <= 1; items++) {
                struct dimension d = {
                    .bytes = (int8_t)bytes, .seconds = (int8_t)seconds, .items = (int8_t)items};
                struct unit unit;
                struct assay_error error = {0};
                assert_true(unit_parse(dimension_symbol(d), &unit, &error));
                assert_true(dimension_equal(unit.dimension, d));
                assert_true(unit.scale == 1);
            }
}

static void labels(void **state)
{
    (void)state;
    struct unit unit = unit_of_label("elements");
    assert_true(dimension_is_number(unit.dimension) && unit.scale == 1);
    unit = unit_of_label("ns");
    assert_true(dimension_equal(unit.dimension, duration) && unit.scale == 1e-9);
    unit = unit_of_label(NULL);
    assert_true(dimension_is_number(unit.dimension) && unit.scale == 1);
}

static void prints(double value, struct dimension dimension, const char *wanted)
{
    struct text text = {0};
    quantity_add(&text, value, dimension);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void printing(void **state)
{
    (void)state;
    prints(1.2341e9, rate, "1.234 GB/s");
    prints(500e6, rate, "500 MB/s");
    prints(999.96e6, rate, "1.000 GB/s");
    prints(999.94e6, rate, "999.9 MB/s");
    prints(1.5, rate, "1.5 B/s");
    prints(67108864, size, "64 MiB");
    prints(1536 * 1024, size, "1536 KiB");
    prints(9223372036854775808.0, size, "8 EiB");
    prints(1e9, size, "1 GB");
    prints(6442451968.0, size, "6.442 GB"); /* 6 GiB + 1 KiB */
    prints(1, size, "1 B");
    prints(0, size, "0 B");
    prints(12.496e-6, duration, "12.50 us");
    prints(12.5e-6, duration, "12.5 us");
    prints(0.0015, duration, "1.5 ms");
    prints(0.4e-9, duration, "0.4 ns");
    prints(0, duration, "0 s");
    prints(90, duration, "90 s");
    prints(-0.25, duration, "-250 ms");
    prints(312e12, flop_rate, "312 TFLOP/s");
    prints(2e9, flop, "2 GFLOP");
    prints(40, item_rate, "40 item/s");
    prints(85, degree, "85 degC");
    prints(250, watt, "250 W");
    prints(0.98123, number, "0.9812");
    prints(0.05, number, "0.05");
    prints(2, number, "2");
    prints(12345, number, "12345");
    prints(0, number, "0");
    prints(1e-9, number, "1.000e-09");
    prints(3, (struct dimension){.bytes = 2, .seconds = -1}, "3 B^2/s");
}

static void prints_interval(double value, double low, double high, struct dimension dimension,
                            const char *wanted)
{
    struct text text = {0};
    quantity_add_interval(&text, value, low, high, dimension);
    assert_string_equal(text_string(&text), wanted);
    text_free(&text);
}

static void intervals(void **state)
{
    (void)state;
    prints_interval(1.2123e9, 1.1834e9, 1.2312e9, rate, "1.21 GB/s [1.18, 1.23]");
    prints_interval(20.1e9, 19.8e9, 20.3e9, rate, "20.1 GB/s [19.8, 20.3]");
    prints_interval(1.2143e9, 1.2142e9, 1.2144e9, rate, "1.214 GB/s [1.214, 1.214]");
    prints_interval(1.01e9, 0.99e9, 1.03e9, rate, "1.01 GB/s [0.99, 1.03]");
    prints_interval(12.5e-6, 12.5e-6, 12.5e-6, duration, "12.50 us [12.50, 12.50]");
    prints_interval(2.0, 1.0, 40.0, number, "2.0 [1.0, 40.0]");
    prints_interval(0, 0, 0, duration, "0 s [0, 0]");
}

static void exact_bytes(void **state)
{
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {{67108864, "64MiB"},
                {1000, "1000B"},
                {2000000000, "2GB"},
                {25600000, "25000KiB"},
                {1500000, "1500kB"},
                {0, "0B"},
                {1536, "1536B"},
                {1024, "1KiB"},
                {INT64_MAX, "9223372036854775807B"},
                {INT64_MIN, "-8EiB"},
                {INT64_C(3) << 40, "3TiB"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct text text = {0};
        quantity_add_exact_bytes(&text, rows[i].bytes);
        assert_string_equal(text_string(&text), rows[i].text);
        text_free(&text);
    }
}

static void check_number(double value, const char *wanted)
{
    struct text text = {0};
    number_add(&text, value);
    assert_string_equal(text_string(&text), wanted);
    double back;
    const char *end;
    assert_true(number_parse(text_string(&text), &end, &back));
    assert_true(back == value);
    assert_string_equal(end, "");
    text_free(&text);
}

static void numbers(void **state)
{
    (void)state;
    check_number(0.1, "0.1");
    check_number(1.0 / 3.0, "0.3333333333333333");
    check_number(0.1 + 0.2, "0.30000000000000004");
    check_number(1e22, "1e+22");
    check_number(123456789, "123456789");
    check_number(-0.0, "-0");
    check_number(5e-324, "4.94065645841247e-324");
}

/* Few machines have a locale with decimal commas; localedef makes one. glibc reads LOCPATH. */
static bool make_locale(char *folder)
{
    char command[160];
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
             folder);
    return system(command) != -1 && setenv("LOCPATH", folder, 1) == 0;
}

static void decimal_comma(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "fr_FR.UTF-8",
                                        "de_DE",       "nl_NL.UTF-8", "pl_PL.UTF-8"};
    bool found = false;
    char folder[] = "/tmp/assay-test-XXXXXX";
    for (size_t i = 0; i < sizeof names / sizeof *names && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found && make_locale(folder))
        found = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    if (!found)
        skip(); /* neither installed nor to be made here */
    assert_string_equal(localeconv()->decimal_point, ",");
    check_number(0.1, "0.1");
    check("1.5 ms", 0.0015, duration);
    prints(1.2341e9, rate, "1.234 GB/s");
    prints_interval(20.1e9, 19.8e9, 20.3e9, rate, "20.1 GB/s [19.8, 20.3]");
    struct text text = {0};
    text_addf(&text, "%.1f", 2.5);
    assert_string_equal(text_string(&text), "2.5");
    text_free(&text);
    refused("1,5 ms", "'1,5 ms' is no quantity; the decimal mark is a point, as in \"1.5 ms\"");
    setlocale(LC_ALL, "C");
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantities),
        cmocka_unit_test(refusals),
        cmocka_unit_test(reference_arithmetic),
        cmocka_unit_test(words),
        cmocka_unit_test(symbols_parse_back),
        cmocka_unit_test(labels),
        cmocka_unit_test(printing),
        cmocka_unit_test(intervals),
        cmocka_unit_test(exact_bytes),
        cmocka_unit_test(numbers),
        cmocka_unit_test(decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
