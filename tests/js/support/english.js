// @ts-check
/** The English text tables; those of views are added to the page's. */

import * as classifyTexts from "../../../web/views/classify/texts/en.js";
import * as drawTexts from "../../../web/views/draw/texts/en.js";
import * as findTexts from "../../../web/views/find/texts/en.js";
import * as listenTexts from "../../../web/views/listen/texts/en.js";
import * as openTexts from "../../../web/views/open/texts/en.js";
import * as trainTexts from "../../../web/views/train/texts/en.js";
import * as writeTexts from "../../../web/views/write/texts/en.js";
import * as choiceTexts from "../../../web/widgets/model/texts/en.js";
import { addTexts } from "../../../web/i18n/languages.js";

export { files } from "../../../web/i18n/en/files.js";
export { messages } from "../../../web/i18n/en/messages.js";
export { panels } from "../../../web/i18n/en/panels.js";

export const { texts: choice } = choiceTexts;
export const { texts: classify } = classifyTexts;
export const { texts: draw } = drawTexts;
export const { texts: find } = findTexts;
export const { texts: listen } = listenTexts;
export const { texts: open } = openTexts;
export const { texts: train } = trainTexts;
export const { texts: write } = writeTexts;

addTexts({
  en: [
    ...[choiceTexts, classifyTexts, drawTexts, findTexts],
    ...[listenTexts, openTexts, trainTexts, writeTexts],
  ],
  zh: [],
});
