//# Included by products in registers. DOWN: the generator writes another `block`, of load_column.
//#if not DOWN
// Rows 4 * k4 .. of b, four columns wide; times a vector along k it gives four outputs.
fn block(batch: u32, k4: u32, col4: u32) -> mat4x4f {
  let k = k4 * 4u;
  return mat4x4f(${each("load_b(batch, k#, col4)", FOUR)});
}
//#end
