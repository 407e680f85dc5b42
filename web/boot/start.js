// @ts-check
/** If the page's modules did not load because the server has a newer version, reloads the page. */

import { outdated, startOver } from "./renew.js";

addEventListener("load", async () => {
  if (document.getElementById("unstarted") && (await outdated(""))) void startOver("");
});
