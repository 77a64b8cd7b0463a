-- SPDX-License-Identifier: MIT
-- From which size on does the device beat the host, when transfer and launch are counted?
--   assay run scripts/break_even.lua
--   assay run scripts/break_even.lua --option most=16MiB
--
-- "The kernel is fifty times as fast as the processor" is said of device time. Who calls it pays for more: the data goes
-- there, the work is submitted and waited for, the results come back. The host has its data at hand and begins at once.
-- Both do the same here: the workload `overlap` with compute_on = "device" uploads, computes and downloads; with "host" one
-- thread does the same multiply-adds on the same words, and both are verified against the same results.
--
-- Theory: with n bytes of input and a fixed number of flops for each byte
--   host    h n
--   device  launch + d n,    d = flops of a byte / device rate + 1 / link rate (and a part of that for the results)
-- so where d < h the device wins from
--   n = launch / (h - d)
-- on, and where d >= h it never does, however large the input. What decides is how much is done with each byte: a link of
-- 25 GB/s and a thread of 5 GFLOP/s meet at 0.2 flops for a byte, when the device is infinitely fast. So
--   - at the smallest size, and with little work on a byte, the host is ahead, by the launch;
--   - the device's time over the host's falls with size: the launch is spread over more;
--   - more work on each byte moves the break-even to smaller inputs;
--   - two sizes give launch, h and d, and from these follows the break-even that the measured ones must enclose.
-- One host thread is the host here. A program that uses c cores well divides h by c: break-even moves up, or away. Data that
-- is on the device already needs no upload: compare compute.time then.
--
-- Device and host take turns (pair), so that the ratios hold on a machine that does other things as well. With a driver that
-- runs on the processor (lavapipe) there is a break-even too: it has threads and vectors, and its launch is a wake-up.
local assay = require "assay"
local least = assay.quantity(assay.option("least", "4 KiB", "smallest input, a multiple of 1 KiB"))
local most = assay.quantity(assay.option("most", "1 MiB", "largest input; each is four times the one before it, two at least"))

local sizes = {}
local bytes = least
while bytes <= most do
  sizes[#sizes + 1], bytes = bytes, bytes * 4
end

-- `ahead`: the host is expected to be, at the smallest size.
local function compare(work, ahead)
  local function summary(all, expect)
    local function at(size)
      return all:one{ upload = size, compute_on = "device" }, all:one{ upload = size, compute_on = "host" }
    end
    local first, last = sizes[1], sizes[#sizes]
    local small_device, small_host = at(first)
    local large_device, large_host = at(last)
    for r in all:each() do expect(r.verification.verdict):equals("right") end
    if ahead then expect(small_device.time / small_host.time):at_least(1) end      -- the launch is not free
    -- It is spread over more, so the ratio falls; the host's time is that of its work.
    expect((large_device.time / large_host.time) / (small_device.time / small_host.time)):at_most(1.2)
    local growth = last / first
    expect(large_host.time / small_host.time):between(growth / 8, growth * 8)

    local behind, won                         -- the last size of a losing device before it wins, the first of a winning one
    for _, size in ipairs(sizes) do
      local device, host = at(size)
      local ratio = device.time / host.time
      print(tostring(size) .. ": device " .. tostring(device.time) .. ", host " .. tostring(host.time) ..
        ", ratio " .. tostring(ratio))
      if not won and not ratio.absent then
        if ratio.high < 1 then won = size elseif ratio.low > 1 then behind = size end
      end
    end
    local d = (large_device.time - small_device.time) / (last - first)
    local h = (large_host.time - small_host.time) / (last - first)
    local predicted = (small_device.time - d * first) / (h - d)
    print(work .. " flops a byte: break-even predicted at " .. tostring(predicted) .. ", the device is " ..
      (won and "ahead from " .. tostring(won) or "not ahead up to " .. tostring(last)))
    if won and behind then expect(predicted):between(behind / 8, won * 8) end
  end

  assay.experiment {
    name = work .. " flops a byte", workload = "overlap",
    fixed = { flops = function(p) return p.upload * work end, download = function(p) return p.upload // 256 * 4 end },
    vary = { upload = sizes, compute_on = { "device", "host" } }, pair = "compute_on", summary = summary,
  }
end
compare(16, true)
compare(256, false)
