// What the engine and the page tell each other.

import type { Words } from "../i18n/messages.js";
import type { Stage } from "../widgets/engine/bootlog.js";
import type { Warning } from "../widgets/kernels/tuning.js";
import type { Rpc } from "./rpc.js";

export type { Words };

export type Device = "webgpu" | "numpy";

/** What the compiler says of a model. */
export type Facts = { kernels?: number; warnings?: Warning[] };

export type Started = {
  /** The one that computes. */
  device: Device;
  /** Its name. */
  adapter: string;
  /** Whether the adapter tells that itself. */
  named: boolean;
  /** Why it is not the device asked for. */
  reason: Words | null;
  /** Those that were loaded again. */
  models: Record<string, Facts>;
};

/** lost: whether WebGPU is done without, since it was lost too often. */
export type Actual = Started & { lost: boolean };

export type Status = {
  state: "loading" | "ready" | "error";
  words: Words;
  done?: number;
  total?: number;
};

/** A loaded model. */
export type Model = { name: string; preprocess: { size: number; crop: number } };

export type Listener = {
  status(status: Status): void;
  started(actual: Actual): void;
  stage(stage: Stage): void;
  /** Kernels. */
  compiled(done: number, total: number): void;
  /**
   * What failed is being replaced: these words say so, and what is on the page wants a new answer.
   * died: whether it was the worker.
   */
  again(words: Words, died?: boolean): void;
  /** An action failed, of which who asked for it hears too. */
  failed(words: Words): void;
  /** What a visitor should know, beside an answer. */
  warned(warnings: Warning[]): void;
};

/** What the engine uses of the world around it, which tests give in other ways. */
export type Outside = {
  /** Starts a worker. */
  connect(): Rpc;
  describe(name: string): Promise<{ preprocess: Model["preprocess"] }>;
  /** Milliseconds by a clock that only goes on. */
  now(): number;
};

/** See tune in py/tallow/app.py. */
export type Tuned = {
  ops: number;
  measured: number;
  replaced: { op: string; shape: number[]; kernel: string; gain: number }[];
  clock: "timestamp" | "clock" | "counted" | null;
  warnings: Warning[];
  /** Whether stopTuning() ended it. */
  stopped: boolean;
  /** About the model, which was loaded again. */
  facts: Facts | null;
};
