// What a view is. Its folder NAME/ has
//   view.json       its place in the menu and its name there; the kind of the site's models that it
//                   asks, or null; lazy: whether all of it is fetched when it is first opened
//                   (lazy.js); files: the endings of files that are for a lazy view only; styles:
//                   those of packages, and of widgets (web/...), that a lazy view needs
//   NAME.html       its <section>; NAME.css and other styles
//   NAME.js         its class, a View, as the default export
//   texts/          what it says, a file for each language
//   worker.js       its actions in the worker (worker/services.d.ts), if it has any
// The build finds all of them (py/tallow_build/page: documents.py, bundle.mjs).

import type { Engine } from "../engine/engine.js";

/** Provided to a view. */
export type Page = {
  engine: Engine;
  /** Called with the time of each answer, null for none. */
  timed(ms: number | null): void;
  /** The model that the address asks for now. */
  readonly model: string | null;
  /** Called when the visitor chooses another model; with a view, the page shows that view. */
  chosen(model: string, view?: string): void;
};

export type View = {
  /** The model of the site that it needs, if any. */
  model(): Promise<string | null>;
  /**
   * Answers again after a change of the device or a failure.
   * died: whether the worker failed
   */
  answer(died: boolean): void;
  /** Whether the visitor has entered nothing. */
  untouched: boolean;
  /** Called when the worker has started, perhaps on another device. */
  started?(): void;
  /** Takes files that were dropped or pasted. */
  drop?(transfer: DataTransfer): void;
  /** Whether these files are for this view only. */
  claims?(files: File[]): boolean;
  /**
   * Takes files that were dropped: a lazy view has this one instead of `claims`, and instead of
   * `drop` if it takes no folders.
   */
  takeFiles?(files: File[]): void;
};
