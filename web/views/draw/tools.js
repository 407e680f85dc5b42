// @ts-check
/** The tools beside the drawing pad: undo, redo, clear, three brushes and an eraser. */

/**
 * Width of the eraser relative to the brush. With the same width, one would have to retrace the
 * stroke exactly.
 */
const ERASER_SCALE = 2;

/** Fields in which Ctrl+Z undoes typing. */
const TEXT_FIELDS = "textarea, input:not([type=radio]), [contenteditable]";

export class PadTools {
  #root;
  #pad;
  #undo;
  #redo;
  #eraser;

  /**
   * @param {HTMLElement} root  of the view
   * @param {import("../../widgets/pad/pad.js").Pad} pad
   */
  constructor(root, pad) {
    const find = (/** @type {string} */ name) =>
      /** @type {HTMLElement} */ (root.querySelector(`[data-testid=digit-${name}]`));
    this.#root = root;
    this.#pad = pad;
    this.#undo = find("undo");
    this.#redo = find("redo");
    this.#eraser = find("eraser");
    this.#undo.addEventListener("click", () => pad.change("undo"));
    this.#redo.addEventListener("click", () => pad.change("redo"));
    find("clear").addEventListener("click", () => pad.change("clear"));
    this.#eraser.addEventListener("click", () => this.toggleEraser());
    find("brush").addEventListener("change", () => this.#take());
    document.addEventListener("keydown", (event) => this.#key(event));
    this.#take();
  }

  toggleEraser() {
    this.#eraser.ariaPressed = String(this.#eraser.ariaPressed !== "true");
    this.#take();
  }

  /** Update the buttons. aria-disabled, unlike disabled, keeps the focus on a button. */
  show() {
    this.#undo.ariaDisabled = String(!this.#pad.ink.undoable);
    this.#redo.ariaDisabled = String(!this.#pad.ink.redoable);
  }

  #take() {
    const chosen = /** @type {HTMLInputElement} */ (
      this.#root.querySelector("[data-testid=digit-brush] :checked")
    );
    const erases = this.#eraser.ariaPressed === "true";
    this.#pad.brush = { width: Number(chosen.value) * (erases ? ERASER_SCALE : 1), erases };
  }

  /** Ctrl+Z (or Cmd) undoes and Shift+Ctrl+Z redoes, wherever the focus is. @param {KeyboardEvent} event */
  #key(event) {
    const { ctrlKey, metaKey, altKey, shiftKey, key, target } = event;
    if (!(ctrlKey || metaKey) || altKey || key.toLowerCase() !== "z" || this.#root.hidden) return;
    if (/** @type {Element} */ (target).matches?.(TEXT_FIELDS)) return;
    event.preventDefault();
    this.#pad.change(shiftKey ? "redo" : "undo");
  }
}
