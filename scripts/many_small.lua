-- SPDX-License-Identifier: MIT
-- The same bytes in 1, 10, ... 10,000 pieces: what does a piece cost?
--   assay run scripts/many_small.lua
--
-- A link has a rate, and each transfer over it a price of its own: a command that the driver writes and the device reads,
-- its start, its end. One large transfer pays that once. 10,000 images of 1 MB fill a PCI Express 4.0 link of sixteen lanes
-- for 0.32 s (assay.model.pcie); that somebody measures several seconds for them says that the pieces are paid for, not the
-- bytes.
--
-- The first experiment uploads the same bytes with one copy command a piece, all in one submission. The time is
--   bytes / rate + pieces * cost of a piece
-- so two of the cases give both figures, and the ones between are predicted from them: a piece costs the same whether there
-- are ten or ten thousand. The size at which a piece's own bytes take as long as its cost is where small becomes small:
-- under it pack pieces together before they are sent.
--
-- The second does the same one step earlier: the bytes are read from 1, 10, 100 and 1,000 files, which are opened and
-- closed for every batch. Files cost more than commands do, and more readers share their cost.
--
-- Cases are sampled in turn, so that the ratios hold on a machine that does other things as well.
local assay = require "assay"
local bytes = assay.quantity(assay.option("bytes", "40 MB", "in all; a piece of the smallest kind is a ten-thousandth of it"))

assay.experiment {
  name = "pieces of an upload", workload = "copy",
  fixed = { direction = "upload", bytes = bytes },
  vary = { chunk = { bytes, bytes / 10, bytes / 100, bytes / 1000, bytes / 10000 } }, pair = "chunk", budget = "2 s",
  check = function(g, expect)
    local function pieces(count) return g:one{ chunk = bytes / count } end
    local whole, most = pieces(1), pieces(10000)
    local cost = (most.time - whole.time) / 9999
    expect(most.pieces):equals(10000)
    expect(most.time / whole.time):at_least(0.95)              -- pieces gain nothing
    print("a piece costs " .. tostring(cost) .. "; its bytes take as long at " .. tostring(cost * whole.copy.rate))
    for _, count in ipairs { 10, 100, 1000 } do
      expect(pieces(count).time / whole.time):at_most(1.1 + 2 * (count - 1) / 9999 * (most.time / whole.time).value)
    end
  end,
}

assay.experiment {
  name = "files of a batch", workload = "overlap",
  fixed = { upload = bytes, source = "files", flops = 0, download = 0, fields = 1 },
  vary = { file_count = { 1, 10, 100, 1000 }, readers = { 1, 4 } }, pair = "file_count", budget = "2 s",
  check = function(g, expect)
    local one, many = g:one{ file_count = 1 }, g:one{ file_count = 1000 }
    expect(many.source.time / one.source.time):at_least(0.95)
    print("a file costs " .. tostring((many.source.time - one.source.time) / 999) .. " with " .. one.p.readers .. " readers")
  end,
}
