-- SPDX-License-Identifier: MIT
-- What the device can do at best: copies within it, to it and from it, and multiply-adds by number kind and vector width.
--
--   assay run scripts/peaks.lua
--
-- The table is printed at the end of the run. In a script of your own the peaks serve as yardsticks:
--
--   local peaks = assay.peaks()
--   ... check = function(r, expect) expect(r.copy.rate):at_least(peaks.copy.device * 0.5) end
local assay = require "assay"

assay.peaks()
