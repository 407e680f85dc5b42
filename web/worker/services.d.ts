// What the worker does for the views' own actions (web/views/NAME/worker.js).

import type { Answers, StreamedAnswers } from "../shared/contract.js";
import type { App } from "./app.js";
import type { Models } from "./models/models.js";
import type { Action } from "./serve.js";

export type Services = {
  /** Python. */
  app: App;
  models: Models;
  /** Resolves when no change of the device is under way. */
  settled(): Promise<unknown>;
  /** The site's model's answer. keep: whether profiles and checks will use these pixels. */
  answer(
    model: string,
    pixels: Float32Array<ArrayBuffer> | Uint8ClampedArray<ArrayBuffer>,
    keep: boolean,
  ): Promise<{ probabilities: number[]; ms: number }>;
};

/** A view's actions, by their names without the view's. */
export type ViewActions = (services: Services) => Record<string, Action>;

/** A function of a view's module in Python. */
type OfView = `${string}.${string}`;

/** What a function of Python answers: any, if the contract does not say. */
type Known<All, Name> = Name extends keyof All
  ? All[Name]
  : Name extends `${string}.${infer Own extends keyof All & string}`
    ? All[Own]
    : any;

export type Called = keyof Answers | OfView;
export type AnswerOf<Name extends Called> = Known<Answers, Name>;

/** The same of long actions. */
export type Streamed = keyof StreamedAnswers | OfView;
export type StreamOf<Name extends Streamed> = Known<StreamedAnswers, Name>;
