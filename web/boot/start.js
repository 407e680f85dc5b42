// @ts-check
/**
 * Looks after the page's own start: where its modules did not come since the server has a newer version,
 * it starts over.
 */

import { outdated, startOver } from "./renew.js";

addEventListener("load", async () => {
  if (document.getElementById("unstarted") && (await outdated(""))) void startOver("");
});
