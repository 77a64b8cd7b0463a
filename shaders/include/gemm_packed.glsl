// SPDX-License-Identifier: MIT
// Where numbers stand in packed operands, for what writes them and what reads them.
//   constants   LANES: of a subgroup, which is a whole group
// A packed operand is a list of panels, each of LANES * `slots` rows (of A; columns of B) and all k, in the
// order in which it is read: for each step of PACKED k, for each slot, a texel of 16 bytes for each lane.
// `spread` panels that follow each other share their rows: each lane has spread * slots that do.
#if defined(OPERAND_FP64)
#define PACKED 2
#else
#define PACKED 4
#endif

uint packed_texel(uint panel, uint step, uint steps, uint slot, uint slots, uint lane)
{
    return ((panel * steps + step) * slots + slot) * LANES + lane;
}

uint packed_row(uint panel, uint spread, uint slot, uint slots, uint lane)
{
    return (panel / spread * LANES + lane) * spread * slots + panel % spread * slots + slot;
}
