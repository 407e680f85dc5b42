/** The stages of a start, which the worker reports and the boot log shows. */
export type StageName =
  | "snapshot"
  | "numpySnapshot"
  | "python"
  | "tallow"
  | "numpy"
  | "model"
  | "plan"
  | "kernels"
  | "keep"
  | "storage";
