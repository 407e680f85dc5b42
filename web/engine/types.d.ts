// Types shared by the engine and the page.

import type { Words } from "../i18n/messages.js";
import type * as contract from "../shared/contract.js";
import type { StageName } from "../shared/stages.js";
import type { Tuned, Warned } from "../shared/contract.js";
import type { Rpc } from "./rpc.js";

export type { Tuned, Words };

/** A stage of a start, or a failure in it. */
export type Stage = {
  name: StageName;
  state: "begun" | "done" | "failed";
  model?: string;
  bytes?: number;
  /** So far. */
  ms?: number;
  /** Of a failure. */
  why?: Words;
  /** Kernels. */
  done?: number;
  total?: number;
};

/** A value of an input of the visitor's model, with the buffer of its elements. */
export type Feed = Omit<contract.Feed, "members"> & { bytes?: Uint8Array; members?: Feed[] };

/** An answer on several devices. */
export type Comparison = {
  /** The largest difference between the probabilities of a class. */
  difference: number;
  classes: number;
  /** The fastest device first. */
  runs: Partial<Record<Device, Pick<contract.OneDevice, "first" | "warm">>>;
};

export type Device = "webgpu" | "wasm" | "numpy" | "remote";

/** What the compiler reports about a model. */
export type Facts = { kernels?: number; warnings?: Warned[] };

export type Started = {
  /** The device that computes. */
  device: Device;
  adapter: string;
  /** That compute, if the device tells. */
  threads: number | null;
  /** Whether the adapter reports its own name. */
  named: boolean;
  /** Why it is not the requested device. */
  reason: Words | null;
  /** The device that is unavailable, if there is a reason. */
  refused: Device | null;
  /** Models that were loaded again. */
  models: Record<string, Facts>;
};

/**
 * lost: whether WebGPU was given up because the device was lost too often. away: why another machine
 * was left.
 */
export type Actual = Started & { lost: boolean; away: Words | null };

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
  /** Progress, in kernels. */
  compiled(done: number, total: number): void;
  /**
   * A failed device or worker is being replaced, so the page must be answered again.
   * died: whether it was the worker.
   */
  again(words: Words, died?: boolean): void;
  /** An action failed; its caller gets the error too. */
  failed(words: Words): void;
  /** Warnings for the visitor, beside an answer. */
  warned(warnings: Warned[]): void;
};

/** The engine's dependencies, which tests replace. */
export type Outside = {
  /** Starts a worker. */
  connect(): Rpc;
  describe(name: string): Promise<{ preprocess: Model["preprocess"] }>;
  /** Milliseconds of a monotonic clock. */
  now(): number;
};

/** facts: about the model, if it was loaded again. */
export type Retuned = Tuned & { facts: Facts | null };
