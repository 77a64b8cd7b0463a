-- SPDX-License-Identifier: MIT
-- lua5.4 run.lua ASSAY RECORDINGS [RUNS]: whether the whole tool says what is so. The workload null plays the times of busy
-- machines (made from seeds) through sampler, statistics, bounds and `assay compare`; RUNS (1000) of each kind of noise and
-- question are counted. Exit status 1 when one answer is wrong more often than it may be. The clock is simulated: the counts
-- are always the same. Fewer than 1000 runs do not show a share to a per cent: a limit is then the count that a binomial
-- whose share is the goal passes once in 10,000 (of 60 runs 7 for 2 %, 11 for 5 %). That finds what is broken;
-- ci/bench honesty tells whether the goals are kept.

local assay, recordings, count = arg[1], arg[2], math.tointeger(arg[3] or 1000)
local kinds = { "quiet", "bursts", "drift", "levels", "tail", "all" }

local pairs_script = [[
local assay = require "assay"
local function machines(first)
  local files = {}
  for i = 0, COUNT - 1 do files[#files + 1] = ("%d.times"):format(first + i) end
  return files
end
assay.experiment {
  name = "self", workload = "null", fixed = { compute = "4 ms" }, vary = { times = machines(0) }, replica = 2, pair = "replica",
  check = function(g, expect) expect(g:one{ replica = 0 }.time / g:one{ replica = 1 }.time):between(0.99, 1.01) end,
}
assay.experiment {
  name = "slower", workload = "null", fixed = { compute = "4 ms" }, vary = { times = machines(COUNT), scale = { 1, 1.05 } },
  pair = "scale",
  check = function(g, expect) expect(g:one{ scale = 1.05 }.time / g:one{ scale = 1 }.time):between(0.99, 1.01) end,
}
assay.experiment {
  name = "truth", workload = "null", fixed = { compute = "4 ms" }, vary = { times = machines(2 * COUNT) }, replica = 2,
  pair = "replica",
  check = function(g, expect) expect(g:one{ replica = 0 }.time / g:one{ replica = 1 }.time):at_most(1) end,
}
]]

-- In a run of many machines, and in one of the same machines a while later.
local apart_script = [[
local assay = require "assay"
for _, least in ipairs { 6, 64 } do
  for i, name in ipairs { "same", "slower" } do
    local first = (2 + i) * COUNT
    local files = {}
    for k = 0, COUNT - 1 do files[#files + 1] = ("%d.times"):format(first + k) end
    assay.experiment {
      name = name .. " from " .. least, workload = "null", fixed = { compute = "4 ms" }, vary = { times = files },
      min_samples = least,
    }
  end
end
]]

local scratch = assert(io.popen("mktemp -d")):read("l")
local environment = ("env LC_ALL=C XDG_CACHE_HOME=%s/cache "):format(scratch)

local function finish(status)
  os.execute("rm -rf " .. scratch)
  os.exit(status)
end

local function run(command, right)
  local _, _, status = os.execute(environment .. command)
  if status ~= right then
    io.stderr:write(("exit status %s, not %d: %s\n"):format(status, right, command))
    finish(2)
  end
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write((text:gsub("COUNT", count)))
  file:close()
end

-- How often each answer was given for each name: counts[name][answer].
local function tally(path, pattern)
  local counts = setmetatable({}, { __index = function(t, name)
    t[name] = setmetatable({}, { __index = function() return 0 end })
    return t[name]
  end })
  for line in io.lines(path) do
    local name, answer = line:match(pattern)
    if name then counts[name][answer] = counts[name][answer] + 1 end
  end
  return counts
end

local misses, total = 0, {}

-- The largest share of `of` that is let pass where `goal` is the most there may be.
local function limit(goal, of)
  if count >= 1000 then return goal end
  local k, term = 0, (1 - goal) ^ of -- of exactly k
  local more = 1 - term              -- of more than k
  while more > 1e-4 do
    term = term * (of - k) / (k + 1) * goal / (1 - goal)
    k, more = k + 1, more - term
  end
  return k / of
end

local function percent(share)
  return (("%.2f"):format(100 * share):gsub("%.?0+$", ""))
end

-- `least`, `most`: shares that the count should lie in, where there is a goal.
local function row(kind, what, got, of, least, most)
  local share = got / of
  most = most and limit(most, of)
  least = least and 1 - limit(1 - least, of)
  local good = share >= (least or 0) - 1e-9 and share <= (most or 1) + 1e-9
  misses = misses + (good and 0 or 1)
  local goal = most and ("at most %s %%"):format(percent(most)) or least and ("at least %s %%"):format(percent(least)) or ""
  print(("%-7s %-50s %6.2f %%  %-16s %s"):format(kind, what, 100 * share, goal, good and "" or "MISSED"))
end

local function question(kind, what, got, of, least, most)
  row(kind, what, got, of, least, most)
  local sum = total[what] or { got = 0, of = 0, least = least, most = most }
  if not total[what] then total[#total + 1] = what end
  sum.got, sum.of, total[what] = sum.got + got, sum.of + of, sum
end

local function paired(kind)
  local here = scratch .. "/a"
  write(here .. "/pairs.lua", pairs_script)
  run(("%s run %s/pairs.lua --no-progress -o %s/pairs >%s/table 2>&1"):format(assay, here, here, scratch), 1)
  local counts = tally(here .. "/pairs/journal.jsonl", '^{"kind":"verdict".-"experiment":"(.-)".-"verdict":"(.-)"')
  local itself, slower, truth = counts.self, counts.slower, counts.truth
  for name, answers in pairs(counts) do
    local all = answers.pass + answers.fail + answers.inconclusive
    if all ~= count then
      io.stderr:write(("%s: %d verdicts on %s, not %d\n"):format(kind, all, name, count))
      finish(2)
    end
  end
  question(kind, "paired with itself: called different", itself.fail, count, nil, 0.02)
  question(kind, "paired with itself: called the same", itself.pass, count)
  question(kind, "paired, 5 % slower: found", slower.fail, count, 0.95)
  question(kind, "paired, bound at the truth: concludes", truth.pass + truth.fail, count, nil, 0.05)
end

local function apart(kind)
  for _, when in ipairs { "a", "b" } do
    local here = scratch .. "/" .. when
    write(here .. "/apart.lua", apart_script)
    run(("%s run %s/apart.lua --no-progress -o %s/apart >%s/table 2>&1"):format(assay, here, here, scratch), 0)
  end
  local file = scratch .. "/compared.json"
  local _, _, status = os.execute(("%s%s compare %s/a/apart %s/b/apart --json=%s >%s/table"):format(environment, assay, scratch,
    scratch, file, scratch))
  if status ~= 0 and status ~= 1 and status ~= 3 then -- nothing slower, something, nothing decided
    io.stderr:write(("exit status %s: assay compare\n"):format(status))
    finish(2)
  end
  local counts = tally(file, '"experiment":"(.-)".-"answer":"(.-)"')
  for _, least in ipairs { 6, 64 } do
    local same, slower = counts["same from " .. least], counts["slower from " .. least]
    if same.same + same.faster + same.slower + same.undecided ~= count then
      io.stderr:write(kind, ": cases are missing in the comparison\n")
      finish(2)
    end
    local how = ("unpaired, %d samples or more, "):format(least)
    question(kind, how .. "itself: wrong", same.faster + same.slower, count, nil, 0.05)
    question(kind, how .. "5 % slower: wrong", slower.faster + slower.same, count, nil, 0.05)
    question(kind, how .. "decided", 2 * count - same.undecided - slower.undecided, 2 * count)
  end
end

for _, kind in ipairs(kinds) do
  run(("mkdir -p %s/a %s/b"):format(scratch, scratch), 0)
  run(("%s %s 0 %d 700 4000000 %s/a"):format(recordings, kind, 3 * count, scratch), 0)
  for i, later_ns in ipairs { 4000000, 4200000 } do
    run(("%s %s %d %d 300 4000000 %s/a %d %s/b"):format(recordings, kind, (2 + i) * count, count, scratch, later_ns, scratch), 0)
  end
  paired(kind)
  apart(kind)
  run(("rm -r %s/a %s/b"):format(scratch, scratch), 0)
end
for _, what in ipairs(total) do row("total", what, total[what].got, total[what].of, total[what].least, total[what].most) end
finish(misses > 0 and 1 or 0)
