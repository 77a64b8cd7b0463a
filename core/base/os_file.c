/* SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path that is not there or not allowed is the user's to mend; a failing disk is not. */
static bool path_error(struct assay_error *error, int errnum, const char *action, const char *path)
{
    bool users = errnum == ENOENT || errnum == EACCES || errnum == EPERM || errnum == ENOTDIR ||
                 errnum == EISDIR || errnum == ELOOP || errnum == ENAMETOOLONG || errnum == EROFS;
    if (users)
        return assay_fail(error, ASSAY_INVALID, "cannot %s %s: %s", action, path, strerror(errnum));
    return error_system(error, errnum, __FILE__, __LINE__, "cannot %s %s", action, path);
}

static bool read_descriptor(int fd, const char *path, size_t max_bytes, struct text *out,
                            struct assay_error *error)
{
    char chunk[65536];
    size_t total = 0;
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return path_error(error, errno, "read", path);
        if (got == 0)
            break;
        total += (size_t)got;
        if (total > max_bytes)
            return assay_fail(error, ASSAY_INVALID, "%s is larger than the %zu bytes allowed", path,
                              max_bytes);
        text_add_bytes(out, chunk, (size_t)got);
    }
    text_add(out, ""); /* an empty file is an empty string */
    return !out->failed || assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to read %s", path);
}

bool os_file_read(const char *path, size_t max_bytes, struct text *out, struct assay_error *error)
{
    /* A pipe without a writer must not hold us: it is opened at once, and refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return path_error(error, errno, "read", path);
    bool good;
    struct stat status;
    if (fstat(fd, &status) != 0)
        good = path_error(error, errno, "read", path);
    else if (S_ISDIR(status.st_mode))
        good = assay_fail(error, ASSAY_INVALID, "%s is a directory, but a file is wanted", path);
    else if (!S_ISREG(status.st_mode))
        good = assay_fail(error, ASSAY_INVALID,
                          "%s is a pipe or a device, but a regular file is wanted", path);
    else
        good = read_descriptor(fd, path, max_bytes, out, error);
    close(fd);
    return good;
}

bool os_write_all(int fd, const void *data, size_t count)
{
    const char *bytes = data;
    while (count > 0) {
        ssize_t put = write(fd, bytes, count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        count -= (size_t)put;
    }
    return true;
}

static bool write_to(const char *path, int flags, const void *data, size_t count)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0666);
    if (fd < 0)
        return false;
    bool good = os_write_all(fd, data, count);
    int reason = errno;
    if (close(fd) != 0 && good)
        return false;
    errno = reason;
    return good;
}

bool os_file_write_atomic(const char *path, const void *data, size_t count,
                          struct assay_error *error)
{
    static atomic_uint serial;
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        /* /dev/stdout or a pipe is written to, not replaced. */
        return write_to(path, 0, data, count) || path_error(error, errno, "write", path);
    struct text beside = {0};
    text_addf(&beside, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&serial, 1u));
    bool good = false;
    if (beside.failed) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory to write %s", path);
    } else if (!write_to(beside.data, O_CREAT | O_EXCL, data, count) ||
               rename(beside.data, path) != 0) {
        path_error(error, errno, "write", path);
        unlink(beside.data);
    } else {
        good = true;
    }
    text_free(&beside);
    return good;
}

bool os_make_temporary(struct text *directory, struct assay_error *error)
{
    const char *named = getenv("TMPDIR"), *parent = named && *named ? named : "/tmp";
    os_path_join(directory, parent, "assay-XXXXXX");
    if (directory->failed)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for a path");
    else if (mkdtemp(directory->data))
        return true;
    else
        path_error(error, errno, "make a temporary directory in", parent);
    text_free(directory);
    return false;
}

bool os_make_directories(const char *path, struct assay_error *error)
{
    struct text part = {0};
    text_add(&part, path);
    if (part.failed || part.length == 0) {
        text_free(&part);
        return assay_fail(error, ASSAY_INVALID, "a directory without a name cannot be made");
    }
    bool good = true;
    for (size_t i = 1; good && i <= part.length; i++) {
        char kept = part.data[i];
        if (kept != '/' && kept != '\0')
            continue;
        part.data[i] = '\0';
        if (mkdir(part.data, 0777) != 0 && !os_is_directory(part.data))
            good = path_error(error, errno == EEXIST ? ENOTDIR : errno, "make directory",
                              part.data);
        part.data[i] = kept;
    }
    text_free(&part);
    return good;
}

bool os_is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool os_is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void os_path_join(struct text *out, const char *directory, const char *name)
{
    size_t length = strlen(directory);
    if (*name != '/' && length > 0) {
        text_add(out, directory);
        if (directory[length - 1] != '/')
            text_add_char(out, '/');
    }
    text_add(out, name);
}

/* Length without slashes at the end; the root keeps its one. */
static size_t trimmed(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

static size_t last_part(const char *path, size_t length)
{
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return start;
}

void os_path_directory(struct text *out, const char *path)
{
    size_t start = last_part(path, trimmed(path, strlen(path)));
    if (start == 0)
        text_add(out, *path == '/' ? "/" : ".");
    else
        text_add_bytes(out, path, trimmed(path, start));
}

void os_path_stem(struct text *out, const char *path)
{
    size_t end = trimmed(path, strlen(path));
    size_t start = last_part(path, end);
    for (size_t i = end; i > start + 1; i--)
        if (path[i - 1] == '.') {
            end = i - 1;
            break;
        }
    text_add_bytes(out, path + start, end - start);
}

static bool user_directory(struct text *out, const char *variable, const char *below_home)
{
    const char *given = getenv(variable), *home = getenv("HOME");
    if (given && *given == '/') {
        os_path_join(out, given, "assay");
        return true;
    }
    if (home && *home == '/') {
        os_path_join(out, home, below_home);
        return true;
    }
    return false;
}

bool os_cache_directory(struct text *out)
{
    return user_directory(out, "XDG_CACHE_HOME", ".cache/assay");
}

bool os_data_directory(struct text *out)
{
    return user_directory(out, "XDG_DATA_HOME", ".local/share/assay");
}

bool os_executable_path(struct text *out, struct assay_error *error)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length < 0)
        return error_fail_errno(error, "cannot find the program's own path (/proc/self/exe)");
    if ((size_t)length == sizeof path)
        return assay_fail(error, ASSAY_SYSTEM, "the program's own path is too long");
    text_add_bytes(out, path, (size_t)length);
    return true;
}

/* Whether the first `name` in $PATH is the file `path`. */
static bool found_in_path(const char *name, const char *path)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        size_t length = strcspn(at, ":");
        struct text candidate = {0};
        text_add_bytes(&candidate, at, length);
        text_addf(&candidate, "/%s", name);
        char *real = realpath(text_string(&candidate), NULL);
        bool there = access(text_string(&candidate), X_OK) == 0;
        bool same = real && strcmp(real, path) == 0;
        free(real);
        text_free(&candidate);
        if (there)
            return same;
        at += length + (at[length] == ':');
    }
    return false;
}

void os_executable_command(struct text *out)
{
    struct text path = {0}, name = {0};
    struct assay_error none = {0};
    char here[4096];
    if (!os_executable_path(&path, &none))
        text_add(&path, "assay");
    const char *whole = text_string(&path), *slash = strrchr(whole, '/');
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length > 1 && strncmp(whole, here, length) == 0 && whole[length] == '/';
    const char *rest = below ? whole + length + 1 : whole;
    if (slash && found_in_path(slash + 1, whole))
        text_add(&name, slash + 1);
    else /* a file in the working directory itself is no command without "./" */
        text_addf(&name, "%s%s", below && !strchr(rest, '/') ? "./" : "", rest);
    text_add(out, text_string(&name));
    text_free(&path);
    text_free(&name);
}

/* `installed` is relative to the executable's directory: an install tree may be moved. */
static bool beside_executable(struct text *out, const char *installed, struct assay_error *error)
{
    struct text program = {0}, directory = {0};
    bool good = os_executable_path(&program, error);
    if (good) {
        os_path_directory(&directory, text_string(&program));
        os_path_join(out, text_string(&directory), installed);
    }
    text_free(&program);
    text_free(&directory);
    return good;
}

bool os_plugin_directory(struct text *out, struct assay_error *error)
{
    struct text shaders = {0};
    /* The shaders tell an install tree: they always come with it. */
    bool good = beside_executable(&shaders, ASSAY_INSTALL_SHADERS, error);
    if (good && !os_is_directory(text_string(&shaders)))
        text_add(out, ASSAY_BUILD_PLUGINS);
    else if (good)
        good = beside_executable(out, ASSAY_INSTALL_PLUGINS, error);
    text_free(&shaders);
    return good;
}

bool os_shader_directory(struct text *out, struct assay_error *error)
{
    const char *given = getenv("ASSAY_SHADER_DIR");
    if (given && *given) {
        text_add(out, given);
        return os_is_directory(given) ||
               assay_fail(error, ASSAY_INVALID, "ASSAY_SHADER_DIR=%s is no directory", given);
    }
    struct text installed = {0};
    bool good = beside_executable(&installed, ASSAY_INSTALL_SHADERS, error);
    if (good && os_is_directory(text_string(&installed)))
        text_add(out, text_string(&installed));
    else if (good && os_is_directory(ASSAY_SOURCE_SHADERS))
        text_add(out, ASSAY_SOURCE_SHADERS);
    else if (good)
        good = assay_fail(error, ASSAY_SYSTEM,
                          "the shaders that come with assay are neither in %s nor in %s; set "
                          "ASSAY_SHADER_DIR",
                          text_string(&installed), ASSAY_SOURCE_SHADERS);
    text_free(&installed);
    return good;
}
