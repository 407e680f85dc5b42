// @ts-check
/**
 * Looks after the page's own start: where its modules did not come, it starts over.
 */

import { startOver } from "./renew.js";

addEventListener("load", () => {
  if (document.getElementById("unstarted")) void startOver("");
});
