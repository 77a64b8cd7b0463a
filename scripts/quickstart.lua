-- SPDX-License-Identifier: MIT
-- A first lesson: how fast does data move between this machine's memory and the device?
-- Run it:  assay run scripts/quickstart.lua
local assay = require "assay"

-- An option of this script: assay run scripts/quickstart.lua --option largest=256MiB
local largest = assay.option("largest", "16 MiB", "the largest transfer")

-- An experiment names a workload (`assay list` shows what there is, `assay describe copy` its parameters),
-- what is fixed and what is varied. Axes multiply: 2 directions x 2 kinds of memory x 3 sizes are 12 cases.
assay.experiment {
  name     = "host and device",
  workload = "copy",
  vary     = {
    direction   = { "upload", "download" },
    host_memory = { "pageable", "pinned" },    -- from malloc, or memory that the device reaches itself
    bytes       = { "4 KiB", "1 MiB", largest },
  },
  budget   = "200 ms",                         -- of samples for each case

  -- Every byte that arrives is compared; a wrong one is an error of the case, so nothing is said about it here.
  -- `check` looks at each case that ran. A figure has an interval, and a bound is held against all of it.
  check = function(r, expect)
    if r.p.bytes >= assay.MiB(1).value then
      expect(r.copy.rate):at_least("200 MB/s")   -- slow for any machine of today
    end
  end,

  -- `summary` looks across the cases, once all of them have run.
  summary = function(all, expect)
    for group in all:groups("direction", "host_memory") do
      -- Every transfer has a fixed cost, which a small one cannot hide: the rate grows with the size.
      local small = group:one { bytes = "4 KiB" }
      local large = group:one { bytes = "1 MiB" }
      expect(large.copy.rate):at_least(small.copy.rate)
    end
  end,
}

-- Within the device's own memory there is no bus to cross.
assay.experiment {
  name     = "within the device",
  workload = "copy",
  fixed    = { direction = "device" },
  vary     = { bytes = { "4 KiB", "1 MiB", largest } },
  budget   = "200 ms",
  check    = function(r, expect)
    if r.p.bytes >= assay.MiB(1).value then
      expect(r.copy.rate):at_least("200 MB/s")
    end
  end,
}
