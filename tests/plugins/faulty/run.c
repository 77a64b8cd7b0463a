/* SPDX-License-Identifier: MIT */
/* A workload that does one thing wrong when it runs, as `fault` says. */
#include <assay/assay.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES 65536u

enum fault {
    NONE,
    PAYLOAD,
    FLOPS,
    HOST_PAST,
    KERNEL_PAST,
    COPY_PAST,
    HANG,
    CRASH,
    LEAK_BUFFER,
    LEAK_SLOT
};
static const char *const faults[] = {"none",        "payload",   "flops", "host_past",
                                     "kernel_past", "copy_past", "hang",  "crash",
                                     "leak_buffer", "leak_slot", NULL};

struct params {
    int fault;
};

struct faulty {
    int fault;
    struct assay_buffer *source, *destination, *mirror;
    struct assay_kernel *kernel;
};

/* Stores one word more than the buffer has. */
static const char past[] = "#version 450\n"
                           "layout(local_size_x = 64) in;\n"
                           "layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };\n"
                           "void main() {\n"
                           "    data[gl_GlobalInvocationID.x + uint(data.length())] = 0u;\n"
                           "}\n";

static void faulty_destroy(void **self)
{
    struct faulty *faulty = *self;
    if (!faulty)
        return;
    assay_kernel_destroy(&faulty->kernel);
    assay_buffer_destroy(&faulty->source);
    assay_buffer_destroy(&faulty->destination);
    if (faulty->fault != LEAK_BUFFER)
        assay_buffer_destroy(&faulty->mirror);
    if (faulty->fault == LEAK_SLOT)
        return;
    free(faulty);
    *self = NULL;
}

static void *faulty_create(struct assay_slot *slot, const void *params, struct assay_error *error)
{
    struct faulty *faulty = calloc(1, sizeof(*faulty));
    void *self = faulty;
    if (!faulty) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory");
        return NULL;
    }
    faulty->fault = ((const struct params *)params)->fault;
    struct assay_buffer_params buffer = {.size = sizeof(buffer),
                                         .name = "source",
                                         .bytes = BYTES,
                                         .memory = ASSAY_MEMORY_PINNED,
                                         .role = ASSAY_ROLE_INPUT,
                                         .fill = {.kind = ASSAY_FILL_RANDOM_BITS}};
    struct assay_kernel_params kernel = {.size = sizeof(kernel), .source = "past", .text = past};
    faulty->source = assay_buffer_create(slot, &buffer, error);
    buffer.name = "destination";
    buffer.role = ASSAY_ROLE_OUTPUT;
    faulty->destination = assay_buffer_create(slot, &buffer, error);
    buffer.name = "mirror";
    buffer.memory = ASSAY_MEMORY_PAGEABLE;
    faulty->mirror = assay_buffer_create(slot, &buffer, error);
    faulty->kernel = assay_kernel_create(slot, &kernel, error);
    if (!faulty->source || !faulty->destination || !faulty->mirror || !faulty->kernel)
        faulty_destroy(&self);
    return self;
}

static void copy_cost(const struct assay_stage *stage, const void *params, struct assay_cost *out)
{
    (void)stage;
    int fault = ((const struct params *)params)->fault;
    out->payload_bytes = out->read_bytes = out->written_bytes = BYTES;
    if (fault == PAYLOAD)
        out->payload_bytes = 2 * BYTES;
    if (fault == FLOPS) {
        out->flops = UINT64_C(1) << 50;
        out->flop_kind = ASSAY_NUMBER_FP32;
    }
}

static bool copy_record(const struct assay_stage *stage, void *self, struct assay_command *command,
                        struct assay_error *error)
{
    (void)stage;
    const struct faulty *faulty = self;
    struct assay_binding binding = {.name = "data", .buffer = faulty->source};
    struct assay_dispatch dispatch = {.size = sizeof(dispatch),
                                      .kernel = faulty->kernel,
                                      .bindings = &binding,
                                      .binding_count = 1,
                                      .invocations = {64, 1, 1}};
    if (faulty->fault == KERNEL_PAST && !assay_command_dispatch(command, &dispatch, error))
        return false;
    uint64_t bytes = faulty->fault == COPY_PAST ? BYTES + 4 : BYTES;
    return assay_command_barrier(command, error) &&
           assay_command_copy(command, faulty->destination, 0, faulty->source, 0, bytes, error);
}

static bool mirror_run(const struct assay_stage *stage, void *self, struct assay_error *error)
{
    (void)stage;
    (void)error;
    struct faulty *faulty = self;
    unsigned char *to = assay_buffer_address(faulty->mirror);
    memcpy(to, assay_buffer_address(faulty->destination), BYTES);
    if (faulty->fault == HOST_PAST)
        to[BYTES] = 0;
    while (faulty->fault == HANG)
        pause();
    if (faulty->fault == CRASH)
        abort();
    return true;
}

static bool faulty_verify(void *self, struct assay_verification *verification,
                          struct assay_error *error)
{
    struct faulty *faulty = self;
    return assay_verification_copy_of(verification, faulty->destination, faulty->source, error) &&
           assay_verification_copy_of(verification, faulty->mirror, faulty->source, error);
}

static const struct assay_option fault_option = {.size = sizeof(fault_option),
                                                 .name = "fault",
                                                 .kind = ASSAY_OPTION_CHOICE,
                                                 .offset = offsetof(struct params, fault),
                                                 .fallback = "none",
                                                 .choices = faults,
                                                 .help = "what is wrong"};
static const struct assay_option *const options[] = {&fault_option, NULL};
static const struct assay_stage copy_stage = {.size = sizeof(copy_stage),
                                              .name = "copy",
                                              .help = "by the device",
                                              .kind = ASSAY_STAGE_TRANSFER,
                                              .cost = copy_cost,
                                              .record = copy_record};
static const struct assay_stage mirror_stage = {.size = sizeof(mirror_stage),
                                                .name = "mirror",
                                                .help = "by the host",
                                                .kind = ASSAY_STAGE_HOST,
                                                .run = mirror_run};
static const struct assay_stage *const stages[] = {&copy_stage, &mirror_stage, NULL};
static const struct assay_workload workload = {.size = sizeof(workload),
                                               .name = "faulty",
                                               .version = "1",
                                               .summary = "does one thing wrong",
                                               .options = options,
                                               .params_size = sizeof(struct params),
                                               .stages = stages,
                                               .create = faulty_create,
                                               .verify = faulty_verify,
                                               .destroy = faulty_destroy};
static const struct assay_workload *const workloads[] = {&workload, NULL};
static const struct assay_plugin plugin = {.size = sizeof(plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "faulty",
                                           .version = "1",
                                           .workloads = workloads};

ASSAY_PLUGIN_ENTRY(faulty)
{
    return &plugin;
}
