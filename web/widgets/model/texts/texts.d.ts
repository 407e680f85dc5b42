import type { texts } from "./en.js";

type Own = typeof texts;

declare global {
  interface ViewTexts extends Own {}
}
