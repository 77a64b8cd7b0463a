-- SPDX-License-Identifier: MIT
-- The test of this plugin: assay run test.lua --plugin .
local assay = require "assay"

assay.experiment {
  name     = "skeleton is right and does something",
  workload = "skeleton",
  vary     = { n = { 1, 1000, 1 << 18 }, factor = { 0.5, 3 } },
  check    = function(r, expect)
    expect(r.verification.verdict):equals("right")
    expect(r.compute.rate):at_least("1 B/s")
  end,
}
