/* SPDX-License-Identifier: MIT */
#include "vulkan/memory.h"

#include "base/units.h"

#include <unistd.h>

#define VISIBLE VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
#define COHERENT VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
#define CACHED VK_MEMORY_PROPERTY_HOST_CACHED_BIT
#define LOCAL VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
/* Types with a special meaning that no kind asks for. */
#define SPECIAL                                                                                    \
    (VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT |                  \
     VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD)

const char *memory_name(enum assay_memory memory)
{
    static const char *const names[ASSAY_MEMORY_COUNT] = {
        [ASSAY_MEMORY_DEVICE] = "device",     [ASSAY_MEMORY_PINNED] = "pinned",
        [ASSAY_MEMORY_CACHED] = "cached",     [ASSAY_MEMORY_BAR] = "bar",
        [ASSAY_MEMORY_IMPORTED] = "imported", [ASSAY_MEMORY_PAGEABLE] = "pageable",
    };
    return (unsigned)memory < ASSAY_MEMORY_COUNT ? names[memory] : "unknown";
}

/* Needed flags; then what is liked, the first weighing most. Among equals the driver's order, which
 * the specification makes an order of speed. */
struct wish {
    VkMemoryPropertyFlags needed, liked[2], disliked;
    const char *why_not;
};

static const struct wish wishes[ASSAY_MEMORY_COUNT] = {
    [ASSAY_MEMORY_DEVICE] = {.needed = LOCAL, .why_not = "no memory type is device-local"},
    [ASSAY_MEMORY_PINNED] = {.needed = VISIBLE | COHERENT,
                             .disliked = LOCAL,
                             .why_not = "no memory type is host-visible and coherent"},
    [ASSAY_MEMORY_CACHED] = {.needed = VISIBLE | CACHED,
                             .disliked = LOCAL,
                             .liked = {COHERENT},
                             .why_not = "no memory type is host-visible and cached"},
    [ASSAY_MEMORY_BAR] = {.needed = LOCAL | VISIBLE,
                          .liked = {COHERENT},
                          .why_not = "no memory type is both device-local and host-visible"},
    /* Imported memory is not mapped, so it could be neither flushed nor invalidated. */
    [ASSAY_MEMORY_IMPORTED] = {.needed = VISIBLE | COHERENT,
                               .disliked = LOCAL,
                               .liked = {CACHED},
                               .why_not = "no coherent memory type takes imported host memory"},
    [ASSAY_MEMORY_PAGEABLE] = {.needed = VISIBLE | COHERENT,
                               .disliked = LOCAL,
                               .why_not = "no memory type is host-visible and coherent, for "
                                          "staging"},
};

static unsigned score(const struct wish *wish, VkMemoryPropertyFlags flags)
{
    unsigned points = 0;
    if (wish->disliked && !(flags & wish->disliked))
        points += 4;
    if (wish->liked[0] && (flags & wish->liked[0]))
        points += 2;
    if (wish->liked[1] && (flags & wish->liked[1]))
        points += 1;
    return points;
}

int memory_type_find(const struct vulkan_physical *physical, enum assay_memory memory,
                     uint32_t allowed_bits, const char **why_not)
{
    const struct wish *wish = &wishes[memory];
    if (memory == ASSAY_MEMORY_IMPORTED && physical->import_alignment_bytes == 0) {
        *why_not = "VK_EXT_external_memory_host is not there";
        return -1;
    }
    int best = -1;
    unsigned best_score = 0;
    for (uint32_t i = 0; i < physical->memory.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = physical->memory.memoryTypes[i].propertyFlags;
        if (!(allowed_bits >> i & 1) || (flags & SPECIAL) || (flags & wish->needed) != wish->needed)
            continue;
        if (best < 0 || score(wish, flags) > best_score) {
            best = (int)i;
            best_score = score(wish, flags);
        }
    }
    if (best < 0)
        *why_not = wish->why_not;
    return best;
}

static void add_size(struct text *text, uint64_t bytes)
{
    quantity_add(text, (double)bytes, (struct dimension){.bytes = 1});
}

/* "64 GiB of device memory wanted, but WHAT (LIMIT) is 23.4 GiB". The exact value follows where
 * rounding would make both look alike. */
static bool over_as(enum assay_status status, struct assay_error *error, enum assay_memory memory,
                    uint64_t bytes, const char *what, const char *limit, uint64_t limit_bytes)
{
    struct text wanted = {0}, there = {0};
    add_size(&wanted, bytes);
    add_size(&there, limit_bytes);
    assay_fail(error, status, "%s (%llu B) of %s memory wanted, but %s %s (%s, %llu B)",
               text_string(&wanted), (unsigned long long)bytes, memory_name(memory), what,
               text_string(&there), limit, (unsigned long long)limit_bytes);
    if (error)
        error->foreseen = status == ASSAY_OUT_OF_MEMORY;
    text_free(&wanted);
    text_free(&there);
    return false;
}

static bool over(struct assay_error *error, enum assay_memory memory, uint64_t bytes,
                 const char *what, const char *limit, uint64_t limit_bytes)
{
    return over_as(ASSAY_UNSUPPORTED, error, memory, bytes, what, limit, limit_bytes);
}

static bool check_host(enum assay_memory memory, uint64_t bytes, struct assay_error *error)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0)
        return true;
    const uint64_t total = (uint64_t)pages * (uint64_t)page;
    return bytes <= total || over(error, memory, bytes, "this machine has", "host memory", total);
}

bool memory_check_allocation(const struct vulkan_physical *physical, uint32_t type,
                             enum assay_memory memory, uint64_t bytes, struct assay_error *error)
{
    const uint64_t heap_bytes =
        physical->memory.memoryHeaps[physical->memory.memoryTypes[type].heapIndex].size;
    if (bytes > heap_bytes)
        return over(error, memory, bytes, "the heap of that memory has", "heap size", heap_bytes);
    if (bytes > physical->max_allocation_bytes)
        return over(error, memory, bytes, "one allocation holds at most", "maxMemoryAllocationSize",
                    physical->max_allocation_bytes);
    return true;
}

static bool check_member(const struct vulkan_physical *physical, enum assay_memory memory,
                         uint64_t bytes, struct assay_error *error)
{
    const char *why_not = NULL;
    const int type = memory_type_find(physical, memory, UINT32_MAX, &why_not);
    if (type < 0)
        return assay_fail(error, ASSAY_UNSUPPORTED, "%s has no %s memory: %s", physical->name,
                          memory_name(memory), why_not);
    if (!memory_check_allocation(physical, (uint32_t)type, memory, bytes, error))
        return false;
    if (physical->max_buffer_bytes && bytes > physical->max_buffer_bytes)
        return over(error, memory, bytes, "one buffer holds at most", "maxBufferSize",
                    physical->max_buffer_bytes);
    return true;
}

bool memory_check_size(const struct assay_device *device, enum assay_memory memory, uint64_t bytes,
                       struct assay_error *error)
{
    const bool shared = device->member_count > 1;
    if ((memory == ASSAY_MEMORY_PAGEABLE || memory == ASSAY_MEMORY_IMPORTED || shared) &&
        !check_host(memory, bytes, error))
        return false;
    if (memory == ASSAY_MEMORY_PAGEABLE)
        return true;
    for (unsigned i = 0; i < device->member_count; i++)
        if (!check_member(device->members[i]->physical, shared ? ASSAY_MEMORY_IMPORTED : memory,
                          bytes, error))
            return false;
    return true;
}

bool memory_check_host_left(enum assay_memory memory, uint64_t bytes, uint64_t host_left_bytes,
                            struct assay_error *error)
{
    return bytes <= host_left_bytes ||
           over_as(ASSAY_OUT_OF_MEMORY, error, memory, bytes, "what this machine has left is",
                   "available host memory", host_left_bytes);
}

bool memory_check_left(const struct vulkan_device *device, uint32_t type, enum assay_memory memory,
                       uint64_t bytes, uint64_t host_left_bytes, struct assay_error *error)
{
    const struct vulkan_physical *physical = device->physical;
    const uint32_t heap = physical->memory.memoryTypes[type].heapIndex;
    const uint64_t heap_bytes = physical->memory.memoryHeaps[heap].size;
    const uint64_t held = device->held_bytes[heap];
    const uint64_t left = held < heap_bytes ? heap_bytes - held : 0;
    if (bytes > left)
        return over_as(ASSAY_OUT_OF_MEMORY, error, memory, bytes,
                       "what other buffers leave of the heap is", "heap size less theirs", left);
    const bool host = physical->class == VULKAN_CLASS_CPU ||
                      physical->class == VULKAN_CLASS_INTEGRATED ||
                      !(physical->memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
    return !host || memory_check_host_left(memory, bytes, host_left_bytes, error);
}
