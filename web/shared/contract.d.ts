// Written by tallow_build/contract.py from tallow_page/contract/: do not change it.

/** A device, and the name of its adapter. */
export type Chosen = {
  device: string;
  adapter: string;
};

/** A TuningWarning (py/tallow/devices/webgpu/tuning.py). */
export type Warned = {
  kind: "leftOut" | "unread" | "damaged" | "unkept";
  kernel: string;
  why: string;
};

/**
 * Facts about a model that can answer.  nodes: of the file's network. kept: whether its plan was
 * stored on an earlier visit; otherwise planId is the number of the new one (plan_registry.py), and
 * compiling the milliseconds spent on the graph, the passes and kernels. seconds: from the graph,
 * or the stored plan, to the session. The others: `Session.stats`.
 */
export type LoadedModel = {
  name: string;
  nodes: number;
  kept: boolean;
  planId?: number;
  compiling?: number;
  seconds: number;
  warnings: Warned[];
  kernels: number;
  dispatches: number;
  slots: number;
  bytes: number;
  weights: number;
  runs: number;
  adapter: string;
};

/**
 * An answer on one device: its probabilities; milliseconds of the first run, from the graph on,
 * null where the model was loaded; the median of the further ones, null without any.
 */
export type OneDevice = {
  probabilities: number[];
  first: number | null;
  warm: number | null;
};

/** Progress: runs that are done, of so many at most. */
export type Runs = {
  stage: "runs";
  done: number;
  total: number;
};

/** An op whose fastest kernel is not the rule's, and how many times as fast that is. */
export type Replaced = {
  op: string;
  shape: number[];
  kernel: string;
  gain: number;
};

/**
 * What tuning has measured, at its end or so far: ops that have a choice, and those measured; the
 * largest gain first; whose clock was used, null before the first op; new warnings.
 */
export type Tuned = {
  stage: "tuning";
  ops: number;
  measured: number;
  replaced: Replaced[];
  clock: "timestamp" | "clock" | "counted" | null;
  warnings: Warned[];
};

/** A KernelTime of py/tallow/runtime/profile.py. code: WebAssembly's; a GPU's is in the plan. */
export type Kernel = {
  number: number;
  name: string;
  anchor: string;
  ops: string[];
  shape: number[];
  dtype: string;
  milliseconds: number;
  share: number;
  flops: number;
  gflops: number;
  read: number;
  written: number;
  reads: number[];
  writes: number;
  constants: Record<string, number | boolean>;
  workgroups: number[];
  module: number;
  code?: string;
};

/** `Profile.to_dict` of py/tallow/runtime/profile.py. */
export type Profile = {
  name: string;
  device: string;
  adapter: string;
  source: "timestamp" | "clock" | "counted";
  explanation: string;
  resolution: number;
  repeats: number;
  milliseconds: number;
  kernels: Kernel[];
};

/** A plan, of which the page reads the text of its kernels. */
export type Modules = {
  modules: string[];
};

/** A profile, its plan, and a trace for Perfetto. */
export type Profiled = {
  profile: Profile;
  plan: Modules;
  trace: Record<string, any>;
};

/**
 * What an input or output is declared to be (py/tallow/formats/onnx/records.py). element: of a
 * sequence's members, or of an optional's value.
 */
export type ValueInfo = {
  name: string;
  shape: (number | string)[] | null;
  dtype: string | null;
  type: string;
  kind: string;
  element: ValueInfo | null;
};

/**
 * The contents of an ONNX file, and the given files that it does not need. left: unsupported
 * features that are not listed.
 */
export type ModelFile = {
  name: string;
  producer: string;
  doc: string;
  properties: [string, string][];
  opsets: [string, number][];
  ir: number;
  bytes: number;
  unneeded: string[];
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  unsupported: string[];
  left: number;
};

/** Locations of external data that no given file has. */
export type MissingFiles = {
  missing: string[];
};

/** Locations of external data, and given files whose names do not tell which is which. */
export type UnclearFiles = {
  unclear: string[];
  given: string[];
};

/** Why a node is not on the device (py/tallow/formats/onnx/reasons.py). */
export type Reason = {
  code: string;
  details: (string | number)[];
};

/** How often an operator is used in one place. */
export type OperatorUse = {
  operator: string;
  place: "device" | "host" | "nowhere";
  count: number;
  reason: Reason | null;
};

/**
 * Size, arithmetic and operators of a model for given lengths (formats/onnx/run/summary.py). whole:
 * whether multiplyAdds counts all nodes.
 */
export type Survey = {
  parameters: number;
  weightBytes: number;
  nodes: number;
  multiplyAdds: number | null;
  whole: boolean;
  uses: OperatorUse[];
  unsupported: string[];
};

/**
 * A value of an input, without the buffer of its elements. texts: the elements of strings, which
 * have no buffer. members: of a sequence. wide: the elements are passed as float64, because
 * JavaScript lacks their type.
 */
export type Feed = {
  name: string;
  shape: number[];
  dtype?: string;
  wide?: boolean;
  texts?: string[];
  members?: Feed[];
};

/**
 * A result, without the elements of an array. dtype: of a tensor. texts: of strings. members: of a
 * sequence.
 */
export type Output = {
  name: string;
  kind: "tensor" | "texts" | "sequence" | "none";
  shape: number[];
  dtype?: string;
  texts?: string[];
  members?: Output[];
};

/**
 * What a run did: `Report` of py/tallow/formats/onnx/run/report.py. host: nodes computed by the
 * host; bytes: that crossed; moved: why a part did not run on the device.
 */
export type RunReport = {
  parts: number;
  nodes: number;
  dispatches: number;
  moved: string[];
  host: number;
  bytes: number;
};

/**
 * A run. first: milliseconds. planId: of a new plan to store (plan_registry.py). refused: why the
 * stored plan could not be used, or "".
 */
export type RunAnswer = {
  device: "webgpu" | "wasm" | "numpy" | "remote";
  adapter: string;
  first: number;
  outputs: Output[];
  report: RunReport;
  planId: number | null;
  refused: string;
};

/** Statistics of runs, in milliseconds; low and high are the quartiles. */
export type Series = {
  count: number;
  median: number;
  low: number;
  high: number;
  least: number;
  most: number;
};

/** The runs after the first, null without any. */
export type ModelTimes = {
  device: string;
  adapter: string;
  series: Series | null;
};

/** Milliseconds of a first run, and the further ones. */
export type Times = {
  first: number | null;
  series: Series | null;
};

/**
 * The largest difference of two elements, null if only one of them is a number; and the largest
 * element, for scale.
 */
export type Difference = {
  name: string;
  difference: number | null;
  largest: number | null;
};

/** A run on two devices. */
export type Compared = {
  devices: Partial<Record<"webgpu" | "wasm" | "numpy" | "remote", Times>>;
  outputs: Difference[];
};

/**
 * A language model: its class, its numbers, the most tokens of a text, and whether it answers
 * messages.
 */
export type TextModel = {
  family: string;
  parameters: number;
  context: number;
  converses: boolean;
};

/** How far a published model has arrived: bytes of all its files, and the one that arrives. */
export type Fetching = {
  stage: "fetch";
  done: number;
  total: number | null;
  file: string;
};

/**
 * A piece of a text; tokens: how many there are by now. considered: for each new token the most
 * probable ones, with their probabilities.
 */
export type Wrote = {
  stage: "write";
  piece: string;
  tokens: number;
  considered: [string, number][][];
};

/**
 * A text that ended. first: seconds until the first token; rate: tokens a second from then on. end:
 * why it ended (tl.generation.Written).
 */
export type WroteAnswer = {
  tokens: number;
  first: number;
  rate: number | null;
  end: string | null;
};

/**
 * A model of sentences: the width of its vectors, the most tokens of a text, and how many passages
 * lost their kept vectors, since another model had made them.
 */
export type FindModel = {
  width: number;
  tokens: number;
  dropped: number;
};

/** A file of the index; done: how many of its passages have vectors. */
export type IndexedFile = {
  name: string;
  passages: number;
  done: number;
};

/** How far cutting is, in characters, or embedding, in passages; rate: passages a second. */
export type Embedded = {
  stage: "cut" | "embed";
  done: number;
  total: number;
  rate?: number;
};

/** A file that was cut into passages. guessed: the encoding of a text that names none. */
export type Indexed = {
  passages: number;
  guessed: string | null;
};

/**
 * A passage near a question: its file and page, the cosine, and its text: what is before the
 * nearest sentence, that sentence, and what is behind it.
 */
export type FoundPassage = {
  source: string;
  page: number | null;
  score: number;
  parts: string[];
};

/** The passages near a question, the nearest first. */
export type Looked = {
  stage: "look";
  seconds: number;
  found: FoundPassage[];
};

/**
 * A network of speech: its numbers, and the languages that it knows, such as "en"; none if it knows
 * English alone.
 */
export type SpeechModel = {
  parameters: number;
  languages: string[];
};

/** What was said, in seconds of the sound. final: false while it is still being written down. */
export type HeardText = {
  stage: "heard";
  start: number;
  end: number;
  text: string;
  language: string;
  final: boolean;
};

/** How many seconds were heard in all, and whether somebody speaks at their end. */
export type HeardAnswer = {
  seconds: number;
  speaks: boolean;
};

/**
 * A run begins or goes on. run: the name of its folder; steps: of all epochs; samples: that an
 * epoch learns from; parameters: numbers that learn.
 */
export type TrainBegun = {
  stage: "begun";
  run: string;
  steps: number;
  samples: number;
  parameters: number;
};

/** Checkpoints that could not be read; the run goes on from an older one. */
export type TrainDamaged = {
  stage: "damaged";
  checkpoints: string[];
};

/**
 * What a run measured since the look before. loss, accuracy: means; rate: samples a second; left:
 * seconds. norms: the mean norm of the gradients of each layer, null if it is not finite.
 */
export type TrainLook = {
  stage: "look";
  step: number;
  epoch: number;
  loss: number;
  accuracy: number;
  lr: number;
  rate: number;
  left: number;
  norms?: Record<string, number | null>;
};

/** What a network of characters writes after a step: the sample so far. */
export type TrainSample = {
  stage: "sample";
  step: number;
  text: string;
};

/** What an epoch measured: means, and those of the validation, null without one. */
export type TrainRecord = {
  stage: "record";
  step: number;
  epoch: number;
  train_loss: number;
  train_accuracy: number;
  valid_loss: number | null;
  valid_accuracy: number | null;
};

/** How many of the visitor's own examples were read. */
export type Gathering = {
  stage: "gather";
  done: number;
  total: number;
};

/**
 * The visitor's own examples as data for training. version: differs from that of other examples;
 * train, valid: how many there are of each; computed: how many were not read before; damaged: the
 * numbers of those that could not be read.
 */
export type Gathered = {
  version: number;
  train: number;
  valid: number;
  computed: number;
  damaged: number[];
};

/** Some of the visitor's own examples, read beforehand. computed, damaged: as in `Gathered`. */
export type ReadExamples = {
  computed: number;
  damaged: number[];
};

/**
 * Why a run failed: a loss that is not finite, at which step; storage that is full, or refuses the
 * run for another reason, which `text` says.
 */
export type TrainReason = {
  code: "loss" | "full" | "storage";
  text: string;
  step: number | null;
};

/** How a run ended, or where it stands. kept: the name of the last checkpoint. */
export type TrainAnswer = {
  state: "paused" | "done" | "failed";
  step: number;
  epoch: number;
  kept: string | null;
  reason: TrainReason | null;
};

/**
 * A kept run. settings, source: as the page gave them, without files. curve: (step, loss, accuracy)
 * of its looks. records: those of its epochs.
 */
export type TrainRun = {
  run: string;
  name: string;
  settings: Record<string, any>;
  source: Record<string, any>;
  state: string;
  step: number;
  epoch: number;
  curve: [number, number, number][];
  records: Record<string, any>[];
};

/** A number of a layer: what it is if nothing is said, and its bounds. whole: no fractions. */
export type LayerField = {
  name: string;
  value: number;
  least: number;
  most: number;
  whole: boolean;
};

/** A kind of layer that is offered, and its fields. */
export type LayerKind = {
  kind: string;
  fields: LayerField[];
};

/**
 * A row of a table of layers: the shape of its output, its parameters, and the bytes that a step of
 * training takes for it; null where the row, or one before it, is impossible.
 */
export type RowFacts = {
  shape: number[] | null;
  parameters: number | null;
  memory: number | null;
};

/** Why a row, counted from 0, is impossible (`ENGLISH` of py/tallow_page/train/layers.py). */
export type RowReason = {
  row: number;
  code: string;
  details: (string | number)[];
};

/**
 * What a table of layers means. memory: bytes of a step, with its samples. The sums are null if a
 * row is impossible.
 */
export type NetworkFacts = {
  rows: RowFacts[];
  parameters: number | null;
  memory: number | null;
  error: RowReason | null;
};

/**
 * A table of layers, which of the networks that are offered it is ("" for another one), what it
 * means, and the kinds and networks that are offered.
 */
export type LayerTable = {
  layers: Record<string, any>[];
  network: string;
  facts: NetworkFacts;
  kinds: LayerKind[];
  presets: string[];
};

/**
 * A sample of the validation: its place, its label, and what the network took it for. The figures
 * are null where they are not finite.
 */
export type Mistake = {
  index: number;
  label: number;
  predicted: number;
  probability: number | null;
  loss: number | null;
};

/** Samples of a cell of the confusion matrix. */
export type Mistakes = {
  samples: Mistake[];
};

/**
 * What a run has learnt. kind, shape: of its data, and of one input. confusion: how often each
 * class, a row, was taken for which, a column, in the last validation; none without classes, or
 * without a validation. mistakes: the worst first.
 */
export type Insight = {
  kind: string;
  shape: number[];
  classes: string[];
  confusion: number[][];
  mistakes: Mistake[];
};

/** How probable each class is for an input. */
export type LessonAnswer = {
  classes: string[];
  probabilities: number[];
};

/** What a network knows after so many steps. */
export type Trained = {
  step: number;
  classes: string[];
};

/** A text with what a network of characters has written behind it. */
export type Written = {
  text: string;
};

/**
 * A sample whose label is in doubt: its place among its part, its number in changes, its label, the
 * class that it rather belongs to, and the probabilities of that and of its label.
 */
export type Doubt = {
  index: number;
  number: number;
  label: number;
  guess: number;
  probability: number | null;
  own: number | null;
};

/**
 * A sample that is like an earlier one of its part. of, other: that one's place and label. alike:
 * their correlation. same: whether all their numbers are equal.
 */
export type Duplicate = {
  index: number;
  number: number;
  label: number;
  of: number;
  other: number;
  alike: number;
  same: boolean;
};

/**
 * What was found among the samples to learn from, or those to measure by. doubted, duplicated: how
 * many there are, of which the first are listed. near: whether near duplicates were looked for.
 */
export type ReviewedPart = {
  part: "train" | "valid";
  doubted: number;
  doubts: Doubt[];
  duplicated: number;
  duplicates: Duplicate[];
  near: boolean;
};

/** How far a review is. */
export type Reviewing = {
  stage: "review";
  done: number;
  total: number;
};

/** A review. counts: samples of each class, with the visitor's changes. */
export type Reviewed = {
  classes: string[];
  counts: number[];
  parts: ReviewedPart[];
};

/** A visitor's change: a sample's class from now on, or null for one that is thrown out. */
export type TrainChange = {
  number: number;
  label: string | null;
};

/** The functions that are awaited, of app.py and of views, and their answers. */
export type Answers = {
  start: Chosen;
  connect: Chosen;
  load_model: LoadedModel;
  load_kept: LoadedModel;
  profile: Profiled;
  needed_files: string[];
  open_model: ModelFile | MissingFiles | UnclearFiles;
  survey_model: Survey;
  run_model: RunAnswer;
  remove_file: Embedded;
  put_kept: IndexedFile;
  unpack_run: TrainRun;
  layer_table: LayerTable;
  gather_text: Gathered;
  open_zip: string[];
  read_insight: Insight;
  read_cell: Mistakes;
  answer_lesson: LessonAnswer;
  model_facts: Trained;
};

/** The long actions (steps.py) and their answers. */
export type StreamedAnswers = {
  run_on: OneDevice;
  tune: Tuned;
  time_model: ModelTimes;
  compare_model: Compared;
  open_text_model: TextModel;
  write_text: WroteAnswer;
  open_find_model: FindModel;
  add_file: Indexed;
  embed_passages: Embedded;
  find_passages: Looked;
  open_listener: SpeechModel;
  hear_sound: HeardAnswer;
  gather_examples: Gathered;
  read_examples: ReadExamples;
  run_training: TrainAnswer;
  review_labels: Reviewed;
  write_on: Written;
};

/** What they report on the way. */
export type StreamedProgress = {
  run_on: Runs;
  tune: Tuned;
  time_model: Runs;
  compare_model: Runs;
  open_text_model: Fetching;
  write_text: Wrote;
  open_find_model: Fetching;
  add_file: Embedded;
  embed_passages: Embedded;
  find_passages: Looked;
  open_listener: Fetching;
  hear_sound: HeardText;
  run_training: Fetching | TrainBegun | TrainDamaged | TrainLook | TrainRecord | TrainSample;
  write_on: Written;
  gather_examples: Gathering;
  read_examples: Gathering;
  review_labels: Reviewing;
};
