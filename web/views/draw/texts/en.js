// @ts-check
/** English texts of the Draw view. */

export const texts = {
  /** @param {string} digit */
  digitRead: (digit) => `The digit is ${digit}`,

  /** @param {string} name */
  signRead: (name) => `It is ${name}`,

  /** @param {string} number */
  numberRead: (number) => `The number is ${number}`,

  /** @param {string} why */
  digitFailed: (why) => `The digit could not be read: ${why}`,
};
