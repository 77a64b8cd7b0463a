-- SPDX-License-Identifier: MIT
-- simt: what a branch costs, by the share of a subgroup on each side. README.md says what it shows.
local assay = require "assay"

local period = 1024 -- as in simt.comp
local step_work = 16
local work_max = 32000 * step_work -- both sides' loops: some drivers end an invocation's loops after 65,535 rounds

local function taken(p) return math.floor(p.share * period + 0.5) end

-- Whether invocation i (from 0) takes the first side.
local function is_first(p, i)
  local block = i // p.granularity % period
  return (block + 1) * taken(p) // period > block * taken(p) // period
end

-- How many of the n invocations take the first side: whole periods, whole blocks, and a part of a block.
local function first_count(p)
  local blocks, rest = p.n // p.granularity, p.n % p.granularity
  local count = p.granularity * (blocks // period * taken(p) + blocks % period * taken(p) // period)
  return is_first(p, p.n - 1) and count + rest or count
end

local function multiply_adds(p)
  local first = first_count(p)
  return first * p.work + (p.n - first) * p.work_else
end

assay.workload {
  name    = "simt",
  summary = "a branch whose sides both cost time, by the share of each subgroup that takes each, verified",
  params  = {
    { "share", 0.5, "invocations", min = 0, max = 1, help = "that take the first side; rounded to 1/1024" },
    { "granularity", 1, "invocations", min = 1, max = 1 << 16,
      help = "neighbours that go the same way: 1 divides each subgroup, its size and multiples divide none" },
    { "work", 16384, "multiply-adds", min = 0, max = work_max, help = "on the first side; a multiple of 16" },
    { "work_else", 16384, "multiply-adds", min = 0, max = work_max, help = "on the second side; a multiple of 16" },
    { "n", 128, "invocations", min = 1, max = 1 << 22, items = true },
  },
  check   = function(p)
    return p.work % step_work == 0 and p.work_else % step_work == 0, "work and work_else must be multiples of 16"
  end,
  slot    = function(s, p)
    s.x = s.device:buffer{ bytes = 4 * p.n, fill = assay.uniform(0, 1023, "uint") }
    s.y = s.device:buffer{ bytes = 4 * p.n }
    s.kernel = s.device:kernel{ "simt.comp" }
  end,
  stages  = {
    { "compute", help = "one dispatch",
      record  = function(s, p, cmd)
        cmd:dispatch(s.kernel, { x = s.x, y = s.y }, { n = p.n, granularity = p.granularity, taken = taken(p),
          steps = p.work // step_work, steps_else = p.work_else // step_work, factor = 1.0 }, { invocations = p.n })
      end,
      read    = function(p) return 4 * p.n end,
      written = function(p) return 4 * p.n end,
      flops   = function(p) return 2 * multiply_adds(p) end, -- of the invocations that take the side: what is of use
      items   = function(p) return p.n end },
  },
  verify  = function(s, p)
    local x = s.x:read "uint"
    return assay.compare(s.y:read "uint", function(i)
      return 4 * x[i] + 6 + (is_first(p, i - 1) and p.work or 2 * p.work_else)
    end)
  end,
  metrics = { { "subgroup_size", "1", "invocations that run in step, as the device says" } },
  report  = function(s) return { subgroup_size = s.device.limits.subgroup_size } end,
}
