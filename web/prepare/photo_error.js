// @ts-check
import { LocalizedError } from "../i18n/messages.js";

/** A file can't be opened as a picture; the message names it. */
export class PhotoError extends LocalizedError {
  name = "PhotoError";
}
