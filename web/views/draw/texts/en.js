// @ts-check
/** English texts of the Draw view. */

export const texts = {
  /** For screen readers, while the keyboard draws. */
  penDown: "Pen down",
  penUp: "Pen up",

  /** @param {string} digit */
  digitRead: (digit) => `The digit is ${digit}`,

  /** @param {string} number */
  numberRead: (number) => `The number is ${number}`,

  /** @param {string} why */
  digitFailed: (why) => `The digit could not be read: ${why}`,
};
