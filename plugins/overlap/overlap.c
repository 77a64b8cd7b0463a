/* SPDX-License-Identifier: MIT */
/* A batch on its way from a source through the host to the device and back, each stage as long as
 * it is asked to be. */
#include "overlap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (INT64_C(1) << 53)
#define FLOPS_MAX (INT64_C(1) << 44) /* what the most rounds of the most invocations do */
#define GROUP 64u                    /* invocations; WORKGROUP of the kernel */
#define ROUND_FLOPS (CHAINS * STEPS * 2u)
#define ROUNDS 8u          /* of an invocation, unless they are too many */
#define FEED_S_MAX 86400.0 /* of a batch */
#define WORKING_MAX (UINT64_C(1) << 18)

static const char *const prepares[] = {"none", "select", "narrow", "both", "decode", NULL};
static const char *const sources[] = {"memory", "files", "feed", NULL};
static const char *const places[] = {"device", "host", NULL};
static const char *const memories[] = {"pinned", "cached", "imported", "pageable", NULL};
static const enum assay_memory memory_kinds[] = {ASSAY_MEMORY_PINNED, ASSAY_MEMORY_CACHED,
                                                 ASSAY_MEMORY_IMPORTED, ASSAY_MEMORY_PAGEABLE};

bool prepare_selects(const struct params *p)
{
    return p->prepare == PREPARE_SELECT || p->prepare == PREPARE_BOTH;
}

bool prepare_narrows(const struct params *p)
{
    return p->prepare == PREPARE_NARROW || p->prepare == PREPARE_BOTH;
}

struct layout layout_of(const struct params *p)
{
    struct layout layout = {0};
    uint64_t fields = (uint64_t)p->fields, items = (uint64_t)p->items;
    layout.record_words = (uint64_t)p->upload / WORD_BYTES * items;
    layout.records = layout.record_words / fields;
    layout.kept_words = prepare_selects(p) ? layout.records * (uint64_t)p->used
                                           : layout.record_words;
    layout.sent_words = prepare_narrows(p) ? layout.kept_words / 2 + layout.kept_words % 2
                                           : layout.kept_words;
    layout.download_words = (uint64_t)p->download / WORD_BYTES * items;
    return layout;
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* Eight rounds an invocation, unless these are too many invocations: then more rounds. */
struct work work_of(const struct layout *layout, uint64_t flops)
{
    struct work work = {.results = layout->download_words};
    uint64_t rounds = flops / ROUND_FLOPS + (flops % ROUND_FLOPS != 0);
    if (rounds > 0) {
        work.working = round_up(rounds, ROUNDS * GROUP) / ROUNDS;
        if (work.working > WORKING_MAX)
            work.working = WORKING_MAX;
        work.rounds = rounds / work.working + (rounds % work.working != 0);
    }
    if (work.results < work.working)
        work.results = work.working;
    if (work.results == 0)
        work.results = 1;
    return work;
}

uint64_t work_flops(const struct work *work)
{
    return work->working * work->rounds * ROUND_FLOPS;
}

static bool multiple(const char *name, int64_t value, int64_t of, const char *why,
                     struct assay_error *error)
{
    if (value % of == 0)
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "%s: %" PRId64 " B is not a multiple of %" PRId64
                      " B, %s; the next one is %" PRId64 " B",
                      name, value, of, why, (value / of + 1) * of);
}

/* Of one file; 0 stands for what a batch needs, in whole pages. */
static uint64_t file_bytes(const struct params *p)
{
    uint64_t batch = layout_of(p).record_words * WORD_BYTES, count = (uint64_t)p->file_count;
    return p->file_bytes ? (uint64_t)p->file_bytes
                         : round_up(batch / count + (batch % count != 0), PAGE_BYTES);
}

static bool check_files(const struct params *p, struct assay_error *error)
{
    uint64_t batch = (uint64_t)p->upload * (uint64_t)p->items;
    uint64_t all = file_bytes(p) * (uint64_t)p->file_count;
    if (file_bytes(p) > (uint64_t)BYTES_MAX / (uint64_t)p->file_count)
        return assay_fail(error, ASSAY_INVALID, "file_count: all files together are over 8 PiB");
    if (all < batch)
        return assay_fail(error, ASSAY_INVALID,
                          "file_bytes: %" PRId64 " files of %" PRIu64 " B hold %" PRIu64
                          " B, less than the %" PRIu64 " B that a batch reads",
                          p->file_count, file_bytes(p), all, batch);
    if (!multiple("file_bytes", (int64_t)file_bytes(p), WORD_BYTES, "the size of a field", error))
        return false;
    return !p->direct ||
           (multiple("upload", p->upload, PAGE_BYTES, "as direct reads", error) &&
            multiple("file_bytes", (int64_t)file_bytes(p), PAGE_BYTES, "as direct reads", error));
}

static bool overlap_check(const void *params, struct assay_error *error)
{
    const struct params *p = params;
    if (prepare_selects(p) && p->used > p->fields)
        return assay_fail(error, ASSAY_INVALID,
                          "used: %" PRId64 " of %" PRId64 " fields is too many", p->used,
                          p->fields);
    if (prepare_selects(p) && p->used == p->fields)
        return assay_fail(error, ASSAY_INVALID,
                          "prepare %s drops the fields that are not used, but all %" PRId64
                          " are; lower used",
                          prepares[p->prepare], p->fields);
    if (!multiple("upload", p->upload, p->fields * WORD_BYTES, "the size of a record", error) ||
        !multiple("download", p->download, WORD_BYTES, "the size of a field", error))
        return false;
    if (p->upload > BYTES_MAX / p->items || p->download > BYTES_MAX / p->items)
        return assay_fail(error, ASSAY_INVALID, "items: a batch of %" PRId64 " is over 8 PiB",
                          p->items);
    if (p->flops > FLOPS_MAX / p->items)
        return assay_fail(error, ASSAY_INVALID,
                          "flops: %" PRId64 " flop for each of %" PRId64
                          " items is too much; at most %" PRId64 " flop a batch are allowed",
                          p->flops, p->items, FLOPS_MAX);
    if (p->compute_on == PLACE_HOST && p->compute_time > 0)
        return assay_fail(error, ASSAY_INVALID,
                          "compute_time is found on the device; compute_on host goes with flops");
    if (p->direct && p->source != SOURCE_FILES)
        return assay_fail(error, ASSAY_INVALID, "direct goes with source files, not with %s",
                          sources[p->source]);
    if (p->source == SOURCE_FEED &&
        (double)p->upload * (double)p->items / p->feed_rate > FEED_S_MAX)
        return assay_fail(error, ASSAY_INVALID,
                          "feed_rate: a batch of %" PRId64
                          " B arrives in more than a day; raise it, or send less",
                          p->upload * p->items);
    return p->source != SOURCE_FILES || check_files(p, error);
}

static bool overlap_supported(const struct assay_device *device, const void *params,
                              struct assay_error *why_not)
{
    const struct params *p = params;
    const struct layout layout = layout_of(p);
    uint64_t most = assay_device_limits(device)->max_storage_range_bytes;
    uint64_t sent = layout.sent_words * WORD_BYTES, back = layout.download_words * WORD_BYTES;
    if (p->compute_on == PLACE_HOST || (sent <= most && back <= most))
        return true;
    return assay_fail(why_not, ASSAY_UNSUPPORTED,
                      "%s: %" PRIu64 " B are over the %" PRIu64
                      " B that a kernel of this device reaches (maxStorageBufferRange)",
                      sent > most ? "upload" : "download", sent > most ? sent : back, most);
}

static void overlap_destroy(void **self)
{
    struct overlap *o = *self;
    if (!o)
        return;
    files_destroy(&o->files);
    assay_kernel_destroy(&o->kernels[0]);
    assay_kernel_destroy(&o->kernels[1]);
    assay_buffer_destroy(&o->returned);
    assay_buffer_destroy(&o->results);
    assay_buffer_destroy(&o->input);
    assay_buffer_destroy(&o->staged);
    assay_buffer_destroy(&o->records);
    assay_buffer_destroy(&o->feed);
    free(o);
    *self = NULL;
}

static bool make(const struct overlap *o, const char *name, enum assay_memory memory,
                 enum assay_role role, uint64_t words, struct assay_buffer **out,
                 struct assay_error *error)
{
    struct assay_buffer_params params = {.size = sizeof(params),
                                         .name = name,
                                         .bytes = words * WORD_BYTES,
                                         .memory = memory,
                                         .role = role};
    *out = assay_buffer_create(o->slot, &params, error);
    return *out;
}

void *overlap_records(const struct overlap *o)
{
    return assay_buffer_address(o->records ? o->records : o->staged);
}

/* The device's side first: a size that it cannot hold is refused before the host's memory is
 * touched. What a stage of the host writes is poisoned before verification. */
static bool make_buffers(struct overlap *o, struct assay_error *error)
{
    const struct params *p = o->params;
    const struct layout *layout = &o->layout;
    bool prepared = p->prepare != PREPARE_NONE, given = p->source == SOURCE_MEMORY;
    enum assay_role records = given ? ASSAY_ROLE_SCRATCH : ASSAY_ROLE_OUTPUT;
    bool host = p->compute_on == PLACE_HOST;
    if ((!host && !make(o, "input", ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT, layout->sent_words,
                        &o->input, error)) ||
        !make(o, "results", host ? ASSAY_MEMORY_PAGEABLE : ASSAY_MEMORY_DEVICE, ASSAY_ROLE_OUTPUT,
              o->work.results, &o->results, error) ||
        !make(o, "staged", memory_kinds[p->host_memory], prepared ? ASSAY_ROLE_OUTPUT : records,
              layout->sent_words, &o->staged, error))
        return false;
    if (layout->download_words > 0 && !host &&
        !make(o, "returned", ASSAY_MEMORY_CACHED, ASSAY_ROLE_OUTPUT, layout->download_words,
              &o->returned, error))
        return false;
    if (prepared && !make(o, "records", ASSAY_MEMORY_PAGEABLE, records, layout->record_words,
                          &o->records, error))
        return false;
    return p->source != SOURCE_FEED || make(o, "feed", ASSAY_MEMORY_PAGEABLE, ASSAY_ROLE_SCRATCH,
                                            layout->record_words, &o->feed, error);
}

static bool make_source(struct overlap *o, struct assay_error *error)
{
    const struct params *p = o->params;
    if (p->source == SOURCE_MEMORY)
        data_fill(o->seed, 0, o->layout.record_words, overlap_records(o));
    if (p->source == SOURCE_FEED)
        data_fill(o->seed, 0, o->layout.record_words, assay_buffer_address(o->feed));
    if (p->source != SOURCE_FILES)
        return true;
    if (p->direct && (uintptr_t)overlap_records(o) % PAGE_BYTES != 0)
        return assay_fail(error, ASSAY_UNSUPPORTED,
                          "direct: host_memory %s of this device does not begin at a page, as "
                          "direct reads; imported does",
                          memories[p->host_memory]);
    struct files_params files = {.directory = p->directory,
                                 .seed = o->seed,
                                 .count = (uint64_t)p->file_count,
                                 .bytes = file_bytes(p),
                                 .readers = (uint64_t)p->readers,
                                 .direct = p->direct};
    o->files = files_create(&files, error);
    return o->files;
}

static bool record_part(const struct overlap *o, bool arithmetic, struct assay_command *command,
                        uint64_t first, uint64_t end, struct assay_error *error)
{
    uint64_t sent = o->layout.sent_words;
    struct assay_binding bindings[] = {
        {.name = "source", .buffer = o->input},
        {.name = "results", .buffer = o->results, .bytes = o->work.results * WORD_BYTES}};
    struct assay_push pushes[] = {{"words", (double)sent},
                                  {"stride", (double)(sent / o->work.results)},
                                  {"results", (double)o->work.results},
                                  {"first", (double)first},
                                  {"end", (double)end},
                                  {"rounds", (double)o->work.rounds},
                                  {"factor", 1}};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = o->kernels[arithmetic],
                                      .bindings = bindings,
                                      .binding_count = 2,
                                      .pushes = pushes,
                                      .push_count = sizeof(pushes) / sizeof(pushes[0]),
                                      .invocations = {end - first, 1, 1}};
    return assay_command_dispatch(command, &dispatch, error);
}

/* As many dispatches as the device's limit of groups makes of it. */
static bool record_range(const struct overlap *o, bool arithmetic, struct assay_command *command,
                         uint64_t first, uint64_t end, struct assay_error *error)
{
    const struct assay_limits *limits = assay_device_limits(assay_slot_device(o->slot));
    uint64_t most = (uint64_t)limits->max_groups[0] * GROUP;
    for (; first < end; first += most) {
        uint64_t last = end - first < most ? end : first + most;
        if (!record_part(o, arithmetic, command, first, last, error))
            return false;
    }
    return true;
}

static bool record_work(void *self, struct assay_command *command, struct assay_error *error)
{
    const struct overlap *o = self;
    return record_range(o, true, command, 0, o->work.working, error) &&
           record_range(o, false, command, o->work.working, o->work.results, error);
}

/* As many flops as take about `compute_time`. The results that are stored do not grow: the buffer
 * is there already. */
static bool fit_work(struct overlap *o, struct assay_error *error)
{
    enum { TRIALS = 12 };
    const double wanted_ns = (double)o->params->compute_time * (double)o->params->items;
    double flops = 1 << 20;
    for (int trial = 0; trial < TRIALS; trial++) {
        int64_t time_ns;
        o->work = work_of(&o->layout, (uint64_t)flops);
        if (!assay_slot_time(o->slot, record_work, o, &time_ns, error))
            return false;
        double factor = wanted_ns / (double)(time_ns > 0 ? time_ns : 1);
        if ((factor > 0.97 && factor < 1.03) || (factor < 1 && flops <= ROUND_FLOPS))
            break;
        factor = factor > 16 ? 16 : factor < 0.0625 ? 0.0625 : factor;
        flops *= factor;
        if (flops > (double)FLOPS_MAX)
            return assay_fail(error, ASSAY_UNSUPPORTED,
                              "compute_time: this device does %" PRId64 " flop in less", FLOPS_MAX);
        flops = flops < ROUND_FLOPS ? ROUND_FLOPS : flops;
    }
    return true;
}

/* Only those that are needed: a driver may take long over the arithmetic. With compute_time the
 * work is not known yet. */
static bool make_kernels(struct overlap *o, struct assay_error *error)
{
    bool timed = o->params->compute_time > 0;
    for (int arithmetic = 0; arithmetic < 2; arithmetic++) {
        bool used = arithmetic ? o->work.working > 0 : o->work.results > o->work.working;
        if (!timed && !used)
            continue;
        struct assay_constant constant = {"ARITHMETIC", arithmetic};
        struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                             .source = "overlap_work.comp",
                                             .constants = &constant,
                                             .constant_count = 1};
        o->kernels[arithmetic] = assay_kernel_create(o->slot, &kernel, error);
        if (!o->kernels[arithmetic])
            return false;
    }
    return true;
}

static void *overlap_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct overlap *o = calloc(1, sizeof(*o));
    void *self = o;
    if (!o) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    o->params = params;
    o->slot = slot;
    o->seed = assay_slot_seed(slot);
    o->layout = layout_of(params);
    bool timed = o->params->compute_time > 0;
    uint64_t flops = (uint64_t)(o->params->flops * o->params->items);
    o->work = work_of(&o->layout, timed ? (uint64_t)FLOPS_MAX : flops);
    bool ready = o->params->compute_on == PLACE_HOST || make_kernels(o, error);
    if (ready && make_buffers(o, error) && make_source(o, error) && (!timed || fit_work(o, error)))
        return o;
    overlap_destroy(&self);
    return NULL;
}

static bool overlap_record(const struct assay_stage *stage, void *self,
                           struct assay_command *command, struct assay_error *error)
{
    struct overlap *o = self;
    if (stage->kind == ASSAY_STAGE_COMPUTE)
        return record_work(self, command, error);
    if (strcmp(stage->name, "upload") == 0)
        return assay_command_copy(command, o->input, 0, o->staged, 0,
                                  o->layout.sent_words * WORD_BYTES, error);
    return assay_command_copy(command, o->returned, 0, o->results, 0,
                              o->layout.download_words * WORD_BYTES, error);
}

static bool overlap_report(void *self, struct assay_metrics *metrics, struct assay_error *error)
{
    const struct overlap *o = self;
    return assay_metrics_add(metrics, "batch_flops", (double)work_flops(&o->work), error) &&
           assay_metrics_add(metrics, "sent_bytes", (double)(o->layout.sent_words * WORD_BYTES),
                             error);
}

static bool overlap_present(const struct assay_stage *stage, const void *params)
{
    const struct params *p = params;
    if (strcmp(stage->name, "source") == 0)
        return p->source != SOURCE_MEMORY;
    if (strcmp(stage->name, "prepare") == 0)
        return p->prepare != PREPARE_NONE;
    if (strcmp(stage->name, "host_compute") == 0)
        return p->compute_on == PLACE_HOST;
    return p->compute_on == PLACE_DEVICE &&
           (strcmp(stage->name, "download") != 0 || p->download > 0);
}

static void source_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    out->payload_bytes = layout_of(params).record_words * WORD_BYTES;
    out->read_bytes = out->written_bytes = out->payload_bytes;
    out->items = (uint64_t)((const struct params *)params)->items;
}

static void prepare_cost(const struct assay_stage *stage, const void *params,
                         struct assay_cost *out)
{
    struct layout layout = layout_of(params);
    source_cost(stage, params, out);
    out->written_bytes = layout.sent_words * WORD_BYTES;
}

static void upload_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    source_cost(stage, params, out);
    out->payload_bytes = layout_of(params).sent_words * WORD_BYTES;
    out->read_bytes = out->written_bytes = out->upload_bytes = out->payload_bytes;
}

static void download_cost(const struct assay_stage *stage, const void *params,
                          struct assay_cost *out)
{
    source_cost(stage, params, out);
    out->payload_bytes = layout_of(params).download_words * WORD_BYTES;
    out->read_bytes = out->written_bytes = out->download_bytes = out->payload_bytes;
}

/* With compute_time the flops are found on the device: what is stated by construction has none. */
static void compute_cost(const struct assay_stage *stage, const void *params,
                         struct assay_cost *out)
{
    const struct params *p = params;
    struct layout layout = layout_of(p);
    source_cost(stage, params, out);
    out->payload_bytes = out->read_bytes = out->written_bytes = 0;
    if (p->compute_time > 0)
        return;
    struct work work = work_of(&layout, (uint64_t)(p->flops * p->items));
    out->flops = work_flops(&work);
    out->flop_kind = ASSAY_NUMBER_FP32;
    out->read_bytes = out->written_bytes = work.results * WORD_BYTES;
}

/* Reading the next batch goes on beside the preparing of this one. */
static unsigned overlap_group(const struct assay_stage *stage, const void *params)
{
    (void)params;
    return strcmp(stage->name, "source") == 0 ? 1 : 2;
}

static const struct assay_stage *const stages[] = {
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "source",
                                .help = "records arrive: read from files, or from a feed",
                                .kind = ASSAY_STAGE_HOST,
                                .present = overlap_present,
                                .cost = source_cost,
                                .run = overlap_receive,
                                .group = overlap_group},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "prepare",
                                .help = "what the host makes of them before they are sent",
                                .kind = ASSAY_STAGE_HOST,
                                .present = overlap_present,
                                .cost = prepare_cost,
                                .run = overlap_prepare,
                                .group = overlap_group},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "upload",
                                .help = "to the device",
                                .kind = ASSAY_STAGE_TRANSFER,
                                .present = overlap_present,
                                .cost = upload_cost,
                                .record = overlap_record},
    &(const struct assay_stage){
        .size = sizeof(struct assay_stage),
        .name = "compute",
        .help = "multiply-adds, and results that words of the upload are in",
        .kind = ASSAY_STAGE_COMPUTE,
        .present = overlap_present,
        .cost = compute_cost,
        .record = overlap_record},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "download",
                                .help = "results back to the host",
                                .kind = ASSAY_STAGE_TRANSFER,
                                .present = overlap_present,
                                .cost = download_cost,
                                .record = overlap_record},
    &(const struct assay_stage){.size = sizeof(struct assay_stage),
                                .name = "host_compute",
                                .help = "in place of these: the same results by one host thread",
                                .kind = ASSAY_STAGE_HOST,
                                .present = overlap_present,
                                .cost = compute_cost,
                                .run = overlap_host_compute,
                                .group = overlap_group},
    NULL,
};

static const struct assay_metric_info *const metrics[] = {
    &(const struct assay_metric_info){.size = sizeof(struct assay_metric_info),
                                      .name = "batch_flops",
                                      .unit = "flop",
                                      .help = "multiply-adds of a batch, two flops each"},
    &(const struct assay_metric_info){.size = sizeof(struct assay_metric_info),
                                      .name = "sent_bytes",
                                      .unit = "B",
                                      .help = "what prepare leaves to upload"},
    NULL,
};

#define OPTION(member, option_kind, value, text)                                                   \
    .size = sizeof(struct assay_option), .name = #member, .kind = option_kind,                     \
    .offset = offsetof(struct params, member), .fallback = value, .help = text
#define INTEGER(member, label, value, least, most, text)                                           \
    &(const struct assay_option)                                                                   \
    {                                                                                              \
        OPTION(member, ASSAY_OPTION_INTEGER, value, text), .unit = label, .min = least,            \
                                                           .max = most                             \
    }
#define CHOICE(member, value, list, text)                                                          \
    &(const struct assay_option)                                                                   \
    {                                                                                              \
        OPTION(member, ASSAY_OPTION_CHOICE, value, text), .choices = list                          \
    }

static const struct assay_option *const options[] = {
    INTEGER(upload, "B", "64 MiB", 4, BYTES_MAX, "records of fp32 fields; prepare may send less"),
    INTEGER(flops, "flop", "1 GFLOP", 0, FLOPS_MAX, "of compute, rounded up to whole workgroups"),
    INTEGER(compute_time, "ns", "0", 0, INT64_C(60000000000),
            "about how long compute takes, in place of flops; 0: flops"),
    INTEGER(download, "B", "1 MiB", 0, BYTES_MAX, "results; 0: no such stage"),
    CHOICE(prepare, "none", prepares,
           "what the host does before the upload: keep some fields, narrow them to fp16, both, "
           "spend decode_time"),
    INTEGER(fields, "fields", "8", 1, 1024, "of a record"),
    INTEGER(used, "fields", "4", 1, 1024, "fields that select and both keep"),
    INTEGER(decode_time, "ns", "1 ms", 0, INT64_C(60000000000), "processor time of prepare decode"),
    CHOICE(source, "memory", sources, "where records come from; memory: they are there"),
    INTEGER(file_count, "files", "1", 1, 1000000, "of source files, in a directory of their own"),
    INTEGER(file_bytes, "B", "0", 0, BYTES_MAX,
            "size of each; batches read on where the last one ended; 0: one batch in all"),
    INTEGER(readers, "threads", "1", 1, 64, "that read a batch at the same time"),
    &(const struct assay_option){
        OPTION(direct, ASSAY_OPTION_BOOLEAN, "false", "read past the page cache (O_DIRECT)")},
    &(const struct assay_option){OPTION(feed_rate, ASSAY_OPTION_REAL, "1 GB/s", "of source feed"),
                                 .unit = "B/s", .real_min = 1, .real_max = 1e15},
    INTEGER(feed_latency, "ns", "0", 0, INT64_C(60000000000), "until its first byte"),
    &(const struct assay_option){OPTION(directory, ASSAY_OPTION_TEXT, "",
                                        "where the files' directory is made; empty: $TMPDIR")},
    CHOICE(host_memory, "pinned", memories, "what is uploaded lies in it"),
    &(const struct assay_option){OPTION(items, ASSAY_OPTION_INTEGER, "1",
                                        "items in a batch: sizes and times above are of one"),
                                 .unit = "items", .min = 1, .max = 1 << 20,
                                 .flags = ASSAY_OPTION_ITEMS},
    CHOICE(compute_on, "device", places,
           "host: nothing is uploaded, one thread of the host does the same arithmetic"),
    NULL,
};

static const struct assay_workload workload = {
    .size = sizeof(struct assay_workload),
    .name = "overlap",
    .version = "1",
    .summary = "records from a source through the host to the device and back, each stage as long "
               "as it is asked to be",
    .options = options,
    .params_size = sizeof(struct params),
    .stages = stages,
    .metrics = metrics,
    .check = overlap_check,
    .supported = overlap_supported,
    .create = overlap_create,
    .verify = overlap_verify,
    .report = overlap_report,
    .destroy = overlap_destroy,
};

static const struct assay_workload *const workloads[] = {&workload, NULL};

ASSAY_PLUGIN_ENTRY(overlap)
{
    static const struct assay_plugin plugin = {.size = sizeof(struct assay_plugin),
                                               .abi = ASSAY_ABI,
                                               .name = "overlap",
                                               .version = "1",
                                               .workloads = workloads};
    return &plugin;
}
