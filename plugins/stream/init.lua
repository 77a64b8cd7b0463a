-- SPDX-License-Identifier: MIT
-- stream: how fast long arrays are read and written. README.md says what it shows.
local assay = require "assay"

local operations = { "copy", "scale", "add", "triad", "read", "write" }
local number = { copy = 0, scale = 1, add = 2, triad = 3, read = 4, write = 5 }
local reads = { copy = 1, scale = 1, add = 2, triad = 2, read = 1, write = 0 }
local writes = { copy = 1, scale = 1, add = 1, triad = 1, read = 0, write = 1 }
local flops = { copy = 0, scale = 1, add = 1, triad = 2, read = 0, write = 0 } -- an element

local group_bytes = 256 * 16 -- what a workgroup takes at a time
local function groups(p)
  -- Each invocation that reads leaves a sum of 16 bytes: it has 16 times as many to read, at least.
  if p.operation == "read" then return math.max(1, math.min(p.bytes // (16 * group_bytes), 1024)) end
  return math.min(p.bytes // group_bytes, 4096)
end

local function written(p)
  return p.operation == "read" and groups(p) * group_bytes or writes[p.operation] * p.bytes
end

local q = 3

-- Calls f(offset) for at most 64 pieces of the size, first and last among them.
local function each_piece(bytes, piece, f)
  local count = bytes // piece
  local looked = math.min(count, 64)
  for i = 0, looked - 1 do
    f((looked == 1 and 0 or i * (count - 1) // (looked - 1)) * piece)
  end
end

-- The sums of at most 64 workgroups, added up again.
local function verify_read(s, p)
  local results = {}
  local count, words = groups(p), group_bytes // 4
  each_piece(count, 1, function(group)
    local sums = {}
    for i = 1, words do sums[i] = 0 end
    for offset = group * group_bytes, p.bytes - 1, count * group_bytes do
      local a = s.a:read("uint", { offset = offset, count = words })
      for i = 1, words do sums[i] = sums[i] + a[i] & 0xffffffff end
    end
    results[#results + 1] = assay.compare(s.c:read("uint", { offset = group * group_bytes, count = words }),
      function(i) return sums[i] end)
  end)
  return table.unpack(results)
end

-- Pieces over all of the array, each element of them.
local function verify_pieces(s, p, expected)
  local results = {}
  each_piece(p.bytes, group_bytes, function(offset)
    local range = { offset = offset, count = group_bytes // 4 }
    local a, b = s.a:read("float", range), s.b:read("float", range)
    results[#results + 1] = assay.compare(s.c:read("float", range), function(i)
      return expected(a[i], b[i])
    end, { ulp = 1, absolute = 2 ^ -22 }) -- a fused multiply-add rounds once, else twice
  end)
  return table.unpack(results)
end

local verify = {
  copy  = function(s) return assay.compare(s.c:read "uint", s.a:read "uint") end,
  scale = function(s, p) return verify_pieces(s, p, function(a) return q * a end) end,
  add   = function(s, p) return verify_pieces(s, p, function(a, b) return a + b end) end,
  triad = function(s, p) return verify_pieces(s, p, function(a, b) return a + q * b end) end,
  read  = verify_read,
  write = function(s, p)
    local pieces = {}
    each_piece(p.bytes, group_bytes, function(offset)
      local first = offset // 4 - 1
      pieces[#pieces + 1] = assay.compare(s.c:read("uint", { offset = offset, count = group_bytes // 4 }),
        function(i) return first + i end)
    end)
    return table.unpack(pieces)
  end,
}

assay.workload {
  name    = "stream",
  summary = "sequential reads and writes of long arrays: copy, scale, add, triad, read, write",
  params  = {
    { "operation", "triad", choices = operations,
      help = "copy c = a, scale c = q a, add c = a + b, triad c = a + q b; read sums a; write fills c" },
    { "bytes", "64 MiB", "B", min = group_bytes, help = "of one array, a multiple of 4 KiB" },
  },
  check   = function(p)
    return p.bytes % group_bytes == 0, "bytes must be a multiple of 4 KiB"
  end,
  slot    = function(s, p)
    local o = p.operation
    local fill = assay.uniform(-1, 1)
    s.a = s.device:buffer{ bytes = reads[o] > 0 and p.bytes or 16, fill = fill }
    s.b = reads[o] > 1 and s.device:buffer{ bytes = p.bytes, fill = fill } or s.a
    s.c = s.device:buffer{ bytes = written(p) }
    s.kernel = s.device:kernel{ "stream.comp", constants = { OPERATION = number[o] } }
  end,
  stages  = {
    { "stream", help = "one pass over the arrays",
      record  = function(s, p, cmd)
        cmd:dispatch(s.kernel, { a = s.a, b = s.b, c = s.c }, { n = p.bytes // 16, q = q }, { groups = groups(p) })
      end,
      bytes   = function(p) return (reads[p.operation] + writes[p.operation]) * p.bytes end,
      read    = function(p) return reads[p.operation] * p.bytes end,
      written = written,
      flops   = function(p) return flops[p.operation] * p.bytes // 4 end },
  },
  verify  = function(s, p) return verify[p.operation](s, p) end,
}
