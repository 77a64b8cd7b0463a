---@meta assay
-- SPDX-License-Identifier: MIT
-- What `require "assay"` gives, for editors (LuaCATS). A test compares it with the real table.

---@class assay
local assay = {}

---The version of assay.
assay.version = ""

---A parameter: { name, default, unit }. The default gives the kind: a whole number, a real number, true or
---false, a text, or an amount such as "4 MiB". The unit of a text may be "source": a shader file.
---@class assay.Parameter
---@field [1] string its name
---@field [2] string | number | boolean | assay.Quantity its default
---@field [3]? string its unit, or a word for people ("elements")
---@field min? assay.Amount
---@field max? assay.Amount
---@field choices? string[] the texts that are allowed
---@field help? string
---@field items? boolean it is the number of items in a batch

---An amount, or a function of the parameters that gives it: called once a case, never while measuring.
---@alias assay.Cost assay.Amount | fun(p: table): assay.Amount

---A stage: a name, and one of record, run and duration.
---@class assay.StageDefinition
---@field [1] string its name
---@field record? fun(s: table, p: table, cmd: assay.Command) device work: recorded once, replayed for each sample
---@field run? fun(s: table, p: table) host work, on a thread with a Lua state of its own
---@field duration? assay.Cost a model: no work, time passes
---@field queue? "transfer" | "compute" of device work; by the name unless given: upload... and download... are transfers
---@field present? fun(p: table): boolean absent for some parameters
---@field bytes? assay.Cost payload: rates use it
---@field read? assay.Cost memory traffic, for floors
---@field written? assay.Cost
---@field flops? assay.Cost
---@field flop_kind? "fp32" | "fp64" | "fp16" | "bf16" | "int8" | "int32" fp32 unless given
---@field items? assay.Cost
---@field upload? assay.Cost of the traffic, what goes from the host to the device
---@field download? assay.Cost
---@field in_place? boolean its work is another when it is done again at once, so it is never repeated to measure it
---@field help? string

---A metric of its own: { name, unit, help }.
---@class assay.MetricDefinition
---@field [1] string
---@field [2] string
---@field [3]? string

---@class assay.WorkloadDefinition
---@field name string
---@field summary? string one line
---@field version? string a part of each case's id; "1" unless given
---@field params? assay.Parameter[] in the order of axes
---@field stages assay.StageDefinition[] in the order of a batch
---@field slot? fun(s: table, p: table) makes buffers and kernels on s.device and keeps them in s
---@field verify? fun(s: table, p: table): assay.Comparison | boolean, ... comparisons, or true, or false and a reason
---@field report? fun(s: table, p: table): table fills the metrics
---@field metrics? assay.MetricDefinition[]
---@field check? fun(p: table): boolean?, string? false and a reason: such parameters are an error
---@field supported? fun(device: assay.SlotDevice?, p: table): boolean, string? false and a reason: the case is skipped
---@field reset? fun(s: table, p: table, cmd: assay.Command) recorded once, replayed before each batch, not measured

---Defines a workload of the script.
---@param workload assay.WorkloadDefinition
function assay.workload(workload) end

---Work by hand, once, in the worker: one case of the run. What it prints stands in the report.
---@param name string unique among the experiments
---@param work fun(device: assay.SlotDevice)
function assay.explore(name, work) end

---A quantity: "256 MiB", "20 GB/s", "1.5 ms", "5 %", a plain number, or what assay.MiB(256) gives.
---@alias assay.Amount string | number | assay.Quantity

---A value of a parameter, or a function of the point that gives it.
---@alias assay.Value string | number | boolean | assay.Quantity | fun(p: table): string | number | boolean | assay.Quantity

---@class assay.Experiment
---@field name string unique in a script; part of each case's id
---@field workload string | string[] `assay list` shows what there is
---@field fixed? table<string, assay.Value> parameters with one value
---@field vary? table<string, assay.Value | assay.Value[]> | table<string, assay.Value>[] axes, or a list of whole assignments
---@field where? fun(p: table): boolean keeps the points for which it is true
---@field check? fun(r: any, expect: fun(x: any): assay.Expectation) looks at each case that is done (assay.Result); with `pair` at each group (assay.Cases)
---@field summary? fun(all: assay.Cases, expect: fun(x: any): assay.Expectation) looks at all cases, once
---@field device? string | string[] by name, UUID, PCI address, driver, "cpu", "gpu" or index
---@field replica? integer | integer[] how often each case is repeated, or the numbers of the repeats
---@field schedule? assay.ScheduleName | assay.Schedule | (assay.ScheduleName | assay.Schedule)[] how batches are issued
---@field target? assay.Amount wanted relative half-width of the interval ("2 %")
---@field budget? assay.Amount sampling time of a case ("1 s")
---@field min_samples? integer 6 at least
---@field max_samples? integer 10,000
---@field deadline? assay.Amount after which a case is given up ("60 s" and the budget, where one is given)
---@field queues? "auto" | "one" | "dedicated" the best for each role; one for all; a transfer-only family or a skip
---@field peaks? boolean measure the peaks of its devices first: floors need them
---@field pair? string an axis: the cases that differ only in it are alive together and sampled in turn

---Declares an experiment: a workload, what is fixed, what is varied, and what is expected.
---@param definition assay.Experiment
function assay.experiment(definition) end

---An experiment whose case looks for the highest value that keeps a bound. Besides the fields of an experiment:
---@class assay.Search
---@field [string] any
---@field vary string a parameter, or a field of the schedule, that is a number
---@field from assay.Amount the lowest value, over 0
---@field to assay.Amount the highest
---@field step? assay.Amount values are multiples of it (1 for whole numbers, else any value)
---@field metric string by its full name: "latency.p95"
---@field at_most? assay.Amount the bound, which the whole interval has to keep; this one or at_least
---@field at_least? assay.Amount
---@field precision? assay.Amount between the value found and the next one that does not keep it ("5 %")

---Looks for the highest value that keeps a bound: r.value. One case, which is measured at several values.
---@param definition assay.Search
function assay.search(definition) end

---Declares an option of the script; `--option NAME=VALUE` changes it. Gives the value.
---@generic T
---@param name string
---@param default T a text, a number, true or false, or a quantity: what is given must be of this kind
---@param help? string
---@return T
function assay.option(name, default, help) end

---Asks for the peaks of a device to be measured in this run, before the cases of later experiments. Gives what a check or a
---summary can look at.
---@param device? string as in an experiment; not given: that of the run
---@return assay.Peaks
function assay.peaks(device) end

---@param amount assay.Amount
---@return assay.Quantity
function assay.quantity(amount) end

---The values from, 2 from, 4 from, ... up to `to`.
---@param from assay.Amount
---@param to assay.Amount
---@return assay.Amount[]
function assay.powers_of_two(from, to) end

---The values from, from + step, ... up to `to`. The step of plain numbers is 1 unless given.
---@param from assay.Amount
---@param to assay.Amount
---@param step? assay.Amount
---@return assay.Amount[]
function assay.range(from, to, step) end

---@alias assay.ScheduleName "serial" | "pipelined" | "open_loop" | "closed_loop" | "sustained"

---How batches are issued. Besides the name: its fields, given or not.
---@class assay.Schedule
---@field [string] any
---@field name assay.ScheduleName

---One batch after the other, each with its own submit and wait.
---@param fields? { queues: "auto" | "one" | "dedicated" | nil }
---@return assay.Schedule
function assay.serial(fields) end

---Up to `depth` batches in flight (2), each in a slot of its own. `sensitivity`: each stage is held in turn, and what that does
---to the period is measured.
---@param fields? { depth: integer | nil, queues: "auto" | "one" | "dedicated" | "devices" | nil, sensitivity: boolean | nil }
---@return assay.Schedule
function assay.pipelined(fields) end

---@class assay.OpenLoop
---@field rate assay.Amount requests that arrive a second: "200 req/s"
---@field arrivals? "poisson" | "even"
---@field batch_max? integer requests in one batch, at most (1); of a workload that has a number of items
---@field wait_max? assay.Amount for how long a request waits for others of its batch, at most (0)
---@field queue_max? integer requests that wait, at most (10,000); more are turned away
---@field deadline? assay.Amount a later result is no goodput
---@field duration? assay.Amount how long it is measured
---@field queues? "auto" | "one" | "dedicated" | "devices"

---Requests arrive by themselves, whether or not the device keeps up, and wait in a queue.
---@param fields assay.OpenLoop
---@return assay.Schedule
function assay.open_loop(fields) end

---Each of `clients` asks again as soon as it has its result.
---@param fields { clients: integer, batch_max: integer | nil, wait_max: assay.Amount | nil, deadline: assay.Amount | nil, duration: assay.Amount | nil, queues: "auto" | "one" | "dedicated" | "devices" | nil }
---@return assay.Schedule
function assay.closed_loop(fields) end

---Batches without a pause for `duration`, looked at window by window (a fortieth of it), with `depth` in flight (1).
---@param fields { duration: assay.Amount, window: assay.Amount | nil, depth: integer | nil, queues: "auto" | "one" | "dedicated" | "devices" | nil }
---@return assay.Schedule
function assay.sustained(fields) end

---The type of a buffer's elements. Also int32, uint32, float32, float64 and float16.
---@alias assay.Type "float" | "double" | "half" | "bfloat16" | "int8" | "int16" | "int" | "int64" | "uint8" | "uint16" | "uint" | "uint64" | "fp8_e4m3"

---What a buffer holds to begin with, and again before verification: a number (as a float), or one of these.
---@class assay.Fill

---One value repeated.
---@param value number
---@param type? assay.Type float unless given
---@return assay.Fill
function assay.fill(value, type) end

---Random values, other ones in each slot: from `low` on and under `high` for floating types, from `low` to `high` for whole ones.
---@param low number
---@param high number
---@param type? assay.Type float unless given
---@return assay.Fill
function assay.uniform(low, high, type) end

---first, first + step, first + 2 step, ...; whole types wrap.
---@param first number
---@param step? number 1 unless given
---@param type? assay.Type float unless given
---@return assay.Fill
function assay.sequence(first, step, type) end

---Random bits, other ones in each slot.
---@return assay.Fill
function assay.random_bits() end

---For pointer chasing: at each place, `stride` bytes apart, the index (uint) of another place; following them from index 0 on
---goes through all places in random order and comes back.
---@param stride? assay.Amount in bytes, a multiple of 4; 4 unless given
---@return assay.Fill
function assay.permutation(stride) end

---What a function gives for each index, from 1 on; at most 4,194,304 elements.
---@param value fun(i: integer): number
---@param type? assay.Type float unless given
---@return assay.Fill
function assay.computed(value, type) end

---What an element may differ by: the sum of `absolute`, `relative` times the reference, and `ulp` times the distance between neighbours there.
---@class assay.Closeness
---@field absolute? number
---@field relative? number
---@field ulp? number

---Compares a view with a reference, element by element; what `verify` returns. NaN and infinity never pass.
---@param view assay.View
---@param reference assay.View | number | fun(i: integer): number
---@param tolerances? assay.Closeness equal values alone pass unless given
---@return assay.Comparison
function assay.compare(view, reference, tolerances) end

---The nearest float.
---@param number number
---@return number
function assay.f32(number) end

---The nearest half; infinite from 65520 on.
---@param number number
---@return number
function assay.f16(number) end

---@param number number
---@return assay.Quantity
function assay.B(number) end

---@param number number
---@return assay.Quantity
function assay.kB(number) end

---@param number number
---@return assay.Quantity
function assay.MB(number) end

---@param number number
---@return assay.Quantity
function assay.GB(number) end

---@param number number
---@return assay.Quantity
function assay.TB(number) end

---@param number number
---@return assay.Quantity
function assay.KiB(number) end

---@param number number
---@return assay.Quantity
function assay.MiB(number) end

---@param number number
---@return assay.Quantity
function assay.GiB(number) end

---@param number number
---@return assay.Quantity
function assay.TiB(number) end

---@param number number
---@return assay.Quantity
function assay.ns(number) end

---@param number number
---@return assay.Quantity
function assay.us(number) end

---@param number number
---@return assay.Quantity
function assay.ms(number) end

---@param number number
---@return assay.Quantity
function assay.s(number) end

---@param number number
---@return assay.Quantity
function assay.Hz(number) end

---@param number number
---@return assay.Quantity
function assay.kHz(number) end

---@param number number
---@return assay.Quantity
function assay.MHz(number) end

---@param number number
---@return assay.Quantity
function assay.GHz(number) end

---@param number number
---@return assay.Quantity
function assay.FLOP(number) end

---@param number number
---@return assay.Quantity
function assay.MFLOP(number) end

---@param number number
---@return assay.Quantity
function assay.GFLOP(number) end

---@param number number
---@return assay.Quantity
function assay.TFLOP(number) end

---@param number number
---@return assay.Quantity
function assay.W(number) end

---@param number number
---@return assay.Quantity
function assay.degC(number) end

---Quantities add, subtract, multiply, divide and compare; dimensions are checked.
---@class assay.Quantity
---@field value number in base units: B, s, B/s, ...
---@field unit string the base unit
---@field to fun(self: assay.Quantity, unit: string): number

---An estimate (the median) with its interval, or absent with the reason. Metrics add, subtract,
---multiply and divide; the result keeps its expression and takes its interval from the samples.
---Compare them by expect.
---@class assay.Metric
---@field value number? in base units; nil when absent
---@field low number? ends of the interval
---@field high number?
---@field n integer? samples; 0 for an exact figure
---@field samples number[]? the value in each turn, in base units; nil where there is none
---@field unit string the base unit
---@field absent string? why there is no figure
---@field name string "copy.rate", or the expression that gave it

---What theory says.
assay.model = {}

---A pipeline of batches: what the times of its stages allow. Times are amounts, or metrics such as r.upload.time; then so are the figures.
---@param definition assay.PipelineDefinition
---@return assay.Pipeline
function assay.model.pipeline(definition) end

---The bytes a second of a PCI Express link, each way, after line coding.
---@param generation string | number "1.0", "1.1", "2.0", "3.0", "4.0" or "5.0"
---@param lanes? integer 16 unless given
---@return assay.Quantity
function assay.model.pcie(generation, lanes) end

---{ "upload", "100 ms", group = "link" }: stages of one group (their names unless given) share a queue or a thread.
---@class assay.PipelineStage
---@field [1] string its name
---@field [2] assay.Amount | assay.Metric its time
---@field group? string

---@class assay.PipelineDefinition
---@field stages assay.PipelineStage[] in the order of a batch
---@field depth? integer batches in flight; 1 unless given

---@class assay.Pipeline
---@field serial_time assay.Quantity | assay.Metric the sum of all times
---@field period assay.Quantity | assay.Metric between two batches at this depth: the largest sum of a group, or serial_time / depth where that is more
---@field throughput assay.Quantity | assay.Metric batches a second
---@field bottleneck { stage: string?, share: number | assay.Metric } the stage with the largest time, and its part of serial_time
---@field limit string what the period comes from: a group's name, or "depth"
---@field exact boolean no two stages share a group; else the period is a lower bound
---@field depth integer
---@field stages { name: string, time: assay.Quantity | assay.Metric, group: string }[]
---@field what_if fun(self: assay.Pipeline, factors: table<string, number>, how?: assay.PipelineChange): assay.Pipeline with stages at factors of their times

---@class assay.PipelineChange
---@field depth? integer
---@field groups? table<string, string> of stages

---The best that a device did: figures in check and summary.
---@class assay.Peaks
---@field copy { device: assay.Metric, upload: assay.Metric, download: assay.Metric } rates of copies
---@field fp32 assay.PeaksOfKind
---@field fp64 assay.PeaksOfKind
---@field fp16 assay.PeaksOfKind
---@field int32 assay.PeaksOfKind
---@field int8 assay.PeaksOfKind
---@field balance { fp32: assay.Metric, fp64: assay.Metric, fp16: assay.Metric, int32: assay.Metric, int8: assay.Metric } operations for each byte of memory touched
---@field each fun(self: assay.Peaks): fun(): string?, assay.Metric? all of them: for name, metric in peaks:each() do

---Rates of multiply-adds by vector width; `best` is the best of them.
---@class assay.PeaksOfKind
---@field best assay.Metric
---@field x1 assay.Metric
---@field x2 assay.Metric
---@field x4 assay.Metric

---@class assay.Stage
---@field time assay.Metric from the source to a destination that can be read
---@field rate assay.Metric payload over time
---@field flop_rate assay.Metric
---@field item_rate assay.Metric
---@field device_time assay.Metric the device clock's share
---@field device_rate assay.Metric
---@field floor assay.Metric the least time that the device's peaks allow; absent without peaks
---@field sensitivity assay.Metric pipelined with sensitivity = true: how much later the period comes for each second that the stage is held

---@class assay.Latency
---@field p50 assay.Metric
---@field p95 assay.Metric
---@field p99 assay.Metric
---@field mean assay.Metric of a request, as what follows
---@field waiting assay.Metric mean part of it: while the device is busy
---@field batching assay.Metric mean part of it: for others of the batch
---@field service assay.Metric mean part of it: the batch itself
---@field histogram { low: number, high: number, count: integer }[]? all latencies, as counts in ascending buckets, in s

---@class assay.Device
---@field name string?
---@field label string? short
---@field uuid string?
---@field class string? "discrete", "integrated", "virtual", "cpu"
---@field selector string? as the script names it

---One case. Besides these: its stages (r.copy.rate) and the metrics that its workload adds.
---@class assay.Result
---@field [string] any
---@field time assay.Metric end to end, a batch
---@field submit_time assay.Metric
---@field device_time assay.Metric
---@field host_cpu_time assay.Metric
---@field floor assay.Metric sum of the stages' floors: the least time that the device's peaks allow; absent without peaks
---@field period assay.Metric pipelined: between the ends of two batches
---@field serial_time assay.Metric pipelined: of a batch alone, the sum of its stages' times
---@field ideal_period assay.Metric pipelined: the least that the stages' times allow at this depth
---@field efficiency assay.Metric pipelined: ideal_period over period
---@field extra_memory assay.Metric pipelined: what all slots hold
---@field throughput assay.Metric open_loop, closed_loop: requests served a second; sustained: batches
---@field goodput assay.Metric open_loop, closed_loop: of them, those within their deadline
---@field utilisation assay.Metric open_loop, closed_loop: share of the time that the device serves a batch
---@field drift assay.Metric sustained: by how much throughput changed from the first third to the last
---@field value assay.Metric of a search: the highest value that keeps the bound
---@field latency assay.Latency pipelined: from the begin of a batch to its end; open_loop, closed_loop: of a request
---@field p table<string, string | number | boolean> the parameters that ran: numbers in the unit of the parameter
---@field status string "done", "skipped", "crash", ...; "not run", "filtered" or "not planned" without a record
---@field reason string? nil when done
---@field device assay.Device
---@field workload string
---@field replica integer
---@field schedule assay.Schedule
---@field verification { error: assay.Metric, verdict: string? }
---@field bottleneck { stage: string?, share: assay.Metric } the stage with the largest time, and its part of all stages'
---@field sensors table<string, { min: assay.Metric, median: assay.Metric, mean: assay.Metric, max: assay.Metric }> what sensors read while samples were taken: r.sensors.cpu_clock.max
---@field what_if fun(self: assay.Result, factors: table<string, number>, how?: assay.PipelineChange): assay.Pipeline what its times say of stages at factors of them: r:what_if({ compute = 0.5 }, { depth = 2 })
---@field choice string? what the tuner chose where the parameters left it open
---@field drift_verdict string? sustained: "steady", "slower", "faster" or "undecided", by the whole interval of drift against 1 %

---The cases of an experiment. Besides these: a column of a metric (all.time, all.copy.rate).
---@class assay.Cases
---@field [string] any
---@field one fun(self: assay.Cases, parameters: table<string, assay.Value>): assay.Result the one case that matches
---@field where fun(self: assay.Cases, parameters: table<string, assay.Value>): assay.Cases
---@field each fun(self: assay.Cases): fun(): assay.Result?
---@field groups fun(self: assay.Cases, ...: string): fun(): assay.Cases? the cases that agree in these parameters

---Relative, or the sum of both.
---@alias assay.Tolerance assay.Amount | { relative: assay.Amount?, absolute: assay.Amount? }

---A bound is judged against the whole interval: it holds, fails, or is inconclusive.
---@class assay.Expectation
---@field at_least fun(self: assay.Expectation, limit: assay.Amount | assay.Metric): assay.Expectation
---@field at_most fun(self: assay.Expectation, limit: assay.Amount | assay.Metric): assay.Expectation
---@field between fun(self: assay.Expectation, low: assay.Amount, high: assay.Amount): assay.Expectation
---@field near fun(self: assay.Expectation, value: assay.Amount | assay.Metric, tolerance: assay.Tolerance): assay.Expectation
---@field equals fun(self: assay.Expectation, value: assay.Amount | assay.Metric | boolean): assay.Expectation
---@field is_true fun(self: assay.Expectation): assay.Expectation
---@field increasing fun(self: assay.Expectation, parameter: string, how?: { tolerance: assay.Amount? }): assay.Expectation
---@field decreasing fun(self: assay.Expectation, parameter: string, how?: { tolerance: assay.Amount? }): assay.Expectation
---@field or_stop fun(self: assay.Expectation) ends the check unless the bound held

---A product of cooperative matrices, r = a b + c: a has m x k elements, b k x n, c and r m x n.
---@class assay.MatrixShape
---@field m integer
---@field n integer
---@field k integer
---@field a assay.Type
---@field b assay.Type
---@field c assay.Type
---@field r assay.Type
---@field saturating boolean whole results stop at their type's bounds

---The device of a slot (s.device); of `supported`, without buffer and kernel.
---@class assay.SlotDevice
---@field name string
---@field limits assay.Limits
---@field has fun(self: assay.SlotDevice, feature: assay.Feature): boolean, string? true, or false and what is missing
---@field matrix_shapes fun(self: assay.SlotDevice): assay.MatrixShape[] of a subgroup; none without cooperative_matrix
---@field buffer fun(self: assay.SlotDevice, what: assay.BufferDefinition): assay.Buffer
---@field kernel fun(self: assay.SlotDevice, what: assay.KernelDefinition): assay.Kernel
---@field run fun(self: assay.SlotDevice, record: fun(cmd: assay.Command)) in assay.explore: records, runs it once and waits
---@field time fun(self: assay.SlotDevice, record: fun(cmd: assay.Command), count?: integer): assay.Quantity, number[] in assay.explore: the median of `count` runs (10), after one that does not count, and all of them in s

---@alias assay.Feature "fp16" | "fp64" | "int8" | "int16" | "int64" | "host_import" | "cooperative_matrix" | "integer_dot"

---@class assay.Limits
---@field max_allocation_bytes integer
---@field max_storage_range_bytes integer
---@field device_heap_bytes integer
---@field host_heap_bytes integer
---@field import_alignment_bytes integer 0 without host_import
---@field storage_alignment_bytes integer of the offset of a binding
---@field max_groups integer[] in x, y, z
---@field max_group_size integer[] in x, y, z
---@field max_group_invocations integer
---@field max_shared_bytes integer
---@field max_texel_elements integer of an imageBuffer
---@field texel_alignment_bytes integer of the offset of a binding to an imageBuffer
---@field max_push_bytes integer
---@field subgroup_size integer

---@class assay.BufferDefinition
---@field bytes assay.Amount
---@field fill? number | assay.Fill a number is a float
---@field memory? "device" | "pinned" | "cached" | "bar" | "imported" | "pageable" device unless given
---@field name? string for messages; its name in the slot unless given
---@field role? "input" | "output" | "scratch" input with a fill (filled again before verification), else output (poisoned before it)

---A file (.comp: GLSL, .spv: SPIR-V) beside the script, or a text.
---@class assay.KernelDefinition
---@field [1]? string
---@field text? string GLSL
---@field name? string of a text, for messages
---@field constants? table<string | integer, number | boolean> specialisation constants by name, or by constant_id
---@field defines? table<string, string | number | boolean> macros

---@class assay.Buffer
---@field bytes integer
---@field memory string
---@field name string
---@field role string
---@field read fun(self: assay.Buffer, type: assay.Type, range?: { offset: assay.Amount?, count: integer? }): assay.View what its download delivered; without one, what it holds

---@class assay.Kernel
---@field name string
---@field local_size integer[] of its workgroup in x, y, z

---@class assay.Range
---@field offset? assay.Amount in bytes; 0 unless given
---@field bytes? assay.Amount to the end unless given

---@class assay.Binding
---@field [1] assay.Buffer
---@field offset? assay.Amount a multiple of limits.storage_alignment_bytes
---@field bytes? assay.Amount to the end unless given

---What a stage records; good inside its `record` alone.
---@class assay.Command
---@field upload fun(self: assay.Command, buffer: assay.Buffer, range?: assay.Range) its fill, from pinned host memory
---@field download fun(self: assay.Command, buffer: assay.Buffer, range?: assay.Range) to host memory, where buffer:read finds it
---@field copy fun(self: assay.Command, destination: assay.Buffer, source: assay.Buffer, range?: { bytes: assay.Amount?, destination_offset: assay.Amount?, source_offset: assay.Amount? })
---@field fill fun(self: assay.Command, buffer: assay.Buffer, value: number | assay.Fill, range?: assay.Range) a value of at most 32 bits, repeated
---@field dispatch fun(self: assay.Command, kernel: assay.Kernel, bindings: table<string | integer, assay.Buffer | assay.Binding>, pushes: table<string | integer, number | boolean>?, size: { invocations: integer | integer[] | nil, groups: integer | integer[] | nil })
---@field barrier fun(self: assay.Command) what comes later sees all that came before
---@field wait fun(self: assay.Command) the host waits before what follows is submitted
---@field lane fun(self: assay.Command, lane: 0 | 1) later commands go there; lanes run at once

---What a buffer held when it was read: view[1] to view[#view]. uint64 over 2^63 - 1 is the integer of the same bits.
---@class assay.View
---@field [integer] number
---@field name string of the buffer
---@field type assay.Type

---@class assay.Comparison
---@field right boolean
---@field error number the largest error over its bound
---@field count integer elements
---@field wrong integer elements
---@field index integer? of the first wrong element
---@field got number?
---@field wanted number?

return assay
