/** The entries of all views: each adds its own (web/views/NAME/texts/texts.d.ts). */
interface ViewTexts {}
