-- SPDX-License-Identifier: MIT
-- Long arrays are bound by memory: what an operation costs is the bytes it moves, not what it computes with them.
--   assay run scripts/stream.lua
local assay = require "assay"
local size = assay.option("size", "64 MiB", "bytes of an array: several times the largest cache")

-- Operations sampled in turn, so that their ratios hold on a busy machine.
assay.experiment {
  name = "bytes decide, not operations", workload = "stream",
  fixed = { bytes = size },
  vary = { operation = { "copy", "scale", "add", "triad", "read", "write" } },
  pair = "operation",
  check = function(g, expect)
    local copy = g:one{ operation = "copy" }
    local function against_copy(operation) return g:one{ operation = operation }.stream.time / copy.stream.time end
    local software = copy.device.class == "cpu"
    -- The same bytes take the same time, with or without a multiplication for each element.
    expect(against_copy "scale"):between(0.7, 1.4)
    expect(g:one{ operation = "triad" }.stream.time / g:one{ operation = "add" }.stream.time):between(0.7, 1.4)
    -- Three arrays against two: 1.5 times the bytes. On a software driver loads cost instructions, one for each lane, and
    -- stores hardly any: two arrays that are read, against one.
    expect(against_copy "add"):between(1.2, software and 2.6 or 1.8)
    -- One array against two; on a software driver it is the one that is read, which costs nearly all of a copy.
    expect(against_copy "read"):at_most(software and 1.3 or 0.8)
    expect(against_copy "write"):at_most(0.8)
  end,
}

-- Twice the bytes, twice the time, once no cache holds the arrays.
assay.experiment {
  name = "time grows with the bytes", workload = "stream",
  fixed = { operation = "triad" },
  vary = { bytes = assay.powers_of_two("64 KiB", size) },
  summary = function(all, expect)
    expect(all.stream.time):increasing("bytes", { tolerance = 0.25 })
    local large, half = all:one{ bytes = size }, all:one{ bytes = assay.quantity(size) / 2 }
    expect(large.stream.time / half.stream.time):between(1.4, 2.8)
  end,
}
