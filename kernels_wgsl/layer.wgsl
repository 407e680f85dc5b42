//# Included by recurrent layers and by their gradient: the numbers of both.
override TIME: u32; override START: u32; override STEPS: u32;
override BATCH: u32; override DIRECTIONS: u32; override HIDDEN: u32;
// A bit for each direction.
override BACKWARD: u32;
// 1: RNN; 3: GRU (update, reset, hidden); 4: LSTM (input, output, forget, cell).
override GATES: i32;
override LINEAR: bool;

const TILE_COLS = 1u;
const LANES = 256u;
