/* SPDX-License-Identifier: MIT */
#include "base/format.h"
#include "base/text.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_BYTES 1024
#define LARGEST_BLOCK_BYTES (256 * 1024)

struct block {
    struct block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct block *blocks; /* the newest first */
    size_t next_size, total;
};

struct arena *arena_create(void)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena)
        arena->next_size = FIRST_BLOCK_BYTES;
    return arena;
}

void arena_destroy(struct arena **arena)
{
    if (!arena || !*arena)
        return;
    for (struct block *block = (*arena)->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(*arena);
    *arena = NULL;
}

static struct block *arena_grow(struct arena *arena, size_t bytes)
{
    size_t size = bytes > arena->next_size ? bytes : arena->next_size;
    struct block *block = calloc(1, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->total += sizeof *block + size;
    if (arena->next_size < LARGEST_BLOCK_BYTES)
        arena->next_size *= 2;
    return block;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t align = alignof(max_align_t);
    size_t rounded = (bytes + align - 1) / align * align;
    struct block *block = arena->blocks;
    if (!block || block->size - block->used < rounded)
        block = arena_grow(arena, rounded);
    if (!block)
        return NULL;
    void *out = block->bytes + block->used;
    block->used += rounded;
    return out;
}

size_t arena_bytes(const struct arena *arena)
{
    return arena->total;
}

char *arena_copy(struct arena *arena, const char *string)
{
    size_t bytes = strlen(string) + 1;
    char *copy = arena_alloc(arena, bytes);
    if (copy)
        memcpy(copy, string, bytes);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    char *out = NULL;
    int length = format_c(NULL, 0, format, arguments);
    if (length >= 0)
        out = arena_alloc(arena, (size_t)length + 1);
    if (out)
        format_c(out, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    return out;
}
