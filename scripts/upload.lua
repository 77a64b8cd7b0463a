-- SPDX-License-Identifier: MIT
local assay = require "assay"

assay.experiment {
  name     = "upload grows with transfer size",
  workload = "copy",
  fixed    = { direction = "upload" },
  vary     = { bytes = assay.powers_of_two("4 KiB", "256 MiB"),
               host_memory = { "pageable", "pinned" } },
  check    = function(r, expect)                        -- each case
    expect(r.copy.rate):at_least("500 MB/s")
  end,
  summary  = function(all, expect)                      -- across cases, when all is there
    local small = all:one{ bytes = "4 KiB",   host_memory = "pinned" }
    local large = all:one{ bytes = "256 MiB", host_memory = "pinned" }
    expect(large.copy.rate / small.copy.rate):at_least(2)
    expect(all:where{ host_memory = "pinned" }.copy.rate):increasing("bytes", { tolerance = 0.10 })
  end,
}
