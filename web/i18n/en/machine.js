// @ts-check
/** English texts of the form for another machine, which is loaded late. */

export const machine = {
  name: "Another machine",
  about:
    "Computes where “tallow serve --\u2060compute” runs. What you draw and choose is sent there.",
  address: "Address",
  token: "Token",
  connect: "Connect",
  cancel: "Cancel",
  connecting: "Connecting…",
  unreadable: "This is no address of a machine. Write https:// and its name.",
  insecure: "From this page, browsers reach other machines by https alone. Write https:// first.",

  /** @param {string} why */
  refused: (why) => `Not connected: ${why}`,
};
