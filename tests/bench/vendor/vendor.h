/* SPDX-License-Identifier: MIT */
/* Libraries to measure against, opened at run time: what a machine has of them is found when it is
 * looked for, and nothing of them is needed to build. One work is in hand at a time, one thread. */
#ifndef VENDOR_VENDOR_H
#define VENDOR_VENDOR_H

#include <stdbool.h>
#include <stdint.h>

enum vendor_kind {
    VENDOR_FP64,
    VENDOR_FP32,
    VENDOR_FP16, /* inputs of 16 bits, sums and results of 32 */
    VENDOR_COPY, /* from the device's memory to the device's memory */
};

struct vendor_library {
    const char *name;
    /* Opens the library, on the device of that PCI address (NULL: its first). The text says what
     * was opened. False: vendor_fail said why. */
    bool (*open)(const char *pci, char *text, uint64_t text_bytes);
    /* Makes square matrices of n rows, filled with vendor_left and vendor_right (a copy: n bytes).
     */
    bool (*prepare)(enum vendor_kind kind, uint64_t n);
    /* Does the work so many times over and waits for the last. */
    bool (*run)(unsigned times);
    /* The result at row i, column j (a copy: byte i, as a number). */
    bool (*result)(uint64_t i, uint64_t j, double *value);
};

extern const struct vendor_library vendor_openblas, vendor_cuda, vendor_rocm, vendor_ggml;

/* Elements of A and B, small integers which every kind holds; C is then exact too:
 * C[i][j] = n * vendor_left(i) * vendor_right(j). */
double vendor_left(uint64_t row);
double vendor_right(uint64_t column);

/* Keeps the reason; always false. */
bool vendor_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *vendor_reason(void);
/* The first of the names (NULL-terminated) that can be opened; NULL with the reason. */
void *vendor_open(const char *const *names);
/* Looks a function up and stores it through `function`, a pointer to a pointer of its type; false
 * with the reason. */
bool vendor_find(void *library, const char *name, void *function);
/* Matrices of n rows on the host, row by row: A, B. NULL with the reason; free() them. */
void *vendor_matrix(enum vendor_kind kind, uint64_t n, bool left);
/* Bytes of an input element and of a result. */
uint64_t vendor_input_bytes(enum vendor_kind kind);
uint64_t vendor_result_bytes(enum vendor_kind kind);

#endif
