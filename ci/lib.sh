# SPDX-License-Identifier: MIT
# What the scripts of ci/ share; sourced, with `top` set to the root of the checkout.
# Those with variables of their own run in a subshell, or they would change their caller's.
# shellcheck shell=sh

# build_option DIR NAME: the value of a Meson option in a configured build directory.
build_option() {
    meson introspect "$1" --buildoptions | tr '{' '\n' |
        sed -n "s/.*\"name\": \"$2\", \"value\": \"\\{0,1\\}\\([^,\"]*\\)\"\\{0,1\\},.*/\\1/p" | head -n 1
}

# build_configure DIR OPTION...: sets the build directory up, or changes what differs in one that is there.
build_configure() (
    directory=$1
    shift
    if [ ! -e "$directory/build.ninja" ]; then
        rm -rf "$directory"
        meson setup "$directory" "$@" >"$directory.log" 2>&1 || {
            tail -n 30 "$directory.log" >&2
            echo "meson setup failed; the whole output is in $directory.log" >&2
            return 2
        }
        rm -f "$directory.log"
        return 0
    fi
    for option in "$@"; do
        name=${option#-D}
        name=${name#--}
        if [ "$(build_option "$directory" "${name%%=*}")" != "${name#*=}" ]; then
            meson configure "$directory" "$@" >/dev/null
            return
        fi
    done
)

# build_compile DIR [TARGET...]: quiet unless it fails.
build_compile() (
    directory=$1
    shift
    ninja -C "$directory" "$@" >"$directory/compile.log" 2>&1 || {
        grep -v '^\[' "$directory/compile.log" | tail -n 60 >&2
        echo "the build failed; the whole output is in $directory/compile.log" >&2
        return 2
    }
)

# The driver file of lavapipe, or nothing.
lavapipe_driver() {
    for path in /usr/share/vulkan/icd.d/lvp_icd*.json /etc/vulkan/icd.d/lvp_icd*.json \
        /usr/local/share/vulkan/icd.d/lvp_icd*.json; do
        if [ -e "$path" ]; then
            echo "$path"
            return 0
        fi
    done
}
